/* SPDX-License-Identifier: BSD-3-Clause */
/* What a description of a trace is made of, whichever version of CTF it has. */
#include "config.h"
#include "exchange/ctf/ctf_trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "exchange/common/private.h"

static int no_memory_for(const struct xch_ctf_trace *t)
{
	return xch_fail_memory(t->err, t->folder);
}

static char *copy_kept(struct xch_ctf_trace *t, size_t n)
{
	char *text = malloc(n + 1), **slot;

	slot = text ? TKM_APPEND(t->text, t->texts) : NULL;
	if (!slot) {
		free(text);
		no_memory_for(t);
		return NULL;
	}
	*slot = text;
	return text;
}

const char *xch_ctf_keep_plain(struct xch_ctf_trace *t, const char *p, size_t n)
{
	char *text = copy_kept(t, n);

	if (text) {
		memcpy(text, p, n);
		text[n] = '\0';
	}
	return text;
}

const char *xch_ctf_keep(struct xch_ctf_trace *t, const char *p, size_t n)
{
	char *text = copy_kept(t, n);
	const char *end = p + n;

	if (text) {
		xch_ctf_unescape(text, n > 1 && *p == '"' ? p + 1 : p, n > 1 && *p == '"' ? end - 1 : end);
	}
	return text;
}

struct xch_ctf_type *xch_ctf_new_type(struct xch_ctf_trace *t, enum xch_ctf_kind kind)
{
	struct xch_ctf_type *type = calloc(1, sizeof(*type)), **slot;

	slot = type ? TKM_APPEND(t->type, t->types) : NULL;
	if (!slot) {
		free(type);
		no_memory_for(t);
		return NULL;
	}
	*slot = type;
	type->kind = kind;
	type->align = kind == XCH_CTF_STRING ? 8 : 1;
	return type;
}

struct xch_ctf_event_class *xch_ctf_add_event(
	struct xch_ctf_trace *t, size_t *room, uint64_t stream, uint64_t id, const char *name)
{
	const uint64_t key[2] = { stream, id };
	size_t *index = name ? tkm_table_put(&t->by_id, key, sizeof(key), sizeof(*index)) : NULL;

	if (!index || TKM_GROW(t->event, *room, t->events + 1) < 0) {
		no_memory_for(t);
		return NULL;
	}
	t->event[t->events] = (struct xch_ctf_event_class){ .id = id, .stream = stream, .name = name };
	*index = ++t->events;
	return &t->event[t->events - 1];
}

void xch_ctf_trace_free(struct xch_ctf_trace *t)
{
	size_t i, k;

	for (i = 0; i < t->types; i++) {
		if (!t->type[i]->borrows) {
			for (k = 0; k < t->type[i]->members; k++) {
				free(t->type[i]->member[k].range);
			}
			free(t->type[i]->member);
			free(t->type[i]->label);
		}
		free(t->type[i]);
	}
	tkm_free_texts(t->text, t->texts);
	tkm_table_free(&t->by_id);
	free(t->type);
	free(t->clock);
	free(t->stream);
	free(t->event);
}

const struct xch_ctf_clock *xch_ctf_clock_by_name(const struct xch_ctf_trace *t, const char *name)
{
	size_t i;

	for (i = 0; i < t->clocks && strcmp(t->clock[i].name, name) != 0; i++) {
	}
	return i < t->clocks ? &t->clock[i] : NULL;
}

struct xch_ctf_event_class *xch_ctf_event_by_id(const struct xch_ctf_trace *t, uint64_t stream, uint64_t id)
{
	uint64_t key[2] = { stream, id };
	const size_t *index = tkm_table_find(&t->by_id, key, sizeof(key));

	return index ? &t->event[*index - 1] : NULL;
}

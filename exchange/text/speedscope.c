/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes speedscope's own format: a profile for each thread, one after the other. The trace has the events of all
 * threads mixed. So the events wait in a temporary file, in blocks of one thread each. */
#include "config.h"
#include "exchange/common/json.h"
#include "exchange/common/private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/quote.h"

enum { BLOCK = 256 };

struct step {
	int64_t ns;
	uint32_t function; /* index */
	uint32_t leaves;
};

struct thread {
	struct step *step; /* the last block, with room for BLOCK steps */
	uint32_t n, depth;
	uint64_t *block; /* places of the other blocks in the file, counted in blocks */
	uint32_t n_blocks;
};

struct speedscope {
	FILE *f, *wait;
	struct thread *thread; /* per place */
	uint64_t blocks;
	struct step *buffer;
	uint32_t *stack;
	uint32_t deepest;
};

#define WAIT ".wait"

static int speedscope_open(struct xch_writer *w, struct xch_trace *t, struct tkm_err *err)
{
	struct speedscope *s = calloc(1, sizeof(*s));
	size_t i;

	if (!s) {
		return xch_fail_memory(err, w->target);
	}
	w->state = s;
	s->thread = calloc(t->n_places + 1, sizeof(*s->thread));
	s->buffer = calloc(BLOCK, sizeof(*s->buffer));
	if (!s->thread || !s->buffer) {
		return xch_fail_memory(err, w->target);
	}
	s->f = xch_create(w, w->base, err);
	s->wait = s->f ? xch_create(w, WAIT, err) : NULL;
	if (!s->wait) {
		return -1;
	}
	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"" PACKAGE_STRING
	      "\",\"shared\":{\"frames\":[",
		s->f);
	for (i = 0; i < t->functions.n; i++) {
		fputs(i ? ",\n{\"name\":" : "\n{\"name\":", s->f);
		tkm_quote_json(s->f, t->functions.v[i].name);
		fputc('}', s->f);
	}
	fputs("\n]},\"profiles\":[", s->f);
	return 0;
}

static int put_away(struct xch_writer *w, struct speedscope *s, struct thread *h, struct tkm_err *err)
{
	uint64_t *p;

	if ((h->n_blocks & (h->n_blocks - 1)) == 0) {
		p = realloc(h->block, (h->n_blocks ? 2 * (size_t)h->n_blocks : 1) * sizeof(*p));
		if (!p) {
			return xch_fail_memory(err, w->target);
		}
		h->block = p;
	}
	h->block[h->n_blocks++] = s->blocks++;
	h->n = 0;
	if (fwrite(h->step, sizeof(*h->step), BLOCK, s->wait) != BLOCK) {
		return tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot write beside %s", w->target);
	}
	return 0;
}

static int speedscope_event(struct xch_writer *w, struct xch_trace *t, const struct xch_event *e, struct tkm_err *err)
{
	struct speedscope *s = w->state;
	struct thread *h = &s->thread[e->place->index];
	const struct xch_named *f = xch_function(t, e->u.function);

	if (!f) {
		xch_lost(w, e->kind, 1);
		return 0;
	}
	h->step = h->step ? h->step : calloc(BLOCK, sizeof(*h->step));
	if (!h->step) {
		return xch_fail_memory(err, w->target);
	}
	h->depth = e->place->depth;
	s->deepest = h->depth > s->deepest ? h->depth : s->deepest;
	h->step[h->n++] = (struct step){ xch_ns(t, e->time), f->index, e->kind == XCH_LEAVE };
	return h->n == BLOCK ? put_away(w, s, h, err) : 0;
}

/* Writes the steps of a block, and keeps track of the open functions. */
static void write_steps(struct speedscope *s, const struct step *step, uint32_t n, uint32_t *depth, int *any)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (!step[i].leaves) {
			s->stack[(*depth)++] = step[i].function;
		} else if (*depth) {
			--*depth;
		}
		fprintf(s->f, "%s{\"type\":\"%c\",\"frame\":%" PRIu32 ",\"at\":%" PRId64 "}", *any ? ",\n" : "\n",
			step[i].leaves ? 'C' : 'O', step[i].function, step[i].ns);
		*any = 1;
	}
}

static int write_thread(struct xch_writer *w, const struct xch_trace *t, const struct xch_place *p, struct tkm_err *err)
{
	struct speedscope *s = w->state;
	struct thread *h = &s->thread[p->index];
	uint32_t i, depth = 0;
	char name[500];
	int any = 0;

	snprintf(name, sizeof(name), "rank %u thread %u%s%.300s", p->process, p->thread, p->name ? ": " : "",
		p->name ? p->name : "");
	fputs("{\"type\":\"evented\",\"unit\":\"nanoseconds\",\"name\":", s->f);
	tkm_quote_json(s->f, name);
	fprintf(s->f, ",\"startValue\":%" PRId64 ",\"endValue\":%" PRId64 ",\"events\":[", xch_ns(t, p->first),
		xch_ns(t, p->last));
	for (i = 0; i < h->n_blocks; i++) {
		if (fseeko(s->wait, (off_t)(h->block[i] * BLOCK * sizeof(struct step)), SEEK_SET) != 0 ||
			fread(s->buffer, sizeof(struct step), BLOCK, s->wait) != BLOCK) {
			return tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot read beside %s", w->target);
		}
		write_steps(s, s->buffer, BLOCK, &depth, &any);
	}
	write_steps(s, h->step, h->n, &depth, &any);
	while (depth) { /* functions that are open at the end must be closed */
		fprintf(s->f, ",\n{\"type\":\"C\",\"frame\":%" PRIu32 ",\"at\":%" PRId64 "}", s->stack[--depth],
			xch_ns(t, p->last));
	}
	fputs("\n]}", s->f);
	return 0;
}

static int complete(struct xch_writer *w, const struct xch_trace *t, struct tkm_err *err)
{
	struct speedscope *s = w->state;
	int any = 0;
	size_t i;
	char *path;

	s->stack = calloc((size_t)s->deepest + 1, sizeof(*s->stack));
	if (!s->stack || asprintf(&path, "%s/%s", w->dir, WAIT) < 0) {
		return xch_fail_memory(err, w->target);
	}
	if (xch_close(w, s->wait, WAIT, err) < 0) {
		s->wait = NULL;
		free(path);
		return -1;
	}
	s->wait = fopen(path, "re");
	unlink(path);
	free(path);
	if (!s->wait) {
		return tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot read beside %s", w->target);
	}
	for (i = 0; i < t->n_places; i++) {
		if (s->thread[i].step) {
			fputs(any++ ? ",\n" : "\n", s->f);
			if (write_thread(w, t, &t->place[i], err) < 0) {
				return -1;
			}
		}
	}
	fputs("\n]}\n", s->f);
	return 0;
}

static int speedscope_close(struct xch_writer *w, struct xch_trace *t, int failed, struct tkm_err *err)
{
	struct speedscope *s = w->state;
	int rc;
	size_t i;

	if (!s) {
		return 0;
	}
	rc = failed ? 0 : complete(w, t, err);
	if (s->wait) {
		fclose(s->wait);
	}
	if (s->f && xch_close(w, s->f, w->base, rc < 0 ? NULL : err) < 0) {
		rc = -1;
	}
	for (i = 0; s->thread && i < t->n_places; i++) {
		free(s->thread[i].step);
		free(s->thread[i].block);
	}
	free(s->thread);
	free(s->buffer);
	free(s->stack);
	free(s);
	return rc;
}

const struct xch_format xch_speedscope = {
	.name = "SPEEDSCOPE",
	.suffix = ".speedscope.json",
	.what = "speedscope: functions, a profile for each thread",
	.holds = 1u << XCH_ENTER | 1u << XCH_LEAVE,
	.open = speedscope_open,
	.event = speedscope_event,
	.close = speedscope_close,
};

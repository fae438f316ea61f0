/* SPDX-License-Identifier: BSD-3-Clause */
/* Encodes and decodes the messages between node processes; see collector-plugin/net/message.h. */
#include "config.h"
#include "collector-plugin/net/message.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"

/* What message.def says of each kind. */
static const struct shape {
	const char *name;
	int numbers, texts;
	size_t most;
} shapes[VT_NET_KINDS] = {
	{ "NONE", 0, 0, 0 },
#define MESSAGE(name_, numbers_, texts_, most_) { #name_, numbers_, texts_, most_ },
#include "collector-plugin/net/message.def"
#undef MESSAGE
};

/* The second text of FILE and the text of CLOCK may have any bytes. */
static int is_text(enum vt_net_kind kind, int i)
{
	return kind != VT_NET_CLOCK && !(kind == VT_NET_FILE && i == 1);
}

static int has_control_characters(const char *text, size_t n)
{
	size_t i;

	for (i = 0; i < n && (unsigned char)text[i] >= ' '; i++) {
	}
	return i < n;
}

size_t vt_net_encode(const struct vt_net_message *m, void *to, size_t size)
{
	const struct shape *s = &shapes[m->kind];
	uint8_t *p = to;
	size_t n = 1 + 8 * (size_t)s->numbers;
	int i;

	for (i = 0; i < s->texts; i++) {
		if (m->text[i].n > s->most) {
			return 0;
		}
		n += 4 + m->text[i].n;
	}
	if (n > size) {
		return n;
	}
	*p++ = (uint8_t)m->kind;
	for (i = 0; i < s->numbers; i++, p += 8) {
		tkm_put_number(p, m->number[i], 8, 0);
	}
	for (i = 0; i < s->texts; i++) {
		tkm_put_number(p, m->text[i].n, 4, 0);
		if (m->text[i].n) {
			memcpy(p + 4, m->text[i].at, m->text[i].n);
		}
		p += 4 + m->text[i].n;
	}
	return n;
}

int vt_net_decode(const void *from, size_t n, struct vt_net_message *m, struct tkm_err *err)
{
	const uint8_t *p = from, *end = p + n;
	const struct shape *s;
	int i;

	memset(m, 0, sizeof(*m));
	if (n == 0 || *p == VT_NET_NONE || *p >= VT_NET_KINDS) {
		return tkm_fail(err, TKM_ERR_FORMAT, "a message of unknown kind %d", n ? *p : 0);
	}
	m->kind = *p++;
	s = &shapes[m->kind];
	for (i = 0; i < s->numbers && end - p >= 8; i++, p += 8) {
		m->number[i] = tkm_get64(p, 0);
	}
	if (i < s->numbers) {
		return tkm_fail(err, TKM_ERR_FORMAT, "a message %s of %zu bytes is cut", s->name, n);
	}
	for (i = 0; i < s->texts && end - p >= 4; i++) {
		size_t length = tkm_get32(p, 0);

		p += 4;
		if (length > s->most || length > (size_t)(end - p)) {
			return tkm_fail(err, TKM_ERR_FORMAT, "a message %s has a text of %zu bytes", s->name, length);
		}
		m->text[i] = vt_net_text_of((const char *)p, length);
		if (is_text(m->kind, i) && has_control_characters(m->text[i].at, length)) {
			return tkm_fail(err, TKM_ERR_FORMAT, "a message %s has a control character in a text", s->name);
		}
		p += length;
	}
	if (i < s->texts || p != end) {
		return tkm_fail(err, TKM_ERR_FORMAT, "a message %s has %zu bytes, which is another length than its own",
			s->name, n);
	}
	return 0;
}

char *vt_net_copy(const struct vt_net_text *t, char *to, size_t size)
{
	snprintf(to, size, "%.*s", (int)(t->n < size ? t->n : size - 1), t->n ? t->at : "");
	return to;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages between node processes: their kinds and fields are in message.def. Whoever decodes one gets all fields that the
 * list names, within its limits, or an error. */
#ifndef COLLECTOR_PLUGIN_NET_MESSAGE_H
#define COLLECTOR_PLUGIN_NET_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { VT_NET_VERSION = 3, VT_NET_NUMBERS = 5, VT_NET_TEXTS = 2 };

enum vt_net_kind {
	VT_NET_NONE,
#define MESSAGE(name_, numbers_, texts_, most_) VT_NET_##name_,
#include "collector-plugin/net/message.def"
#undef MESSAGE
	VT_NET_KINDS
};

struct vt_net_text {
	const char *at; /* not terminated where it was decoded */
	size_t n;
};

struct vt_net_message {
	enum vt_net_kind kind;
	uint64_t number[VT_NET_NUMBERS];
	struct vt_net_text text[VT_NET_TEXTS];
};

/* VTserver sends VT_NET_ALIVE so often, and a node answers at once: each wakes up once. */
#define VT_NET_BEAT_NS INT64_C(2000000000)

/* Returns the number of bytes that m takes; 0: a text is too long. Writes them if to has room for them. */
size_t vt_net_encode(const struct vt_net_message *m, void *to, size_t size);

/* Reads n bytes; the texts of *m point into them. Returns 0, or -1: it is no message. */
int vt_net_decode(const void *from, size_t n, struct vt_net_message *m, struct tkm_err *err);

/* Copies a text and terminates it; what does not fit is cut. Returns to. */
char *vt_net_copy(const struct vt_net_text *t, char *to, size_t size);

static inline struct vt_net_text vt_net_text_of(const char *text, size_t n)
{
	return (struct vt_net_text){ text, n };
}

#endif

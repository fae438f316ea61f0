/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes many states of one thread at once, for the merge. */
#include "config.h"
#include "stf/states.h"
#include "stf/writer.h"

enum { ENTER = sizeof(struct stx_wire_enter_function), LEAVE = sizeof(struct stx_wire_leave_function) };

/* Writes as many states as need no more than their bytes. The processor cannot predict which states are enters,
 * so the loop has no branch for it. It always stores the bytes that an enter has in addition; after a leave, the
 * next record overwrites them. */
static size_t put_ahead(struct stx_stream *to, uint32_t willy, const struct stx_state *s, size_t n)
{
	uint8_t *p = to->cur;
	uint64_t now = to->now, who = (uint64_t)willy << 32;
	size_t i, enters = 0;

	for (i = 0; i < n && to->limit - p >= ENTER; i++) {
		uint64_t d = s[i].time - now;

		/* a step back in time also gives a large d */
		if (__builtin_expect(d > UINT32_MAX, 0)) {
			break;
		}
		now = s[i].time;
		*p = (uint8_t)(STF_ID_leave_function ^ ((STF_ID_leave_function ^ STF_ID_enter_function) & -s[i].enter));
		tkm_put64(p + 1, d | who, 0);
		tkm_put32(p + offsetof(struct stx_wire_enter_function, function), s[i].function, 0);
		p += LEAVE + (ENTER - LEAVE) * s[i].enter;
		enters += s[i].enter;
	}
	to->used[STF_ID_enter_function] |= enters > 0;
	to->used[STF_ID_leave_function] |= enters < i;
	to->cur = p;
	to->now = now;
	return i;
}

static int put_one(struct stf_writer *w, uint32_t willy, const struct stx_state *s)
{
	struct stf_enter_function enter = { .time = s->time, .willy = willy, .function = s->function };
	struct stf_leave_function leave = { .time = s->time, .willy = willy };

	return s->enter ? stf_write_enter_function(w, &enter) : stf_write_leave_function(w, &leave);
}

int stx_write_states(struct stf_writer *w, uint32_t willy, const struct stx_state *s, size_t n)
{
	struct stx_stream *to = stx_route(w, STF_ID_enter_function, STF_KIND_FUNC, willy, 0);
	size_t i = 0;

	while (to && i < n) {
		i += to->big ? 0 : put_ahead(to, willy, s + i, n - i);
		if (i < n && put_one(w, willy, &s[i++]) < 0) {
			return -1;
		}
	}
	return to ? 0 : -1;
}

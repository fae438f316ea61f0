/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls back for the records of a cursor. It looks up once which call-back takes each incarnation. */
#include "config.h"
#include "stf/format/private.h"

/* Converts a record to the incarnation of its call-back, and calls it. */
typedef int (*call_fn)(const struct stf_callbacks *cb, void *user, const struct stf_record *r);

#define STF_BEGIN(id_, cls_, name_, kind_) \
	static int call_##name_(const struct stf_callbacks *cb, void *user, const struct stf_record *r) \
	{ \
		struct stf_##name_ v; \
		stf_get_##name_(r, &v); \
		return cb->name_(user, r, &v); \
	}
#include "include/records.def"

static int call_other(const struct stf_callbacks *cb, void *user, const struct stf_record *r)
{
	return cb->other ? cb->other(user, r) : 0;
}

/* Each incarnation uses its own call-back, or else that of the highest incarnation of its class. */
static void find_calls(const struct stf_callbacks *cb, call_fn call[STF_ID_END])
{
	static const call_fn all[STF_ID_END] = {
#define STF_BEGIN(id_, cls_, name_, kind_) [id_] = call_##name_,
#include "include/records.def"
	};
	uint8_t there[STF_ID_END] = {
#define STF_BEGIN(id_, cls_, name_, kind_) [id_] = cb->name_ != NULL,
#include "include/records.def"
	};
	unsigned id, k;

	for (id = 1; id < STF_ID_END; id++) {
		call[id] = call_other;
		for (k = 1; k < STF_ID_END; k++) {
			if (there[k] && stf_layout(k)->class_id == stf_layout(id)->class_id) {
				call[id] = all[k];
			}
		}
		call[id] = there[id] ? all[id] : call[id];
	}
}

int stf_reader_each(struct stf_reader *r, const struct stf_cursor_options *o, const struct stf_callbacks *given,
	void *user, struct stf_err *err)
{
	struct stf_callbacks own, *cb = &own;
	struct stf_cursor *c;
	const struct stf_record *rec;
	struct stf_counter_batch b;
	call_fn call[STF_ID_END];
	int rc, stop = 0;

	if (stf_take_options(cb, sizeof(*cb), given, sizeof(*cb), "stf_callbacks", err) < 0) {
		return -1;
	}
	c = stf_cursor_open_with(r, o, err);
	rc = c ? 0 : -1;
	find_calls(cb, call);
	while (c && stop == 0) {
		rc = cb->counters ? stf_cursor_next_batch(c, &rec, &b, err) : stf_cursor_next(c, &rec, err);
		if (rc <= 0) {
			break;
		}
		stop = rc == 2 ? cb->counters(user, &b) : call[rec->layout->id](cb, user, rec);
	}
	stf_cursor_close(c);
	return stop ? stop : rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the calls and messages of a trace. */
#include "report/calls/calls.h"
#include "config.h"

static int read_calls(struct vtr_calls *c, const struct vtr_trace *t)
{
	struct stf_cursor_options o = stf_cursor_options();
	const struct stf_record *r;
	struct stf_cursor *cursor;
	struct stf_err e;
	int rc = 0, more;

	o.categories = 1u << STF_KIND_FUNC | 1u << STF_KIND_MSG | 1u << STF_KIND_COLL;
	o.window = o.state = t->windowed;
	o.from = t->start;
	o.to = t->end;
	cursor = stf_cursor_open_with(t->reader, &o, &e);
	more = cursor ? 1 : -1;
	while (rc == 0 && more > 0 && (more = stf_cursor_next(cursor, &r, &e)) > 0) {
		rc = vtr_tree_add(&c->tree, r);
		/* the state before a window has the messages under way */
		if (rc == 0 && (!t->windowed || r->time >= t->start)) {
			rc = vtr_traffic_add(&c->traffic, r);
		}
	}
	stf_cursor_close(cursor);
	vtr_tree_end(&c->tree);
	return rc < 0 || (more < 0 && e.code == STF_ERR_NOMEM) ? -1 : 0;
}

int vtr_calls_read(struct vtr_calls *c, const struct vtr_trace *t)
{
	*c = (struct vtr_calls){ .traffic = { .t = t } };
	return vtr_tree_begin(&c->tree, t) < 0                ? -1
		: t->stacks || t->messages.n || t->operations ? read_calls(c, t)
							      : 0;
}

void vtr_calls_free(struct vtr_calls *c)
{
	vtr_tree_free(&c->tree);
	vtr_traffic_free(&c->traffic);
}

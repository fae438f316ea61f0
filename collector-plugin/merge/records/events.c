/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns events of raw/events.h into records of the trace. The states of a thread form a stack. A leave without its
 * enter is left out, and states that are open at the end of the thread's records are closed there; both are counted. */
#include "config.h"
#include "collector-plugin/merge/records/events.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "collector-plugin/merge/records/idle.h"
#include "collector-plugin/merge/records/messages.h"
#include "collector-plugin/raw/events.h"

uint32_t vt_merge_willy(const struct vt_merge_file *f, uint16_t where)
{
	uint32_t id = where & 0x7fffu;

	if (!(where & (VT_RAW_GROUP | VT_RAW_PLACE))) {
		return STF_WILLY(f->process, where);
	}
	if (!(where & VT_RAW_GROUP)) {
		/* defined before its first record; otherwise (a comment, for example) it is stored with the process */
		id = vt_merge_id(&f->places, where - VT_RAW_PLACE);
		return STF_WILLY(f->process, id ? id - 1 : 0);
	}
	return STF_GROUP(id == VT_RAW_NODE ? VT_MERGE_FIRST_NODE + f->node : vt_merge_id(&f->groups, id));
}

/* ---- states ---- */

static int push_state(struct vt_merge_states *t, uint32_t function)
{
	if (TKM_GROW(t->function, t->room, t->n + 1) < 0) {
		return -1;
	}
	t->function[t->n++] = function;
	return 0;
}

static int write_enter(struct vt_merge_part *part, const struct vt_merge_event *e, uint32_t function, uint32_t scl)
{
	struct stf_enter_function_1 with = { .time = e->time, .willy = e->willy };
	struct stf_enter_function r = { .time = e->time, .willy = e->willy };

	vt_merge_see_ticks(e);
	r.function = with.function = vt_merge_id(&e->f->functions, function);
	with.scl = vt_merge_id(&e->f->scls, scl);
	if (!r.function) {
		part->repairs.undefined++;
	}
	part->changes++;
	e->states->scl = with.scl;
	if (push_state(e->states, r.function) < 0) {
		part->error = (struct stf_err){ .code = STF_ERR_NOMEM, .text = "merge: out of memory for the states" };
		return -1;
	}
	if (__builtin_expect(part->idle != NULL, 0)) {
		vt_idle_enter(part, e, r.function, with.scl);
		return 0;
	}
	return with.scl ? stf_write_enter_function_1(part->w, &with) : stf_write_enter_function(part->w, &r);
}

/* If a call was left by longjmp() or by the end of its thread, how many bytes it moved is unknown, so none are
 * recorded. */
static int end_io(struct vt_merge_part *part, const struct vt_merge_event *e)
{
	struct stf_file_io_end r = {
		.time = e->time, .willy = e->willy, .type = e->states->io.type, .file = e->states->io.file
	};

	e->states->io.level = 0;
	return stf_write_file_io_end(part->w, &r);
}

static int write_leave(struct vt_merge_part *part, const struct vt_merge_event *e, uint32_t scl, int closes)
{
	struct stf_leave_function_1 with = { .time = e->time, .willy = e->willy };
	struct stf_leave_function r = { .time = e->time, .willy = e->willy };

	if (e->states->n == 0) {
		part->repairs.unmatched++;
		return 0;
	}
	if (e->states->io.level && e->states->io.level == e->states->n && end_io(part, e) < 0) {
		return -1;
	}
	e->states->n--;
	part->changes++;
	e->states->scl = 0;
	if (e->states->posted) {
		vt_merge_posted(part, e);
	}
	if (__builtin_expect(part->idle != NULL, 0)) {
		return vt_idle_leave(part, e, closes);
	}
	with.scl = vt_merge_id(&e->f->scls, scl);
	return with.scl ? stf_write_leave_function_1(part->w, &with) : stf_write_leave_function(part->w, &r);
}

int vt_merge_close_state(struct vt_merge_part *part, const struct vt_merge_event *e)
{
	part->repairs.closed += e->states->n > 0;
	return write_leave(part, e, 0, 1);
}

/* ---- one function for each kind ---- */

static int state_enter(struct vt_merge_part *part, const struct vt_merge_event *e)
{
	struct vt_raw_state_change body;

	memcpy(&body, e->body, sizeof(body));
	return write_enter(part, e, body.function, body.scl);
}

static int state_leave(struct vt_merge_part *part, const struct vt_merge_event *e)
{
	struct vt_raw_state_change body;

	memcpy(&body, e->body, sizeof(body));
	part->repairs.late += e->h->n == VT_RAW_LEFT_BEFORE && e->states->n > 0;
	return e->h->n == VT_RAW_CLOSED_BY_END ? vt_merge_close_state(part, e) : write_leave(part, e, body.scl, 0);
}

/* The body of a record of a scope, with the trace's ids. */
static struct vt_raw_scope scope_of_event(struct vt_merge_part *part, const struct vt_merge_event *e)
{
	struct vt_raw_scope ids;

	memcpy(&ids, e->body, sizeof(ids));
	ids.scope = vt_merge_id(&e->f->scopes, ids.scope);
	ids.scl = vt_merge_id(&e->f->scls, ids.scl);
	part->changes++;
	return ids;
}

static int scope_begin(struct vt_merge_part *part, const struct vt_merge_event *e)
{
	struct vt_raw_scope ids = scope_of_event(part, e);
	struct stf_enter_scope_1 with = { e->time, e->willy, ids.scope, ids.seqnr, ids.scl };
	struct stf_enter_scope r = { e->time, e->willy, ids.scope, ids.seqnr };

	return ids.scl ? stf_write_enter_scope_1(part->w, &with) : stf_write_enter_scope(part->w, &r);
}

static int scope_end(struct vt_merge_part *part, const struct vt_merge_event *e)
{
	struct vt_raw_scope ids = scope_of_event(part, e);
	struct stf_leave_scope_1 with = { e->time, e->willy, ids.scope, ids.seqnr, ids.scl };
	struct stf_leave_scope r = { e->time, e->willy, ids.scope, ids.seqnr };

	return ids.scl ? stf_write_leave_scope_1(part->w, &with) : stf_write_leave_scope(part->w, &r);
}

static int write_io_end(struct vt_merge_part *part, const struct vt_merge_event *e, uint32_t file, uint64_t bytes)
{
	uint8_t type = e->h->n & VT_RAW_READ;
	struct stf_file_io_end r = { .time = e->time, .willy = e->willy, .type = type, .file = file };
	struct stf_file_io_begin more = { .time = e->time, .willy = e->willy, .type = type, .file = file };

	r.bytes = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
	if (stf_write_file_io_end(part->w, &r) < 0) {
		return -1;
	}
	if (bytes <= UINT32_MAX) {
		return 0;
	}
	/* the field has 32 bits: the rest becomes another operation at the same time */
	bytes -= UINT32_MAX;
	more.bytes = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
	return stf_write_file_io_begin(part->w, &more) < 0 ? -1 : write_io_end(part, e, file, bytes);
}

static int transfer(struct vt_merge_part *part, const struct vt_merge_event *e)
{
	struct stf_file_io_begin r = { .time = e->time, .willy = e->willy, .type = e->h->n & VT_RAW_READ };
	struct vt_raw_transfer body;
	uint64_t bytes;

	memcpy(&body, e->body, sizeof(body));
	bytes = (uint64_t)body.bytes_high << 32 | body.bytes;
	r.file = vt_merge_id(&e->f->paths, body.file);
	if (!r.file || e->h->n > VT_RAW_READ_POSTED || bytes >> 48) {
		part->repairs.undefined++;
		return 0;
	}
	part->changes++;
	if (e->h->n <= VT_RAW_READ) {
		e->states->io.level = e->h->type == VT_RAW_IO_BEGIN ? e->states->n : 0;
		e->states->io.file = r.file;
		e->states->io.type = r.type;
	}
	if (e->h->type == VT_RAW_IO_END) {
		return write_io_end(part, e, r.file, bytes);
	}
	r.bytes = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
	return stf_write_file_io_begin(part->w, &r);
}

static int write_reported(struct vt_merge_part *part, const struct vt_merge_event *e)
{
	struct stf_report r = { .time = e->time, .willy = e->willy };
	uint64_t times[VT_RAW_REPORT_CALLS];
	uint32_t willys[VT_RAW_REPORT_CALLS], headers[VT_RAW_REPORT_CALLS], functions[VT_RAW_REPORT_CALLS],
		calls[VT_RAW_REPORT_CALLS], scls[VT_RAW_REPORT_CALLS], i;
	struct vt_raw_report body;

	memcpy(&body, e->body, sizeof(body));
	r.type = vt_merge_id(&e->f->texts, body.type);
	r.level = vt_merge_id(&e->f->texts, body.level);
	r.description = vt_merge_id(&e->f->texts, body.text);
	r.size_1_6 = e->h->n < VT_RAW_REPORT_CALLS ? e->h->n : VT_RAW_REPORT_CALLS;
	for (i = 0; i < r.size_1_6; i++) {
		const struct vt_raw_report_call *c = &body.call[i];
		int own = c->rank < 0;

		times[i] = e->time;
		willys[i] =
			own || (uint32_t)c->rank >= part->m->n_processes ? e->willy : STF_WILLY((uint32_t)c->rank, 0);
		headers[i] = vt_merge_id(&e->f->texts, c->header);
		functions[i] = vt_merge_id(&e->f->functions, c->function);
		calls[i] = vt_merge_id(&e->f->texts, c->call);
		scls[i] = own && e->states->scl ? e->states->scl : vt_merge_id(&e->f->scls, c->scl);
		if (own && !functions[i] && e->states->n) {
			functions[i] = e->states->function[e->states->n - 1];
		}
	}
	r.times = times;
	r.willys = willys;
	r.headers = headers;
	r.functions = functions;
	r.calls = calls;
	r.scls = scls;
	return stf_write_report(part->w, &r);
}

/* Indexed by the kind of event. Kinds that are handled elsewhere in the merge have no function here. */
static int (*const writers[32])(struct vt_merge_part *part, const struct vt_merge_event *e) = {
	[VT_RAW_ENTER] = state_enter,
	[VT_RAW_LEAVE] = state_leave,
	[VT_RAW_REPORT] = write_reported,
	[VT_RAW_SCOPE_BEGIN] = scope_begin,
	[VT_RAW_SCOPE_END] = scope_end,
	[VT_RAW_MESSAGE] = vt_merge_message,
	[VT_RAW_COLLECTIVE] = vt_merge_collective,
	[VT_RAW_LOGGED_SHARE] = vt_merge_collective,
	[VT_RAW_IO_BEGIN] = transfer,
	[VT_RAW_IO_END] = transfer,
};

int vt_merge_event(struct vt_merge_part *part, const struct vt_merge_event *e)
{
	/* of waits, the trace has neither scopes nor bytes of files */
	if (__builtin_expect(part->idle != NULL, 0) &&
		(e->h->type == VT_RAW_SCOPE_BEGIN || e->h->type == VT_RAW_SCOPE_END || e->h->type == VT_RAW_IO_BEGIN ||
			e->h->type == VT_RAW_IO_END)) {
		return 0;
	}
	return e->h->type < 32 && writers[e->h->type] ? writers[e->h->type](part, e) : 0;
}

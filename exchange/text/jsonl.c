/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes JSON lines: one object for the trace, then one for each event. A sample has one object for each value. */
#include "config.h"
#include "exchange/common/json.h"
#include "exchange/common/private.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/text/quote.h"

static void number_or_null(FILE *f, double v)
{
	char buf[32];

	xch_real(v, buf);
	fputs(isfinite(v) ? buf : "null", f);
}

static int jsonl_open(struct xch_writer *w, struct xch_trace *t, struct tkm_err *err)
{
	FILE *f = xch_create(w, w->base, err);
	const char *cls, *text;
	size_t i;

	if (!f) {
		return -1;
	}
	w->state = f;
	fputs("{\"type\":\"trace\",\"resolution\":", f);
	number_or_null(f, t->resolution);
	fprintf(f, ",\"eventbits\":%" PRIu32 ",\"bound\":", t->eventbits);
	number_or_null(f, t->worst_bound);
	fputs("}\n", f);
	for (i = 0; stf_reader_info(t->r, i, &cls, &text) == 0; i++) {
		if (cls && strcmp(cls, "integrity") && strcmp(cls, "late")) {
			fputs("{\"type\":\"info\",\"class\":", f);
			tkm_quote_json(f, cls);
			fputs(",\"text\":", f);
			tkm_quote_json(f, text);
			fputs("}\n", f);
		}
	}
	return 0;
}

static void put_place(FILE *f, const char *host, const struct xch_place *p)
{
	if (host && p->host) {
		fprintf(f, ",\"%s\":", host);
		tkm_quote_json(f, p->host);
	}
}

static void print_head(FILE *f, const struct xch_trace *t, const struct xch_event *e, const char *type)
{
	const struct xch_place *p = e->place;
	double bound = p->is_group ? t->worst_bound : xch_bound(t, p->process, e->time);

	fprintf(f, "{\"type\":\"%s\",\"time\":", type);
	xch_json_seconds(f, t, e->time);
	if (!isnan(bound)) {
		fputs(",\"bound\":", f);
		number_or_null(f, bound);
	}
	put_place(f, "host", p);
	if (p->is_group) {
		fputs(",\"group\":", f);
		tkm_quote_json(f, p->name ? p->name : "");
	} else {
		fprintf(f, ",\"rank\":%" PRIu32 ",\"thread\":%" PRIu32, p->process, p->thread);
	}
}

static void named(FILE *f, const char *what, const struct xch_named *n)
{
	fprintf(f, ",\"%s\":", what);
	tkm_quote_json(f, n ? n->name : "");
	if (n && *n->cls) {
		fputs(",\"class\":", f);
		tkm_quote_json(f, n->cls);
	}
}

static void communicator(FILE *f, const struct xch_trace *t, uint32_t id)
{
	const struct xch_communicator *c = xch_communicator(t, id);

	fprintf(f, ",\"communicator\":");
	tkm_quote_json(f, c ? c->name : "");
}

static void sample(struct xch_writer *w, FILE *f, const struct xch_trace *t, const struct xch_event *e)
{
	const struct xch_counter *c;
	uint32_t i;

	for (i = 0; i < e->u.sample.n; i++) {
		c = xch_counter(t, e->u.sample.counters[i]);
		if (!c) {
			xch_lost(w, XCH_SAMPLE, 1);
			continue;
		}
		print_head(f, t, e, "sample");
		fputs(",\"counter\":", f);
		tkm_quote_json(f, c->name);
		fputs(",\"value\":", f);
		xch_json_value(f, c, e->u.sample.values[i]);
		fputs(",\"unit\":", f);
		tkm_quote_json(f, c->unit);
		fputs("}\n", f);
	}
}

static void message(FILE *f, const struct xch_trace *t, const struct xch_event *e)
{
	const struct xch_message *m = &e->u.message;

	print_head(f, t, e, e->kind == XCH_SEND ? "send" : "receive");
	fprintf(f, ",\"id\":%" PRIu64 ",\"other_rank\":%" PRIu32 ",\"other_thread\":%" PRIu32, m->id, m->other->process,
		m->other->thread);
	communicator(f, t, m->communicator);
	fprintf(f, ",\"tag\":%" PRIu32 ",\"bytes\":%" PRIu32, m->tag, m->size);
}

static void collective(FILE *f, const struct xch_trace *t, const struct xch_event *e)
{
	const struct xch_coll *c = &e->u.coll;

	print_head(f, t, e, e->kind == XCH_COLL_BEGIN ? "collective_begin" : "collective_end");
	named(f, "operation", xch_collop(t, c->operation));
	communicator(f, t, c->communicator);
	fprintf(f, ",\"id\":%" PRIu64 ",\"sent\":%" PRIu64 ",\"received\":%" PRIu64, c->id, c->sent, c->received);
	if (c->root && !c->root->is_group) {
		fprintf(f, ",\"root_rank\":%" PRIu32, c->root->process);
	}
}

static void write_other_event(FILE *f, const struct xch_trace *t, const struct xch_event *e)
{
	const struct stf_value *v;

	switch (e->kind) {
	case XCH_ENTER:
	case XCH_LEAVE:
		print_head(f, t, e, e->kind == XCH_ENTER ? "enter" : "leave");
		named(f, "function", xch_function(t, e->u.function));
		break;
	case XCH_IO_BEGIN:
	case XCH_IO_END:
		print_head(f, t, e, e->kind == XCH_IO_BEGIN ? "io_begin" : "io_end");
		named(f, "file", xch_file_of(t, e->u.io.file));
		fprintf(f, ",\"operation\":%" PRIu32 ",\"bytes\":%" PRIu32, e->u.io.type, e->u.io.bytes);
		break;
	case XCH_SCOPE_BEGIN:
	case XCH_SCOPE_END:
		print_head(f, t, e, e->kind == XCH_SCOPE_BEGIN ? "scope_begin" : "scope_end");
		named(f, "scope", xch_scope(t, e->u.scope.scope));
		fprintf(f, ",\"number\":%" PRIu32, e->u.scope.seqnr);
		break;
	default: /* a comment */
		v = stf_value(e->record, "text");
		print_head(f, t, e, "comment");
		fputs(",\"text\":", f);
		tkm_quote_json(f, v && v->array ? v->array : "");
		break;
	}
}

static int jsonl_event(struct xch_writer *w, struct xch_trace *t, const struct xch_event *e, struct tkm_err *err)
{
	FILE *f = w->state;

	if (e->kind == XCH_SAMPLE) {
		sample(w, f, t, e);
	} else {
		if (e->kind == XCH_SEND || e->kind == XCH_RECEIVE) {
			message(f, t, e);
		} else if (e->kind == XCH_COLL_BEGIN || e->kind == XCH_COLL_END) {
			collective(f, t, e);
		} else {
			write_other_event(f, t, e);
		}
		fputs("}\n", f);
	}
	return ferror_unlocked(f) ? tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot write %s", w->target) : 0;
}

static int jsonl_close(struct xch_writer *w, struct xch_trace *t, int failed, struct tkm_err *err)
{
	(void)t;
	(void)failed;
	return w->state ? xch_close(w, w->state, w->base, err) : 0;
}

const struct xch_format xch_jsonl = {
	.name = "JSONL",
	.suffix = ".jsonl",
	.what = "JSON lines, an object for each event",
	.holds = 1u << XCH_ENTER | 1u << XCH_LEAVE | 1u << XCH_SAMPLE | 1u << XCH_SEND | 1u << XCH_RECEIVE |
		1u << XCH_COLL_BEGIN | 1u << XCH_COLL_END | 1u << XCH_IO_BEGIN | 1u << XCH_IO_END |
		1u << XCH_SCOPE_BEGIN | 1u << XCH_SCOPE_END | 1u << XCH_COMMENT | 1u << XCH_UNITS | 1u << XCH_INFOS |
		1u << XCH_BOUND,
	.stream = 1,
	.open = jsonl_open,
	.event = jsonl_event,
	.close = jsonl_close,
};

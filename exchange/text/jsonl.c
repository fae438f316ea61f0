/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes JSON lines: one object for the trace, then one for each event. A sample has one object for each value. */
#include "config.h"
#include "exchange/common/json.h"
#include "exchange/common/private.h"

#include <inttypes.h>
#include <math.h>

#include "base/text/quote.h"

static void number_or_null(FILE *f, double v)
{
	char buf[32];

	xch_real(v, buf);
	fputs(isfinite(v) ? buf : "null", f);
}

static int jsonl_open(struct xch_writer *w, struct xch_trace *t, struct tkm_err *err)
{
	const char *cls, *text;
	FILE *f = w->f;
	size_t i = 0;

	(void)err;
	fputs("{\"type\":\"trace\",\"resolution\":", f);
	number_or_null(f, t->resolution);
	fprintf(f, ",\"eventbits\":%" PRIu32 ",\"bound\":", t->eventbits);
	number_or_null(f, t->worst_bound);
	fputs("}\n", f);
	while (xch_next_info(t, &i, &cls, &text)) {
		fputs("{\"type\":\"info\",\"class\":", f);
		tkm_quote_json(f, cls);
		fputs(",\"text\":", f);
		tkm_quote_json(f, text);
		fputs("}\n", f);
	}
	return 0;
}

static void print_head(FILE *f, const struct xch_trace *t, const struct xch_event *e)
{
	const struct xch_place *p = e->place;
	double bound = p->is_group ? t->worst_bound : xch_bound(t, p->process, e->time);

	fprintf(f, "{\"type\":\"%s\",\"time\":", xch_kind_word(e->kind));
	xch_json_seconds(f, t, e->time);
	if (!isnan(bound)) {
		fputs(",\"bound\":", f);
		number_or_null(f, bound);
	}
	if (p->host) {
		fputs(",\"host\":", f);
		tkm_quote_json(f, p->host);
	}
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

static void sample(FILE *f, const struct xch_trace *t, const struct xch_event *e)
{
	const struct xch_counter *c;
	uint32_t i;

	for (i = 0; i < e->u.sample.n; i++) {
		c = e->u.sample.counter[i];
		fputs(i ? "}\n" : "", f);
		print_head(f, t, e);
		fputs(",\"counter\":", f);
		tkm_quote_json(f, c->name);
		fputs(",\"value\":", f);
		xch_json_value(f, c, e->u.sample.values[i]);
		fputs(",\"unit\":", f);
		tkm_quote_json(f, c->unit);
	}
}

static void message(FILE *f, const struct xch_trace *t, const struct xch_message *m)
{
	fprintf(f, ",\"id\":%" PRIu64 ",\"other_rank\":%" PRIu32 ",\"other_thread\":%" PRIu32, m->id, m->other->process,
		m->other->thread);
	communicator(f, t, m->communicator);
	fprintf(f, ",\"tag\":%" PRIu32, m->tag);
	xch_json_bytes(f, "bytes", m->size);
}

static void collective(FILE *f, const struct xch_trace *t, const struct xch_event *e)
{
	const struct xch_coll *c = &e->u.coll;

	named(f, "operation", e->what);
	communicator(f, t, c->communicator);
	fprintf(f, ",\"id\":%" PRIu64, c->id);
	xch_json_bytes(f, "sent", c->sent);
	xch_json_bytes(f, "received", c->received);
	if (c->root && !c->root->is_group) {
		fprintf(f, ",\"root_rank\":%" PRIu32, c->root->process);
	}
}

static int jsonl_event(struct xch_writer *w, struct xch_trace *t, const struct xch_event *e, struct tkm_err *err)
{
	FILE *f = w->f;

	(void)err;
	if (e->kind != XCH_SAMPLE) {
		print_head(f, t, e);
	}
	switch (e->kind) {
	case XCH_SAMPLE:
		sample(f, t, e);
		break;
	case XCH_SEND:
	case XCH_RECEIVE:
		message(f, t, &e->u.message);
		break;
	case XCH_COLL_BEGIN:
	case XCH_COLL_END:
		collective(f, t, e);
		break;
	case XCH_ENTER:
	case XCH_LEAVE:
		named(f, "function", e->what);
		break;
	case XCH_IO_BEGIN:
	case XCH_IO_END:
		named(f, "file", e->what);
		fprintf(f, ",\"operation\":%" PRIu32, e->u.io.type);
		xch_json_bytes(f, "bytes", e->u.io.bytes);
		break;
	case XCH_SCOPE_BEGIN:
	case XCH_SCOPE_END:
		named(f, "scope", e->what);
		fprintf(f, ",\"number\":%" PRIu32, e->u.scope_number);
		break;
	default: /* a comment */
		fputs(",\"text\":", f);
		tkm_quote_json(f, e->u.text.text);
	}
	if (e->where) {
		fputs(",\"location\":", f);
		tkm_quote_json(f, e->where->name);
	}
	fputs("}\n", f);
	return 0;
}

const struct xch_format xch_jsonl = {
	.name = "JSONL",
	.suffix = ".jsonl",
	.what = "JSON lines, an object for each event",
	.mark = "{\"type\":\"trace\",\"resolution\":",
	.holds = XCH_MOST | XCH_SCOPED | XCH_BIT(XCH_COMMENT) | XCH_BIT(XCH_LOCATIONS) | XCH_BIT(XCH_INFOS),
	.stream = 1,
	.open = jsonl_open,
	.event = jsonl_event,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the trace event format of Chrome, which Perfetto, speedscope and Trace Compass open. Functions become
 * slices, counters become counters, messages become flows. A process stays a process. A group with counters
 * becomes a process, too, numbered after the real ones. */
#include "config.h"
#include "exchange/common/json.h"
#include "exchange/common/private.h"
#include "exchange/text/chrome_read.h"
#include "exchange/text/chrome_restamp.h"

#include <inttypes.h>
#include <math.h>

#include "base/text/quote.h"

enum { EXACT_BITS = 53 }; /* readers of JSON have doubles */

struct chrome {
	int any;      /* an event was written already */
	int64_t zero; /* ns: the time 0 of the file */
};

static uint32_t pid_of(const struct xch_trace *t, const struct xch_place *p)
{
	return p->is_group ? t->n_processes + p->index : p->process;
}

/* "{"ph":"B","pid":0,"tid":0" of the next event. */
static void begin(struct xch_writer *w, const struct xch_trace *t, char phase, const struct xch_place *p)
{
	struct chrome *c = w->state;

	fprintf(w->f, "%s{\"ph\":\"%c\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32, c->any ? ",\n" : "\n", phase,
		pid_of(t, p), p->is_group ? 0 : p->thread);
	c->any = 1;
}

static void name_it(
	struct xch_writer *w, const struct xch_trace *t, const struct xch_place *p, const char *what, const char *name)
{
	begin(w, t, 'M', p);
	fprintf(w->f, ",\"name\":\"%s\",\"args\":{\"name\":", what);
	tkm_quote_json(w->f, name);
	fputs("}}", w->f);
}

static int chrome_open(struct xch_writer *w, struct xch_trace *t, struct tkm_err *err)
{
	struct chrome *c = w->state;
	const struct xch_place *p;
	char text[700], bound[32];
	size_t i;

	(void)err;
	xch_real(t->worst_bound, bound);
	fprintf(w->f, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"program\":\"%s\",\"clock_bound_s\":%s",
		PACKAGE_STRING, isnan(t->worst_bound) ? "null" : bound);
	if (t->start <= t->end && xch_ns(t, t->end) >> EXACT_BITS) {
		c->zero = xch_ns(t, t->start);
		fprintf(w->f, ",\"zero_ns\":\"%" PRId64 "\"", c->zero);
	}
	fputs("},\"traceEvents\":[", w->f);
	for (i = 0; i < t->n_places; i++) {
		p = &t->place[i];
		if (p->is_group) {
			name_it(w, t, p, "process_name", p->name ? p->name : "group");
			continue;
		}
		if (p->thread == 0) {
			snprintf(text, sizeof(text), "rank %u%s%.300s%s%.300s", p->process, p->host ? " on " : "",
				p->host ? p->host : "", p->name ? ": " : "", p->name ? p->name : "");
			name_it(w, t, p, "process_name", text);
		}
		snprintf(text, sizeof(text), "thread %u", p->thread);
		name_it(w, t, p, "thread_name", p->name && p->thread ? p->name : text);
	}
	return 0;
}

static void put_time(struct xch_writer *w, const struct xch_trace *t, uint64_t time)
{
	const struct chrome *c = w->state;
	int64_t ns = xch_ns(t, time);

	ns = ns < c->zero ? 0 : ns - c->zero;
	fprintf(w->f, ",\"ts\":%" PRId64 ".%03d", ns / 1000, (int)(ns % 1000));
}

static void sample(struct xch_writer *w, const struct xch_trace *t, const struct xch_event *e)
{
	const struct xch_counter *k;
	uint32_t i;

	for (i = 0; i < e->u.sample.n; i++) {
		k = e->u.sample.counter[i];
		begin(w, t, 'C', e->place);
		put_time(w, t, e->time);
		fputs(",\"name\":", w->f);
		tkm_quote_json(w->f, k->name);
		if (!e->place->is_group &&
			/* a counter belongs to a process: this number distinguishes the threads */
			e->place->thread) {
			fprintf(w->f, ",\"id\":%" PRIu32, e->place->thread);
		}
		fputs(",\"args\":{", w->f);
		tkm_quote_json(w->f, *k->unit ? k->unit : "value");
		fputc(':', w->f);
		xch_json_value(w->f, k, e->u.sample.values[i]);
		fputs("}}", w->f);
	}
}

static void message(struct xch_writer *w, const struct xch_trace *t, const struct xch_event *e)
{
	begin(w, t, e->kind == XCH_SEND ? 's' : 'f', e->place);
	put_time(w, t, e->time);
	fprintf(w->f, ",\"id\":%" PRIu64 ",\"cat\":\"message\",\"name\":\"message\"%s,\"args\":{\"tag\":%" PRIu32,
		e->u.message.id, e->kind == XCH_SEND ? "" : ",\"bp\":\"e\"", e->u.message.tag);
	xch_json_bytes(w->f, "bytes", e->u.message.size);
	if (e->where) {
		fputs(",\"location\":", w->f);
		tkm_quote_json(w->f, e->where->name);
	}
	fputs("}}", w->f);
}

static int chrome_event(struct xch_writer *w, struct xch_trace *t, const struct xch_event *e, struct tkm_err *err)
{
	(void)err;
	switch (e->kind) {
	case XCH_SAMPLE:
		sample(w, t, e);
		break;
	case XCH_SEND:
	case XCH_RECEIVE:
		message(w, t, e);
		break;
	default:
		if (e->kind == XCH_LEAVE && !e->u.function) {
			xch_lost(w, XCH_LEAVE, 1); /* this leave would end another slice */
			break;
		}
		begin(w, t, e->kind == XCH_ENTER ? 'B' : 'E', e->place);
		put_time(w, t, e->time);
		fputs(",\"name\":", w->f);
		tkm_quote_json(w->f, e->what ? e->what->name : "");
		if (e->what && *e->what->cls) {
			fputs(",\"cat\":", w->f);
			tkm_quote_json(w->f, e->what->cls);
		}
		if (e->where) {
			fputs(e->kind == XCH_ENTER ? ",\"args\":{\"location\":" : ",\"args\":{\"end location\":", w->f);
			tkm_quote_json(w->f, e->where->name);
			fputc('}', w->f);
		}
		fputc('}', w->f);
	}
	return 0;
}

static int chrome_end(struct xch_writer *w, struct xch_trace *t, struct tkm_err *err)
{
	(void)t;
	(void)err;
	fputs("\n]}\n", w->f);
	return 0;
}

const struct xch_format xch_chrome = {
	.name = "CHROME",
	.suffix = ".chrome.json",
	.what = "trace events of Chrome (Perfetto, speedscope, Trace Compass)",
	.mark = "{\"program\":\"Tickmark ",
	.holds = XCH_CALLS | XCH_BIT(XCH_SAMPLE) | XCH_MESSAGES | XCH_BIT(XCH_LOCATIONS) | XCH_BIT(XCH_UNITS),
	.stream = 1,
	.state_size = sizeof(struct chrome),
	.open = chrome_open,
	.event = chrome_event,
	.end = chrome_end,
#ifdef HAVE_ZLIB
	.read = xch_chrome_read,
	.is = xch_chrome_is,
	.unclocked = 1,
	.restamp = xch_chrome_restamp,
	.together = xch_chrome_together,
#endif
};

/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the trace event format of Chrome, which Perfetto, speedscope and Trace Compass open. Functions become
 * slices, counters become counters, messages become flows. A process stays a process. A group with counters
 * becomes a process, too, numbered after the real ones. */
#include "config.h"
#include "exchange/common/json.h"
#include "exchange/common/private.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/text/quote.h"

struct chrome {
	FILE *f;
	int any; /* an event was written already */
};

static uint32_t pid_of(const struct xch_trace *t, const struct xch_place *p)
{
	return p->is_group ? t->n_processes + p->index : p->process;
}

/* "{"ph":"B","pid":0,"tid":0" of the next event. */
static void begin(struct chrome *c, const struct xch_trace *t, char phase, const struct xch_place *p)
{
	fprintf(c->f, "%s{\"ph\":\"%c\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32, c->any ? ",\n" : "\n", phase,
		pid_of(t, p), p->is_group ? 0 : p->thread);
	c->any = 1;
}

static void name_it(
	struct chrome *c, const struct xch_trace *t, const struct xch_place *p, const char *what, const char *name)
{
	begin(c, t, 'M', p);
	fprintf(c->f, ",\"name\":\"%s\",\"args\":{\"name\":", what);
	tkm_quote_json(c->f, name);
	fputs("}}", c->f);
}

static int chrome_open(struct xch_writer *w, struct xch_trace *t, struct tkm_err *err)
{
	struct chrome *c = calloc(1, sizeof(*c));
	const struct xch_place *p;
	char text[700], bound[32];
	size_t i;

	if (!c) {
		return xch_fail_memory(err, w->target);
	}
	w->state = c;
	c->f = xch_create(w, w->base, err);
	if (!c->f) {
		return -1;
	}
	xch_real(t->worst_bound, bound);
	fprintf(c->f,
		"{\"displayTimeUnit\":\"ns\",\"otherData\":{\"program\":\"%s\",\"clock_bound_s\":%s},\"traceEvents\":[",
		PACKAGE_STRING, isnan(t->worst_bound) ? "null" : bound);
	for (i = 0; i < t->n_places; i++) {
		p = &t->place[i];
		if (p->is_group) {
			name_it(c, t, p, "process_name", p->name ? p->name : "group");
			continue;
		}
		if (p->thread == 0) {
			snprintf(text, sizeof(text), "rank %u%s%.300s%s%.300s", p->process, p->host ? " on " : "",
				p->host ? p->host : "", p->name ? ": " : "", p->name ? p->name : "");
			name_it(c, t, p, "process_name", text);
		}
		snprintf(text, sizeof(text), "thread %u", p->thread);
		name_it(c, t, p, "thread_name", p->name && p->thread ? p->name : text);
	}
	return 0;
}

static void put_time(struct chrome *c, const struct xch_trace *t, uint64_t time)
{
	fputs(",\"ts\":", c->f);
	xch_json_microseconds(c->f, t, time);
}

static void sample(struct xch_writer *w, struct chrome *c, const struct xch_trace *t, const struct xch_event *e)
{
	const struct xch_counter *k;
	uint32_t i;

	for (i = 0; i < e->u.sample.n; i++) {
		k = xch_counter(t, e->u.sample.counters[i]);
		if (!k) {
			xch_lost(w, XCH_SAMPLE, 1);
			continue;
		}
		begin(c, t, 'C', e->place);
		put_time(c, t, e->time);
		fputs(",\"name\":", c->f);
		tkm_quote_json(c->f, k->name);
		if (!e->place->is_group &&
			/* a counter belongs to a process: this number distinguishes the threads */
			e->place->thread) {
			fprintf(c->f, ",\"id\":%" PRIu32, e->place->thread);
		}
		fputs(",\"args\":{", c->f);
		tkm_quote_json(c->f, *k->unit ? k->unit : "value");
		fputc(':', c->f);
		xch_json_value(c->f, k, e->u.sample.values[i]);
		fputs("}}", c->f);
	}
}

static void message(struct chrome *c, const struct xch_trace *t, const struct xch_event *e)
{
	begin(c, t, e->kind == XCH_SEND ? 's' : 'f', e->place);
	put_time(c, t, e->time);
	fprintf(c->f,
		",\"id\":%" PRIu64 ",\"cat\":\"message\",\"name\":\"message\"%s,\"args\":{\"tag\":%" PRIu32
		",\"bytes\":%" PRIu32 "}}",
		e->u.message.id, e->kind == XCH_SEND ? "" : ",\"bp\":\"e\"", e->u.message.tag, e->u.message.size);
}

static int chrome_event(struct xch_writer *w, struct xch_trace *t, const struct xch_event *e, struct tkm_err *err)
{
	struct chrome *c = w->state;
	const struct xch_named *n;

	switch (e->kind) {
	case XCH_SAMPLE:
		sample(w, c, t, e);
		break;
	case XCH_SEND:
	case XCH_RECEIVE:
		message(c, t, e);
		break;
	default:
		n = xch_function(t, e->u.function);
		if (e->kind == XCH_LEAVE && !e->u.function) {
			xch_lost(w, XCH_LEAVE, 1); /* this leave would end another slice */
			break;
		}
		begin(c, t, e->kind == XCH_ENTER ? 'B' : 'E', e->place);
		put_time(c, t, e->time);
		fputs(",\"name\":", c->f);
		tkm_quote_json(c->f, n ? n->name : "");
		if (n && *n->cls) {
			fputs(",\"cat\":", c->f);
			tkm_quote_json(c->f, n->cls);
		}
		fputc('}', c->f);
	}
	return ferror_unlocked(c->f) ? tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot write %s", w->target) : 0;
}

static int chrome_close(struct xch_writer *w, struct xch_trace *t, int failed, struct tkm_err *err)
{
	struct chrome *c = w->state;
	int rc = 0;

	(void)t;
	if (c && c->f) {
		if (!failed) {
			fputs("\n]}\n", c->f);
		}
		rc = xch_close(w, c->f, w->base, err);
	}
	free(c);
	return rc;
}

const struct xch_format xch_chrome = {
	.name = "CHROME",
	.suffix = ".chrome.json",
	.what = "trace events of Chrome (Perfetto, speedscope, Trace Compass)",
	.holds = 1u << XCH_ENTER | 1u << XCH_LEAVE | 1u << XCH_SAMPLE | 1u << XCH_SEND | 1u << XCH_RECEIVE |
		1u << XCH_UNITS,
	.stream = 1,
	.open = chrome_open,
	.event = chrome_event,
	.close = chrome_close,
};

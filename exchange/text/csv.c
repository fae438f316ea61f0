/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the samples of counters as comma-separated values, as a time series. The long layout has a line for each
 * value. The wide layout has a line for each thread and time, and a column for each counter; an empty cell means
 * that there was no sample. The decimal mark is always a point, whatever the locale. */
#include "config.h"
#include "exchange/common/private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The last sample of a running total, needed to compute its rate. */
struct rate {
	uint64_t time, value;
	double interval; /* recent time between samples; 0: unknown */
	int seen;
};

struct csv {
	char **who;              /* per place: "host,rank,thread" */
	char **name, **unit;     /* per counter, as cells */
	struct rate **rate;      /* per place, for all counters; NULL: no sample yet */
	char (*cell)[32];        /* wide: per counter; "": no value */
	struct xch_place *place; /* wide: the place whose line is being collected; NULL: none */
	uint64_t time;
};

/* Writes a text as a cell: in quotes if necessary, with inner quotes doubled. */
static char *quoted(const char *s)
{
	size_t n = strlen(s), k = 0, i;
	char *q;

	if (!s[strcspn(s, ",\"\r\n")] && (n == 0 || (s[0] != ' ' && s[n - 1] != ' '))) {
		return strdup(s);
	}
	q = malloc(2 * n + 3);
	if (q) {
		q[k++] = '"';
		for (i = 0; i < n; i++) {
			if (s[i] == '"') {
				q[k++] = '"';
			}
			q[k++] = s[i];
		}
		q[k++] = '"';
		q[k] = 0;
	}
	return q;
}

static char *who_of(const struct xch_place *p)
{
	char *host = quoted(p->host ? p->host : ""), *group, *out = NULL;

	if (!p->is_group) {
		if (host && asprintf(&out, "%s,%u,%u", host, p->process, p->thread) < 0) {
			out = NULL;
		}
	} else {
		/* a group that is not a node is named in the column of the thread */
		group = quoted(p->name && (!p->host || strcmp(p->name, p->host) != 0) ? p->name : "");
		if (host && group && asprintf(&out, "%s,,%s", host, group) < 0) {
			out = NULL;
		}
		free(group);
	}
	free(host);
	return out;
}

static void csv_release(struct xch_writer *w, struct xch_trace *t)
{
	struct csv *c = w->state;
	size_t i;

	for (i = 0; c->who && i < t->n_places; i++) {
		free(c->who[i]);
	}
	for (i = 0; c->rate && i < t->n_places; i++) {
		free(c->rate[i]);
	}
	for (i = 0; i < t->n_counters; i++) {
		free(c->name ? c->name[i] : NULL);
		free(c->unit ? c->unit[i] : NULL);
	}
	free(c->who);
	free(c->rate);
	free(c->name);
	free(c->unit);
	free(c->cell);
}

static int make_cells(struct csv *c, const struct xch_writer *w, const struct xch_trace *t)
{
	char text[1200];
	size_t i;

	for (i = 0; i < t->n_places; i++) {
		c->who[i] = who_of(&t->place[i]);
		if (!c->who[i]) {
			return -1;
		}
	}
	for (i = 0; i < t->n_counters; i++) {
		const struct xch_counter *k = &t->counter[i];
		const char *per = w->o->rate && k->total ? "/s" : "", *unit = *per && !*k->unit ? "1" : k->unit;

		snprintf(text, sizeof(text), "%s%s%s%s%s", k->name, *unit ? " [" : "", unit, per, *unit ? "]" : "");
		c->name[i] = quoted(w->o->layout == XCH_WIDE ? text : k->name);
		snprintf(text, sizeof(text), "%s%s", unit, per);
		c->unit[i] = quoted(text);
		if (!c->name[i] || !c->unit[i]) {
			return -1;
		}
	}
	return 0;
}

static int csv_open(struct xch_writer *w, struct xch_trace *t, struct tkm_err *err)
{
	struct csv *c = w->state;
	size_t i;

	c->who = calloc(t->n_places + 1, sizeof(*c->who));
	c->rate = calloc(t->n_places + 1, sizeof(*c->rate));
	c->name = calloc(t->n_counters + 1, sizeof(*c->name));
	c->unit = calloc(t->n_counters + 1, sizeof(*c->unit));
	c->cell = calloc(t->n_counters + 1, sizeof(*c->cell));
	if (!c->who || !c->rate || !c->name || !c->unit || !c->cell || make_cells(c, w, t) < 0) {
		return xch_fail_memory(err, w->target);
	}
	fputs(w->o->layout == XCH_WIDE ? "time,bound,host,rank,thread"
				       : "time,bound,host,rank,thread,counter,value,unit",
		w->f);
	for (i = 0; i < t->n_counters && w->o->layout == XCH_WIDE; i++) {
		fprintf(w->f, ",%s", c->name[i]);
	}
	fputc('\n', w->f);
	return 0;
}

/* Computes the change per second since the previous sample. Returns 0 if there is none. A sample that follows another one at once is
 * joined with the next one: a total that grows by whole clock ticks would have a rate of 20 processors between the two. */
static int rate_text(struct csv *c, const struct xch_trace *t, const struct xch_event *e, const struct xch_counter *k,
	uint64_t bits, char *buf)
{
	struct rate **all = &c->rate[e->place->index], *r, old;
	double now, then, change;

	*all = *all ? *all : calloc(t->n_counters, sizeof(**all));
	if (!*all) {
		return -1;
	}
	r = &(*all)[k->index];
	old = *r;
	if (!old.seen) {
		*r = (struct rate){ e->time, bits, 0, 1 };
		return 0;
	}
	/* of several samples at the same time the first counts */
	if (e->time <= old.time || (double)(e->time - old.time) < old.interval / 4) {
		return 0;
	}
	r->interval += ((double)(e->time - old.time) - r->interval) / (r->interval > 0 ? 8 : 1);
	r->time = e->time;
	r->value = bits;
	if (k->type == STF_COUNTER_F8) {
		memcpy(&now, &bits, sizeof(now));
		memcpy(&then, &old.value, sizeof(then));
		change = now - then;
	} else {
		change = (double)(int64_t)(bits - old.value);
	}
	return xch_real(change / ((double)(e->time - old.time) * t->resolution), buf);
}

/* Prints a value into a cell. Returns its length, 0: no value. */
static int text_of(struct csv *c, const struct xch_writer *w, const struct xch_trace *t, const struct xch_event *e,
	const struct xch_counter *k, uint64_t bits, char *buf)
{
	return w->o->rate && k->total ? rate_text(c, t, e, k, bits, buf) : xch_value(k, bits, buf);
}

/* "time,bound,host,rank,thread" */
static void put_head(const struct xch_writer *w, const struct xch_trace *t, const struct xch_place *p, uint64_t time)
{
	double bound = p->is_group ? t->worst_bound : xch_bound(t, p->process, time);
	const struct csv *c = w->state;
	char buf[48];
	int n = xch_seconds(t, time, buf);

	fwrite_unlocked(buf, 1, (size_t)n, w->f);
	putc_unlocked(',', w->f);
	if (!isnan(bound)) {
		n = xch_real(bound, buf);
		fwrite_unlocked(buf, 1, (size_t)n, w->f);
	}
	putc_unlocked(',', w->f);
	fputs_unlocked(c->who[p->index], w->f);
}

static int end_line(struct xch_writer *w, struct xch_trace *t, struct tkm_err *err)
{
	struct csv *c = w->state;
	size_t i;

	(void)err;
	if (!c->place) {
		return 0;
	}
	put_head(w, t, c->place, c->time);
	for (i = 0; i < t->n_counters; i++) {
		putc_unlocked(',', w->f);
		fputs_unlocked(c->cell[i], w->f);
		c->cell[i][0] = 0;
	}
	putc_unlocked('\n', w->f);
	c->place = NULL;
	return 0;
}

static int csv_event(struct xch_writer *w, struct xch_trace *t, const struct xch_event *e, struct tkm_err *err)
{
	struct csv *c = w->state;
	char buf[48];
	uint32_t i;
	int n;

	for (i = 0; i < e->u.sample.n; i++) {
		const struct xch_counter *k = e->u.sample.counter[i];

		n = text_of(c, w, t, e, k, e->u.sample.values[i], buf);
		if (n < 0) {
			return xch_fail_memory(err, w->target);
		}
		if (n == 0) {
			continue;
		}
		if (w->o->layout == XCH_WIDE) {
			if (c->place != e->place || c->time != e->time || c->cell[k->index][0]) {
				end_line(w, t, err);
				c->place = e->place;
				c->time = e->time;
			}
			memcpy(c->cell[k->index], buf, (size_t)n + 1);
			continue;
		}
		put_head(w, t, e->place, e->time);
		putc_unlocked(',', w->f);
		fputs_unlocked(c->name[k->index], w->f);
		putc_unlocked(',', w->f);
		fwrite_unlocked(buf, 1, (size_t)n, w->f);
		putc_unlocked(',', w->f);
		fputs_unlocked(c->unit[k->index], w->f);
		putc_unlocked('\n', w->f);
	}
	return 0;
}

const struct xch_format xch_csv = {
	.name = "CSV",
	.suffix = ".csv",
	.what = "comma-separated values, a line for each sample",
	.holds = XCH_BIT(XCH_SAMPLE) | XCH_BIT(XCH_UNITS) | XCH_BIT(XCH_BOUND),
	.stream = 1,
	.table = 1,
	.rates = 1,
	.state_size = sizeof(struct csv),
	.open = csv_open,
	.event = csv_event,
	.end = end_line,
	.release = csv_release,
	.read = xch_csv_read,
	.is = xch_csv_is,
};

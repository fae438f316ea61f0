/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts the timeline of a page together. */
#include "config.h"
#include "report/timeline/timeline.h"

#include <inttypes.h>
#include <stdlib.h>

#include "report/html/frame.h"
#include "report/timeline/detail.h"
#include "report/timeline/overview.h"

enum {
	LEAST_BINS = 64,
	MOST_BINS = 4096,
	CELL_BYTES = 7,          /* of a bin that differs from its neighbour */
	REST_OF_PAGE = 96 << 10, /* names, script, and what comes after the data */
	LEAST_ROOM = 64 << 10,
	DETAILS = 40,
	TRIES = 14
};

/* The overview may take a third of the page. */
static uint32_t choose_bins(const struct vtr_names *n, uint64_t size)
{
	uint64_t bins = size / 4 / ((uint64_t)CELL_BYTES * (n->rows ? n->rows : 1));

	return bins < LEAST_BINS ? LEAST_BINS : bins > MOST_BINS ? MOST_BINS : (uint32_t)bins;
}

int vtr_timeline_begin(struct vtr_timeline *l, const struct vtr_trace *t, uint64_t size, struct vtr_traffic *traffic)
{
	*l = (struct vtr_timeline){ .size = size, .shown = t->stacks > 0 };
	if (vtr_names_begin(&l->names, t) < 0) {
		return -1;
	}
	return l->shown ? vtr_waits_find(&l->waits, &l->names, choose_bins(&l->names, size), traffic) : 0;
}

void vtr_timeline_free(struct vtr_timeline *l)
{
	vtr_names_free(&l->names);
	vtr_waits_free(&l->waits);
}

void vtr_timeline_show(FILE *f, const struct vtr_timeline *l)
{
	if (!l->shown) {
		return;
	}
	vtr_section(f, "timeline", "Timeline");
	fputs("<div id=\"timeline-view\"><p class=\"soft\">The timeline is drawn by the script of this page, which did not "
	      "run. The tables have its numbers.</p></div>\n",
		f);
	if (l->names.left_out) {
		fprintf(f, "<p class=\"soft\">%" PRIu64 " further threads have no row.</p>\n", l->names.left_out);
	}
	vtr_waits_show(f, &l->waits);
}

/* ---- data ---- */

struct stretch {
	uint64_t from, until;
};

struct details {
	FILE *f;
	struct vtr_names *names;
	struct stretch done[DETAILS];
	size_t n;
	uint64_t room; /* bytes of the page that are left */
};

static void put_stretch(struct details *d, const struct vtr_bytes *b, uint64_t from, uint64_t until)
{
	uint64_t taken = (b->n + 2) / 3 * 4 + 4;

	fputs(d->n ? ",\n\"" : "\"", d->f);
	vtr_bytes_write(d->f, b);
	fputc('"', d->f);
	d->done[d->n++] = (struct stretch){ from, until };
	d->room = d->room > taken ? d->room - taken : 0;
}

static int is_done(const struct details *d, uint64_t from, uint64_t until)
{
	size_t i;

	for (i = 0; i < d->n; i++) {
		if (from >= d->done[i].from && until <= d->done[i].until) {
			return 1;
		}
	}
	return 0;
}

/* Writes as much around the stamp `at` as fits, from `width` before it on at most. */
static void write_around(struct details *d, uint64_t at, double width)
{
	uint64_t limit = d->room / 6 > LEAST_ROOM / 2 ? d->room / 6 : LEAST_ROOM / 2;
	struct vtr_bytes b = { 0 };
	int tries, rc = 0;

	limit = limit * 4 / 3 < d->room ? limit : d->room * 3 / 4;
	for (tries = 0; tries < TRIES && rc == 0 && d->n < DETAILS; tries++, width /= 2) {
		uint64_t before = (uint64_t)width, after = (uint64_t)(width / 3) + 1;
		uint64_t from = at - d->names->origin > before ? at - before : d->names->origin;
		uint64_t until = d->names->end - at > after ? at + after : d->names->end;

		if (is_done(d, from, until)) {
			break;
		}
		rc = vtr_detail_read(&b, d->names, from, until, limit);
		if (rc == 1) {
			put_stretch(d, &b, from, until);
		}
		vtr_bytes_free(&b);
	}
}

static void write_details(struct details *d, const struct vtr_waits *w)
{
	static const int hundredths[] = { 50, 2, 97, 25, 75 };
	uint64_t length = d->names->end - d->names->origin;
	size_t i;

	for (i = 0; i < w->n && d->room > LEAST_ROOM; i++) {
		const struct stf_single_wait *s = &w->worst[i].wait;

		write_around(d, s->to, 1.25 * (double)(s->to - s->from));
	}
	for (i = 0; i < sizeof(hundredths) / sizeof(hundredths[0]) && d->room > LEAST_ROOM; i++) {
		write_around(d, d->names->origin + length / 100 * (uint64_t)hundredths[i], (double)length / 50);
	}
}

static void write_kinds(FILE *f)
{
	int k;

	fputs("\"kinds\":[", f);
	for (k = 0; k < STF_WAIT_KINDS; k++) {
		fputs(k ? "," : "", f);
		vtr_json(f, stf_wait_name((enum stf_wait_kind)k));
	}
	fputs("],\n", f);
}

static uint64_t room_in_page(FILE *f, uint64_t size)
{
	long written = ftell(f);
	uint64_t taken = (written > 0 ? (uint64_t)written : 0) + REST_OF_PAGE;

	return size > taken + LEAST_ROOM ? size - taken : LEAST_ROOM;
}

void vtr_timeline_data(FILE *f, struct vtr_timeline *l)
{
	struct vtr_bytes b = { 0 };
	struct details d = { .f = f, .names = &l->names };
	int whole;

	if (!l->shown) {
		return;
	}
	d.room = room_in_page(f, l->size);
	fputs("<script type=\"application/json\" id=\"timeline-data\">{\"details\":[", f);
	whole = vtr_detail_read(&b, &l->names, l->names.origin, l->names.end, d.room * 3 / 4);
	if (whole == 1) {
		put_stretch(&d, &b, l->names.origin, l->names.end);
		fputs("],\n", f);
	} else {
		struct vtr_bytes o = { 0 };

		if (vtr_overview_read(&o, &l->names, &l->waits) < 0) {
			vtr_bytes_free(&o);
		}
		d.room = d.room > o.n / 3 * 4 + LEAST_ROOM ? d.room - o.n / 3 * 4 : LEAST_ROOM;
		write_details(&d, &l->waits);
		fprintf(f, "],\n\"bin\":%.17g,\"overview\":\"",
			(double)l->waits.width / (double)(UINT64_C(1) << l->names.shift));
		vtr_bytes_write(f, &o);
		fputs("\",\n", f);
		vtr_bytes_free(&o);
	}
	vtr_bytes_free(&b);
	write_kinds(f);
	if (l->served) {
		fputs("\"served\":\"detail\",\n", f);
		vtr_names_all(&l->names);
	}
	vtr_names_write(f, &l->names);
	fputs("}</script>\n", f);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* --ideal and --faster: how long the run would take, and a trace of it. */
#include "config.h"
#include "tools/convert/play.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text/text.h"
#include "include/analysis.h"
#include "tools/convert/convert.h"
#include "tools/convert/moves.h"

enum { MOST_FIELDS = 32 };

struct play {
	const struct stt_options *o;
	const struct stt_trace *t;
	struct stf_analysis_options how;
	char what[400]; /* in words */
	struct stt_moves moves;
	uint64_t *start, *delta; /* of the members of an operation */
	size_t start_room, delta_room;
};

/* ---- what is asked for ---- */

/* "LATENCY:BANDWIDTH", or nothing. */
static int read_network(struct play *p, const char *text)
{
	char latency[64];
	const char *colon = strchr(text, ':');
	long long bytes = 0;
	const struct tkm_option options[] = { { "IDEAL", TKM_OPTION_TIME, &p->how.latency, 0, 1000, NULL, NULL },
		{ "IDEAL", TKM_OPTION_BYTES, &bytes, 1, 1e18, NULL, NULL } };
	struct tkm_err e;

	if (!*text) {
		snprintf(p->what, sizeof(p->what), "with a network without delay");
		return STT_OK;
	}
	if (!colon || (size_t)(colon - text) >= sizeof(latency)) {
		return stt_usage(p->o, "--ideal: '%s' is not LATENCY:BANDWIDTH, such as 1us:10GB", text);
	}
	snprintf(latency, sizeof(latency), "%.*s", (int)(colon - text), text);
	if (tkm_option_set(&options[0], latency, "--ideal", &e) < 0 ||
		tkm_option_set(&options[1], colon + 1, "--ideal", &e) < 0) {
		return stt_usage(p->o, "%s", e.text);
	}
	p->how.bandwidth = (double)bytes;
	snprintf(p->what, sizeof(p->what), "with %.4g s for a message and %.4g bytes a second", p->how.latency,
		p->how.bandwidth);
	return STT_OK;
}

/* The id of a function by its name, with or without its class; 0: there is none. */
static uint32_t function_of_name(const struct stt_trace *t, const char *name)
{
	size_t n = stf_reader_count(t->r, STF_ID_function_definition), i;
	char full[1024];

	for (i = 0; i < n; i++) {
		uint32_t id = (uint32_t)stf_reader_record(t->r, STF_ID_function_definition, i)->values[0].u;
		const char *own = stf_reader_name(t->r, STF_ID_function_definition, id);
		const char *whole = stt_full_name(t, STF_ID_function_definition, id, full, sizeof(full));

		if ((own && !strcmp(own, name)) || (whole && !strcmp(whole, name))) {
			return id;
		}
	}
	return 0;
}

/* "FUNCTION=PERCENT"; the name may contain "=". */
static int read_change(struct play *p, const char *text)
{
	const char *equals = strrchr(text, '=');
	char *end = NULL, name[300];
	double percent = equals ? strtod(equals + 1, &end) : -1;

	if (!equals || equals == text || end == equals + 1 || (*end && strcmp(end, "%") != 0) || !(percent >= 0) ||
		percent > 100 || (size_t)(equals - text) >= sizeof(name)) {
		return stt_usage(p->o, "--faster: '%s' is not FUNCTION=PERCENT, such as main=20", text);
	}
	snprintf(name, sizeof(name), "%.*s", (int)(equals - text), text);
	p->how.function = function_of_name(p->t, name);
	p->how.keeps = 1 - percent / 100;
	if (!p->how.function) {
		return stt_fault(p->o,
			"%s: --faster: no function %s in this trace; --analyze lists those on the critical path",
			p->o->input, name);
	}
	snprintf(p->what, sizeof(p->what), "with %.4g %% less time in %s", percent, name);
	return STT_OK;
}

/* ---- the trace ---- */

/* The willy of member i of a communicator; UINT32_MAX: there is none. */
static uint32_t member_of_communicator(const struct stf_communicator_definition *d, uint32_t i)
{
	uint32_t k;

	for (k = 0; k < d->size_2_3; k++) {
		int64_t step = d->stride[k] ? d->stride[k] : 1;
		int64_t n = ((int64_t)d->last_id[k] - (int64_t)d->first_id[k]) / step + 1;

		if ((int64_t)i < n) {
			return (uint32_t)((int64_t)d->first_id[k] + (int64_t)i * step);
		}
		i -= (uint32_t)n;
	}
	return UINT32_MAX;
}

static size_t field_of_record(const struct stf_record *rec, const char *name)
{
	size_t k;

	for (k = 0; k < rec->layout->n_fields && strcmp(rec->layout->fields[k].name, name) != 0; k++) {
	}
	return k;
}

/* The parts of the members, from the first of them on. */
static int move_operation(struct play *p, const struct stf_record *rec, struct stf_value *v)
{
	size_t s = field_of_record(rec, "start_time"), d = field_of_record(rec, "delta"),
	       c = field_of_record(rec, "communicator");
	const struct stf_record *r =
		stf_reader_find(p->t->r, STF_ID_communicator_definition, (uint32_t)rec->values[c].u);
	struct stf_communicator_definition members = { 0 };
	const uint64_t *start = rec->values[s].array, *delta = rec->values[d].array;
	uint32_t n = rec->values[s].count, i;
	uint64_t first = UINT64_MAX;

	if (TKM_GROW(p->start, p->start_room, (size_t)n + 1) < 0 ||
		TKM_GROW(p->delta, p->delta_room, (size_t)n + 1) < 0) {
		return -1;
	}
	if (r) {
		stf_get_communicator_definition(r, &members);
	}
	for (i = 0; i < n; i++) {
		uint32_t willy = member_of_communicator(&members, i);

		p->start[i] = p->delta[i] = UINT64_MAX;
		if (start[i] != UINT64_MAX) {
			p->start[i] = stt_move_stamp(&p->moves, willy, rec->time + start[i], STT_MOVE_SENT);
			p->delta[i] =
				stt_move_stamp(&p->moves, willy, rec->time + start[i] + delta[i], STT_MOVE_RECEIVED) -
				p->start[i];
			first = p->start[i] < first ? p->start[i] : first;
		} else {
			p->delta[i] = delta[i];
		}
	}
	for (i = 0; i < n; i++) {
		p->start[i] -= p->start[i] != UINT64_MAX ? first : 0;
	}
	v[0].u = first != UINT64_MAX ? first : stt_move_stamp(&p->moves, 0, rec->time, STT_MOVE_EVENLY);
	v[s].array = p->start;
	v[d].array = p->delta;
	return 0;
}

static void move_message(struct play *p, const struct stf_record *rec, struct stf_value *v)
{
	int64_t takes = (int64_t)rec->values[2].u;

	v[0].u = stt_move_stamp(&p->moves, (uint32_t)rec->values[1].u, rec->time, STT_MOVE_SENT);
	if (takes != STF_RECEIVE_UNKNOWN && takes != STF_SEND_UNKNOWN) {
		v[2].u = stt_move_stamp(&p->moves, (uint32_t)rec->values[3].u, rec->time + (uint64_t)takes,
				 STT_MOVE_RECEIVED) -
			v[0].u;
	}
}

/* Writes a record at its new time. */
static int write_moved(struct play *p, struct stf_writer *w, const struct stf_record *rec)
{
	struct stf_value v[MOST_FIELDS];
	struct stf_record moved = *rec;
	uint32_t willy;

	if (rec->layout->n_fields > MOST_FIELDS || !rec->layout->n_fields) {
		return 0;
	}
	memcpy(v, rec->values, rec->layout->n_fields * sizeof(*v));
	moved.values = v;
	switch (rec->layout->class_id) {
	case STF_ID_all_communication:
	case STF_ID_all_to_all_communication:
	case STF_ID_all_to_one_communication:
	case STF_ID_one_to_all_communication:
		if (move_operation(p, rec, v) < 0) {
			stt_fault(p->o, "out of memory");
			return -1;
		}
		break;
	case STF_ID_one_to_one_communication:
		move_message(p, rec, v);
		break;
	case STF_ID_report:
		return 0; /* it is about times of the run itself */
	default:
		willy = rec->layout->n_fields > 1 && rec->layout->fields[1].type == STF_WILLYID ? (uint32_t)v[1].u : 0;
		v[0].u = stt_move_stamp(&p->moves, willy, rec->time, STT_MOVE_EVENLY);
	}
	moved.time = v[0].u;
	return stf_write_record(w, &moved);
}

/* Clocks of a run that did not happen have no error; the bounds of the run that it was made of stay, the largest of each process. */
static int write_bounds(const struct play *p, struct stf_writer *w)
{
	const struct stf_record *rec;
	const char *cls, *text;
	char line[100];
	unsigned process;
	size_t i;
	int n, rc = 0;

	for (i = 0; rc == 0 && (rec = stf_reader_record(p->t->r, STF_ID_info, i)); i++) {
		struct stf_info info;
		struct stf_bound b;
		double most = 0;

		if (stf_reader_info(p->t->r, i, &cls, &text) < 0 || !cls || !text || strcmp(cls, "clock-bound") != 0 ||
			sscanf(text, "process %u%n", &process, &n) != 1) {
			continue;
		}
		for (text += n; stf_bound_next(&text, &b);) {
			most = isnan(b.seconds) || b.seconds > most ? b.seconds : most;
		}
		if (!isnan(most)) {
			snprintf(line, sizeof(line), "process %u 0 %.9g", process, tkm_round_up(most, 9, 'g'));
			stf_get_info(rec, &info);
			info.info = line;
			info.size_1_1 = (uint32_t)strlen(line);
			rc = stf_write_info(w, &info);
		}
	}
	return rc;
}

/* Returns 1: the times are not those of the trace. */
static int fill_played(void *user, struct stf_writer *w)
{
	struct play *p = user;
	const struct stf_record *rec;
	struct stf_err e;
	struct stf_cursor *c = stf_cursor_open(p->t->r, NULL, &e);
	char line[700];
	int more = c ? 1 : -1, rc;

	snprintf(
		line, sizeof(line), "this run did not happen: it is %.200s as it would be %.400s", p->t->path, p->what);
	rc = stf_writer_info(w, "played", line) < 0 ? -1 : write_bounds(p, w);
	while (rc == 0 && more > 0 && (more = stf_cursor_next(c, &rec, &e)) > 0) {
		stt_progress(p->o, p->t, rec->time, 0);
		rc = rec->layout->kind <= STF_KIND_OTHER ? write_moved(p, w, rec) : 0;
	}
	stf_cursor_close(c);
	stt_progress(p->o, p->t, 0, 1);
	if (more < 0 && stt_cursor_fault(p->o, &e) != STT_OK) {
		return -1;
	}
	return rc < 0 ? -1 : 1;
}

/* ---- the run ---- */

static int show_play_progress(void *user, uint64_t time)
{
	const struct play *p = user;

	stt_progress(p->o, p->t, time, 0);
	return 0;
}

static void print_played(const struct play *p, const struct stf_analysis *a)
{
	double real = (double)(a->finish - a->begin) * a->resolution;
	double played = (double)(p->how.function ? a->changed : a->ideal) * a->resolution;

	printf("%s, the run takes %.6g s between MPI_Init and MPI_Finalize instead of %.6g s (%+.1f %%)\n", p->what,
		played, real, 100 * (played / real - 1));
}

static int play_run(struct play *p, const char *to)
{
	struct stf_analysis *a;
	struct stf_err e;
	int rc = STT_OK;

	p->how.progress = show_play_progress;
	p->how.user = p;
	if (to) {
		p->how.moved = stt_moves_add;
		p->how.moved_user = &p->moves;
		if (stt_moves_begin(&p->moves, p->t, p->o) < 0) {
			return STT_FAULT;
		}
	}
	a = stf_analyze(p->t->r, &p->how, &e);
	stt_progress(p->o, p->t, 0, 1);
	if (!a) {
		return p->moves.error ? stt_moves_complete(&p->moves, p->o) | STT_FAULT : stt_stf_fault(p->o, &e);
	}
	if (!a->processes || a->finish <= a->begin) {
		rc = stt_fault(p->o, "%s: no thread called MPI, so there is nothing that another network would change",
			p->o->input);
	} else {
		print_played(p, a);
	}
	stf_analysis_free(a);
	if (rc == STT_OK && to) {
		rc = stt_moves_complete(&p->moves, p->o) < 0
			? STT_FAULT
			: stt_write_declared(p->o, p->t, to, stt_output_format(p->o, to), fill_played, p);
		if (rc == STT_OK && strcmp(to, "-") != 0) {
			stt_say(p->o, 1, "%s: written to %s", p->o->input, to);
		}
	}
	return rc;
}

int stt_play_to(const struct stt_options *o, const char *to)
{
	struct play p = { .o = o, .how = stf_analysis_options(), .moves = { .fd = -1 } };
	struct stt_trace t;
	int rc;

	if (o->ideal && o->faster) {
		return stt_usage(o, "--ideal and --faster exclude each other");
	}
	if (to && (stt_only_stf(o, "--ideal", to) < 0)) {
		return STT_USAGE;
	}
	if (to &&
		(stt_output_format(o, to) == STT_ASCII ||
			(!strcmp(to, "-") && stt_output_format(o, to) != STT_SINGLE))) {
		return stt_usage(o, "%s writes a trace; --logfile-name names it", o->ideal ? "--ideal" : "--faster");
	}
	if (stt_trace_open(&t, o, 0) < 0) {
		return STT_FAULT;
	}
	p.t = &t;
	rc = o->ideal ? read_network(&p, o->ideal) : read_change(&p, o->faster);
	if (rc == STT_OK) {
		rc = play_run(&p, to);
	}
	rc |= stt_damage(o, &t);
	stt_moves_free(&p.moves);
	free(p.start);
	free(p.delta);
	stt_trace_close(&t);
	return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes Paje: containers for processes, threads and groups; functions, scopes, collective and file operations as
 * pushed states; counters as variables; messages as links. Paje has no escapes within double quotes. */
#include "config.h"
#include "exchange/common/lanes.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of the events that the file's header defines. */
enum {
	DEFINE_CONTAINER,
	DEFINE_STATE,
	DEFINE_VARIABLE,
	DEFINE_LINK,
	DEFINE_EVENT,
	CREATE_CONTAINER,
	DESTROY_CONTAINER,
	PUSH_STATE,
	POP_STATE,
	SET_VARIABLE,
	START_LINK,
	END_LINK,
	NEW_EVENT,
};
static const char head[] =
	"%EventDef PajeDefineContainerType 0\n%\tAlias string\n%\tType string\n%\tName string\n%EndEventDef\n"
	"%EventDef PajeDefineStateType 1\n%\tAlias string\n%\tType string\n%\tName string\n%EndEventDef\n"
	"%EventDef PajeDefineVariableType 2\n%\tAlias string\n%\tType string\n%\tName string\n%\tColor "
	"color\n%EndEventDef\n"
	"%EventDef PajeDefineLinkType 3\n%\tAlias string\n%\tType string\n%\tStartContainerType string\n"
	"%\tEndContainerType string\n%\tName string\n%EndEventDef\n"
	"%EventDef PajeDefineEventType 4\n%\tAlias string\n%\tType string\n%\tName string\n%\tColor "
	"color\n%EndEventDef\n"
	"%EventDef PajeCreateContainer 5\n%\tTime date\n%\tAlias string\n%\tType string\n%\tContainer string\n%\tName "
	"string\n"
	"%EndEventDef\n"
	"%EventDef PajeDestroyContainer 6\n%\tTime date\n%\tType string\n%\tName string\n%EndEventDef\n"
	"%EventDef PajePushState 7\n%\tTime date\n%\tType string\n%\tContainer string\n%\tValue string\n%EndEventDef\n"
	"%EventDef PajePopState 8\n%\tTime date\n%\tType string\n%\tContainer string\n%EndEventDef\n"
	"%EventDef PajeSetVariable 9\n%\tTime date\n%\tType string\n%\tContainer string\n%\tValue "
	"double\n%EndEventDef\n"
	"%EventDef PajeStartLink 10\n%\tTime date\n%\tType string\n%\tContainer string\n%\tStartContainer string\n"
	"%\tValue string\n%\tKey string\n%EndEventDef\n"
	"%EventDef PajeEndLink 11\n%\tTime date\n%\tType string\n%\tContainer string\n%\tEndContainer string\n%\tValue "
	"string\n"
	"%\tKey string\n%EndEventDef\n"
	"%EventDef PajeNewEvent 12\n%\tTime date\n%\tType string\n%\tContainer string\n%\tValue string\n%EndEventDef\n";

/* Kinds of states. In a container, each kind has a stack of its own. What overlaps has kinds of its own: "scope 2". */
static const char *const states[] = { "function", "scope", "collective", "io" };
enum { STATE_FUNCTION, STATE_SCOPE, STATE_COLLECTIVE, STATE_IO, STATES };

struct state {
	uint64_t last;           /* stamps must never decrease */
	struct xch_lanes *lanes; /* of each place */
	uint32_t kinds[STATES];  /* number of kinds that are defined */
	size_t next_bound;
};

/* Writes a text in double quotes, and replaces characters that cannot be between them. */
static void quoted(FILE *f, const char *text)
{
	putc('"', f);
	for (; *text; text++) {
		putc(*text == '"' ? '\'' : (unsigned char)*text < ' ' || *text == 127 ? ' ' : *text, f);
	}
	putc('"', f);
}

static void place_alias(FILE *f, const struct xch_place *p)
{
	fprintf(f, " \"%c%" PRIu32 "\"", p->is_group ? 'g' : 't', p->index);
}

static void state_alias(FILE *f, int state, uint32_t nth)
{
	fprintf(f, nth ? " \"S%d.%" PRIu32 "\"" : " \"S%d\"", state, nth);
}

static void time_of(FILE *f, const struct xch_trace *t, unsigned event, uint64_t time)
{
	char buf[48];

	xch_seconds(t, time, buf);
	fprintf(f, "%u %s", event, buf);
}

/* ---- types and containers ---- */

static void define_state(FILE *f, int state, uint32_t nth)
{
	fprintf(f, "%d", DEFINE_STATE);
	state_alias(f, state, nth);
	fprintf(f, nth ? " \"H\" \"%s %" PRIu32 "\"\n" : " \"H\" \"%s\"\n", states[state], nth + 1);
}

static void define_types(FILE *f, const struct xch_trace *t)
{
	char name[4200];
	size_t i;
	int k;

	fputs(head, f);
	fprintf(f,
		"%d \"T\" 0 \"trace\"\n%d \"P\" \"T\" \"process\"\n%d \"H\" \"P\" \"thread\"\n%d \"G\" \"T\" "
		"\"group\"\n",
		DEFINE_CONTAINER, DEFINE_CONTAINER, DEFINE_CONTAINER, DEFINE_CONTAINER);
	for (k = 0; k < STATES; k++) {
		define_state(f, k, 0);
	}
	fprintf(f, "%d \"B\" \"P\" \"clock bound [ns]\" \"0.8 0.2 0.2\"\n", DEFINE_VARIABLE);
	fprintf(f, "%d \"M\" \"T\" \"H\" \"H\" \"message\"\n", DEFINE_LINK);
	fprintf(f, "%d \"C\" \"H\" \"comment\" \"0.5 0.5 0.5\"\n%d \"R\" \"H\" \"report\" \"0.9 0.1 0.1\"\n",
		DEFINE_EVENT, DEFINE_EVENT);
	for (i = 0; i < t->n_counters; i++) {
		const struct xch_counter *c = &t->counter[i];

		snprintf(name, sizeof(name), "%.3000s%s%.500s%s", c->name, *c->unit ? " [" : "", c->unit,
			*c->unit ? "]" : "");
		fprintf(f, "%d \"Vt%zu\" \"H\" ", DEFINE_VARIABLE, i);
		quoted(f, name);
		fprintf(f, " \"0.2 0.4 0.8\"\n%d \"Vg%zu\" \"G\" ", DEFINE_VARIABLE, i);
		quoted(f, name);
		fputs(" \"0.2 0.4 0.8\"\n", f);
	}
}

static void create(FILE *f, const struct xch_trace *t, const struct xch_place *p)
{
	char name[700];

	if (p->is_group) {
		time_of(f, t, CREATE_CONTAINER, t->start <= t->end ? t->start : 0);
		place_alias(f, p);
		fputs(" \"G\" \"trace\" ", f);
		snprintf(name, sizeof(name), "group %" PRIu32 "%s%.600s", p->willy & 0x7fffffffu, p->name ? " " : "",
			p->name ? p->name : "");
		quoted(f, name);
		putc('\n', f);
		return;
	}
	if (p->thread == 0) {
		time_of(f, t, CREATE_CONTAINER, t->start <= t->end ? t->start : 0);
		fprintf(f, " \"p%" PRIu32 "\" \"P\" \"trace\" ", p->process);
		snprintf(name, sizeof(name), "process %" PRIu32 "%s%.300s%s%.300s", p->process, p->host ? " on " : "",
			p->host ? p->host : "", p->process_name ? ", " : "", p->process_name ? p->process_name : "");
		quoted(f, name);
		putc('\n', f);
	}
	time_of(f, t, CREATE_CONTAINER, t->start <= t->end ? t->start : 0);
	place_alias(f, p);
	fprintf(f, " \"H\" \"p%" PRIu32 "\" ", p->process);
	snprintf(name, sizeof(name), "thread %" PRIu32 ":%" PRIu32 "%s%.600s", p->process, p->thread,
		p->name ? " " : "", p->name ? p->name : "");
	quoted(f, name);
	putc('\n', f);
}

/* Writes the bounds up to that stamp. */
static void bounds_until(struct xch_writer *w, const struct xch_trace *t, uint64_t time)
{
	struct state *s = w->state;
	char number[32];

	for (; s->next_bound < t->n_bounds; s->next_bound++) {
		const struct xch_bound *b = &t->bound[s->next_bound];
		uint64_t from = b->from < t->start ? t->start : b->from;

		if (from > time) {
			return;
		}
		if (!isnan(b->seconds)) {
			time_of(w->f, t, SET_VARIABLE, from);
			xch_real(b->seconds * 1e9, number);
			fprintf(w->f, " \"B\" \"p%" PRIu32 "\" %s\n", b->process, number);
		}
	}
}

/* ---- events ---- */

static void with_class(FILE *f, const struct xch_named *n)
{
	char name[4200];

	snprintf(name, sizeof(name), "%.2000s%s%.2000s", n ? n->cls : "", n && *n->cls ? ":" : "",
		n ? n->name : "unknown");
	quoted(f, name);
}

/* Enters or leaves a state. Paje has no place for leaving a state that was not entered. */
static int change_state(struct xch_writer *w, const struct xch_trace *t, const struct xch_event *e, int state)
{
	struct state *s = w->state;
	struct xch_lanes *lanes = &s->lanes[e->place->index];
	int enter = e->kind == XCH_ENTER || xch_lane_begins(e->kind);
	struct xch_lane *l = e->place->is_group || state == STATE_FUNCTION ? NULL
		: enter                                                    ? xch_lane_begin(lanes, e)
									   : xch_lane_end(lanes, e);
	uint32_t nth = l ? l->nth : 0;

	if (enter && state != STATE_FUNCTION && !l && !e->place->is_group) {
		return -1;
	}
	if (e->place->is_group || (!enter && (state == STATE_FUNCTION ? !e->u.function : !l))) {
		xch_lost(w, e->kind, 1);
		return 0;
	}
	if (nth > s->kinds[state]) {
		s->kinds[state] = nth;
		define_state(w->f, state, nth);
	}
	time_of(w->f, t, enter ? PUSH_STATE : POP_STATE, s->last);
	state_alias(w->f, state, nth);
	place_alias(w->f, e->place);
	if (enter) {
		putc(' ', w->f);
		with_class(w->f, e->what);
	}
	putc('\n', w->f);
	return 0;
}

static void message(struct xch_writer *w, const struct xch_trace *t, const struct xch_event *e, uint64_t time)
{
	const struct xch_message *m = &e->u.message;

	if (!m->other_known || e->place->is_group || m->other->is_group) {
		xch_lost(w, e->kind, 1); /* a link has two ends */
		return;
	}
	time_of(w->f, t, e->kind == XCH_SEND ? START_LINK : END_LINK, time);
	fputs(" \"M\" \"trace\"", w->f);
	place_alias(w->f, e->place);
	fprintf(w->f, " \"tag %" PRIu32 ", %s%" PRIu32 " bytes\" \"%" PRIu64 "\"\n", m->tag,
		m->size == STF_BYTES_AT_LEAST ? "at least " : "", m->size, m->id);
}

static void text(struct xch_writer *w, const struct xch_trace *t, const struct xch_event *e, uint64_t time)
{
	if (e->place->is_group) {
		xch_lost(w, e->kind, 1);
		return;
	}
	time_of(w->f, t, NEW_EVENT, time);
	fprintf(w->f, " \"%c\"", e->kind == XCH_COMMENT ? 'C' : 'R');
	place_alias(w->f, e->place);
	putc(' ', w->f);
	quoted(w->f, e->u.text.text);
	putc('\n', w->f);
}

static void samples(struct xch_writer *w, const struct xch_trace *t, const struct xch_event *e, uint64_t time)
{
	const struct xch_counter *c;
	char value[40];
	uint32_t i;

	for (i = 0; i < e->u.sample.n; i++) {
		c = e->u.sample.counter[i];
		xch_value(c, e->u.sample.values[i], value);
		time_of(w->f, t, SET_VARIABLE, time);
		fprintf(w->f, " \"V%c%" PRIu32 "\"", e->place->is_group ? 'g' : 't', c->index);
		place_alias(w->f, e->place);
		fprintf(w->f, " %s\n", value);
	}
}

static int paje_event(struct xch_writer *w, struct xch_trace *t, const struct xch_event *e, struct tkm_err *err)
{
	struct state *s = w->state;
	uint64_t time = e->time < s->last ? s->last : e->time;
	int rc = 0;

	s->last = time;
	bounds_until(w, t, time);
	switch (e->kind) {
	case XCH_ENTER:
	case XCH_LEAVE:
		rc = change_state(w, t, e, STATE_FUNCTION);
		break;
	case XCH_SCOPE_BEGIN:
	case XCH_SCOPE_END:
		rc = change_state(w, t, e, STATE_SCOPE);
		break;
	case XCH_COLL_BEGIN:
	case XCH_COLL_END:
		rc = change_state(w, t, e, STATE_COLLECTIVE);
		break;
	case XCH_IO_BEGIN:
	case XCH_IO_END:
		rc = change_state(w, t, e, STATE_IO);
		break;
	case XCH_SEND:
	case XCH_RECEIVE:
		message(w, t, e, time);
		break;
	case XCH_SAMPLE:
		samples(w, t, e, time);
		break;
	default:
		text(w, t, e, time);
	}
	return rc == 0 ? 0 : tkm_fail(err, TKM_ERR_NOMEM, "%s: out of memory", w->target);
}

static int paje_open(struct xch_writer *w, struct xch_trace *t, struct tkm_err *err)
{
	struct state *s = w->state;
	size_t i;

	s->lanes = calloc(t->n_places + 1, sizeof(*s->lanes));
	if (!s->lanes) {
		return tkm_fail(err, TKM_ERR_NOMEM, "%s: out of memory", w->target);
	}
	define_types(w->f, t);
	time_of(w->f, t, CREATE_CONTAINER, t->start <= t->end ? t->start : 0);
	fputs(" \"trace\" \"T\" 0 \"trace\"\n", w->f);
	for (i = 0; i < t->n_places; i++) {
		create(w->f, t, &t->place[i]);
	}
	return 0;
}

static int paje_end(struct xch_writer *w, struct xch_trace *t, struct tkm_err *err)
{
	const struct state *s = w->state;

	(void)err;
	bounds_until(w, t, t->end);
	time_of(w->f, t, DESTROY_CONTAINER, t->end > s->last ? t->end : s->last);
	fputs(" \"T\" \"trace\"\n", w->f);
	return 0;
}

static void paje_release(struct xch_writer *w, struct xch_trace *t)
{
	struct state *s = w->state;
	size_t i;

	for (i = 0; s->lanes && i < t->n_places; i++) {
		xch_lanes_free(&s->lanes[i]);
	}
	free(s->lanes);
}

const struct xch_format xch_paje = {
	.name = "PAJE",
	.suffix = ".paje",
	.what = "Paje, text",
	.mark = "\"B\" \"P\" \"clock bound [ns]\"",
	.holds = XCH_MOST | XCH_SCOPED | XCH_BIT(XCH_COMMENT) | XCH_BIT(XCH_REPORT) | XCH_BIT(XCH_PROCESSES),
	.stream = 1,
	.state_size = sizeof(struct state),
	.open = paje_open,
	.event = paje_event,
	.end = paje_end,
	.release = paje_release,
};

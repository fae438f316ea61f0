/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes Paje: containers for processes, threads and groups; functions, scopes, collective and file operations as
 * pushed states; counters as variables; messages as links. Paje has no escapes within double quotes. */
#include "config.h"
#include "exchange/common/format.h"

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

/* Kinds of states. In a container, each kind has a stack of its own. */
static const char *const states[] = { "function", "scope", "collective", "io" };
enum { STATE_FUNCTION, STATE_SCOPE, STATE_COLLECTIVE, STATE_IO, STATES };

struct state {
	FILE *f;
	uint64_t last;            /* stamps must never decrease */
	uint32_t (*open)[STATES]; /* number of open states of each kind in each place */
	struct bound *bound;      /* of all processes, sorted by time */
	size_t bounds, next_bound;
};

struct bound {
	uint64_t from;
	uint32_t process;
	double seconds;
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

static void time_of(FILE *f, const struct xch_trace *t, unsigned event, uint64_t time)
{
	char buf[48];

	xch_seconds(t, time, buf);
	fprintf(f, "%u %s", event, buf);
}

/* ---- types and containers ---- */

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
		fprintf(f, "%d \"S%d\" \"H\" \"%s\"\n", DEFINE_STATE, k, states[k]);
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

static int compare_bounds(const void *a, const void *b)
{
	const struct bound *x = a, *y = b;

	return x->from != y->from ? (x->from > y->from) - (x->from < y->from)
				  : (x->process > y->process) - (x->process < y->process);
}

static int collect_bounds(struct state *s, const struct xch_trace *t)
{
	const struct xch_bound *b;
	size_t i, n;
	uint32_t p;

	for (p = 0; p < t->n_processes; p++) {
		xch_bounds(t, p, &n);
		s->bounds += n;
	}
	s->bound = calloc(s->bounds + 1, sizeof(*s->bound));
	if (!s->bound) {
		return -1;
	}
	s->bounds = 0;
	for (p = 0; p < t->n_processes; p++) {
		b = xch_bounds(t, p, &n);
		for (i = 0; i < n; i++) {
			s->bound[s->bounds++] =
				(struct bound){ b[i].from < t->start ? t->start : b[i].from, p, b[i].seconds };
		}
	}
	qsort(s->bound, s->bounds, sizeof(*s->bound), compare_bounds);
	return 0;
}

/* Writes the bounds up to that stamp. */
static void bounds_until(struct state *s, const struct xch_trace *t, uint64_t time)
{
	char number[32];

	for (; s->next_bound < s->bounds && s->bound[s->next_bound].from <= time; s->next_bound++) {
		const struct bound *b = &s->bound[s->next_bound];

		if (!isnan(b->seconds)) {
			time_of(s->f, t, SET_VARIABLE, b->from);
			xch_real(b->seconds * 1e9, number);
			fprintf(s->f, " \"B\" \"p%" PRIu32 "\" %s\n", b->process, number);
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

static void push(FILE *f, const struct xch_trace *t, const struct xch_event *e, uint64_t time, int state,
	const struct xch_named *n)
{
	time_of(f, t, PUSH_STATE, time);
	fprintf(f, " \"S%d\"", state);
	place_alias(f, e->place);
	putc(' ', f);
	with_class(f, n);
	putc('\n', f);
}

static void pop(FILE *f, const struct xch_trace *t, const struct xch_event *e, uint64_t time, int state)
{
	time_of(f, t, POP_STATE, time);
	fprintf(f, " \"S%d\"", state);
	place_alias(f, e->place);
	putc('\n', f);
}

/* Enters or leaves a state. Paje has no place for leaving a state that was not entered. */
static void change_state(struct xch_writer *w, const struct xch_trace *t, const struct xch_event *e, uint64_t time,
	int state, int enter, const struct xch_named *n)
{
	struct state *s = w->state;
	uint32_t *open = &s->open[e->place->index][state];

	if (e->place->is_group || (!enter && !*open)) {
		xch_lost(w, e->kind, 1);
	} else if (enter) {
		++*open;
		push(s->f, t, e, time, state, n);
	} else {
		--*open;
		pop(s->f, t, e, time, state);
	}
}

static void message(struct xch_writer *w, const struct xch_trace *t, const struct xch_event *e, uint64_t time)
{
	struct state *s = w->state;
	const struct xch_message *m = &e->u.message;

	if (!m->other_known || e->place->is_group || m->other->is_group) {
		xch_lost(w, e->kind, 1); /* a link has two ends */
		return;
	}
	time_of(s->f, t, e->kind == XCH_SEND ? START_LINK : END_LINK, time);
	fputs(" \"M\" \"trace\"", s->f);
	place_alias(s->f, e->place);
	fprintf(s->f, " \"tag %" PRIu32 ", %" PRIu32 " bytes\" \"%" PRIu64 "\"\n", m->tag, m->size, m->id);
}

static void text(struct xch_writer *w, const struct xch_trace *t, const struct xch_event *e, uint64_t time)
{
	struct state *s = w->state;
	struct stf_comment c;
	struct stf_report r;
	const char *from;

	if (e->place->is_group) {
		xch_lost(w, e->kind, 1);
		return;
	}
	if (stf_get_comment(e->record, &c) == 0) {
		from = c.text;
	} else {
		stf_get_report(e->record, &r);
		from = stf_reader_string(t->r, r.description);
	}
	time_of(s->f, t, NEW_EVENT, time);
	fprintf(s->f, " \"%c\"", e->kind == XCH_COMMENT ? 'C' : 'R');
	place_alias(s->f, e->place);
	putc(' ', s->f);
	quoted(s->f, from ? from : "");
	putc('\n', s->f);
}

static void samples(struct xch_writer *w, const struct xch_trace *t, const struct xch_event *e, uint64_t time)
{
	struct state *s = w->state;
	const struct xch_counter *c;
	char value[40];
	uint32_t i;

	for (i = 0; i < e->u.sample.n; i++) {
		c = xch_counter(t, e->u.sample.counters[i]);
		if (!c) {
			continue;
		}
		xch_value(c, e->u.sample.values[i], value);
		time_of(s->f, t, SET_VARIABLE, time);
		fprintf(s->f, " \"V%c%" PRIu32 "\"", e->place->is_group ? 'g' : 't', c->index);
		place_alias(s->f, e->place);
		fprintf(s->f, " %s\n", value);
	}
}

static int paje_event(struct xch_writer *w, struct xch_trace *t, const struct xch_event *e, struct tkm_err *err)
{
	struct state *s = w->state;
	uint64_t time = e->time < s->last ? s->last : e->time;

	s->last = time;
	bounds_until(s, t, time);
	switch (e->kind) {
	case XCH_ENTER:
	case XCH_LEAVE:
		change_state(w, t, e, time, STATE_FUNCTION, e->kind == XCH_ENTER, xch_function(t, e->u.function));
		break;
	case XCH_SCOPE_BEGIN:
	case XCH_SCOPE_END:
		change_state(w, t, e, time, STATE_SCOPE, e->kind == XCH_SCOPE_BEGIN, xch_scope(t, e->u.scope.scope));
		break;
	case XCH_COLL_BEGIN:
	case XCH_COLL_END:
		change_state(
			w, t, e, time, STATE_COLLECTIVE, e->kind == XCH_COLL_BEGIN, xch_collop(t, e->u.coll.operation));
		break;
	case XCH_IO_BEGIN:
	case XCH_IO_END:
		change_state(w, t, e, time, STATE_IO, e->kind == XCH_IO_BEGIN, xch_file_of(t, e->u.io.file));
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
	return ferror(s->f) ? tkm_fail(err, TKM_ERR_IO, "cannot write %s", w->target) : 0;
}

static int paje_open(struct xch_writer *w, struct xch_trace *t, struct tkm_err *err)
{
	struct state *s = calloc(1, sizeof(*s));
	size_t i;

	w->state = s;
	if (!s || !(s->open = calloc(t->n_places + 1, sizeof(*s->open))) || collect_bounds(s, t) < 0) {
		return tkm_fail(err, TKM_ERR_NOMEM, "%s: out of memory", w->target);
	}
	s->f = xch_create(w, w->base, err);
	if (!s->f) {
		return -1;
	}
	define_types(s->f, t);
	time_of(s->f, t, CREATE_CONTAINER, t->start <= t->end ? t->start : 0);
	fputs(" \"trace\" \"T\" 0 \"trace\"\n", s->f);
	for (i = 0; i < t->n_places; i++) {
		create(s->f, t, &t->place[i]);
	}
	return 0;
}

static int paje_close(struct xch_writer *w, struct xch_trace *t, int failed, struct tkm_err *err)
{
	struct state *s = w->state;
	struct tkm_err ignored;
	int rc = failed ? -1 : 0;

	if (!s) {
		return rc;
	}
	if (s->f) {
		bounds_until(s, t, t->end);
		time_of(s->f, t, DESTROY_CONTAINER, t->end > s->last ? t->end : s->last);
		fputs(" \"T\" \"trace\"\n", s->f);
		rc |= xch_close(w, s->f, w->base, failed ? &ignored : err);
	}
	free(s->open);
	free(s->bound);
	free(s);
	w->state = NULL;
	return rc;
}

#define HOLDS(kind) (1u << (kind))
const struct xch_format xch_paje = {
	.name = "PAJE",
	.suffix = ".paje",
	.what = "Paje, text",
	.holds = HOLDS(XCH_ENTER) | HOLDS(XCH_LEAVE) | HOLDS(XCH_SAMPLE) | HOLDS(XCH_SEND) | HOLDS(XCH_RECEIVE) |
		HOLDS(XCH_COLL_BEGIN) | HOLDS(XCH_COLL_END) | HOLDS(XCH_IO_BEGIN) | HOLDS(XCH_IO_END) |
		HOLDS(XCH_SCOPE_BEGIN) | HOLDS(XCH_SCOPE_END) | HOLDS(XCH_COMMENT) | HOLDS(XCH_REPORT) |
		HOLDS(XCH_UNITS) | HOLDS(XCH_PROCESSES) | HOLDS(XCH_BOUND),
	.stream = 1,
	.open = paje_open,
	.event = paje_event,
	.close = paje_close,
};

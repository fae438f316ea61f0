/* SPDX-License-Identifier: BSD-3-Clause */
/* Did the processes end as they should? If not: which first, and where was it? */
#include "config.h"
#include "report/findings/rule.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/html/html.h"

/* Of a run that somebody ended: it stood still before that for so long, and for that part of its length. */
#define LEAST_STILL_S 2.0
#define LEAST_STILL 0.2
/* Times in a call that differ less are one. */
#define ALIKE 0.95

/* What follows ended a process after the trace was complete. */
#define LATER ", then by "

/* "process 3: TEXT" of an info record. Returns TEXT; without such a beginning *process is -1. */
static const char *info_of_process(const char *text, long *process)
{
	char *end;

	*process = -1;
	if (!strncmp(text, "process ", 8)) {
		long n = strtol(text + 8, &end, 10);

		if (end > text + 8 && !strncmp(end, ": ", 2)) {
			*process = n;
			return end + 2;
		}
	}
	return text;
}

/* After the trace was complete: a launcher terminates those that are left when one has failed, and kills those that do not heed it. A
 * process that was killed with none that failed was killed by somebody else. */
static int is_launchers(const struct vtr_trace *t, const char *text)
{
	static const char words[] = ", exit status ";
	const char *status = NULL;
	size_t i;

	for (i = 0; i < t->n_ended && !(status && atoi(status + strlen(words))); i++) {
		status = strstr(t->ended[i], words);
	}
	return strstr(text, LATER "signal 15 ") ||
		(strstr(text, LATER "signal 9 ") && status && atoi(status + strlen(words)));
}

const char *vtr_ending(const struct vtr_trace *t, size_t *at, enum vtr_grade *grade, long *process)
{
	static const char *const good[] = { "by exit", "by _exit", "by exec", "in MPI_Finalize",
		"without the library's knowledge, exit status 0" };
	const char *text;
	size_t k;

	if (*at >= t->n_ended) {
		return NULL;
	}
	text = info_of_process(t->ended[(*at)++], process);
	for (k = 0; k < sizeof(good) / sizeof(good[0]) && strncmp(text, good[k], strlen(good[k])); k++) {
	}
	*grade = k < sizeof(good) / sizeof(good[0]) ? VTR_GOOD : strncmp(text, "without", 7) ? VTR_BAD : VTR_WARN;
	if (*grade == VTR_GOOD && *process >= 0 && *process < (long)t->processes && !strncmp(text, "by ", 3) &&
		strncmp(text, "by exec", 7) && t->span[*process].init && !t->span[*process].finalize) {
		*grade = VTR_BAD;
	}
	if (strstr(text, LATER) && !is_launchers(t, text)) {
		*grade = VTR_BAD;
	}
	return text;
}

/* Was the process ended by mpirun because another process failed? Then this is not why the run ended. */
static int is_terminated(const char *text)
{
	static const char by[] = "by signal 15";

	return !strncmp(text, by, sizeof(by) - 1);
}

enum { PLACE = 300 };

/* The places of n processes in the program's own source: where each called MPI, without MPI the first line of the stack with a source.
 * to: empty texts. */
static void places_in_program(const struct vtr_trace *t, long first, uint32_t n, char (*to)[PLACE])
{
	const char *cls, *text, *at;
	char name[200], *place;
	size_t i;
	long of;
	int depth;

	for (i = 0; stf_reader_info(t->reader, i, &cls, &text) == 0; i++) {
		if (!cls || !text || strcmp(cls, "deadlock")) {
			continue;
		}
		text = info_of_process(text, &of);
		if (of < first || of - first >= (long)n || sscanf(text, " #%d %199s", &depth, name) != 2) {
			continue;
		}
		place = to[of - first];
		if (!strncmp(name, "MPI_", 4) || !strncmp(name, "PMPI_", 5)) {
			place[0] = '\0';
		} else if (!place[0] && (at = strstr(text, " at "))) {
			const char *base = strrchr(at, '/');

			snprintf(place, PLACE, "%s, %s", name, base ? base + 1 : at + 4);
		}
	}
}

/* A call that was open when the process ended is closed with its last sample or later; one that had ended was before it. */
static int is_in_call(const struct vtr_measures *m, uint32_t process)
{
	const struct vtr_span *s = &m->t->span[process];

	return s->open && s->open_until == s->last && vtr_seconds(m->t, s->open_until) >= m->process[process].last_s;
}

/* How long before its end it entered that call, in seconds. */
static double in_call_s(const struct vtr_measures *m, uint32_t process)
{
	return m->process[process].last_s - vtr_seconds(m->t, m->t->span[process].open_since);
}

/* "in MPI_Recv for the last 2.1 s (main, ring.c:12)", or "". place: that of places_in_program(). duration: NULL: of this process. */
static void describe_last_call(const struct vtr_measures *m, long process, int says_outside, const char *place,
	const char *duration, char *to, size_t size)
{
	const struct vtr_trace *t = m->t;
	const struct vtr_span *s = &t->span[process];
	const char *name = NULL;
	char a[60];

	to[0] = '\0';
	if (is_in_call(m, (uint32_t)process)) {
		name = stf_reader_name(t->reader, STF_ID_function_definition, t->function_id[s->open - 1]);
	}
	if (name) {
		snprintf(to, size, ", in %.100s for the last %s%s%.250s%s", name,
			duration ? duration : vtr_duration(a, sizeof(a), in_call_s(m, (uint32_t)process)),
			place[0] ? " (" : "", place, place[0] ? ")" : "");
	} else if (place[0]) {
		snprintf(to, size, ", in %.250s", place);
	} else if (says_outside && s->after) {
		name = stf_reader_name(t->reader, STF_ID_function_definition, t->function_id[s->after - 1]);
		snprintf(to, size, ", outside MPI, after %.100s", name ? name : "it");
	}
}

struct first_end {
	long process;
	enum vtr_grade grade;
	const char *text;
	double at_s;
	size_t bad, stuck; /* how many ended badly, and by a deadlock */
};

/* What to do after an end by a signal; NULL: it says nothing more. */
static const char *advice_for_signal(const char *text)
{
	static const char *const faults[] = { "by signal 4 ", "by signal 6 ", "by signal 7 ", "by signal 8 ",
		"by signal 11 " };
	size_t i;

	for (i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		if (!strncmp(text, faults[i], strlen(faults[i]))) {
			return "A core file has the line: ulimit -c unlimited, run it again, then gdb PROGRAM core.";
		}
	}
	return !strncmp(text, "by signal 9 ", 12)
		? "SIGKILL comes from outside: the kernel where memory is short (see dmesg), the batch system at a limit, "
		  "or a user."
		: NULL;
}

/* Which process failed first? One that was terminated only if there is no other. */
static void find_first(const struct vtr_measures *m, struct first_end *e)
{
	enum vtr_grade grade;
	const char *text;
	long process;
	size_t i = 0;

	*e = (struct first_end){ .process = -1 };
	while ((text = vtr_ending(m->t, &i, &grade, &process))) {
		double at = process >= 0 && process < (long)m->n ? m->process[process].last_s : 0;

		if (grade == VTR_GOOD) {
			continue;
		}
		e->bad++;
		e->stuck += strstr(text, "deadlock") != NULL;
		if (!e->text || (is_terminated(e->text) && !is_terminated(text)) ||
			(is_terminated(e->text) == is_terminated(text) && at < e->at_s)) {
			e->text = text;
			e->grade = grade;
			e->process = process;
			e->at_s = at;
		}
	}
}

enum {
	STANDS = 4,
	NUMBERS = 4,
	OTHERS = 40
}; /* places that are shown, processes at each, and room to say how many are not */

/* Processes that ended in the same call at the same place. */
struct stand {
	uint32_t open, after, n, process[NUMBERS];
	double least_s, most_s; /* how long they were in that call */
	char place[PLACE];
};

/* Returns how many places there are, at most one more than are shown. */
static size_t list_stands(const struct vtr_measures *m, struct stand s[STANDS + 1])
{
	char(*place)[PLACE] = calloc((size_t)m->n + 1, sizeof(*place));
	struct stand own;
	size_t n = 0, k;
	uint32_t i;

	if (place) {
		places_in_program(m->t, 0, m->n, place);
	}
	for (i = 0; i < m->n; i++) {
		own = (struct stand){ .open = is_in_call(m, i) ? m->t->span[i].open : 0, .least_s = INFINITY };
		own.after = own.open ? 0 : m->t->span[i].after;
		memcpy(own.place, place ? place[i] : "", place ? PLACE : 1);
		for (k = 0; k < n &&
			(s[k].open != own.open || s[k].after != own.after || strcmp(s[k].place, own.place) != 0);
			k++) {
		}
		if (k == n && n <= STANDS) {
			s[n++] = own;
		}
		if (k < n) {
			s[k].process[s[k].n < NUMBERS ? s[k].n : 0] = s[k].n < NUMBERS ? i : s[k].process[0];
			s[k].n++;
			s[k].least_s = fmin(s[k].least_s, in_call_s(m, i));
			s[k].most_s = fmax(s[k].most_s, in_call_s(m, i));
		}
	}
	free(place);
	return n;
}

/* " Ranks 0, 1 and 2 were in MPI_Recv for the last 2.1 s to 3 s (main, ring.c:12)." Returns its length. */
static size_t describe_stand(const struct vtr_measures *m, const struct stand *s, char *to, size_t size)
{
	const char *word = vtr_process_word(m->t);
	char call[500], who[80], least[60], most[60], both[130];
	size_t n = (size_t)snprintf(who, sizeof(who), " %c%s%s ", toupper((unsigned char)word[0]), word + 1,
		s->n == 1                      ? ""
			: strcmp(word, "rank") ? "es"
					       : "s");
	uint32_t i, shown = s->n < NUMBERS ? s->n : NUMBERS;

	for (i = 0; i < shown; i++) {
		n += (size_t)snprintf(who + n, sizeof(who) - n, "%s%" PRIu32,
			!i                      ? ""
				: i + 1 == s->n ? " and "
						: ", ",
			s->process[i]);
	}
	if (shown < s->n) {
		snprintf(who + n, sizeof(who) - n, " and %" PRIu32 " more", s->n - shown);
	}
	vtr_duration(least, sizeof(least), s->least_s);
	vtr_duration(most, sizeof(most), s->most_s);
	snprintf(both, sizeof(both), s->least_s < ALIKE * s->most_s ? "%s to %s" : "%s", least, most);
	describe_last_call(m, s->process[0], 1, s->place, both, call, sizeof(call));
	return call[0] ? (size_t)snprintf(to, size, "%s %s%s.", who, s->n == 1 ? "was" : "were", call + 1) : 0;
}

static void describe_stuck(const struct vtr_measures *m, const char *begin, struct vtr_finding *to)
{
	struct stand s[STANDS + 1];
	size_t stands = list_stands(m, s), k, n, length;
	char text[600];
	uint32_t left = m->n;

	snprintf(to->title, sizeof(to->title), "The program stood still");
	to->what_to_do =
		"Compare what each of them waits for with what the others do: a message that nobody sends, another order of "
		"the calls, an operation that not all ranks call.";
	n = (size_t)snprintf(to->text, sizeof(to->text), "%s", begin);
	for (k = 0; k < stands && k < STANDS; k++) {
		length = describe_stand(m, &s[k], text, sizeof(text));
		if (length && n + length + OTHERS <= sizeof(to->text)) {
			memcpy(to->text + n, text, length + 1);
			n += length;
			left -= s[k].n;
		}
	}
	if (left) {
		snprintf(to->text + n, sizeof(to->text) - n, " %" PRIu32 " more %s not listed.", left,
			left == 1 ? "is" : "are");
	}
}

/* Is a process that works, or that is ready for a client, in this call for long, too? */
static int may_take_long(const struct vtr_measures *m, uint32_t process)
{
	static const char *const calls[] = { "MPI_File_", "MPI_Comm_accept", "MPI_Comm_connect", "MPI_Comm_spawn",
		"MPI_Probe", "MPI_Mprobe" };
	const char *name = stf_reader_name(
		m->t->reader, STF_ID_function_definition, m->t->function_id[m->t->span[process].open - 1]);
	size_t k;

	for (k = 0; k < sizeof(calls) / sizeof(calls[0]) && name && strncmp(name, calls[k], strlen(calls[k])) != 0;
		k++) {
	}
	return k < sizeof(calls) / sizeof(calls[0]);
}

/* Somebody ended the run, and all of it was in calls of MPI for that long, in seconds. 0: it was not so, or it is not known, as without
 * samples after it: then a process that had come back from its last call looks the same. */
static double stood_still(const struct vtr_measures *m, const char *text)
{
	static const char *const from_outside[] = { "by signal 15 ", "by signal 2 ", "by signal 9 ", "by exit",
		"without exit" };
	double least = INFINITY;
	uint32_t i;
	size_t k;

	for (k = 0; k < sizeof(from_outside) / sizeof(from_outside[0]) &&
		strncmp(text, from_outside[k], strlen(from_outside[k])) != 0;
		k++) {
	}
	if (k == sizeof(from_outside) / sizeof(from_outside[0]) || m->n < 2) {
		return 0;
	}
	for (i = 0; i < m->n; i++) {
		if (!is_in_call(m, i) || !m->t->function_is_mpi[m->t->span[i].open - 1] || may_take_long(m, i)) {
			return 0;
		}
		least = fmin(least, m->process[i].sampled_s - vtr_seconds(m->t, m->t->span[i].open_since));
	}
	return least > fmax(LEAST_STILL_S, LEAST_STILL * vtr_length(m->t)) ? least : 0;
}

double vtr_test_ending(const struct vtr_measures *m, const struct vtr_rule *rule, struct vtr_finding *to)
{
	struct first_end e;
	char who[60], at[60] = "", call[500] = "", more[100] = "", place[PLACE] = "";
	const char *status, *later;
	int known, early;
	double still_s;

	(void)rule;
	find_first(m, &e);
	if (!e.text) {
		return VTR_NOTHING;
	}
	to->grade = e.grade;
	still_s = stood_still(m, e.text);
	if (e.stuck || still_s > 0) {
		snprintf(call, sizeof(call), "No process made progress, so the run was stopped (%.80s).", e.text);
		if (!e.stuck) {
			snprintf(call, sizeof(call), "All were in MPI for %s or longer when they ended (%.80s).",
				vtr_duration(at, sizeof(at), still_s), e.text);
		}
		describe_stuck(m, call, to);
		return 1;
	}
	known = e.process >= 0 && e.process < (long)m->n;
	early = !strncmp(e.text, "by exit", 7) || !strncmp(e.text, "by _exit", 8);
	status = e.text + strcspn(e.text, ",");
	if (known) {
		places_in_program(m->t, e.process, 1, &place);
		describe_last_call(m, e.process, strncmp(e.text, "in ", 3) != 0, place, NULL, call, sizeof(call));
		vtr_duration(at, sizeof(at), e.at_s);
	}
	if (e.bad > 1) {
		snprintf(more, sizeof(more), " %zu more process%s then ended abnormally.", e.bad - 1,
			e.bad > 2 ? "es" : "");
	}
	to->what_to_do = advice_for_signal(e.text);
	vtr_process_title(m, known ? (uint32_t)e.process : 0, who, sizeof(who));
	if (known && (later = strstr(e.text, LATER))) {
		to->what_to_do = advice_for_signal(later + strlen(LATER) - 3);
		snprintf(to->text, sizeof(to->text),
			"%s ended %.200s after MPI_Finalize, when the trace was complete.%s", who,
			later + strlen(LATER) - 3, more);
		return 1;
	}
	snprintf(to->text, sizeof(to->text), "%s%s ended %.200s%.40s%s%s%s%.300s.%s",
		known              ? who
			: m->n > 1 ? "A process"
				   : "The program",
		e.bad > 1 && known ? " was the first: it" : "", early ? "by exit before MPI_Finalize" : e.text,
		early ? status : "", known ? ", " : "", at, known ? " after the start" : "", call, more);
	return 1;
}

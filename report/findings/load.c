/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the time went: MPI, one rank that works more, one that sleeps, the start, the kernel. */
#include "config.h"
#include "report/findings/rule.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/html/html.h"

#define SMALL_BYTES 1024.0 /* a message of this size takes hardly longer than one of a byte */
#define LEAST_IN_MPI 0.5   /* of the time; below, messages are not what makes it slow */
#define LEAST_LATE_S 0.3   /* ranks that are started together come to MPI_Init within less */
#define LEAST_INIT_S 2.0   /* MPI and the clock session need less */
#define BUSY_WAIT 0.1      /* of the time without a processor, as in cpu-shared */
#define LEAST_LACK 0.03    /* of the time without a processor; less is what timer ticks and daemons take */
#define ALIKE 0.1          /* of the time, as in imbalance: ranks whose time outside MPI differs less are alike */
#define LEAST_OF_MPI 0.1   /* of the time in MPI; shorter waits of a kind are not why that is long */
#define MOSTLY 0.67        /* of the time of the one with most: those are named together with it */
#define IN_TURN 5          /* ranks that lack a processor, each while the others have one and wait */
#define NOTE_WEIGHT 100    /* after all findings that lead somewhere */
#define BUSY_LEAST 0.03    /* of the time; less CPU time is not worth a word */
#define BUSY_TIMES 2.0     /* the work of most others; less is noise on a busy node */

/* The MPI function with most time in one process, or in all (process = UINT32_MAX). "": none. */
static const char *longest_mpi_function(const struct vtr_measures *m, uint32_t process)
{
	const struct vtr_trace *t = m->t;
	double most = 0, sum;
	const char *name = "", *this;
	size_t i;
	uint32_t r;

	if (process < m->n && t->span[process].finalize && m->finish > t->span[process].end) {
		most = (double)(m->finish - t->span[process].end);
		name = "MPI_Finalize";
	}
	for (i = 0; i < t->functions; i++) {
		for (r = 0, sum = 0; r < t->function_rows && t->function_is_mpi[i] == VTR_MPI; r++) {
			sum += process == UINT32_MAX || process == r || t->function_rows == 1
				? t->function[i * t->function_rows + r].exclusive
				: 0;
		}
		this = sum > most ? stf_reader_name(t->reader, STF_ID_function_definition, t->function_id[i]) : NULL;
		if (this) {
			most = sum;
			name = this;
		}
	}
	return name;
}

/* Time of all processes in functions of MPI, or in those of its files only, in seconds. */
static double sum_of_mpi(const struct vtr_trace *t, int files)
{
	const char *name;
	double sum = 0;
	size_t i, k;

	for (i = 0; i < t->functions; i++) {
		name = t->function_is_mpi[i] == VTR_MPI
			? stf_reader_name(t->reader, STF_ID_function_definition, t->function_id[i])
			: NULL;
		for (k = 0; name && k < t->function_rows && (!files || strstr(name, "MPI_File_")); k++) {
			sum += t->function[i * t->function_rows + k].exclusive * t->resolution;
		}
	}
	return sum;
}

/* " In work it spent 412 ms, the mean of all is 290 ms.", of the function that exceeds its mean most, or "". */
static void describe_function(const struct vtr_measures *m, uint32_t process, char *to, size_t size)
{
	const struct vtr_trace *t = m->t;
	double most = 0, mean = 0, own, sum;
	const char *name = NULL;
	char a[60], b[60];
	size_t i;
	uint32_t r;

	to[0] = '\0';
	for (i = 0; i < t->functions && t->function_rows > 1 && process < t->function_rows; i++) {
		for (r = 0, sum = 0; r < t->function_rows && !t->function_is_mpi[i]; r++) {
			sum += t->function[i * t->function_rows + r].exclusive * t->resolution;
		}
		own = sum > 0 ? t->function[i * t->function_rows + process].exclusive * t->resolution : 0;
		if (own - sum / t->function_rows > most - mean) {
			most = own;
			mean = sum / t->function_rows;
			name = stf_reader_name(t->reader, STF_ID_function_definition, t->function_id[i]);
		}
	}
	if (name && most - mean > 0.05 * m->span_s) {
		snprintf(to, size, " In %.80s it spent %s, the mean of all is %s.", name,
			vtr_duration(a, sizeof(a), most), vtr_duration(b, sizeof(b), mean));
	}
}

/* The process that was in MPI for the largest share of its time. */
static uint32_t longest_in_mpi(const struct vtr_measures *m)
{
	uint32_t i, most = 0;

	for (i = 0; i < m->n; i++) {
		if (m->process[i].mpi_s > m->process[most].mpi_s) {
			most = i;
		}
	}
	return most;
}

/* Of communication, after MPI_Init, which has a finding of its own. NULL: there is none whose cause is known. */
static const struct stf_wait *largest_mpi_wait(const struct stf_analysis *a)
{
	static const unsigned others = 1u << STF_WAIT_OPEN | 1u << STF_WAIT_OMP_BARRIER | 1u << STF_WAIT_INIT;
	size_t i;

	for (i = 0; a && i < a->n_waits; i++) {
		if (!(others >> a->wait[i].kind & 1)) {
			return &a->wait[i];
		}
	}
	return NULL;
}

/* The waits of all threads of this kind, in seconds. */
static double sum_of_kind(const struct vtr_trace *t, enum stf_wait_kind kind)
{
	const struct stf_analysis *a = t->analysis;
	double sum = 0;
	size_t i;

	for (i = 0; i < a->n_waits; i++) {
		sum += a->wait[i].kind == kind ? (double)a->wait[i].sum * t->resolution : 0;
	}
	return sum;
}

/* "; rank 1 waits 2.1 s in MPI_Recv, late sender, longest for rank 0 in work at ring.c:12", or "". */
static void describe_longest_wait(const struct vtr_trace *t, const struct stf_wait *w, char *to, size_t size)
{
	const char *call = w ? stf_reader_name(t->reader, STF_ID_function_definition, w->function) : NULL;
	const char *in = w && w->cause_function
		? stf_reader_name(t->reader, STF_ID_function_definition, w->cause_function)
		: NULL;
	char who[80], cause[80], sum[60];

	to[0] = '\0';
	if (w && w->count) {
		snprintf(to, size, " The largest wait: %s in %.60s, %s, longest for %s%s%.60s, %s in all.",
			vtr_willy_label(t, w->willy, who, sizeof(who)), call ? call : "MPI", stf_wait_name(w->kind),
			vtr_willy_label(t, w->cause, cause, sizeof(cause)), in ? " in " : "", in ? in : "",
			vtr_duration(sum, sizeof(sum), (double)w->sum * t->resolution));
	}
}

/* What to do about waits of a kind. */
static const char *advice_for_wait(enum stf_wait_kind kind)
{
	static const char *const advice[STF_WAIT_KINDS] = {
		[STF_WAIT_LATE_SENDER] =
			"Send as soon as the data are there. On the rank that waits, post MPI_Irecv early, do other work, and "
			"call MPI_Wait as late as possible. If always the same rank sends late, give it less work.",
		[STF_WAIT_LATE_RECEIVER] =
			"A large message is sent only when its receiver has come: post the receive early by MPI_Irecv, or send "
			"by MPI_Isend, do other work, and call MPI_Wait later.",
		[STF_WAIT_BARRIER] =
			"Leave the barrier out if nothing depends on it: messages and operations order the ranks by themselves. "
			"Else divide the work before it evenly.",
		[STF_WAIT_N_TO_N] =
			"Every rank waits for the last one: divide the work before the operation evenly, or start it without "
			"blocking (MPI_Iallreduce and the like), do other work, and call MPI_Wait later.",
		[STF_WAIT_EARLY_REDUCE] =
			"The root comes first and waits for the others: let it do other work before, or start the operation by "
			"MPI_Ireduce or MPI_Igather and call MPI_Wait later.",
		[STF_WAIT_LATE_BROADCAST] =
			"All wait for the root: let it start the operation before its other work, or move work from it to others.",
		[STF_WAIT_EARLY_SCAN] =
			"Each rank waits for those with a lower number: give the first ones less work before it.",
		[STF_WAIT_WRONG_ORDER] =
			"Another message was there already: receive in the order in which messages come, by MPI_Irecv with "
			"MPI_Waitany, or send in the order of the receives.",
		[STF_WAIT_FINALIZE] =
			"A rank that comes to MPI_Finalize early has nothing left to do: give it a part of what the last one "
			"does before that.",
		[STF_WAIT_FENCE] =
			"A fence joins all ranks of the window: divide the work before it evenly, or use MPI_Win_post and "
			"MPI_Win_start with the partners only.",
		[STF_WAIT_LATE_POST] = "Call MPI_Win_post earlier on the target, before its other work.",
		[STF_WAIT_LATE_COMPLETE] =
			"Call MPI_Win_complete as soon as the accesses are made, or MPI_Win_wait later.",
		[STF_WAIT_LOCK] =
			"Hold the lock of the window for a shorter time, or use MPI_LOCK_SHARED where accesses do not conflict.",
	};

	return advice[kind];
}

double vtr_test_communication(const struct vtr_measures *m, const struct vtr_rule *rule, struct vtr_finding *to)
{
	const struct stf_analysis *x = m->t->analysis;
	const struct stf_wait *w = largest_mpi_wait(x);
	char a[20], b[20], c[20], d[20], wait[400];
	const char *name;
	double lost, lacked = m->wait_s / m->span_s, in_mpi, files;
	int explained;

	if (!m->known || !x || isnan(x->communication.value)) {
		return VTR_MISSING;
	}
	lost = 1 - x->communication.value;
	if (lost <= rule->limit) {
		return VTR_NOTHING;
	}
	name = longest_mpi_function(m, UINT32_MAX);
	in_mpi = sum_of_mpi(m->t, 0);
	files = sum_of_mpi(m->t, 1);
	/* what is a small part of the time in MPI is not why it is long */
	w = w && sum_of_kind(m->t, w->kind) >= LEAST_OF_MPI * in_mpi ? w : NULL;
	describe_longest_wait(m->t, w, wait, sizeof(wait));
	/* a rank without a processor makes each of the others wait that long at most; not all of them lack one at different times */
	explained = lacked > LEAST_LACK && lost - fmin(m->known - 1, IN_TURN) * lacked <= rule->limit;
	if (explained) {
		snprintf(to->title, sizeof(to->title), "Waits that may come from shared processors");
		to->what_to_do =
			"Measure again where each rank has a processor of its own, and see whether they remain.";
		to->weight = NOTE_WEIGHT;
	} else if (files > 0.5 * in_mpi) {
		snprintf(to->title, sizeof(to->title), "Input and output by MPI");
		to->what_to_do =
			"Write less often and in larger pieces, all ranks together (MPI_File_write_at_all), and call MPI_File_sync "
			"only where another program must see the data.";
	} else if (w && x->serialisation.value < x->transfer.value) {
		to->what_to_do = advice_for_wait(w->kind);
	} else if (!m->t->messages.n && !m->t->operations) {
		to->what_to_do = "See Functions: fewer calls that move more, or fewer ranks.";
	}
	to->grade = explained ? VTR_UNKNOWN : lost > 2 * rule->limit ? VTR_BAD : VTR_WARN;
	snprintf(to->text, sizeof(to->text),
		"%s of the time between MPI_Init and MPI_Finalize is MPI%s%.100s. Of the communication efficiency of %s, "
		"serialisation is %s and transfer %s.%s%s",
		vtr_share(a, sizeof(a), m->mpi_s, m->span_s), name[0] ? ", most of it " : "", name,
		vtr_share(b, sizeof(b), x->communication.value, 1), vtr_share(c, sizeof(c), x->serialisation.value, 1),
		vtr_share(d, sizeof(d), x->transfer.value, 1), wait,
		lacked > LEAST_LACK ? " A part of it is the wait for a processor." : "");
	return lost;
}

double vtr_test_small_messages(const struct vtr_measures *m, const struct vtr_rule *rule, struct vtr_finding *to)
{
	const struct vtr_messages *all = &m->t->messages;
	double each = m->known ? (double)all->n / m->known / m->span_s : 0, bytes = (double)all->bytes / (double)all->n,
	       operations = 0, large = bytes >= SMALL_BYTES ? each : 0;
	char a[60], b[60], c[20];
	size_t i;

	for (i = 0; i < m->t->operations && m->known; i++) {
		operations += (double)m->t->operation[i].members / m->known / m->span_s;
	}
	if (!(m->mpi_s > LEAST_IN_MPI * m->span_s) ||
		!((each > rule->limit && bytes < SMALL_BYTES) ||
			(operations > rule->limit && large < 0.1 * operations))) {
		return VTR_NOTHING;
	}
	to->grade = VTR_BAD;
	if (operations > rule->limit) {
		snprintf(to->title, sizeof(to->title), "Many collective operations");
		snprintf(b, sizeof(b), "takes part in %.0f collective operations", operations);
	} else {
		snprintf(b, sizeof(b), "sends %.0f messages", each);
	}
	snprintf(to->text, sizeof(to->text),
		"On average, each rank %s a second%s%s: the time of %.60s and others is that of single calls, however little they "
		"move. MPI is %s of the time between MPI_Init and MPI_Finalize.",
		b, operations > rule->limit ? "" : ", of ",
		operations > rule->limit ? "" : vtr_value(a, sizeof(a), bytes, "bytes"),
		longest_mpi_function(m, UINT32_MAX), vtr_share(c, sizeof(c), m->mpi_s, m->span_s));
	return m->mpi_s / m->span_s;
}

/* One rank came late to MPI_Init, or it took long in all. */
double vtr_test_start(const struct vtr_measures *m, const struct vtr_rule *rule, struct vtr_finding *to)
{
	const struct stf_analysis *x = m->t->analysis;
	const struct stf_wait *w = NULL;
	double run = vtr_length(m->t), unit = m->t->resolution, init = 0;
	char a[60], b[60], who[80], cause[80];
	size_t i;

	for (i = 0; x && i < x->n_waits; i++) {
		if (x->wait[i].kind == STF_WAIT_INIT && (!w || x->wait[i].worst > w->worst)) {
			w = &x->wait[i];
		}
	}
	for (i = 0; i < m->n; i++) {
		init += m->t->span[i].init ? (double)m->t->span[i].init_time * unit / m->n : 0;
	}
	vtr_duration(b, sizeof(b), run);
	if (w && (double)w->worst * unit > fmax(rule->limit * run, LEAST_LATE_S)) {
		vtr_willy_label(m->t, w->cause, cause, sizeof(cause));
		cause[0] = (char)toupper((unsigned char)cause[0]);
		snprintf(to->title, sizeof(to->title), "%.60s came late to MPI_Init", cause);
		snprintf(to->text, sizeof(to->text), "%s waited for it in MPI_Init for %s of the %s of the run.",
			vtr_willy_label(m->t, w->willy, who, sizeof(who)),
			vtr_duration(a, sizeof(a), (double)w->worst * unit), b);
		to->text[0] = (char)toupper((unsigned char)to->text[0]);
		to->grade = VTR_WARN;
		return (double)w->worst * unit / run;
	}
	if (init > fmax(rule->limit * run, LEAST_INIT_S)) {
		snprintf(to->text, sizeof(to->text),
			"MPI_Init took %s of the %s of the run. In it, Tickmark compares the clocks of the nodes, usually "
			"for less than a second.",
			vtr_duration(a, sizeof(a), init), b);
		to->grade = VTR_WARN;
		return init / run;
	}
	return VTR_NOTHING;
}

/* The CPU time of a process outside MPI, if in MPI it lacked a processor for the same share of its time. */
static double work_on_busy_node(const struct vtr_measured *p)
{
	double wanted = p->run_s + p->wait_s;

	return wanted > 0 ? fmax(0, p->outside_s - p->asleep_s) * p->run_s / wanted : NAN;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* " 2 more ranks have about as much.", or "". */
static const char *describe_alike(char *to, size_t size, uint32_t ranks)
{
	to[0] = '\0';
	if (ranks) {
		snprintf(to, size, " %" PRIu32 " more rank%s about as much.", ranks, ranks == 1 ? " has" : "s have");
	}
	return to;
}

/* Where all lack a processor, times outside MPI say little. But CPU time does not depend on that: a rank that used twice as much outside
 * MPI as most others has more work. *others: the upper median of theirs. *alike: how many of them have about as much. Returns how much
 * it used; 0: no rank has more. */
static double more_work_on_busy_node(const struct vtr_measures *m, uint32_t *rank, double *others, uint32_t *alike)
{
	double *work = calloc((size_t)m->n + 1, sizeof(*work)), most = 0;
	uint32_t i, n = 0;

	*rank = 0;
	for (i = 0; work && i < m->n && m->wait_s > BUSY_WAIT * m->span_s; i++) {
		double own = m->process[i].span_s > 0 ? work_on_busy_node(&m->process[i]) : (double)NAN;

		if (!isnan(own)) {
			work[n++] = own;
			*rank = own > most ? i : *rank;
			most = fmax(most, own);
		}
	}
	*alike = 0;
	if (n) {
		qsort(work, n, sizeof(*work), compare_doubles);
		*others = work[(n - 1) / 2];
		for (i = 0; i + 1 < n; i++) {
			*alike += work[i] >= *others + MOSTLY * (most - *others);
		}
	}
	free(work);
	return n > 1 && most > 0 && m->process[*rank].outside_s > m->outside_s && most >= BUSY_TIMES * *others &&
			most - *others >= BUSY_LEAST * m->span_s
		? most
		: 0;
}

static double describe_work_on_busy_node(
	const struct vtr_measures *m, uint32_t rank, double work, double others, uint32_t alike, struct vtr_finding *to)
{
	char a[60], b[60], who[60], where[240], more[60];

	to->grade = VTR_WARN;
	to->process = (long)rank;
	describe_function(m, rank, where, sizeof(where));
	snprintf(to->text, sizeof(to->text),
		"%s has the most work: outside MPI it used about %s of CPU time, %s %s.%s%s That does not come from "
		"the shared processors.",
		vtr_process_title(m, rank, who, sizeof(who)), vtr_duration(a, sizeof(a), work),
		m->known > 2 ? "most of the others" : "the other one", vtr_duration(b, sizeof(b), others),
		describe_alike(more, sizeof(more), alike), where);
	return (work - others) / m->span_s;
}

/* Ranks besides that with most time outside MPI that have about as much. */
static uint32_t count_with_as_much(const struct vtr_measures *m)
{
	const struct vtr_measured *most = &m->process[m->longest_outside];
	double least = m->outside_s + MOSTLY * (most->outside_s - m->outside_s);
	uint32_t i, n = 0;

	for (i = 0; i < m->n; i++) {
		n += m->process[i].outside_s >= least && &m->process[i] != most;
	}
	return n;
}

/* The rank with most time outside MPI, and what of its excess over the mean was work: not sleep, not the wait for a
 * processor. The others' time outside may contain such waits, too, so it is at least that much. */
double vtr_test_imbalance(const struct vtr_measures *m, const struct vtr_rule *rule, struct vtr_finding *to)
{
	const struct vtr_measured *p;
	double excess, work, others;
	char a[20], b[20], c[20], who[60], other[60], where[240], more[60];
	uint32_t waits, alike;

	if (m->known < 2) {
		return VTR_NOTHING;
	}
	work = more_work_on_busy_node(m, &waits, &others, &alike);
	if (work > 0) {
		return describe_work_on_busy_node(m, waits, work, others, alike, to);
	}
	p = &m->process[m->longest_outside];
	excess = (p->outside_s - m->outside_s) / m->span_s;
	if (excess <= rule->limit) {
		return VTR_NOTHING;
	}
	vtr_process_title(m, m->longest_outside, who, sizeof(who));
	if (isnan(p->run_s) || isnan(p->wait_s)) {
		to->grade = VTR_UNKNOWN;
		snprintf(to->title, sizeof(to->title), "Time outside MPI differs");
		snprintf(to->text, sizeof(to->text),
			"%s was outside MPI for %s of the time, the mean is %s. Whether it worked, slept or waited for a "
			"processor is not recorded: main_run and main_wait, which are standard counters, show it.",
			who, vtr_share(a, sizeof(a), p->outside_s, p->span_s),
			vtr_share(b, sizeof(b), m->outside_s, m->span_s));
		return 0.1 * excess;
	}
	work = (p->outside_s - p->asleep_s - p->wait_s - m->outside_s) / m->span_s;
	if (work <= rule->limit) {
		return VTR_NOTHING;
	}
	waits = longest_in_mpi(m);
	describe_function(m, m->longest_outside, where, sizeof(where));
	to->grade = work > 3 * rule->limit ? VTR_BAD : VTR_WARN;
	to->process = (long)m->longest_outside;
	snprintf(to->text, sizeof(to->text),
		"%s has the most work: it computed for %s of the time between MPI_Init and MPI_Finalize, the mean is %s.%s%s "
		"%s waits longest, in %.100s. With even work the run could be up to %s shorter.",
		who, vtr_share(a, sizeof(a), p->outside_s, p->span_s), vtr_share(b, sizeof(b), m->outside_s, m->span_s),
		describe_alike(more, sizeof(more), count_with_as_much(m)), where,
		vtr_process_title(m, waits, other, sizeof(other)), longest_mpi_function(m, waits),
		vtr_share(c, sizeof(c), work, 1));
	return work;
}

/* The rank that the analysis of waits names, where no other finding does: it is too little work, too little sleep, or not known which. */
double vtr_test_slow_rank(const struct vtr_measures *m, const struct vtr_rule *rule, struct vtr_finding *to)
{
	const struct stf_analysis *x = m->t->analysis;
	const struct stf_culprit *c = x ? &x->culprit : NULL;
	const char *in;
	double lost, run, unit = m->t->resolution;
	char a[60], b[60], d[60], e[20], who[80];
	size_t i;

	if (!c || !c->known || x->processes < 2 || x->finish <= x->begin) {
		return VTR_NOTHING;
	}
	for (i = 0; i < m->found->n; i++) {
		if (m->found->list[i].process == (long)stf_willy_process(c->willy)) {
			return VTR_NOTHING;
		}
	}
	run = (double)(x->finish - x->begin);
	lost = (double)c->waited / (x->processes - 1) / run;
	if (lost <= rule->limit) {
		return VTR_NOTHING;
	}
	in = c->function ? stf_reader_name(m->t->reader, STF_ID_function_definition, c->function) : NULL;
	vtr_willy_label(m->t, c->willy, who, sizeof(who));
	who[0] = (char)toupper((unsigned char)who[0]);
	snprintf(to->title, sizeof(to->title), "%.60s makes the others wait", who);
	snprintf(to->text, sizeof(to->text),
		"They waited for it for %s together, %s of %s, from %s to %s, mostly while it was in %.100s. If it never "
		"came later than they do, the run would be up to %s shorter.%s",
		vtr_duration(a, sizeof(a), (double)c->waited * unit), vtr_share(e, sizeof(e), c->share, 1),
		c->by_work ? "their time in MPI, as it works longer" : "all waits",
		vtr_duration(b, sizeof(b), vtr_seconds(m->t, c->since)),
		vtr_duration(d, sizeof(d), vtr_seconds(m->t, c->until)), in ? in : "no recorded function",
		vtr_share(who, sizeof(who), lost, 1),
		isnan(c->without_processor)
			? " Whether it worked, slept or waited for a processor is not recorded: main_run and main_wait, which are "
			  "standard counters, show it."
			: "");
	to->grade = isnan(c->without_processor) ? VTR_UNKNOWN : lost > 4 * rule->limit ? VTR_BAD : VTR_WARN;
	to->process = (long)stf_willy_process(c->willy);
	return lost;
}

/* Of a process whose other threads may have worked, or waited for a processor: only of the first one is that recorded. */
static void describe_first_thread(const struct vtr_measures *m, uint32_t process, struct vtr_finding *to)
{
	const struct vtr_measured *p = &m->process[process];
	char a[20], b[60], who[60];

	to->grade = VTR_UNKNOWN;
	to->weight = NOTE_WEIGHT;
	snprintf(to->title, sizeof(to->title), "The first thread sleeps or waits");
	snprintf(to->text, sizeof(to->text),
		"For %s of the time the first thread of %s was neither on a processor nor ready to run. Whether its other "
		"threads were ready to run is not recorded. Together, all used %s of CPU time.",
		vtr_share(a, sizeof(a), p->asleep_s, p->span_s), vtr_process_label(m, process, who, sizeof(who)),
		isnan(p->cpu_s) ? "an unknown amount" : vtr_duration(b, sizeof(b), p->cpu_s));
	to->what_to_do = "vtrun --counter +thread_run --counter +thread_wait records it for each thread.";
}

/* alike: which of them slept most is not certain. Returns how many slept about as long as the one with most. The finding names a
 * process only where it is the one. */
static uint32_t title_of_sleepers(
	const struct vtr_measures *m, const struct vtr_rule *rule, int alike, int for_io, struct vtr_finding *to)
{
	const struct vtr_measured *p = &m->process[m->longest_asleep];
	uint32_t i, n = 0;
	int several;
	char who[60];

	for (i = 0; i < m->n; i++) {
		n += m->process[i].asleep_s > fmax(rule->limit * m->process[i].span_s, MOSTLY * p->asleep_s);
	}
	several = n > 1 && n < m->known && !alike;
	vtr_process_title(m, m->longest_asleep, who, sizeof(who));
	if (n > 1 && n == m->known) {
		snprintf(who, sizeof(who), "Every %s", vtr_process_word(m->t));
	} else if (alike) {
		snprintf(who, sizeof(who), "A %s", vtr_process_word(m->t));
	} else if (several) {
		snprintf(who, sizeof(who), "%" PRIu32 " %s", n, m->mpi ? "ranks" : "processes");
	}
	to->process = alike || (n > 1 && n == m->known) ? -1 : (long)m->longest_asleep;
	/* that it read and wrote does not say that it waited for it */
	snprintf(to->title, sizeof(to->title), "%s %s%s", who, several ? "sleep or wait" : "sleeps or waits",
		for_io ? ", perhaps for input or output" : "");
	return n;
}

double vtr_test_asleep(const struct vtr_measures *m, const struct vtr_rule *rule, struct vtr_finding *to)
{
	const struct vtr_measured *p;
	double share, io;
	char a[20], b[20], c[60], who[60], other[60], where[240];
	uint32_t n, waits;
	size_t at;
	int alike;

	if (!m->known || isnan(m->run_s) || isnan(m->wait_s)) {
		return VTR_MISSING;
	}
	p = &m->process[m->longest_asleep];
	share = p->asleep_s / p->span_s;
	if (share <= rule->limit) {
		return VTR_NOTHING;
	}
	if (!m->mpi && m->t->threads[m->longest_asleep] > 1) {
		describe_first_thread(m, m->longest_asleep, to);
		return share;
	}
	io = p->value[VTR_READ] + p->value[VTR_WRITE];
	to->grade = share > 2.5 * rule->limit ? VTR_BAD : VTR_WARN;
	/* of the others, who poll in MPI, less sleep is certain, so in times that are alike there may be as much */
	alike = m->mpi && m->known > 1 && p->outside_s - m->outside_s <= ALIKE * p->span_s;
	n = title_of_sleepers(m, rule, alike, io > 1024, to);
	vtr_process_label(m, m->longest_asleep, who, sizeof(who));
	at = (size_t)snprintf(to->text, sizeof(to->text),
		"For %s of the time %s was %sneither on a processor nor ready to run: it %s.",
		vtr_share(a, sizeof(a), p->asleep_s, p->span_s), who, m->mpi ? "outside MPI and " : "",
		io > 1024 ? "waited" : "slept, was stopped, or waited for input, output, a lock or another process");
	if (io > 1024 && at < sizeof(to->text)) {
		at += (size_t)snprintf(to->text + at, sizeof(to->text) - at, " It read and wrote %s by system calls.",
			vtr_value(c, sizeof(c), io, "KB/s"));
	}
	describe_function(m, m->longest_asleep, where, sizeof(where));
	if (at < sizeof(to->text)) {
		at += (size_t)snprintf(to->text + at, sizeof(to->text) - at, "%s", where);
	}
	waits = longest_in_mpi(m);
	if (!alike && waits != m->longest_asleep && m->process[waits].mpi_s > rule->limit * m->process[waits].span_s &&
		at < sizeof(to->text)) {
		snprintf(to->text + at, sizeof(to->text) - at, " Others wait for %s: %s was in %.100s for %s.",
			n > 1 ? "them" : "it", vtr_process_label(m, waits, other, sizeof(other)),
			longest_mpi_function(m, waits),
			vtr_share(b, sizeof(b), m->process[waits].mpi_s, m->process[waits].span_s));
	}
	return share;
}

double vtr_test_system_time(const struct vtr_measures *m, const struct vtr_rule *rule, struct vtr_finding *to)
{
	uint32_t i, worst = UINT32_MAX;
	double most = rule->limit, share, io;
	char a[20], b[20], c[60], who[60];
	size_t at;

	for (i = 0; i < m->n && !m->recording_costs; i++) {
		const struct vtr_measured *p = &m->process[i];

		/* MPI that polls gives its processor away by system calls, which is no loss */
		share = p->value[VTR_SYS] / (p->value[VTR_USR] + p->value[VTR_SYS]);
		if (p->value[VTR_SYS] > 20 && share > most && p->mpi_s < 0.2 * p->span_s) {
			most = share;
			worst = i;
		}
	}
	if (worst == UINT32_MAX) {
		return VTR_NOTHING;
	}
	to->grade = VTR_WARN;
	io = m->process[worst].value[VTR_READ] + m->process[worst].value[VTR_WRITE];
	at = (size_t)snprintf(to->text, sizeof(to->text),
		"%s of the CPU time of %s was spent in the kernel, %s of a core.", vtr_share(a, sizeof(a), most, 1),
		vtr_process_label(m, worst, who, sizeof(who)),
		vtr_share(b, sizeof(b), m->process[worst].value[VTR_SYS], 100));
	if (io > 1024) {
		snprintf(to->text + at, sizeof(to->text) - at, " It read and wrote %s by system calls.",
			vtr_value(c, sizeof(c), io, "KB/s"));
	}
	return most * fmin(1, m->process[worst].value[VTR_SYS] / 100);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of findings, in the order of the first screen: did it end as it should, did it get a processor, is the
 * recording in the way, where did the time go. */
#include "config.h"
#include "report/findings/rules.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/findings/rule.h"

static const struct vtr_rule rules[] = {
	{ "ended-badly", 1000, 0, VTR_ANY, vtr_test_ending, "The program did not end normally",
		"Its last calls are at the end of the timeline." },
	/* vtrun decides when it is worth a word. All that follows is about a process that does not do the work. */
	{ "children", 860, 0, VTR_ANY, vtr_test_children, "Processes that it started do the work",
		"vtrun --follow-children records them, too. An MPI job is started so: mpirun -np 2 vtrun ./app." },
	/* Timer ticks and daemons take less than 1 %; from 10 % on, what follows is about the wait, not about the program. */
	{ "cpu-shared", 800, 0.10, VTR_LOAD, vtr_test_processor, "The processor was shared",
		"Look for other programs on the node, for two ranks on one core, and for more threads than cores. Measure "
		"again alone before you believe the rest." },
	/* Ten times what scheduling noise makes of a limit that is not reached. */
	{ "cpu-limited", 850, 0.05, VTR_LOAD, vtr_test_throttled, "The job's limit of CPU time was reached",
		"Ask for more CPUs, or start fewer threads." },
	/* Nodes of one kind differ by a few percent; a power limit or heat takes more. */
	{ "slow-processor", 790, 0.15, VTR_LOAD, vtr_test_frequency, "The processors of a node ran slower",
		"Look on that node for a power limit, heat (dmesg), and the governor (cpupower frequency-info)." },
	/* A message of a few bytes takes a microsecond or more, so from here on they are a large part of the time. */
	{ "small-messages", 750, 10000, VTR_LOAD | VTR_WITH_MPI, vtr_test_small_messages, "Many small messages",
		"Put what belongs together into one message or operation, or exchange less often." },
	/* The difference that a second run shows anyway. */
	{ "recording-costs", 700, 0.10, VTR_LOAD, vtr_test_recording, "The recording is in the way",
		"Record fewer functions: vtrun --throttle 10000:10us leaves out short ones that are called often." },
	/* The sampler's budget is 1 %; in a short run its start weighs more. */
	{ "sampling-costs", 600, 0.03, VTR_LOAD, vtr_test_sampler, "Sampling was expensive",
		"Record fewer counters (vtcounters shows what each costs), or more rarely (vtrun --sample-period)." },
	/* The usual aim of POP audits: 80 % of communication efficiency. */
	{ "communication", 400, 0.20, VTR_LOAD | VTR_WITH_MPI, vtr_test_communication, "Communication",
		"See Functions and Messages: fewer and larger messages, communication that overlaps with work, fewer ranks." },
	/* Smaller differences are the noise of most programs. */
	{ "imbalance", 400, 0.10, VTR_LOAD | VTR_WITH_MPI, vtr_test_imbalance, "Load imbalance",
		"See in Functions what takes longer on that rank, and divide its work evenly." },
	{ "threads-in-turn", 400, 0.10, VTR_LOAD, vtr_test_turns, "Threads work one after the other",
		"Keep the critical section short, let each thread collect a result of its own and join them once (reduction), or use "
		"atomic." },
	{ "threads-uneven", 400, 0.10, VTR_LOAD, vtr_test_barriers, "Threads have uneven work",
		"Divide the work evenly: schedule(dynamic) or (guided) for loops whose iterations take different times." },
	/* Above the limits of uneven work: input and output of a program are serial, too. */
	{ "serial-part", 385, 0.30, VTR_LOAD, vtr_test_serial, "One thread works alone",
		"See in Functions what is outside the parallel regions." },
	/* Before cpu-shared, which is about the rest of the run, if that is the smaller part. */
	{ "start", 810, 0.20, VTR_LOAD | VTR_WITH_MPI, vtr_test_start, "MPI_Init takes long",
		"See what happens before MPI_Init on that rank and node: input, loading from a slow file system, other "
		"programs." },
	/* Of the memory in the end. */
	{ "memory-grows", 390, 0.25, VTR_LOAD, vtr_test_growth, "Memory grows",
		"See the counter proc_rss. Memory that is never given back is found by heaptrack or valgrind." },
	{ "asleep", 400, 0.20, VTR_LOAD, vtr_test_asleep, "It sleeps or waits",
		"See in Functions where it was. VT_ACTIVITY='SYSTEM on' records the calls that wait for files." },
	/* Less is not worth a name. After those that name a rank, too. */
	{ "slow-rank", 395, 0.05, VTR_LOAD | VTR_WITH_MPI, vtr_test_slow_rank, "One rank makes the others wait",
		"See in Functions what takes longer on that rank." },
	{ "threads-wait", 380, 1000, VTR_LOAD | VTR_WITHOUT_MPI, vtr_test_locks, "Threads wait for each other",
		"vtrun --counter +thread_run --counter +thread_wait shows how long each thread ran." },
	/* Code that computes is below 5 %. */
	{ "system-time", 300, 0.30, VTR_LOAD, vtr_test_system_time, "The kernel works",
		"See the counters proc_minflt (memory that is fetched and given back), proc_read and proc_write." },
	/* Each costs a read of a disk, up to 10 ms. */
	{ "major-faults", 300, 20, VTR_LOAD, vtr_test_major_faults, "Memory is short",
		"Use less memory in each process, for example on more nodes." },
};

/* What to do where the trace has no functions of the program, so that there is nothing to see in Functions or at the end of the timeline. */
static const char record_functions[] =
	"Record the program's functions to see where it was: compile with -finstrument-functions, or call VT_enter (VT(3)).";
static const struct {
	double (*test)(const struct vtr_measures *m, const struct vtr_rule *rule, struct vtr_finding *to);
	const char *what_to_do;
} without_functions[] = {
	{ vtr_test_ending, record_functions },
	{ vtr_test_imbalance, record_functions },
	{ vtr_test_serial, record_functions },
	{ vtr_test_slow_rank, record_functions },
	{ vtr_test_asleep,
		"VT_ACTIVITY='SYSTEM on' records the calls that wait for files; compiled with -finstrument-functions, the "
		"program's functions are recorded." },
};

/* Of MPI alone Functions shows only where the program waited for others. */
static int has_functions(const struct vtr_trace *t)
{
	size_t i;

	for (i = 0; i < t->functions && t->function_is_mpi[i]; i++) {
	}
	return i < t->functions;
}

static const char *what_to_do(const struct vtr_rule *r, const struct vtr_trace *t)
{
	size_t i;

	for (i = 0; i < sizeof(without_functions) / sizeof(without_functions[0]) && !has_functions(t); i++) {
		if (without_functions[i].test == r->test) {
			return without_functions[i].what_to_do;
		}
	}
	return r->what_to_do;
}

static int applies(const struct vtr_rule *r, const struct vtr_measures *m)
{
	return !((r->when & VTR_LOAD) && m->ended_badly) && !((r->when & VTR_WITH_MPI) && !m->mpi) &&
		!((r->when & VTR_WITHOUT_MPI) && m->mpi);
}

/* The run had no finding about its load: what it was like. Only what was measured counts as good. */
static void find_nothing(struct vtr_findings *all, const struct vtr_measures *m, int missing)
{
	double got = m->run_s / (m->run_s + m->wait_s);
	const struct stf_analysis *a = m->t->analysis;
	char text[600] = "";
	size_t n = 0;
	int known = m->known > 0 && !missing && !isnan(got), good = known;

	/* a trace without samples and functions, such as that of timertest, is about something else */
	if (!m->t->records || m->ended_badly || (!m->t->values && !m->t->stacks)) {
		return;
	}
	if (m->known && !isnan(got)) {
		n = (size_t)snprintf(text, sizeof(text),
			"%s had a processor for %.0f %% of the time in which %s could use one. ",
			m->mpi             ? m->known > 1 ? "The ranks" : "The rank"
				: m->n > 1 ? "The first threads"
					   : "The first thread",
			100 * got, m->known > 1 ? "they" : "it");
	} else if (m->is_short) {
		n = (size_t)snprintf(text, sizeof(text),
			"There are not enough samples to know whether it got a processor. vtrun --sample-period 10ms takes more of "
			"them. ");
	} else {
		n = (size_t)snprintf(text, sizeof(text),
			"Whether it got a processor is not recorded%s: it needs main_run and main_wait, which are standard "
			"counters. ",
			m->t->values ? "" : ", because there are no samples");
	}
	if (m->mpi && a && !isnan(a->parallel.value)) {
		snprintf(text + n, sizeof(text) - n,
			"Parallel efficiency %.0f %%: load balance %.0f %%, communication %.0f %%.",
			100 * a->parallel.value, 100 * a->load_balance.value, 100 * a->communication.value);
		good = good && a->parallel.value > 0.8;
	} else if (!m->mpi && !isnan(m->cpu_s) && m->known) {
		snprintf(text + n, sizeof(text) - n, "It used %.0f %% of a core%s.", 100 * m->cpu_s / m->span_s,
			m->n > 1 ? " in each process" : "");
	}
	vtr_find(all,
		good            ? "nothing-found"
			: known ? "no-single-cause"
				: "not-recorded",
		200, good ? VTR_GOOD : VTR_UNKNOWN,
		good                  ? "Nothing that makes it slow was found"
			: known       ? "No single thing makes it slow"
			: m->is_short ? "The run is too short to say what makes it slow"
				      : "Not enough is recorded to say what makes it slow",
		"%s", text);
}

/* The states of a trace of TRACE-IMBALANCE are waits: nothing follows from the time that is in none. */
static int find_waits_only(struct vtr_findings *all, const struct vtr_trace *t)
{
	const char *cls, *text;
	size_t i;

	for (i = 0; stf_reader_info(t->reader, i, &cls, &text) == 0; i++) {
		if (cls && text && !strcmp(cls, "imbalance")) {
			vtr_find(all, "waits-only", 650, VTR_UNKNOWN, "The trace has only waits of MPI calls",
				"%c%s. The function with the most time is where most was waited.", toupper(text[0]),
				text + 1);
			return 1;
		}
	}
	return 0;
}

static void find_reports(struct vtr_findings *all, uint64_t n)
{
	if (n) {
		vtr_find(all, "reports", 900, VTR_BAD, "Errors were reported",
			"The trace has %" PRIu64
			" report%s of errors in the application; stftool --print-reports shows them.",
			n, n == 1 ? "" : "s");
	}
}

void vtr_find_in_trace(struct vtr_findings *all, const struct vtr_trace *t)
{
	struct vtr_measures m;
	int found = 0, missing = 0;
	size_t i;

	if (t->faults) {
		vtr_find(all, "damaged", 1200, VTR_BAD, "The trace is damaged", "%zu fault%s: %s", t->faults,
			t->faults == 1 ? "" : "s", t->fault[0]);
	}
	if (find_waits_only(all, t)) {
		return;
	}
	if (!t->records) {
		vtr_find(all, "empty", 1100, VTR_WARN, "The trace is empty", "No record was found.");
	}
	if (t->messages.backward) {
		vtr_find(all, "backward", 500, VTR_BAD, "Messages run backward in time",
			"%" PRIu64 " of %" PRIu64
			" messages were received before they were sent: the clocks do not agree.",
			t->messages.backward, t->messages.n);
	}
	if (vtr_measure(&m, t) < 0) {
		find_reports(all, t->reports);
		return;
	}
	m.found = all;
	for (i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		struct vtr_finding *to;
		double share;

		if (!applies(&rules[i], &m)) {
			continue;
		}
		to = vtr_find(all, rules[i].name, rules[i].weight, VTR_UNKNOWN, rules[i].title, "%s", "");
		share = rules[i].test(&m, &rules[i], to);
		if (share >= 0) {
			to->weight += 99 * fmin(share, 1);
			to->what_to_do = to->what_to_do ? to->what_to_do : what_to_do(&rules[i], t);
			m.ended_badly |= rules[i].test == vtr_test_ending;
			m.recording_costs |= rules[i].test == vtr_test_recording;
			m.in_turn |= rules[i].test == vtr_test_turns;
			found |= (rules[i].when & VTR_LOAD) != 0;
		} else {
			all->n -= to == &all->list[all->n - 1];
			missing |= share == VTR_MISSING;
		}
	}
	/* how the program ended is a finding of its own */
	find_reports(all, t->reports - (m.ended_badly ? t->ends : 0));
	if (!found) {
		find_nothing(all, &m, missing);
	}
	vtr_measures_free(&m);
	vtr_find_in_nodes(all, t);
}

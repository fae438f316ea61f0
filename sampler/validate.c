/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests counters with loops of known work. Every loop runs with two sizes: the difference of the counts per unit of
 * work does not contain the cost of reading and calling. */
#include "config.h"
#include "sampler/validate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sampler/private.h"
#include "sampler/works.h"

enum how {
	EXACT,    /* the loop's number and nothing else */
	AT_LEAST, /* others count too: not less, and warned about if much more */
	SOME,     /* grows with the work, by an unknown factor */
};

struct expectation {
	const char *pattern; /* counters, as in COUNTER */
	int (*work)(uint64_t n);
	uint64_t small, large;
	double per_unit;
	enum how how;
	double accept, warn; /* relative deviation */
	const char *what;    /* a unit of the work: "MiB written" */
};

#define FAULTS "fresh page touched"
#define SPIN "ms of CPU time"
#define PIPE "KiB through a pipe"
/* The first that matches is taken. */
/* clang-format off */
static const struct expectation expectations[] = {
	{ "perf_instructions**", smp_work_loop, 100000, 2100000, 2, EXACT, 1e-3, 0.02, "round of two instructions" },
	{ "PAPI_TOT_INS**", smp_work_loop, 100000, 2100000, 2, EXACT, 1e-3, 0.02, "round of two instructions" },
	{ "**::INST_RETIRED**", smp_work_loop, 100000, 2100000, 2, EXACT, 1e-3, 0.02, "round of two instructions" },
	{ "**::INSTRUCTIONS**", smp_work_loop, 100000, 2100000, 2, EXACT, 1e-3, 0.02, "round of two instructions" },
	{ "perf_branches**", smp_work_loop, 100000, 2100000, 1, EXACT, 1e-3, 0.02, "round with one branch" },
	{ "PAPI_BR_INS**", smp_work_loop, 100000, 2100000, 1, EXACT, 1e-3, 0.02, "round with one branch" },
	{ "PAPI_BR_CN**", smp_work_loop, 100000, 2100000, 1, EXACT, 1e-3, 0.02, "round with one branch" },
	{ "perf_page_faults**", smp_work_faults, 100, 2100, 1, EXACT, 0.005, 0.05, FAULTS },
	{ "perf_minor_faults**", smp_work_faults, 100, 2100, 1, EXACT, 0.005, 0.05, FAULTS },
	{ "proc_minflt", smp_work_faults, 100, 2100, 1, EXACT, 0.005, 0.05, FAULTS },
	{ "thread_minflt", smp_work_faults, 100, 2100, 1, EXACT, 0.005, 0.05, FAULTS },
	{ "node_faults", smp_work_faults, 100, 20100, 1, AT_LEAST, 0.005, 100, FAULTS },
	{ "perf_task_clock**", smp_work_spin, 5, 55, 1e6, EXACT, 0.02, 0.1, SPIN },
	{ "thread_run", smp_work_spin, 5, 55, 1e6, EXACT, 0.02, 0.1, SPIN },
	{ "thread_usr", smp_work_spin, 5, 205, 0.1, EXACT, 0.1, 0.3, SPIN },
	{ "proc_usr", smp_work_spin, 5, 105, 1000, EXACT, 0.05, 0.2, SPIN },
	{ "cpu_usr", smp_work_spin, 10, 510, 0.1, AT_LEAST, 0.1, 20, SPIN },
	{ "proc_read", smp_work_pipe, 10, 1010, 1024, EXACT, 1e-3, 0.01, PIPE },
	{ "proc_write", smp_work_pipe, 10, 1010, 1024, EXACT, 1e-3, 0.01, PIPE },
	{ "thread_read", smp_work_pipe, 10, 1010, 1024, EXACT, 1e-3, 0.01, PIPE },
	{ "thread_write", smp_work_pipe, 10, 1010, 1024, EXACT, 1e-3, 0.01, PIPE },
	{ "proc_reads", smp_work_calls, 10, 1010, 1, EXACT, 1e-3, 0.01, "read system call" },
	{ "proc_writes", smp_work_calls, 10, 1010, 1, EXACT, 1e-3, 0.01, "write system call" },
	{ "proc_nvcsw", smp_work_sleep, 20, 220, 1, EXACT, 0.02, 0.2, "time asleep" },
	{ "thread_nvcsw", smp_work_sleep, 20, 220, 1, EXACT, 0.02, 0.2, "time asleep" },
	{ "perf_context_switches**", smp_work_sleep, 20, 220, 1, AT_LEAST, 0.02, 1, "time asleep" },
	{ "net_io:lo", smp_work_packets, 50, 2050, SMP_PACKET_BYTES, AT_LEAST, 1e-3, 1, "datagram of 1000 bytes over loopback" },
	{ "net_[rt]x:lo", smp_work_packets, 50, 2050, SMP_PACKET_BYTES / 2, AT_LEAST, 1e-3, 1, "datagram of 1000 bytes over loopback" },
	{ "disk_write", smp_work_disk, 1, 9, 1048576, AT_LEAST, 0.01, 20, "MiB written to the working directory and forced to disk" },
	{ "disk_io", smp_work_disk, 1, 9, 1048576, AT_LEAST, 0.01, 20, "MiB written to the working directory and forced to disk" },
	{ "proc_disk_write", smp_work_disk, 1, 9, 1048576, EXACT, 0.01, 0.1, "MiB written to the working directory" },
	{ "thread_disk_write", smp_work_disk, 1, 9, 1048576, EXACT, 0.01, 0.1, "MiB written to the working directory" },
	{ "proc_rss", smp_work_memory, 4, 36, 1048576, EXACT, 0.02, 0.1, "MiB of memory touched" },
	{ "proc_vm", smp_work_memory, 4, 36, 1048576, EXACT, 0.02, 0.1, "MiB of memory mapped" },
	{ "clock_real_raw", smp_work_wait, 1, 51, 0, EXACT, 2000, 20000, "ms that passed" },
	/* all other events of a CPU happen in the mixed loop; emulators and hypervisors that always show 0 are found */
	{ "perf_*_clock**", smp_work_mixed, 1, 4, 0, SOME, 0, 0, "a loop of everything" },
	{ "perf_major_faults**", NULL, 0, 0, 0, SOME, 0, 0, "" },
	{ "perf_migrations**", NULL, 0, 0, 0, SOME, 0, 0, "" },
	{ "perf_*_faults**", NULL, 0, 0, 0, SOME, 0, 0, "" },
	{ "perf_**", smp_work_mixed, 1, 4, 0, SOME, 0, 0, "a loop of misses, branches, loads, stores and arithmetic" },
	{ "PAPI_**", smp_work_mixed, 1, 4, 0, SOME, 0, 0, "a loop of misses, branches, loads, stores and arithmetic" },
	{ "*::**", smp_work_mixed, 1, 4, 0, SOME, 0, 0, "a loop of misses, branches, loads, stores and arithmetic" },
};
/* clang-format on */

struct opened {
	const struct smp_planned *p;
	void *set;
};

static double print_number(const struct smp_counter *c, const union smp_value *v)
{
	return c->type == SMP_F64 ? v->f : c->type == SMP_I64 ? (double)v->i : (double)v->u;
}

/* Counts what `work` makes of the counter. Returns 0, or -1 with v->text. */
static int count_verdict(
	const struct opened *o, const struct expectation *e, uint64_t n, double *out, struct smp_validation *v)
{
	union smp_value before, after;
	uint8_t state = 0;

	if (o->p->source->read(o->set, &before, &state) != 1) {
		return smp_why(
			v->text, "opens, and gives no value when it is read: another program may use the counter");
	}
	if (e->work(n) < 0) {
		v->verdict = SMP_UNTRIED;
		return smp_why(v->text, "%s: cannot be done here", e->what);
	}
	state = 0;
	if (o->p->source->read(o->set, &after, &state) != 1) {
		return smp_why(v->text, "gives no value after %s: another program may use the counter", e->what);
	}
	*out = print_number(&o->p->counter, &after) -
		(o->p->counter.kind == SMP_TOTAL ? print_number(&o->p->counter, &before) : 0);
	return 0;
}

/* The median of five: what else this process or the machine did in one of them is not the counter's. */
static int slope(const struct opened *o, const struct expectation *e, double *out, struct smp_validation *v)
{
	enum { RUNS = 5 };
	double s[RUNS], a, b, t;
	int i, k;

	for (i = 0; i < RUNS; i++) {
		if (count_verdict(o, e, e->small, &a, v) < 0 || count_verdict(o, e, e->large, &b, v) < 0) {
			return -1;
		}
		/* what only has to grow may do so all in the first round */
		s[i] = e->how == SOME ? a + b : (b - a) / (double)(e->large - e->small);
		for (k = i; k > 0 && s[k] < s[k - 1]; k--) {
			t = s[k];
			s[k] = s[k - 1];
			s[k - 1] = t;
		}
	}
	*out = s[RUNS / 2];
	return 0;
}

static void judge_counter(const struct expectation *e, const char *unit, struct smp_validation *v)
{
	double off = e->per_unit != 0 ? v->measured / e->per_unit - 1 : v->measured;

	v->expected = e->per_unit;
	if (e->how == SOME) {
		v->verdict = v->measured > 0 ? SMP_ACCEPT : SMP_REFUSE;
		smp_why(v->text,
			v->measured > 0 ? "counts in %s; how exactly is not known"
					: "reads 0 in %s: it opens without an error and counts nothing",
			e->what);
		return;
	}
	if (e->how == AT_LEAST && off > 0) {
		v->verdict = off <= e->accept * 10 || e->warn >= 10 ? SMP_ACCEPT : SMP_WARN;
		v->verdict = off > e->warn ? SMP_WARN : v->verdict;
	} else {
		v->verdict = fabs(off) <= e->accept ? SMP_ACCEPT : fabs(off) <= e->warn ? SMP_WARN : SMP_REFUSE;
	}
	smp_why(v->text, "%.6g %s per %s, known: %.6g%s%s", v->measured, unit, e->what, e->per_unit,
		e->how == AT_LEAST ? " and what others add" : "",
		v->verdict == SMP_REFUSE         ? ": do not use it"
			: v->verdict == SMP_WARN ? ": near, not exact"
						 : "");
}

static const struct expectation *find_expectation(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(expectations) / sizeof(expectations[0]); i++) {
		if (tkm_glob_match(expectations[i].pattern, name)) {
			return &expectations[i];
		}
	}
	return NULL;
}

void smp_validate(const struct smp_planned *p, struct smp_validation *v)
{
	const struct expectation *e = find_expectation(p->counter.name);
	struct smp_target self = { p->counter.scope, getpid(), p->counter.scope == SMP_THREAD ? (int32_t)gettid() : 0 };
	const char *const name = p->counter.name;
	char why_each[1][SMP_TEXT] = { "" }, why[SMP_TEXT] = "";
	struct opened o = { p, NULL };

	*v = (struct smp_validation){ .verdict = SMP_UNTRIED };
	if (!e || !e->work || strncmp(name, "sde::", 5) == 0) {
		smp_why(v->text, "no loop of known size for it");
		return;
	}
	if (strstr(p->counter.what, SMP_NONE_HERE)) {
		smp_why(v->text, "this machine has nothing that it counts");
		return;
	}
	v->verdict = SMP_REFUSE;
	o.set = p->source->open(p->env, &self, &name, 1, why_each, why);
	if (!o.set || why_each[0][0]) {
		smp_why(v->text, "does not open: %.200s", why_each[0][0] ? why_each[0] : why);
	} else if (slope(&o, e, &v->measured, v) == 0) {
		judge_counter(e, p->counter.unit, v);
	}
	smp_work_memory(0);
	if (o.set) {
		p->source->close(o.set);
	}
}

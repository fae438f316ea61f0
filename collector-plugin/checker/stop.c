/* SPDX-License-Identifier: BSD-3-Clause */
/* The end that a report forces, and the summary. */
#include "config.h"
#include "collector-plugin/checker/checker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "collector-plugin/host/say.h"

int vt_mc_over, vt_mc_stopping;

static void print_ranks(char *text, size_t size, const uint64_t *bits)
{
	size_t n = 0;
	int i, first = -1;

	text[0] = '\0';
	for (i = 0; i <= VT_MC_RANKS; i++) {
		int in = i < VT_MC_RANKS && vt_mc_has_bit(bits, i);

		if (in && first < 0) {
			first = i;
		} else if (!in && first >= 0) {
			if (n < size) {
				n += (size_t)snprintf(text + n, size - n, first == i - 1 ? "%s%d" : "%s%d-%d",
					n ? "," : "", first, i - 1);
			}
			first = -1;
		}
	}
}

static void print_suppressed(void)
{
	uint64_t bits[VT_MC_BITS] = { 0 };
	char ranks[400], line[700];
	unsigned sum = 0;
	int i;

	for (i = 0; i < vt_mc_shared->ranks; i++) {
		sum += vt_mc_shared->rank[i].suppressed;
		if (vt_mc_shared->rank[i].suppressed) {
			vt_mc_set_bit(bits, i);
		}
	}
	if (sum) {
		print_ranks(ranks, sizeof(ranks), bits);
		snprintf(line, sizeof(line), "[%d] INFO:    suppressed by CHECK-SUPPRESS: %u, rank%s %s\n", vt_mc_rank,
			sum, strpbrk(ranks, ",-") ? "s" : "", ranks);
		vt_say_lines(line);
	}
}

static void print_class_counts(void)
{
	const struct vt_mc_shared *s = vt_mc_shared;
	char ranks[400], line[700];
	uint64_t bits[VT_MC_BITS];
	uint32_t sum;
	int c, i;

	for (c = 0; c < VT_MC_CLASSES; c++) {
		sum = 0;
		memset(bits, 0, sizeof(bits));
		for (i = 0; i < s->ranks; i++) {
			sum += s->rank[i].count[c];
			if (s->rank[i].count[c]) {
				vt_mc_set_bit(bits, i);
			}
		}
		if (sum) {
			print_ranks(ranks, sizeof(ranks), bits);
			snprintf(line, sizeof(line), "[%d] INFO:    %s: %u, rank%s %s\n", vt_mc_rank,
				vt_mc_class_of[c].name, sum, strpbrk(ranks, ",-") ? "s" : "", ranks);
			vt_say_lines(line);
		}
	}
}

void vt_mc_summary(void)
{
	const struct vt_mc_shared *s = vt_mc_shared;
	unsigned long long calls = 0;
	unsigned errors = 0, warnings = 0;
	char line[200];
	int i;

	if (!s) {
		snprintf(line, sizeof(line), "[%d] INFO: %d error%s in this rank, suppressed: %u\n", vt_mc_rank,
			vt_mc_errors, vt_mc_errors == 1 ? "" : "s", vt_mc_suppressed());
		vt_say_lines(line);
		return;
	}
	for (i = 0; i < s->ranks; i++) {
		calls += s->rank[i].calls;
		errors += s->rank[i].errors;
		warnings += s->rank[i].warnings;
	}
	snprintf(line, sizeof(line), "[%d] INFO: %u error%s, %u warning%s in %llu calls of %d rank%s\n", vt_mc_rank,
		errors, errors == 1 ? "" : "s", warnings, warnings == 1 ? "" : "s", calls, s->ranks - s->absent,
		s->ranks - s->absent == 1 ? "" : "s");
	vt_say_lines(line);
	print_class_counts();
	print_suppressed();
}

static void sleep_ms(int ms)
{
	struct timespec t = { .tv_nsec = ms * 1000000L };

	nanosleep(&t, NULL);
}

/* The launcher of MPICH drops what it has not read when a job is aborted: first it takes what is in the pipe, then it passes that on. */
static void wait_for_launcher(void)
{
	int left = 1, i;

	fflush(NULL);
	for (i = 0; i < 50 && ioctl(STDERR_FILENO, FIONREAD, &left) == 0 && left > 0; i++) {
		sleep_ms(20);
	}
	sleep_ms(100);
}

/* Users of other checkers expect that the program runs to its end. */
static void print_limit(const char *option, long long limit)
{
	char line[200];

	if (option) {
		snprintf(line, sizeof(line), "[%d] INFO: the job ends here, because --%s is %lld; with 0 it goes on\n",
			vt_mc_rank, option, limit);
		vt_say_lines(line);
	}
}

void vt_mc_stop(const char *option, long long limit)
{
	int64_t end = vt_mc_now_ns() + (int64_t)(1e9 * vt_mc_timeout_s());
	int first = 1, mine = 0;

	vt_mc_trace_stop();
	if (!vt_mc_shared || vt_mc_stopping) {
		vt_mc_summary();
		print_limit(option, limit);
		PMPI_Abort(MPI_COMM_WORLD, 1);
		_exit(1);
	}
	vt_mc_stopping = 1;
	vt_mc_shared->rank[vt_mc_rank].generation++;
	vt_mc_shared->rank[vt_mc_rank].state = VT_MC_STOPPED;
	/* the others go on, to show what else is wrong */
	while (vt_mc_running && vt_mc_now_ns() < end && !vt_mc_all_others_stuck()) {
		if (!vt_mc_is_watch) {
			vt_mc_progress();
		}
		sleep_ms(first ? 1 : 20);
		first = 0;
	}
	vt_mc_shared_lock();
	if (!vt_mc_shared->ending) {
		vt_mc_shared->ending = 1 + vt_mc_rank;
		mine = 1;
	}
	vt_mc_shared_unlock();
	if (mine) {
		vt_mc_summary();
		print_limit(option, limit);
		wait_for_launcher();
		vt_mc_over = 1;
		if (vt_mc_is_watch) {
			/* MPI may not be called by two threads; the launcher ends the other ranks */
			_exit(1);
		}
		PMPI_Abort(MPI_COMM_WORLD, 1);
	}
	/* another rank ends the job */
	vt_mc_over = 1;
	for (first = 0; first < 100; first++) {
		sleep_ms(20);
	}
	_exit(1);
}

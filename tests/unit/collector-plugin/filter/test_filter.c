/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines STATE, SYMBOL and ACTIVITY: which names a pattern matches, what a line's words mean, and what several lines decide of a function
 * (Intel Trace Collector guide, sections 2.5.2 and 2.12). */
#include "config.h"
#include "collector-plugin/filter/filter.c"
#include "collector-plugin/settings/rule.c"
#include "collector-plugin/filter/filter.h"
#include "collector-plugin/settings/rule.h"
#include "collector-plugin/settings/settings.h"
#include "tests/lib/check.h"
#include "tests/lib/heap.h"

static const char *internal_mpi;

/* In place of the options' table: only INTERNAL-MPI is asked for. */
const char *vt_settings_other(const struct vt_settings *s, const char *name)
{
	(void)s;
	return strcmp(name, "INTERNAL-MPI") ? NULL : internal_mpi;
}

/* In place of TRACE-IMBALANCE: 0 is off. */
static double idle_s;

double vt_settings_idle_s(const struct vt_settings *s)
{
	(void)s;
	return idle_s;
}

/* In place of the collector's messages: they are counted. */
static int said;

void vt_say(int level, const char *kind, const char *fmt, ...)
{
	CHECK(level == 1 && !strcmp(kind, "WARNING") && strstr(fmt, "more than"), "%d %s %s", level, kind, fmt);
	said++;
}

/* Starts the filter with lines in the order of the file; each is "NAME rest". */
static void start(const char *const *line, size_t n)
{
	static struct vt_setting_other other[40];
	static char name[40][20];
	struct vt_settings s = { .others = NULL };
	size_t i, k;

	for (i = 0; i < n; i++) {
		k = strcspn(line[i], " ");
		snprintf(name[i], sizeof(name[i]), "%.*s", (int)k, line[i]);
		/* the settings have the last line first */
		other[i] = (struct vt_setting_other){
			.next = s.others, .name = name[i], .text = (char *)(uintptr_t)line[i] + k
		};
		s.others = &other[i];
	}
	vt_filter_start(&s);
}

#define START(...) \
	start((const char *const[]){ __VA_ARGS__ }, sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static struct vt_verdict of(const char *class_name, const char *name)
{
	struct vt_verdict v;

	vt_filter_decide(class_name, name, NULL, &v);
	return v;
}

static void without_lines(void)
{
	struct vt_verdict v;

	start(NULL, 0);
	CHECK(!vt_filter_any() && !vt_filter_context(), "no lines");
	v = of("A", "f");
	CHECK(v.record == 1 && v.fold == -1 && v.count == 1 && v.level == -1 && !v.callers && !v.caller_bit &&
			!v.entry && !v.exit,
		"f");
	CHECK_INT(of("SYSTEM", "read").record, 0);
	START("COUNTER x on");
	CHECK(!vt_filter_any(), "another option");
}

static void the_last_line_that_matches_decides(void)
{
	struct vt_verdict v;

	START("STATE **:* OFF", "STATE A:* 3", "SYMBOL g OFF", "STATE A:h COUNTEROFF", "STATE SYSTEM:write ON",
		"STATE A:broken nonsense");
	CHECK(vt_filter_any() && !vt_filter_context(), "lines");
	CHECK_INT(of("B", "f").record, 0);
	v = of("A", "f");
	CHECK(v.record == 1 && v.level == 3 && v.count == 1, "%d, %d", v.record, v.level);
	CHECK_INT(of("A", "g").record, 0);
	v = of("A", "h");
	CHECK(v.record == 1 && v.count == 0 && v.level == 3, "%d, %d", v.record, v.count);
	CHECK(of("SYSTEM", "write").record == 1 && of("SYSTEM", "read").record == 0, "SYSTEM");
	CHECK_INT(of("A", "broken").record, 1);
	START("STATE A:f ON ENTRY traceon EXIT 1 traceoff", "STATE A:f 2:5");
	v = of("A", "f");
	CHECK(v.entry && v.exit && v.entry->action[0] == VT_TRACEON && v.exit->ranks[0].first == 1 && v.level == 5 &&
			v.skip == 2,
		"triggers");
	CHECK(!of("A", "g").entry, "another function");
}

static void callers(void)
{
	struct vt_verdict v, main_v;

	START("STATE lib:* ON CALLER app:main", "STATE lib:slow OFF CALLER **:loop", "STATE app:x FOLD");
	CHECK(vt_filter_any() && vt_filter_context(), "context");
	main_v = of("app", "main");
	CHECK(main_v.callers == VT_FILTER_FIRST_CALLER && main_v.record == 1, "%x", main_v.callers);
	CHECK_INT(of("app", "loop").callers, VT_FILTER_FIRST_CALLER << 1);
	CHECK_INT(of("app", "other").callers, 0);
	v = of("lib", "quick");
	CHECK(v.caller_bit == main_v.callers && v.called_record == 1 && v.called_fold == -1 && v.record == 0,
		"only where main calls it");
	v = of("lib", "slow");
	CHECK(v.caller_bit == VT_FILTER_FIRST_CALLER << 1 && v.called_record == 0, "%x, %d", v.caller_bit,
		v.called_record);
	v = of("app", "x");
	CHECK(v.fold == 1 && v.record == 1 && v.caller_bit == 0, "%d", v.fold);
	START("STATE lib:f UNFOLD CALLER app:*", "STATE lib:g FOLD CALLER app:*", "STATE lib:g ON");
	v = of("lib", "f");
	CHECK(v.record == 1 && v.called_record == 1 && v.called_fold == 0 && v.fold == -1 &&
			v.caller_bit == VT_FILTER_FIRST_CALLER,
		"folding of others stays as it was: %d, %d", v.record, v.called_fold);
	CHECK_INT(of("lib", "g").caller_bit, 0);
	CHECK_INT(of("app", "f").callers, VT_FILTER_FIRST_CALLER);
}

static void at_most_sixteen_callers(void)
{
	static char text[20][40];
	const char *line[20];
	int i;

	for (i = 0; i < 20; i++) {
		snprintf(text[i], sizeof(text[i]), "STATE :f%d ON CALLER :c%d", i, i);
		line[i] = text[i];
	}
	said = 0;
	start(line, 20);
	CHECK_INT(said, 4);
	CHECK(of("", "f15").caller_bit && !of("", "f15").record, "the sixteenth caller");
	CHECK(!of("", "f16").caller_bit && of("", "f16").record, "a line that is left out rejects nothing");
	CHECK_INT(of("", "f").caller_bit, 0);
	for (i = 0; i < 20; i++) {
		CHECK_INT(caller_bit(line[i] + strlen(line[i]) - (i < 10 ? 3 : 4)),
			i < 16 ? (uint32_t)VT_FILTER_FIRST_CALLER << i : 0);
	}
	CHECK_INT(filter.n_callers, VT_FILTER_CALLERS);
}

static void without_what_is_inside_mpi(void)
{
	internal_mpi = "off";
	start(NULL, 0);
	CHECK(vt_filter_any() && vt_filter_context() && of("MPI", "MPI_Send").fold == 1 && of("A", "f").fold == -1,
		"INTERNAL-MPI off");
	START("STATE MPI:MPI_Send UNFOLD");
	CHECK(of("MPI", "MPI_Send").fold == 0 && of("MPI", "MPI_Recv").fold == 1, "a line decides after it");
	internal_mpi = "on";
	start(NULL, 0);
	CHECK(!vt_filter_any(), "INTERNAL-MPI on");
	internal_mpi = NULL;
}

static void calls_that_wait_for_others_and_those_that_let_them_go_on(void)
{
	static const struct {
		const char *class_name, *name;
		int record;
	} want[] = { { "MPI", "MPI_Recv", 1 }, { "MPI", "MPI_Waitall", 1 }, { "MPI", "MPI_Isend", 1 },
		{ "MPI", "MPI_Allreduce", 1 }, { "MPI", "MPI_Irecv", 0 }, { "MPI", "MPI_Ibarrier", 0 },
		{ "MPI", "MPI_Comm_rank", 0 }, { "MPI", "MPI_File_read", 0 }, { "A", "f", 0 },
		{ "SYSTEM", "read", 0 } };
	size_t i;

	idle_s = 1e-4;
	start(NULL, 0);
	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		CHECK(of(want[i].class_name, want[i].name).record == want[i].record, "%s", want[i].name);
	}
	idle_s = 0;
	start(NULL, 0);
	CHECK_INT(of("MPI", "MPI_Irecv").record, 1);
}

#if HEAP_IS_COUNTED
/* The function is recorded then, as without lines. */
static void without_memory_for_a_name(void)
{
	struct vt_verdict v;

	heap_fails = heap_asked + 1;
	vt_filter_decide("a class", "function", NULL, &v);
	CHECK(heap_asked == heap_fails, "%ld allocations, not 1", heap_asked - heap_fails + 1);
	heap_fails = 0;
	CHECK(v.record == 1 && v.fold == -1 && v.count == 1 && v.level == -1, "%d, %d, %d, %d", v.record, v.fold,
		v.count, v.level);
}
#endif

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(without_lines);
	RUN(the_last_line_that_matches_decides);
	RUN(callers);
	RUN(at_most_sixteen_callers);
	RUN(without_what_is_inside_mpi);
	RUN(calls_that_wait_for_others_and_those_that_let_them_go_on);
#if HEAP_IS_COUNTED
	RUN(without_memory_for_a_name);
#else
	SKIP("without_memory_for_a_name", HEAP_WHY);
#endif
	return check_end();
}

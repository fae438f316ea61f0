/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of raw/events.h through the merge: what is written into a raw file comes back from the trace, in the order of time,
 * with its names, and what is wrong is counted. */
#include "config.h"
#include "collector-plugin/raw/events.h"

#include <stdlib.h>
#include <unistd.h>

#include "collector-plugin/merge/merge.h"
#include "collector-plugin/raw/writer.h"
#include "include/stf.h"
#include "tests/lib/check.h"

static char dir[] = "/tmp/test_merge_events.XXXXXX";

static struct vt_raw *begin(const char *name)
{
	static char path[200];
	struct tkm_err e;
	struct vt_raw_options o = { .path = path,
		.block_size = 4096,
		.max_blocks = 64,
		.autoflush = 1,
		.flush_blocks = 4,
		.job = "j",
		.trace = "t.stf",
		.program = "p",
		.timer = "test",
		.hz = 1e9,
		.start = ltick(0),
		.rank = -1 };
	struct vt_raw *r;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	unlink(path);
	r = vt_raw_create(&o, &e);
	CHECK(r, "%s", e.text);
	vt_raw_class(r, 0x10001, 0, "outer");
	vt_raw_class(r, 0x10002, 0x10001, "inner");
	vt_raw_function(r, 0x10001, 0x10002, "f");
	vt_raw_function(r, 0x10002, 0x10001, "g");
	vt_raw_scl(r, 0x10001, 42, "a.c");
	vt_raw_scope(r, 0x10001, 0x10002, 0x10001, 0, "scope");
	return r;
}

static void end(struct vt_raw *r, int64_t last)
{
	vt_raw_clock(r, ltick(0), 1000000000, 0, 0);
	vt_raw_close(r, ltick(last));
}

/* The trace as lines "time willy what". */
static char *events(const char *name, struct vt_merge_result *res)
{
	char raw[200], trace[200], line[200], *text = NULL;
	struct vt_merge_input in = { .path = raw };
	struct vt_merge_options o = { .trace = trace, .force = 1 };
	const struct stf_record *r;
	struct stf_reader *reader;
	struct stf_cursor *c;
	struct stf_err se;
	struct tkm_err e;
	uint32_t i;
	size_t size;
	FILE *f;

	snprintf(raw, sizeof(raw), "%s/%s", dir, name);
	snprintf(trace, sizeof(trace), "%s/t.stf", dir);
	CHECK(vt_merge(&in, 1, &o, res, &e) == 0, "%s", e.text);
	f = open_memstream(&text, &size);
	reader = stf_reader_open(trace, STF_READ_CHECK_REFS, &se);
	CHECK(reader, "%s", se.text);
	c = stf_cursor_open(reader, NULL, &se);
	while (stf_cursor_next(c, &r, &se) > 0) {
		const struct stf_value *fn = stf_value(r, "function"), *scl = stf_value(r, "scl"),
				       *seq = stf_value(r, "seqnr");
		struct stf_counter_value v;

		if (stf_get_counter_value(r, &v) == 0) {
			fprintf(f, "%u %u %s", (unsigned)r->time, stf_willy_thread(v.willy), r->layout->cls);
			for (i = 0; i < v.size_1_2; i++) {
				fprintf(f, " %u", (unsigned)v.values[i]);
			}
			fprintf(f, "\n");
			continue;
		}
		snprintf(line, sizeof(line), "%u %u %s%s%s%s", (unsigned)r->time,
			stf_willy_thread((uint32_t)stf_value(r, "willy")->u), r->layout->cls, fn ? " " : "",
			fn ? stf_reader_name(reader, STF_ID_function_definition, (uint32_t)fn->u) : "",
			scl && scl->u ? " at" : "");
		fprintf(f, "%s%s\n", line, seq ? seq->u == 7 ? " 7" : " ?" : "");
	}
	stf_cursor_close(c);
	stf_reader_close(reader);
	fclose(f);
	return text;
}

static void enter(struct vt_raw_stream *s, int64_t t, int thread, uint32_t function)
{
	vt_raw_event(s, ltick(t), (uint16_t)thread, VT_RAW_ENTER, 0, (const uint32_t[]){ function, 0 }, 8);
}

static void leave(struct vt_raw_stream *s, int64_t t, int thread, uint8_t how)
{
	vt_raw_event(s, ltick(t), (uint16_t)thread, VT_RAW_LEAVE, how, (const uint32_t[]){ 0, 0 }, 8);
}

static void states_and_scopes(void)
{
	struct vt_raw *r = begin("a");
	struct vt_raw_stream *s = vt_raw_stream(r), *other = vt_raw_stream(r);
	struct vt_raw_scope scope = { 0x10001, 7, 0x10001 };
	struct vt_merge_result res;
	char *text;

	vt_raw_thread(r, 1, 5, "other");
	enter(s, 100, 0, 0x10001);
	vt_raw_enter(s, ltick(110), 0, (struct vt_raw_state_change){ 0x10002, 0x10001 });
	vt_raw_event(s, ltick(120), 0, VT_RAW_SCOPE_BEGIN, 0, &scope, sizeof(scope));
	enter(other, 115, 1, 0x10002);
	leave(other, 125, 1, VT_RAW_LEFT);
	vt_raw_leave(s, ltick(130), 0, 0x10001);
	scope.scl = 0;
	vt_raw_event(s, ltick(140), 0, VT_RAW_SCOPE_END, 0, &scope, sizeof(scope));
	leave(s, 150, 0, VT_RAW_LEFT);
	end(r, 1000);
	text = events("a", &res);
	CHECK_STR(text,
		"100 0 enter_function f\n110 0 enter_function g at\n115 1 enter_function g\n"
		"120 0 enter_scope at 7\n125 1 leave_function\n130 0 leave_function at\n140 0 leave_scope 7\n"
		"150 0 leave_function\n");
	CHECK_INT(res.changes, 8);
	free(text);
}

/* What the sampler process found before its first call is one thread with what has the same thread id and a number, unless several threads
 * had the place. */
static void found_before_the_first_call(void)
{
	struct vt_raw *r = begin("p");
	struct vt_merge_result res;

	vt_raw_thread(r, VT_RAW_PLACE, 50, "found");
	vt_raw_thread(r, 1, 50, "");
	vt_raw_thread(r, 2, 61, "");
	vt_raw_thread(r, VT_RAW_PLACE + 1, 60, "");
	vt_raw_thread(r, VT_RAW_PLACE + 1, 61, "");
	vt_raw_thread(r, VT_RAW_PLACE + 2, 70, "never called");
	end(r, 1000);
	free(events("p", &res));
	CHECK_INT(res.threads, 5);
}

/* Left without being entered; open at the thread's end, at the end of the run; one stream used by two threads. */
static void wrong_nesting(void)
{
	struct vt_raw *r = begin("b");
	struct vt_raw_stream *s = vt_raw_stream(r);
	struct vt_merge_result res;
	char *text;

	vt_raw_thread(r, 1, 5, "");
	vt_raw_thread(r, 2, 6, "");
	leave(s, 90, 1, VT_RAW_LEFT);
	enter(s, 100, 1, 0x10001);
	enter(s, 110, 1, 0x10002);
	leave(s, 120, 1, VT_RAW_CLOSED_BY_END);
	enter(s, 130, 2, 0x10002);
	enter(s, 140, 2, 0x10001);
	leave(s, 150, 2, VT_RAW_LEFT);
	end(r, 1000);
	text = events("b", &res);
	CHECK_STR(text,
		"100 1 enter_function f\n110 1 enter_function g\n120 1 leave_function\n130 1 leave_function\n"
		"130 2 enter_function g\n140 2 enter_function f\n150 2 leave_function\n1000 2 leave_function\n");
	CHECK_INT(res.changes, 8);
	free(text);
}

static void short_enter(struct vt_raw_stream *s, int64_t t, uint32_t function)
{
	vt_raw_enter(s, ltick(t), 0, (struct vt_raw_state_change){ function, 0 });
}

/* Short values between short states, which the merge takes many of at once, are neither of these. */
static void values_between_states(void)
{
	struct vt_raw *r = begin("v");
	struct vt_raw_stream *s = vt_raw_stream(r);
	struct vt_raw_counter_def d = {
		.id = 0x10001, .classid = 0x10001, .type = 0x43, .upper = UINT64_MAX, .name = "n"
	};
	const uint32_t id[1] = { 0x10001 };
	struct vt_merge_result res;
	uint64_t v = 5;
	char *text;
	int t;

	vt_raw_counter(r, &d);
	vt_raw_values(s, ltick(100), 0, 1, id, &v, 1);
	for (t = 110; t < 210; t += 50) {
		short_enter(s, t, 0x10001);
		short_enter(s, t + 10, 0x10002);
		v += t == 110 ? 1 : 100000; /* in one word; in two */
		CHECK_INT(vt_raw_values_short(s, ltick(t + 20), 1, id, &v), 1);
		vt_raw_leave(s, ltick(t + 30), 0, 0);
		vt_raw_leave(s, ltick(t + 40), 0, 0);
	}
	end(r, 1000);
	text = events("v", &res);
	CHECK_STR(text,
		"100 0 counter_value 5\n"
		"110 0 enter_function f\n120 0 enter_function g\n130 0 counter_value 6\n"
		"140 0 leave_function\n150 0 leave_function\n"
		"160 0 enter_function f\n170 0 enter_function g\n180 0 counter_value 100006\n"
		"190 0 leave_function\n200 0 leave_function\n");
	free(text);
}

/* A stream goes to another thread with a state open: values of that one come before its first state. */
static void values_of_the_next_thread(void)
{
	struct vt_raw *r = begin("w");
	struct vt_raw_stream *s = vt_raw_stream(r);
	struct vt_raw_counter_def d = {
		.id = 0x10001, .classid = 0x10001, .type = 0x43, .upper = UINT64_MAX, .name = "n"
	};
	const uint32_t id[1] = { 0x10001 };
	struct vt_merge_result res;
	uint64_t v = 5;
	char *text;

	vt_raw_counter(r, &d);
	vt_raw_thread(r, 1, 5, "");
	short_enter(s, 100, 0x10001);
	vt_raw_no_owner(s);
	vt_raw_values(s, ltick(110), 1, 1, id, &v, 1);
	v = 6;
	CHECK_INT(vt_raw_values_short(s, ltick(120), 1, id, &v), 1);
	CHECK_INT(vt_raw_enter_short(s, ltick(130), 0x10002, vt_raw_short_code(0x10002)), 1);
	CHECK_INT(vt_raw_leave_short(s, ltick(140)), 1);
	end(r, 1000);
	text = events("w", &res);
	CHECK_STR(text,
		"100 0 enter_function f\n110 1 counter_value 5\n120 1 counter_value 6\n130 0 leave_function\n"
		"130 1 enter_function g\n140 1 leave_function\n");
	free(text);
}

/* Every event of many: more than a stack's first room, and over several blocks. */
static void deep(void)
{
	struct vt_raw *r = begin("c");
	struct vt_raw_stream *s = vt_raw_stream(r);
	struct vt_merge_result res;
	char *text;
	int i;

	for (i = 0; i < 3000; i++) {
		enter(s, 100 + i, 0, 0x10001);
	}
	for (i = 0; i < 3000; i++) {
		leave(s, 4000 + i, 0, VT_RAW_LEFT);
	}
	end(r, 10000);
	text = events("c", &res);
	CHECK_INT(res.changes, 6000);
	CHECK_INT(res.lost, 0);
	CHECK(strstr(text, "3099 0 enter_function f\n4000 0 leave_function\n"), "no turn");
	free(text);
}

enum { THREADS = 3, EVENTS = 20000 };

/* What a thread records, event by event: the program and the expected trace make the same. */
struct thread {
	uint64_t random;
	int64_t t;
	uint32_t n, kind, function, depth;
	uint64_t v[2];
};

static void next_event(struct thread *h)
{
	uint64_t r;

	h->random = h->random * 6364136223846793005u + 1442695040888963407u;
	r = h->random >> 33;
	h->n++;
	/* runs of about 30 events of one kind; now and then more ticks than a short record has */
	h->t += THREADS * (r % 97 == 0 ? 1 << 20 : 1 + (int64_t)(r % 5));
	h->kind = r >> 8 & 31 ? h->kind : r >> 13 & 3;
	h->v[0] += r >> 20 & 15 ? 1 : 100000;
	h->v[1] += h->kind == 3;
	h->function = h->kind > 1 ? 0 : h->depth && (h->depth == 20 || r >> 16 & 1) ? 1 : 0x10001 + (r >> 17 & 1);
	h->depth += h->function > 1;
	h->depth -= h->function == 1;
}

static void record(struct vt_raw_stream *s, int thread, const struct thread *h)
{
	static const uint32_t id[2] = { 0x10001, 0x10002 };
	uint32_t code = vt_raw_short_code(h->function);

	if (h->function == 1) {
		if (!vt_raw_leave_short(s, ltick(h->t))) {
			vt_raw_leave(s, ltick(h->t), (uint16_t)thread, 0);
		}
	} else if (h->function) {
		if (!vt_raw_enter_short(s, ltick(h->t), h->function, code)) {
			vt_raw_enter(s, ltick(h->t), (uint16_t)thread, (struct vt_raw_state_change){ h->function, 0 });
		}
	} else if (!vt_raw_values_short(s, ltick(h->t), h->kind - 1, id, h->v)) {
		vt_raw_values(s, ltick(h->t), (uint16_t)thread, h->kind - 1, id, h->v, 1);
	}
}

static void print(FILE *f, int thread, const struct thread *h)
{
	fprintf(f, "%u %d ", (unsigned)h->t, thread);
	if (h->function) {
		fprintf(f, "%s\n",
			h->function == 1                 ? "leave_function"
				: h->function == 0x10001 ? "enter_function f"
							 : "enter_function g");
	} else {
		fprintf(f, "counter_value %u", (unsigned)h->v[0]);
		fprintf(f, h->kind == 3 ? " %u\n" : "\n", (unsigned)h->v[1]);
	}
}

/* Runs of short records of several threads at a time, which the merge takes many of at once where no other thread comes between. */
static void runs_of_several_threads(void)
{
	struct vt_raw *r = begin("t");
	struct vt_raw_stream *s[THREADS];
	struct vt_raw_counter_def d = { .classid = 0x10001, .type = 0x43, .upper = UINT64_MAX };
	struct thread h[THREADS] = { { 0 } };
	struct vt_merge_result res;
	char *text, *expected;
	size_t size;
	FILE *f;
	int i, k, first;

	for (i = 0; i < 2; i++) {
		d.id = 0x10001 + (uint32_t)i;
		d.name = i ? "m" : "n";
		vt_raw_counter(r, &d);
	}
	for (i = 0; i < THREADS; i++) {
		vt_raw_thread(r, (uint16_t)i, 5, "");
		s[i] = vt_raw_stream(r);
		/* no two events have the same time */
		h[i] = (struct thread){ .random = (uint64_t)i, .t = i };
		for (k = 0; k < EVENTS; k++) {
			next_event(&h[i]);
			record(s[i], i, &h[i]);
		}
		h[i] = (struct thread){ .random = (uint64_t)i, .t = i };
		next_event(&h[i]);
	}
	end(r, 1 << 30);
	f = open_memstream(&expected, &size);
	for (;;) {
		for (first = -1, i = 0; i < THREADS; i++) {
			first = h[i].n <= EVENTS && (first < 0 || h[i].t < h[first].t) ? i : first;
		}
		if (first < 0) {
			break;
		}
		print(f, first, &h[first]);
		next_event(&h[first]);
	}
	fclose(f);
	text = events("t", &res);
	for (size = 0; text[size] && text[size] == expected[size]; size++) {
	}
	CHECK(size == strlen(expected) && size > 3 * EVENTS * 10, "after %zu of %zu bytes: %.60s, expected %.60s", size,
		strlen(expected), text + size, expected + size);
	free(text);
	free(expected);
}

int main(int argc, char **argv)
{
	char command[100];

	check_args(argc, argv);
	if (!mkdtemp(dir)) {
		return 99;
	}
	RUN(states_and_scopes);
	RUN(found_before_the_first_call);
	RUN(wrong_nesting);
	RUN(values_between_states);
	RUN(values_of_the_next_thread);
	RUN(deep);
	RUN(runs_of_several_threads);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return check_end() | (system(command) != 0);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs of values of several threads. */
#include "config.h"
#include "base/ticks.h"
#include "collector-plugin/merge/common/options.h"
#include "collector-plugin/raw/events.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/writer.h"
#include "include/stf.h"
#include "tests/lib/check.h"
#include "tests/unit/collector-plugin/merge/records/events.h"

#include <stdlib.h>

static void end(struct vt_raw *r, int64_t last)
{
	vt_raw_clock(r, ltick(0), 1000000000, 0, 0);
	vt_raw_close(r, ltick(last));
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
	RUN(runs_of_several_threads);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return check_end() | (system(command) != 0);
}

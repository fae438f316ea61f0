/* SPDX-License-Identifier: BSD-3-Clause */
/* lttng.read: samples with host, process and thread, by the codec alone: blocks, headers and the values of each event. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "exchange/lttng/lttng.h"
#include "tests/bench/lib/bench.h"

enum { EVENTS = 2000000, RUNS = 9 };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int write_trace(const char *path)
{
	static const struct xch_lttng_head h = {
		.float_word_order = 1234, .arch_size = 8, .freq_scale = 1, .start_freq = 1000000000
	};
	static struct xch_lttng_data d = { .h = &h };
	FILE *f = fopen(path, "w");
	struct xch_lttng_out o;
	struct tkm_err e;
	uint64_t i;
	int rc = f ? xch_lttng_out_begin(&o, f, &h, 1 << 18, &e) : -1;

	for (i = 0; i < EVENTS && rc == 0; i++) {
		d.n = 0;
		xch_lttng_add(&d, i, 8);
		xch_lttng_add_text(&d, "node0001");
		xch_lttng_add(&d, i & 3, 4);
		xch_lttng_add(&d, 0, 4);
		rc = xch_lttng_out_event(&o, 100 * i, 1, 0, d.b, d.n, &e);
	}
	return rc < 0 || xch_lttng_out_end(&o, &e) < 0 || fclose(f) != 0 ? -1 : 0;
}

static int read_trace(const char *path, double *rate)
{
	struct xch_lttng_field *fields;
	int n = xch_lttng_format("value %llu host %s process %u thread %u", &fields), more;
	struct xch_lttng_value v[4];
	struct xch_lttng_event e;
	struct xch_lttng_in in;
	struct tkm_err err;
	uint64_t sum = 0, events = 0;
	double start = now();

	if (n != 4 || xch_lttng_in_open(&in, path, &err) < 0) {
		return -1;
	}
	while ((more = xch_lttng_in_next(&in, &e, &err)) > 0 &&
		xch_lttng_values(&in.h, fields, n, e.data, e.size, v) == 0) {
		sum += v[0].u;
		events++;
	}
	xch_lttng_in_close(&in);
	xch_lttng_fields_free(fields, n);
	*rate = (double)events / (now() - start) / 1e6;
	return more == 0 && events == EVENTS && sum == (uint64_t)EVENTS * (EVENTS - 1) / 2 ? 0 : -1;
}

int main(void)
{
	char path[] = "/tmp/bench-lttng-XXXXXX";
	double rate[RUNS];
	int fd = mkstemp(path), i, rc = fd < 0 || write_trace(path) < 0 ? -1 : 0;

	for (i = 0; i < RUNS && rc == 0; i++) {
		rc = read_trace(path, &rate[i]);
	}
	unlink(path);
	if (rc < 0) {
		fprintf(stderr, "bench_lttng: what was read is not what was written\n");
		return 1;
	}
	bench_print("lttng.read", rate, RUNS, "M events/s of CPU");
	return 0;
}

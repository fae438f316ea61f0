/* SPDX-License-Identifier: BSD-3-Clause */
/* lttng_variants DIR N: writes an LTTng trace of 2008 in the N-th variant of its headers to DIR, and prints what is in it as
 * tests/golden/lttng_reader.py does. Status 3: there is no such variant. */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "exchange/lttng/lttng.h"

static struct xch_lttng_head head;
static uint64_t state;
static const char *file = "cpu_0";

static uint64_t draw(void)
{
	uint64_t z = (state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static void begin(FILE **f, struct xch_lttng_out *o, const char *dir, const char *name, uint32_t block)
{
	char path[4096];
	struct tkm_err e;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	*f = fopen(path, "w");
	if (!*f || xch_lttng_out_begin(o, *f, &head, block, &e) < 0) {
		exit(1);
	}
}

static void put(
	struct xch_lttng_out *o, uint64_t tsc, unsigned facility, unsigned event, const struct xch_lttng_data *d)
{
	struct tkm_err e;

	if (d->full || xch_lttng_out_event(o, tsc, facility, event, d->b, d->n, &e) < 0) {
		fprintf(stderr, "%s\n", d->full ? "full" : e.text);
		exit(1);
	}
}

static void end(FILE *f, struct xch_lttng_out *o)
{
	struct tkm_err e;

	if (xch_lttng_out_end(o, &e) < 0 || fclose(f) != 0) {
		exit(1);
	}
}

static void control(const char *dir, struct xch_lttng_data *d)
{
	static const char *const names[] = { "numbers", "only text" };
	static const char *const formats[] = {
		"value %lld t %s pointer %p real %f two #2u%d one #1d%d int %d hex %x eight #8u%lu", "text %s"
	};
	struct xch_lttng_out o;
	FILE *f;
	unsigned i;

	begin(&f, &o, dir, "control/facilities_0", 1024);
	for (i = 0; i < 2; i++) {
		d->n = 0;
		xch_lttng_add_text(d, names[i]);
		xch_lttng_add(d, 256 * (1 + i) + i, 2);
		put(&o, head.start_tsc, 0, LTT_MARKER_ID, d);
		d->n = 0;
		xch_lttng_add_text(d, names[i]);
		xch_lttng_add_text(d, formats[i]);
		put(&o, head.start_tsc, 0, LTT_MARKER_FORMAT, d);
	}
	end(f, &o);
}

/* Nanoseconds since 1970, rounded half up. */
static int64_t time_of(uint64_t tsc)
{
	__int128 n = (__int128)(int64_t)(tsc - head.start_tsc) * 1000000000 * head.freq_scale * 2 +
		(__int128)head.start_freq;

	return (int64_t)(n / (2 * (__int128)head.start_freq)) + (int64_t)head.seconds * 1000000000 + head.nanoseconds;
}

static void one(struct xch_lttng_out *o, struct xch_lttng_data *d, uint64_t tsc, unsigned i)
{
	uint64_t v = draw(), pointer = head.arch_size == 8 ? draw() : (uint32_t)draw();
	double real = (double)(int64_t)draw() / 3;
	char text[64];

	memset(text, 'a' + i % 26, sizeof(text));
	text[i % 50] = 0;
	d->n = 0;
	printf("%s %" PRIu64 " %" PRId64 " ", file, tsc, time_of(tsc));
	if (i % 7 == 3) {
		xch_lttng_add_text(d, text);
		printf("\"only text\" text=\"%s\"\n", text);
		put(o, tsc, 2, 1, d);
		return;
	}
	xch_lttng_add(d, v, 8);
	xch_lttng_add_text(d, text);
	xch_lttng_add(d, pointer, head.arch_size);
	xch_lttng_add_real(d, real);
	xch_lttng_add(d, v, 2);
	xch_lttng_add(d, v, 1);
	xch_lttng_add(d, v, 4);
	xch_lttng_add(d, v, 4);
	xch_lttng_add(d, v, 8);
	printf("\"numbers\" value=%" PRId64 " t=\"%s\" pointer=%" PRIu64 " real=%.13a two=%u one=%d int=%" PRId32
	       " hex=%" PRIu32 " eight=%" PRIu64 "\n",
		(int64_t)v, text, pointer, real, (unsigned)(uint16_t)v, (int)(int8_t)v, (int32_t)v, (uint32_t)v, v);
	put(o, tsc, 1, 0, d);
}

int main(int argc, char **argv)
{
	static const uint8_t alignments[] = { 0, 4, 8 };
	unsigned k = argc == 3 ? (unsigned)atoi(argv[2]) : 99, i;
	static struct xch_lttng_data d = { .h = &head };
	char path[4096];
	struct xch_lttng_out o;
	uint64_t tsc;
	FILE *f;

	if (k >= 48) {
		return 3;
	}
	state = k;
	head = (struct xch_lttng_head){ .big = k & 1,
		.natural = k >> 1 & 1,
		.has_heartbeat = k >> 2 & 1,
		.arch_size = k >> 3 & 1 ? 4 : 8,
		.alignment = alignments[k / 16],
		.float_word_order = k % 3 ? 1234 : 4321,
		.major = 2,
		.flight_recorder = k % 5 == 0,
		.freq_scale = 2,
		.start_freq = 4800000001,
		.start_tsc = UINT64_C(0xfffffff00),
		.seconds = 1212364800,
		.nanoseconds = 999999999 };
	snprintf(path, sizeof(path), "%s/control", argv[1]);
	if (mkdir(argv[1], 0777) < 0 || mkdir(path, 0777) < 0) {
		return 1;
	}
	control(argv[1], &d);
	/* what happened first is in control/, as after an overwritten block */
	file = "processes_3";
	begin(&f, &o, argv[1], "control/processes_3", 400);
	for (i = 0; i < 5; i++) {
		one(&o, &d, head.start_tsc, i);
	}
	end(f, &o);
	file = "cpu_0";
	begin(&f, &o, argv[1], "cpu_0", 700);
	/* pauses around 2^31 and 2^32 ticks, and one that ends the block */
	for (i = 0, tsc = head.start_tsc; i < 200; i++) {
		tsc += i % 40 == 17    ? (UINT64_C(1) << 31) - 1 + i % 3
			: i % 40 == 23 ? (UINT64_C(1) << 32) + 5
			: i == 150     ? UINT64_C(1) << 43
				       : draw() % 5000;
		one(&o, &d, tsc, i);
	}
	end(f, &o);
	return o.events == 200 && (!head.has_heartbeat || o.heartbeats > 0) ? 0 : 1;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The counter samples of a trace, one a line, in the order of time: what a test program said that it recorded, and
 * says itself in the same form (say.h):
 *   WHERE CLASS:NAME TYPE DISPLAY SCOPE LOWER UPPER VALUE
 * WHERE is process:thread, "node" for the group of this node, or g:NAME; bounds and values are bits in hexadecimal.
 * samples TRACE [-t]: with the stamp in seconds in front. Exit status 1: not a trace, or stamps that go back. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "include/stf.h"

static struct stf_reader *r;
static double resolution;

static int fail(const struct stf_err *e)
{
	fprintf(stderr, "samples: %s: %s\n", e->file, e->text);
	return 1;
}

static void where(uint32_t willy)
{
	char host[256] = "";
	struct stf_willy_info w;
	const char *name;

	if (!stf_willy_is_group(willy)) {
		printf("%u:%u", stf_willy_process(willy), stf_willy_thread(willy));
		return;
	}
	name = stf_reader_name(r, STF_ID_group_definition, willy & 0x7fffffff);
	gethostname(host, sizeof(host) - 1);
	if (!name && stf_reader_willy(r, willy, &w) == 0) {
		name = w.name;
	}
	if (name && strcmp(name, host) == 0) {
		printf("node");
	} else {
		printf("g:%s", name ? name : "?");
	}
}

static void one(uint64_t time, uint32_t willy, uint32_t id, uint64_t value, int stamps)
{
	const struct stf_record *rec = stf_reader_find(r, STF_ID_counter_definition, id);
	const char *name = stf_reader_name(r, STF_ID_counter_definition, id), *cls = NULL;
	struct stf_counter_definition d;

	if (!rec || stf_get_counter_definition(rec, &d) != 0) {
		printf("? undefined counter %u\n", id);
		return;
	}
	cls = stf_reader_name(r, STF_ID_class_definition, d.classid);
	if (stamps) {
		printf("%.9f ", (double)time * resolution);
	}
	where(willy);
	printf(" %s:%s %u %u %u %016" PRIx64 " %016" PRIx64 " %016" PRIx64 "\n", cls ? cls : "", name, d.type & 15u,
		d.do_diff, d.type >> 4, (uint64_t)d.lower_bound, (uint64_t)d.upper_bound, value);
}

int main(int argc, char **argv)
{
	int stamps = argc > 2 && strcmp(argv[2], "-t") == 0, rc;
	const struct stf_record *rec;
	struct stf_cursor *c;
	struct stf_err err;
	uint64_t last = 0;
	uint32_t bits;

	if (argc < 2 || !(r = stf_reader_open(argv[1], STF_READ_CHECK_REFS, &err))) {
		return argc < 2 ? 2 : fail(&err);
	}
	stf_reader_clock(r, &resolution, &bits);
	c = stf_cursor_open(r, NULL, &err);
	while (c && (rc = stf_cursor_next(c, &rec, &err)) > 0) {
		struct stf_counter_value v;
		uint32_t i;

		if (rec->time < last) {
			fprintf(stderr, "samples: a stamp goes back\n");
			return 1;
		}
		last = rec->time;
		if (stf_get_counter_value(rec, &v) == 0) {
			for (i = 0; i < v.size_1_2; i++) {
				one(rec->time, v.willy, v.counters[i], v.values[i], stamps);
			}
		}
	}
	if (!c || rc < 0) {
		return fail(&err);
	}
	stf_cursor_close(c);
	stf_reader_close(r);
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of a trace. */
#include "config.h"
#include "include/stf.h"
#include "tests/lib/check.h"
#include "tests/lib/stf_dir.h"
#include "tests/lib/stf_every.h"
#include "tests/unit/stf/golden.h"

static void tables_are_read(void)
{
	struct stf_reader *r;
	struct stf_willy_info wi;
	const char *cls, *text;
	double res = 0;
	uint32_t bits = 0, n;
	uint64_t start = 0, end = 0;
	const uint32_t *threads;

	clean();
	CHECK(write_every(in_dir("a.stf"), 1, 2) == 0, "%s", err.text);
	r = stf_reader_open(in_dir("a.stf"), 0, &err);
	CHECK(r, "%s: %s", err.file, err.text);
	if (!r) {
		return;
	}
	CHECK_INT(stf_reader_clock(r, &res, &bits), 0);
	CHECK(res == 0x1p-30 && bits == 3, "%g %u", res, bits);
	CHECK_INT(stf_reader_duration(r, &start, &end), 0);
	CHECK_INT(start, 1000 + 10 * STF_ID_all_communication);
	CHECK(end >= 1000 + 10 * STF_ID_report, "%llu", (unsigned long long)end);
	threads = stf_reader_processes(r, &n);
	CHECK(n == 4 && threads[2] == 2, "%u processes", n);
	CHECK_INT(stf_reader_willy(r, STF_WILLY(2, 1), &wi), 0);
	CHECK_STR(wi.hostname, "node7");
	CHECK_STR(wi.ip, "10.1.2.3");
	CHECK_STR(wi.name, "rank 2 \xc3\xa4");
	CHECK(wi.pid == 1234 && wi.tid == 5678 && wi.offset == -0.5 && wi.skew == 2.5e-10, "willy");
	CHECK_INT(stf_reader_willy(r, STF_WILLY(9, 9), &wi), -1);
	CHECK_INT(stf_reader_info(r, 1, &cls, &text), 0);
	CHECK_STR(cls, "clock");
	CHECK_STR(text, "simulated");
#ifdef HAVE_XXHASH
	CHECK_INT(stf_reader_info(r, 2, &cls, &text), 0);
	CHECK_STR(cls, "integrity");
	CHECK(strncmp(text, ".dcl ", 5) == 0, "%s", text);
#else
	CHECK_INT(stf_reader_info(r, 2, &cls, &text), -1);
#endif
	CHECK_INT(stf_reader_info(r, 99, &cls, &text), -1);
	CHECK(!stf_reader_string(r, 9999), "undeclared string");
	CHECK_STR(stf_reader_name(r, STF_ID_communicator_definition, 200), "ccc");
	CHECK_INT(stf_reader_is_big_endian(r), 1);
	CHECK_INT(stf_reader_skipped(r), 0);
	stf_reader_close(r);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
	RUN(tables_are_read);
	clean();
	rmdir(dir);
	return check_end();
}

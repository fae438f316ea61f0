/* SPDX-License-Identifier: BSD-3-Clause */
/* Compressed components, whole and cut. */
#include "config.h"
#include "include/stf.h"
#include "stf/format/hash.h"
#include "tests/lib/check.h"
#include "tests/lib/stf_dir.h"
#include "tests/unit/stf/kinds.h"

/* ---- compressed traces ---- */

/* Every record comes back; a file cut anywhere gives whole frames and then says so; damage is seen or harmless. */
static void compressed_and_cut(void)
{
	struct stf_cursor *c;
	struct stf_reader *r;
	const struct stf_record *rec;
	char *p;
	size_t n, len, got_before = 0, i;
	int rc = 0, k, seen = 0;

	compress = 1;
	write_trace(0, 0, 0);
	p = slurp(in_dir("a.stf.c.0.zst"), &len);
	CHECK(p && len > 1000, "%zu", len);
	r = stf_reader_open(in_dir("a.stf"), 0, &err);
	for (k = 0; k <= 40; k++) {
		spit(in_dir("a.stf.c.0.zst"), p, k == 40 ? len : len * (size_t)k / 40);
		c = stf_cursor_open(r, ".c.0", &err);
		CHECK(c, "%s", err.text);
		for (n = 0; c && (rc = stf_cursor_next(c, &rec, &err)) > 0;) {
			n++;
		}
		CHECK(rc == (k == 40 ? 0 : -1) && n >= got_before, "%d of 40: %d, %zu records", k, rc, n);
		CHECK(rc == 0 || err.code == STF_ERR_TRUNCATED, "%d: %s", err.code, err.text);
		got_before = n;
		stf_cursor_close(c);
	}
	for (k = 0; k < 300; k++) {
		i = check_random() % len;
		p[i] = (char)(p[i] ^ (1 << check_random() % 8));
		spit(in_dir("a.stf.c.0.zst"), p, len);
		c = stf_cursor_open(r, ".c.0", &err);
		while (c && (rc = stf_cursor_next(c, &rec, &err)) > 0) {
		}
		seen += !c || rc < 0;
		stf_cursor_close(c);
	}
	CHECK(seen > 200, "%d of 300 damages were seen", seen);
	stf_reader_close(r);
	free(p);
	compress = 0;
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
	if (zstd) {
		RUN(compressed_and_cut);
	} else {
		SKIP("compressed_and_cut", "no zstd in this build");
	}
	clean();
	rmdir(dir);
	return check_end();
}

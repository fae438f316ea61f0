/* SPDX-License-Identifier: BSD-3-Clause */
/* A wrong bit is seen at the end of what was read. */
#include "config.h"
#include "include/stf.h"
#include "stf/format/hash.h"
#include "tests/lib/check.h"
#include "tests/lib/stf_dir.h"
#include "tests/unit/stf/kinds.h"

/* One bit of a plain file is wrong, and its records are readable: only a reader that verifies sees it, at the end and in its damages. */
static void a_wrong_bit_is_seen_at_the_end(void)
{
	const struct stf_record *rec;
	struct stf_damage damage;
	struct stf_reader *r;
	struct stf_cursor *c;
	size_t len, n;
	char *p;
	int k, rc;

	compress = 0;
	write_trace(0, 1, 0);
	p = slurp(in_dir("a.stf.c.2"), &len);
	/* the lowest byte of the last value */
	p[len - 8] = (char)(p[len - 8] ^ 1);
	spit(in_dir("a.stf.c.2"), p, len);
	free(p);
	for (k = 0; k < 3; k++) {
		if (k == 2) {
			remove_anchors();
		}
		r = stf_reader_open(in_dir("a.stf"), k ? STF_READ_VERIFY : 0, &err);
		c = r ? stf_cursor_open(r, NULL, &err) : NULL;
		CHECK(c, "%s", err.text);
		for (n = 0, rc = 0; c && (rc = stf_cursor_next(c, &rec, &err)) > 0; n++) {
		}
		CHECK(n > N / 2 && (k || n == N), "%d: %zu records", k, n);
		CHECK(k ? rc < 0 && err.code == STF_ERR_CHECKSUM : rc == 0, "%d: %d, %s", k, rc, err.text);
		CHECK(r && stf_reader_damage(r, 0, &damage) == (k != 0), "%d: damages", k);
		stf_cursor_close(c);
		stf_reader_close(r);
	}
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
	if (stf_hash_there()) {
		RUN(a_wrong_bit_is_seen_at_the_end);
	} else {
		SKIP("a_wrong_bit_is_seen_at_the_end", "no xxhash in this build");
	}
	clean();
	rmdir(dir);
	return check_end();
}

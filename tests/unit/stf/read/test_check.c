/* SPDX-License-Identifier: BSD-3-Clause */
/* Checksums tell what was changed. */
#include "config.h"
#include "include/stf.h"
#include "tests/lib/check.h"
#include "tests/lib/stf_dir.h"
#include "tests/unit/stf/pipe.h"

#ifdef HAVE_XXHASH
enum { COMPONENTS = 4 }; /* .dcl, .c.0 and its anchors, .f.0 */

/* All components have checksums. */
static int check_all(const char *path, const char *suffix, size_t components)
{
	struct stf_reader *r = stf_reader_open(path, STF_READ_DAMAGED, &err);
	struct stf_check c;
	size_t i;
	int rc, found = -1;

	for (i = 0; r && (rc = stf_reader_check(r, i, &c, &err)) > 0; i++) {
		if (!suffix && c.result != STF_CHECK_GOOD) {
			found = (int)i;
		} else if (suffix && strcmp(suffix, c.suffix) == 0) {
			found = c.result;
		}
	}
	CHECK(r && rc == 0 && i == components, "%zu of %zu components", i, components);
	stf_reader_close(r);
	return found;
}

static void checksums_tell(void)
{
	struct stf_writer_options o = { 0 };
	char *p;
	size_t n;
	int i;

	for (i = 0; i < 4; i++) {
		clean();
		o.single = i & 1 ? STF_SINGLE_FILE : 0;
		o.compress = zstd && i & 2;
		CHECK_INT(write_trace(in_dir("a.stf"), o, 0), 0);
		/* if compressed, the frames are so small that a place and a time for each is more than a tenth of them */
		CHECK(check_all(in_dir("a.stf"), NULL, COMPONENTS - (o.compress ? 1 : 0)) == -1, "good");
	}
	clean();
	o = (struct stf_writer_options){ 0 };
	CHECK_INT(write_trace(in_dir("a.stf"), o, 0), 0);
	p = slurp(in_dir("a.stf.c.0"), &n);
	p[n / 2] ^= 1;
	spit(in_dir("a.stf.c.0"), p, n);
	CHECK_INT(check_all(in_dir("a.stf"), ".c.0", COMPONENTS), STF_CHECK_HASH);
	spit(in_dir("a.stf.c.0"), p, n - 1);
	CHECK_INT(check_all(in_dir("a.stf"), ".c.0", COMPONENTS), STF_CHECK_SIZE);
	unlink(in_dir("a.stf.c.0"));
	CHECK_INT(check_all(in_dir("a.stf"), ".c.0", COMPONENTS), STF_CHECK_MISSING);
	CHECK_INT(check_all(in_dir("a.stf"), ".f.0", COMPONENTS), STF_CHECK_GOOD);
	free(p);
}
#endif

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
#ifdef HAVE_XXHASH
	RUN(checksums_tell);
#else
	SKIP("checksums_tell", "no xxhash in this build");
#endif
	clean();
	rmdir(dir);
	return check_end();
}

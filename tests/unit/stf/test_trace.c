/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole traces: they are written, read and written again; invalid ones are refused; results are compared with
 * stored traces. */
#include "config.h"
#include "include/stf.h"
#include "tests/lib/check.h"
#include "tests/lib/stf_dir.h"
#include "tests/lib/stf_every.h"
#include "tests/unit/stf/golden.h"

#include <dirent.h>

__attribute__((unused)) static void store(const char *name, const char *golden)
{
	struct dirent *e;
	char path[1024], *p;
	DIR *d = opendir(dir);
	size_t n;

	while (d && (e = readdir(d))) {
		if (strncmp(e->d_name, name, strlen(name)) == 0) {
			p = slurp(in_dir(e->d_name), &n);
			snprintf(path, sizeof(path), "%s/%s", golden, e->d_name);
			spit(path, p, n);
			free(p);
		}
	}
	if (d) {
		closedir(d);
	}
}

/* What the bytes were stays what they are. UPDATE_EXPECT=1 stores new ones, with a new doc/stf-format.md. */
__attribute__((unused)) static void equals_golden(void)
{
	const char *src = getenv("top_srcdir");
	char golden[512];
	int big;

	snprintf(golden, sizeof(golden), "%s/tests/golden", src ? src : ".");
	for (big = 0; big < 2; big++) {
		const char *name = big ? "every-big.stf" : "every-little.stf";

		clean();
		CHECK(write_every(in_dir(name), big, 0) == 0, "%s", err.text);
		if (getenv("UPDATE_EXPECT")) {
			store(name, golden);
		}
		CHECK_INT(compare(dir, name, golden, name), files(golden, name, "", 0));
		CHECK_INT(files(golden, name, "", 0), 11);
	}
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
#ifdef HAVE_XXHASH
	RUN(equals_golden);
#else
	SKIP("equals_golden", "without xxhash the index has no checksums");
#endif
	clean();
	rmdir(dir);
	return check_end();
}

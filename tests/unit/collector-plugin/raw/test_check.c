/* SPDX-License-Identifier: BSD-3-Clause */
/* Raw files of other versions are refused. */
#include "config.h"
#include "base/err.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/reader.h"
#include "collector-plugin/raw/writer.h"
#include "tests/lib/check.h"
#include "tests/lib/raw_file.h"

#include <unistd.h>

static void write_at_offset(size_t at, const void *p, size_t n)
{
	int fd = open(path, O_WRONLY);

	CHECK(pwrite(fd, p, n, (off_t)at) == (ssize_t)n, "%s", path);
	close(fd);
}

static void set_version(uint32_t version)
{
	write_at_offset(offsetof(struct vt_raw_head, version), &version, sizeof(version));
}

/* Files of another version are refused, and the message names who reads them. */
static void versions(void)
{
	struct vt_raw *r = create((struct vt_raw_options){ .autoflush = 1, .flush_blocks = 4 });
	struct tkm_err err = { TKM_OK, "" };
	struct vt_raw_head head;
	struct vt_raw_file *f;
	uint32_t version;

	vt_raw_close(r, ltick(1011));
	for (version = VT_RAW_VERSION - 1; version <= VT_RAW_VERSION + 1; version++) {
		set_version(version);
		f = vt_raw_open(path, &err);
		CHECK(!f == (version != VT_RAW_VERSION), "%u", version);
		CHECK_INT(vt_raw_read_head(path, &head), f ? 0 : -1);
		vt_raw_file_close(f);
	}
	CHECK(strstr(err.text, "raw format 10, this program reads 9; use stftool of " PACKAGE_STRING), "%s", err.text);
	write_at_offset(offsetof(struct vt_raw_head, writer), "", 1);
	CHECK(!vt_raw_open(path, &err) && strstr(err.text, "use stftool of the installation that recorded it"), "%s",
		err.text);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
	RUN(versions);
	remove_dir();
	return check_end();
}

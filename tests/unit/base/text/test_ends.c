/* SPDX-License-Identifier: BSD-3-Clause */
/* How processes ended after their trace was complete. */
#include "config.h"
#include "base/text/ends.h"
#include "tests/lib/check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void lists_are_found(void)
{
	static const char lines[] = "INFO STATUS ranks 0 2-5 12: exit status 0\n"
				    "INFO STATUS ranks 1: then by signal 11 (Segmentation fault)\n"
				    "INFO STATUS ranks 7-x: exit status 1\nINFO STATUS rank\nINFO STATUS ranks 6";
	static const struct {
		const char *info, *want;
	} row[] = {
		{ "process 0: in MPI_Finalize", "process 0: in MPI_Finalize, exit status 0" },
		{ "process 4: in MPI_Finalize", "process 4: in MPI_Finalize, exit status 0" },
		{ "process 12: in MPI_Finalize", "process 12: in MPI_Finalize, exit status 0" },
		{ "process 1: in MPI_Finalize", "process 1: in MPI_Finalize, then by signal 11 (Segmentation fault)" },
		{ "process 6: in MPI_Finalize", "process 6: in MPI_Finalize" },
		{ "process 7: in MPI_Finalize", "process 7: in MPI_Finalize" },
		{ "process 0: in MPI_Finalize, exit status 1", "process 0: in MPI_Finalize, exit status 1" },
		{ "process 0: by exit, exit status 1", "process 0: by exit, exit status 1" },
		{ "in MPI_Finalize", "in MPI_Finalize" },
	};
	char to[200];
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		CHECK(!strcmp(tkm_ends_complete(lines, row[i].info, to, sizeof(to)), row[i].want), "%s", to);
		CHECK(!strcmp(tkm_ends_complete(NULL, row[i].info, to, sizeof(to)), row[i].info), "%s", row[i].info);
	}
}

static void protocol_is_read(void)
{
	char folder[] = "/tmp/test_ends.XXXXXX", path[64], *lines;
	FILE *f;

	CHECK(mkdtemp(folder) != NULL, "%s", path);
	snprintf(path, sizeof(path), "%s/t.prot", folder);
	f = fopen(path, "w");
	CHECK(f != NULL, "%s", path);
	fputs("VERBOSE 1\nINFO STATUS ranks 0: exit status 1\nINFO ENDED in MPI_Finalize\nINFO STATUS ranks 1: exit status 2\n",
		f);
	fclose(f);
	strcpy(strrchr(path, '.'), ".stf");
	lines = tkm_ends_read(path);
	CHECK(lines && !strcmp(lines, "INFO STATUS ranks 0: exit status 1\nINFO STATUS ranks 1: exit status 2\n"), "%s",
		lines);
	free(lines);
	strcpy(strrchr(path, '.'), ".prot");
	unlink(path);
	CHECK(tkm_ends_read(path) == NULL, "%s", path);
	rmdir(folder);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(lists_are_found);
	RUN(protocol_is_read);
	return check_end();
}

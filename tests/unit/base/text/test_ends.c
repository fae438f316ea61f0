/* SPDX-License-Identifier: BSD-3-Clause */
/* How processes ended after their trace was complete. */
#include "config.h"
#include "base/text/ends.h"
#include "tests/lib/check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void lists_are_found(void)
{
	static const char lines[] =
		"INFO STATUS ranks 0 2-5 12: exit status 0\n"
		"INFO STATUS rank 1: then by signal 11 (Segmentation fault)\n"
		"INFO STATUS ranks 7-x: exit status 1\nINFO STATUS rank\nINFO STATUS ranks 6\n"
		"INFO STATUS ranks 20 : exit status 1\nINFO STATUS ranks 30 - 35: exit status 1\n"
		"INFO STATUS ranks 40 \n50: exit status 1\nINFO STATUS ranks 60: exit \33[1m\n"
		"INFO STATUS ranks 70-\n75: exit status 1\nINFO STATUS ranks 80-99 9: exit status 9";
	static const struct {
		const char *info, *want;
	} row[] = {
		{ "process 0: in MPI_Finalize", "process 0: in MPI_Finalize, exit status 0" },
		{ "process 4: in MPI_Finalize", "process 4: in MPI_Finalize, exit status 0" },
		{ "process 12: in MPI_Finalize", "process 12: in MPI_Finalize, exit status 0" },
		{ "process 1: in MPI_Finalize", "process 1: in MPI_Finalize, then by signal 11 (Segmentation fault)" },
		{ "process 6: in MPI_Finalize", "process 6: in MPI_Finalize" },
		{ "process 7: in MPI_Finalize", "process 7: in MPI_Finalize" },
		/* an empty number is not 0, and no line goes on in the next one */
		{ "process 20: in MPI_Finalize", "process 20: in MPI_Finalize" },
		{ "process 33: in MPI_Finalize", "process 33: in MPI_Finalize" },
		{ "process 50: in MPI_Finalize", "process 50: in MPI_Finalize" },
		{ "process 72: in MPI_Finalize", "process 72: in MPI_Finalize" },
		{ "process 9: in MPI_Finalize", "process 9: in MPI_Finalize, exit status 9" },
		{ "process 99: in MPI_Finalize", "process 99: in MPI_Finalize, exit status 9" },
		{ "process 60: in MPI_Finalize", "process 60: in MPI_Finalize, exit ?[1m" },
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

/* Each of these would be process 0, too, if an empty number were one. */
static void empty_numbers_are_none(void)
{
	static const char *const lines[] = { "INFO STATUS ranks 1 : exit status 1",
		"INFO STATUS ranks 3 - 5: exit status 1", "INFO STATUS ranks 3-: exit status 1" };
	char to[200];
	size_t i;

	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		CHECK_STR(tkm_ends_complete(lines[i], "process 0: in MPI_Finalize", to, sizeof(to)),
			"process 0: in MPI_Finalize");
	}
}

static void pipes_are_not_read(void)
{
	char folder[] = "/tmp/test_ends.XXXXXX", path[64];

	CHECK(mkdtemp(folder) != NULL, "%s", folder);
	snprintf(path, sizeof(path), "%s/t.prot", folder);
	CHECK(mkfifo(path, 0600) == 0, "%s", path);
	alarm(10);
	CHECK(tkm_ends_read(path) == NULL, "%s", path);
	strcpy(strrchr(path, '.'), ".stf");
	CHECK(tkm_ends_read(path) == NULL, "%s", path);
	alarm(0);
	strcpy(strrchr(path, '.'), ".prot");
	unlink(path);
	rmdir(folder);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(lists_are_found);
	RUN(empty_numbers_are_none);
	RUN(protocol_is_read);
	RUN(pipes_are_not_read);
	return check_end();
}

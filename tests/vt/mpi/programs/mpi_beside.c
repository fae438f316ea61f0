/* SPDX-License-Identifier: BSD-3-Clause */
/* What rank 0 has besides its own, in the middle of a job and in a child. With a word it is that child. */
#include <dirent.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void show(const char *who)
{
	static const char *const ours[] = { "/proc/", "tickmark", "VT-", "vtsampler" };
	char line[4096], path[300];
	FILE *f = fopen("/proc/self/status", "r");
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;
	size_t i;
	ssize_t n;

	while (fgets(line, sizeof(line), f)) {
		if (!strncmp(line, "Threads:", 8) || !strncmp(line, "SigCgt:", 7) || !strncmp(line, "SigIgn:", 7) ||
			!strncmp(line, "SigBlk:", 7)) {
			printf("%s %s", who, line);
		}
	}
	while ((e = readdir(d))) {
		snprintf(path, sizeof(path), "/proc/self/fd/%s", e->d_name);
		n = readlink(path, line, sizeof(line) - 1);
		line[n > 0 ? n : 0] = '\0';
		for (i = 0; i < 4 && atoi(e->d_name) != dirfd(d) && atoi(e->d_name) != fileno(f); i++) {
			if (strstr(line, ours[i])) {
				printf("%s has %s\n", who, line);
				break;
			}
		}
	}
	closedir(d);
	fclose(f);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct timespec a, b;
	int rank, going = 1;

	if (argc > 1) {
		show("child");
		return 0;
	}
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	clock_gettime(CLOCK_MONOTONIC, &a);
	while (going) { /* long enough for samples at events */
		clock_gettime(CLOCK_MONOTONIC, &b);
		going = b.tv_sec - a.tv_sec + 1e-9 * (double)(b.tv_nsec - a.tv_nsec) < 0.3;
		MPI_Bcast(&going, 1, MPI_INT, 0, MPI_COMM_WORLD);
	}
	if (rank == 0) {
		show("rank");
		if (fork() == 0) {
			execl(argv[0], argv[0], "child", (char *)0);
			_exit(1);
		}
		wait(NULL);
	}
	MPI_Finalize();
	return 0;
}

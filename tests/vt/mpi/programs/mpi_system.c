/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes and reads a file of its own. With a word it does so before MPI_Init, too. Exit status 0: all bytes are there. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char name[60], text[40] = "";
	FILE *f = NULL;

	snprintf(name, sizeof(name), "mpi_system.%d", (int)getpid());
	if (argc > 1) {
		f = fopen(name, "w");
		fclose(f);
	}
	MPI_Init(&argc, &argv);
	f = fopen(name, "w+");
	fputs("written and ", f);
	fflush(f);
	if (write(fileno(f), "read", 4) != 4 || pread(fileno(f), text, sizeof(text) - 1, 0) < 0) {
		strcpy(text, "nothing");
	}
	fclose(f);
	remove(name);
	MPI_Finalize();
	return strcmp(text, "written and read") != 0;
}

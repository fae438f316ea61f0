/* SPDX-License-Identifier: BSD-3-Clause */
/* Each rank makes a child by fork(), which calls the function that the rank has called. */
#include <mpi.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

void leaf(void);

void leaf(void)
{
	__asm__ volatile("");
}

__attribute__((no_instrument_function)) int main(int argc, char **argv)
{
	int i, status = 0;
	pid_t pid;

	MPI_Init(&argc, &argv);
	leaf();
	pid = fork();
	if (pid == 0) {
		for (i = 0; i < 50; i++) {
			leaf();
		}
		exit(7);
	}
	waitpid(pid, &status, 0);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return WIFEXITED(status) && WEXITSTATUS(status) == 7 ? 0 : 1;
}

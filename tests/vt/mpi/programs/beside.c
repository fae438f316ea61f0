/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI where it is not recorded. "dlopen": reached by dlsym(); "after": a second of work after MPI_Finalize; "inside": calls in a call-back
 * of MPI_Finalize. Without -DLINKED the program is not linked with MPI. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef LINKED
static MPI_Comm copy;

static int deleted(MPI_Comm comm, int key, void *value, void *extra)
{
	(void)comm;
	(void)key;
	(void)value;
	(void)extra;
	return MPI_Barrier(copy);
}

static void run(const char *how, int *argc, char ***argv)
{
	int key;

	MPI_Init(argc, argv);
	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, deleted, &key, NULL);
	if (!strcmp(how, "inside")) {
		MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
	}
	MPI_Finalize();
	if (!strcmp(how, "after")) {
		sleep(1);
	}
}
#else
static void run(const char *how, int *argc, char ***argv)
{
	void *mpi = dlopen(how, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	int (*init)(int *, char ***) = (int (*)(int *, char ***))dlsym(mpi, "MPI_Init");
	int (*finalize)(void) = (int (*)(void))dlsym(mpi, "MPI_Finalize");

	init(argc, argv);
	finalize();
}
#endif

int main(int argc, char **argv)
{
	char how[100];

	snprintf(how, sizeof(how), "%s", argc > 1 ? argv[1] : "");
	run(how, &argc, &argv);
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Is this MPI the one that libVT.so was built for? (Intel Trace Collector guide, section 1.2)
 *     mpicc -o check_compatibility check_compatibility.c && mpirun -n 1 ./check_compatibility
 * libVT.so is looked for in VT_LIB_DIR, or where LD_LIBRARY_PATH says. Exit status: 0 it is, 1 it is not, or cannot be
 * loaded. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct found {
	int n;
	char name[8][400];
};

/* Notes each MPI library of this process. */
static int note_library(struct dl_phdr_info *info, size_t size, void *to)
{
	const char *slash = strrchr(info->dlpi_name, '/'), *name = slash ? slash + 1 : info->dlpi_name;
	struct found *f = to;

	(void)size;
	if (f->n < 8 && (!strncmp(name, "libmpi.so", 9) || !strncmp(name, "libmpich.so", 11))) {
		snprintf(f->name[f->n++], sizeof(f->name[0]), "%s", info->dlpi_name);
	}
	return 0;
}

int main(void)
{
	char version[MPI_MAX_LIBRARY_VERSION_STRING], path[4096];
	struct found before = { 0, { "" } }, after = { 0, { "" } };
	const char *folder = getenv("VT_LIB_DIR");
	int length;

	MPI_Get_library_version(version, &length);
	version[strcspn(version, "\n")] = '\0';
	printf("This program: %s\n", version);
	dl_iterate_phdr(note_library, &before);
	snprintf(path, sizeof(path), "%s%slibVT.so", folder ? folder : "", folder && *folder ? "/" : "");
	if (!dlopen(path, RTLD_LAZY)) {
		printf("Not compatible: %s\n", dlerror());
		return 1;
	}
	dl_iterate_phdr(note_library, &after);
	if (after.n > before.n) {
		printf("Not compatible: %s is built for %s, this program uses %s.\n", path, after.name[after.n - 1],
			before.n ? before.name[0] : "another MPI");
		printf("Build Tickmark with this program's mpicc.\n");
		return 1;
	}
	printf("Compatible: %s uses %s, as this program does.\n", path, before.n ? before.name[0] : "its MPI");
	return 0;
}

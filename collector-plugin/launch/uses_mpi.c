/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the library that is loaded into the program: libVT.so for programs that use MPI, libVTabi.so for those that
 * use it by the MPI ABI, libVTcs.so for all others. The libraries that a program links show whether it uses MPI. If it links MPI through other libraries, or
 * is a script, the launcher's environment decides. Two MPI libraries in one process would fail, so libVT must be
 * made for the MPI of the program. */
#include "config.h"
#include "collector-plugin/launch/launch.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector-plugin/host/program/needed.h"

/* ---- MPI ---- */

/* Was this process started by an MPI launcher? */
static int launched(void)
{
	static const char *const names[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "PMI_ID",
		"MV2_COMM_WORLD_RANK", NULL };
	int i;

	for (i = 0; names[i] && !getenv(names[i]); i++) {
	}
	return names[i] != NULL;
}

/* Lists all that the program loads, as ldd does: the dynamic linker prints the list and stops. */
static void list_loaded(const char *path, struct vt_mpi_links *s)
{
	int fd[2], status;
	char line[4096], *name;
	pid_t pid;
	FILE *f;

	if (pipe(fd) < 0) {
		return;
	}
	pid = fork();
	if (pid == 0) {
		setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
		unsetenv("LD_PRELOAD");
		dup2(fd[1], 1);
		close(fd[0]);
		close(fd[1]);
		execl(path, path, (char *)NULL);
		_exit(127);
	}
	close(fd[1]);
	f = fdopen(fd[0], "r");
	while (f && fgets(line, sizeof(line), f)) {
		name = line + strspn(line, " \t");
		name[strcspn(name, " \t\n")] = '\0';
		vt_mpi_link(name, s);
	}
	if (f) {
		fclose(f);
	}
	if (pid > 0) {
		waitpid(pid, &status, 0);
	}
}

static int is_elf(const char *path)
{
	char magic[SELFMAG] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC), is;

	is = fd >= 0 && read(fd, magic, SELFMAG) == SELFMAG && memcmp(magic, ELFMAG, SELFMAG) == 0;
	if (fd >= 0) {
		close(fd);
	}
	return is;
}

int vt_launch_uses_mpi(const char *path, int children, char *library, size_t size, struct tkm_err *err)
{
	struct vt_mpi_links program = { "", 0 }, ours = { "", 0 };
	int elf = is_elf(path);
	char recorder[1100], *base;

	vt_each_needed(path, vt_mpi_link, &program);
	if (!program.uses && launched()) {
		if (elf) {
			list_loaded(path, &program);
		}
		/* a script or an interpreter does not show by itself whether MPI is used */
		program.uses |= !elf || children || strstr(path, "python") != NULL;
	}
	if (!program.uses) {
		return 0;
	}
	snprintf(recorder, sizeof(recorder), "%s", library);
	base = strrchr(recorder, '/') + 1;
	if (strcmp(base, "libVT.so") == 0) {
		snprintf(base, sizeof(recorder) - (size_t)(base - recorder), "%s", vt_mpi_recorder(&program));
	}
	if (!is_elf(recorder)) {
		tkm_fail(err, TKM_ERR_UNAVAIL, "%s uses %s, and this build has no %s", path,
			program.mpi[0] ? program.mpi : "MPI", recorder);
		return -1;
	}
	vt_each_needed(recorder, vt_mpi_link, &ours);
	if (program.mpi[0] && strcmp(program.mpi, ours.mpi) != 0) {
		tkm_fail(err, TKM_ERR_UNAVAIL, "%s uses %s, and %s is made for %s", path, program.mpi, recorder,
			ours.mpi);
		return -1;
	}
	snprintf(library, size, "%s", recorder);
	return 1;
}

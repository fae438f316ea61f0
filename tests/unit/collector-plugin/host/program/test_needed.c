/* SPDX-License-Identifier: BSD-3-Clause */
/* The libraries that an ELF file names, in files where they are not where linkers put them, and in damaged ones. */
#include "config.h"
#include "collector-plugin/host/program/needed.h"

#include "tests/lib/check.h"

#include <elf.h>
#include <stddef.h>

/* The first part is in memory where it is in the file. The second one, with the names, is not. */
enum { SECOND = 0x4000 };
struct image {
	Elf64_Ehdr head;
	Elf64_Phdr part[3];
	Elf64_Dyn dynamic[5];
	char names[64];
};

static struct image whole(void)
{
	static const char names[] = "\0libc.so.6\0libmpi.so.40\0libm.so.6";
	struct image f = {
		.head = { .e_phoff = offsetof(struct image, part), .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 3 },
		.part = { { .p_type = PT_LOAD, .p_filesz = offsetof(struct image, names) },
			{ .p_type = PT_LOAD,
				.p_offset = offsetof(struct image, names),
				.p_vaddr = SECOND,
				.p_filesz = sizeof(f.names) },
			{ .p_type = PT_DYNAMIC,
				.p_offset = offsetof(struct image, dynamic),
				.p_filesz = sizeof(f.dynamic) } },
		.dynamic = { { DT_NEEDED, { 1 } }, { DT_NEEDED, { 11 } }, { DT_STRTAB, { SECOND } }, { DT_NULL, { 0 } },
			{ DT_NEEDED, { 24 } } }
	};

	memcpy(f.head.e_ident, ELFMAG, SELFMAG);
	f.head.e_ident[EI_CLASS] = ELFCLASS64;
	memcpy(f.names, names, sizeof(names));
	return f;
}

static char found[100];
static int most;

static int collect(const char *name, void *ctx)
{
	int *n = ctx;

	snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s ", name);
	return ++*n == most ? 7 : 0;
}

/* The names that are found in such a file; stops at the stop-th one. Returns what vt_each_needed() returns. */
static int look(const struct image *f, size_t size, int stop)
{
	char path[] = "/tmp/test_needed.XXXXXX";
	int fd = mkstemp(path), n = 0, rc = -1;

	found[0] = '\0';
	most = stop;
	if (fd >= 0) {
		CHECK_INT(write(fd, f, size), size);
		close(fd);
		rc = vt_each_needed(path, collect, &n);
		unlink(path);
	}
	return rc;
}

static void names_in_another_part(void)
{
	struct image f = whole();

	CHECK_INT(look(&f, sizeof(f), 0), 0);
	CHECK_STR(found, "libc.so.6 libmpi.so.40 ");
	CHECK_INT(look(&f, sizeof(f), 1), 7);
	CHECK_STR(found, "libc.so.6 ");
}

static void damaged_files_need_nothing(void)
{
	struct image f = whole();

	f.dynamic[2].d_un.d_val = SECOND + sizeof(f.names); /* after the last part */
	CHECK_INT(look(&f, sizeof(f), 0), 0);
	CHECK_STR(found, "");
	f = whole();
	f.head.e_ident[EI_CLASS] = ELFCLASS32;
	CHECK_INT(look(&f, sizeof(f), 0), 0);
	CHECK_STR(found, "");
	f = whole();
	CHECK_INT(look(&f, sizeof(f.head) + 1, 0), 0);
	CHECK_STR(found, "");
	f.dynamic[0].d_un.d_val = 1u << 20;
	memset(f.names + 11, 'x', sizeof(f.names) - 11); /* a name without an end */
	CHECK_INT(look(&f, sizeof(f), 0), 0);
	CHECK_STR(found, "");
}

static void libraries_of_mpi(void)
{
	struct vt_mpi_links none = { "", 0 }, mpi = { "", 0 }, side = { "", 0 };

	CHECK_INT(vt_mpi_link("libmpicalc.so", &none), 0);
	CHECK(!none.uses && !none.mpi[0], "libmpicalc is no MPI");
	vt_mpi_link("libmpi.so.40", &mpi);
	CHECK_INT(mpi.uses, 1);
	CHECK_STR(mpi.mpi, "libmpi.so.40");
	vt_mpi_link("libVT.so.0", &side);
	CHECK(side.uses && !side.mpi[0], "libVT uses MPI, and is none");
	CHECK_STR(vt_mpi_recorder(&mpi), "libVT.so");
	CHECK_STR(vt_mpi_recorder(&side), "libVT.so");
}

/* Its handles are those of no other MPI. A program that is linked with our library may not name MPI's. */
static void the_abi_is_an_mpi_of_its_own(void)
{
	static const char *const names[] = { "libmpi_abi.so.1", "libVTabi.so.0" };
	size_t i;

	for (i = 0; i < 2; i++) {
		struct vt_mpi_links abi = { "", 0 };

		CHECK_INT(vt_mpi_link(names[i], &abi), 0);
		CHECK_INT(abi.uses, 1);
		CHECK_STR(abi.mpi, "libmpi_abi.so.1");
		CHECK_STR(vt_mpi_recorder(&abi), "libVTabi.so");
	}
	CHECK_INT(vt_is_mpi_recorder("libVTabi.so.0.0.0", NULL), 1);
	CHECK_INT(vt_is_mpi_recorder("libVTcs.so.0", NULL), 0);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(names_in_another_part);
	RUN(damaged_files_need_nothing);
	RUN(libraries_of_mpi);
	RUN(the_abi_is_an_mpi_of_its_own);
	return check_end();
}

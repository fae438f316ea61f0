/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the libraries that a program names in its ELF file. */
#include "config.h"
#include "collector-plugin/host/program/needed.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Maps a file. Returns its bytes, or NULL. */
static const unsigned char *map_elf_file(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *p = MAP_FAILED;
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > (off_t)sizeof(Elf64_Ehdr)) {
		*size = (size_t)st.st_size;
		p = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
	}
	if (fd >= 0) {
		close(fd);
	}
	return p == MAP_FAILED ? NULL : p;
}

/* Returns the i-th program header of a 64-bit ELF file, or NULL. */
static const Elf64_Phdr *needed_elf_header(const unsigned char *p, size_t size, int i)
{
	const Elf64_Ehdr *e = (const Elf64_Ehdr *)(const void *)p;
	uint64_t at = e->e_phoff + (uint64_t)i * e->e_phentsize;

	if (memcmp(p, ELFMAG, SELFMAG) != 0 || p[EI_CLASS] != ELFCLASS64 || i >= e->e_phnum ||
		e->e_phentsize != sizeof(Elf64_Phdr) || at + sizeof(Elf64_Phdr) > size || at % 8) {
		return NULL;
	}
	return (const Elf64_Phdr *)(const void *)(p + at);
}

/* Returns the offset in the file of an address in memory, or `size` if the file does not contain it. */
static size_t file_offset_of(const unsigned char *p, size_t size, uint64_t address)
{
	const Elf64_Phdr *h;
	int i;

	for (i = 0; (h = needed_elf_header(p, size, i)) != NULL; i++) {
		if (h->p_type == PT_LOAD && address >= h->p_vaddr && address - h->p_vaddr < h->p_filesz) {
			return h->p_offset + (address - h->p_vaddr);
		}
	}
	return size;
}

static uint64_t dynamic_value(const Elf64_Dyn *d, size_t n, int64_t tag)
{
	size_t i;

	for (i = 0; i < n && d[i].d_tag != DT_NULL; i++) {
		if (d[i].d_tag == tag) {
			return d[i].d_un.d_val;
		}
	}
	return 0;
}

int vt_each_needed(const char *path, int (*each)(const char *name, void *ctx), void *ctx)
{
	size_t size = 0, strings, i, n = 0;
	const unsigned char *p = map_elf_file(path, &size);
	const Elf64_Dyn *d = NULL;
	const Elf64_Phdr *h;
	int rc = 0;

	for (i = 0; p && (h = needed_elf_header(p, size, (int)i)) != NULL; i++) {
		if (h->p_type == PT_DYNAMIC && h->p_offset % 8 == 0 && h->p_offset < size &&
			h->p_filesz <= size - h->p_offset) {
			d = (const Elf64_Dyn *)(const void *)(p + h->p_offset);
			n = h->p_filesz / sizeof(*d);
		}
	}
	strings = d ? file_offset_of(p, size, dynamic_value(d, n, DT_STRTAB)) : size;
	for (i = 0; d && rc == 0 && i < n && d[i].d_tag != DT_NULL; i++) {
		if (d[i].d_tag == DT_NEEDED && strings < size && d[i].d_un.d_val < size - strings) {
			const char *name = (const char *)p + strings + d[i].d_un.d_val;

			rc = memchr(name, 0, size - (size_t)(name - (const char *)p)) ? each(name, ctx) : 0;
		}
	}
	if (p) {
		munmap((void *)(uintptr_t)p, size);
	}
	return rc;
}

/* The library of the ABI that MPI 5 defines; all MPIs that have it give it this name. */
#define ABI "libmpi_abi.so"

int vt_mpi_link(const char *name, void *links)
{
	static const char *const sides[] = { "libmpi_", "libmpifort", "libmpichf", "libmpicxx", "libmpichcxx",
		"liboshmem.so", "libVT.so", NULL };
	struct vt_mpi_links *s = links;
	int i;

	if (strncmp(name, "libmpi.so", 9) == 0 || strncmp(name, "libmpich.so", 11) == 0 ||
		strncmp(name, ABI, sizeof(ABI) - 1) == 0) {
		snprintf(s->mpi, sizeof(s->mpi), "%s", name);
		s->uses = 1;
	}
	if (strncmp(name, "libVTabi.so", 11) == 0) {
		/* the linker may have left out what comes after it */
		snprintf(s->mpi, sizeof(s->mpi), "%s", ABI ".1");
		s->uses = 1;
	}
	for (i = 0; sides[i]; i++) {
		s->uses |= strncmp(name, sides[i], strlen(sides[i])) == 0;
	}
	return 0;
}

const char *vt_mpi_recorder(const struct vt_mpi_links *links)
{
	return strncmp(links->mpi, ABI, sizeof(ABI) - 1) == 0 ? "libVTabi.so" : "libVT.so";
}

int vt_is_mpi_recorder(const char *name, void *unused)
{
	(void)unused;
	return strncmp(name, "libVT.so", 8) == 0 || strncmp(name, "libVTfs.so", 10) == 0 ||
		strncmp(name, "libVTim.so", 10) == 0 || strncmp(name, "libVTabi.so", 11) == 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes the entries of the global offset table through which the program calls library functions. */
#include "config.h"
#include "collector-plugin/host/program/slots.h"

#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__) && !defined(__ILP32__)
enum { JUMP_SLOT = R_X86_64_JUMP_SLOT, GLOB_DAT = R_X86_64_GLOB_DAT, POSSIBLE = 1 };
#elif defined(__aarch64__) && !defined(__ILP32__)
enum { JUMP_SLOT = R_AARCH64_JUMP_SLOT, GLOB_DAT = R_AARCH64_GLOB_DAT, POSSIBLE = 1 };
#else
enum { JUMP_SLOT = 0, GLOB_DAT = 0, POSSIBLE = 0 };
#endif

int vt_slots_possible(void)
{
	return POSSIBLE;
}

enum { OBJECTS = 1024 };

/* An executable or shared library in the process. */
struct object {
	uintptr_t base;
	const ElfW(Dyn) * dynamic;
	const char *strings, *name; /* name: the part after the last slash */
	uintptr_t relro, relro_end; /* read-only after relocation */
	int ours;                   /* it belongs to the program: its places are changed */
};

struct objects {
	struct object *object;
	size_t n;
};

/* Returns an address of a dynamic section. On some machines the section keeps the address that is in the file. */
static uintptr_t address(const struct object *o, ElfW(Addr) value)
{
	return value + (value < o->base ? o->base : 0);
}

static int add_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct objects *all = arg;
	struct object *o = &all->object[all->n];
	const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
	const ElfW(Dyn) * d;
	int i;

	(void)size;
	*o = (struct object){ .base = info->dlpi_addr, .name = slash ? slash + 1 : info->dlpi_name };
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_DYNAMIC) {
			o->dynamic = (const ElfW(Dyn) *)(info->dlpi_addr + p->p_vaddr);
		} else if (p->p_type == PT_GNU_RELRO) {
			o->relro = info->dlpi_addr + p->p_vaddr;
			o->relro_end = o->relro + p->p_memsz;
		}
	}
	for (d = o->dynamic; d && d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_STRTAB) {
			o->strings = (const char *)address(o, d->d_un.d_ptr);
		}
	}
	all->n += o->strings && all->n + 1 < OBJECTS;
	return 0;
}

/* Does the object belong to MPI or a library below MPI, to libc, or to Tickmark? */
static int is_foreign(const char *name)
{
	static const char *const begins[] = { "libmpi", "libmpich", "libVT", "libtickmark", "libc.so", "libpthread.so",
		"ld-linux", "ld64", "linux-vdso", "libopen-rte", "libopen-pal", "libpmix", "liboshmem" };
	size_t i;

	for (i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
		if (!strncmp(name, begins[i], strlen(begins[i]))) {
			return 1;
		}
	}
	return 0;
}

static const char *soname(const struct object *o)
{
	const ElfW(Dyn) * d;

	for (d = o->dynamic; d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_SONAME) {
			return o->strings + d->d_un.d_val;
		}
	}
	return o->name ? o->name : "";
}

/* Finds the program, which is the first object, the libraries that it needs, and the libraries that those need. */
static void find_own(struct objects *all)
{
	const ElfW(Dyn) * d;
	int more = 1;
	size_t i, k;

	if (all->n) {
		all->object[0].ours = 1;
	}
	while (more) {
		more = 0;
		for (i = 0; i < all->n; i++) {
			const struct object *o = &all->object[i];

			for (d = o->dynamic; o->ours && d->d_tag != DT_NULL; d++) {
				const char *needed = o->strings + d->d_un.d_val;

				for (k = 0; d->d_tag == DT_NEEDED && !is_foreign(needed) && k < all->n; k++) {
					struct object *p = &all->object[k];

					if (!p->ours &&
						(!strcmp(needed, soname(p)) || (p->name && !strcmp(needed, p->name)))) {
						p->ours = more = 1;
					}
				}
			}
		}
	}
}

/* ---- one place ---- */

static int compare_slots(const void *key, const void *p)
{
	return strcmp(key, ((const struct vt_slot *)p)->symbol);
}

static int store_in_slot(const struct object *o, void **place, void *value)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)place & ~(page - 1);
	/* the last page of the read-only part may be writable */
	int protected = (uintptr_t)place >= o->relro && (uintptr_t)place < (o->relro_end & ~(page - 1));

	if (*place == value || (protected && mprotect((void *)at, page, PROT_READ | PROT_WRITE) < 0)) {
		return 0;
	}
	__atomic_store_n(place, value, __ATOMIC_RELEASE);
	if (protected) {
		mprotect((void *)at, page, PROT_READ);
	}
	return 1;
}

static int change_table(const struct object *o, const ElfW(Rela) * r, size_t bytes, const ElfW(Sym) * symbols,
	const struct vt_slot *slot, size_t n)
{
	size_t i;
	int changed = 0;

	for (i = 0; i < bytes / sizeof(*r); i++) {
		unsigned type = (unsigned)(r[i].r_info & 0xffffffffu);
		const struct vt_slot *s;

		if (type != JUMP_SLOT && type != GLOB_DAT) {
			continue;
		}
		s = bsearch(o->strings + symbols[r[i].r_info >> 32].st_name, slot, n, sizeof(*slot), compare_slots);
		if (s && s->instead) {
			changed += store_in_slot(o, (void **)(o->base + r[i].r_offset), s->instead);
		}
	}
	return changed;
}

static int change_object(const struct object *o, const struct vt_slot *slot, size_t n)
{
	const ElfW(Rela) *jumps = NULL, *others = NULL;
	const ElfW(Sym) *symbols = NULL;
	size_t jumps_size = 0, others_size = 0;
	const ElfW(Dyn) * d;
	int rela = 1;

	for (d = o->dynamic; d->d_tag != DT_NULL; d++) {
		switch (d->d_tag) {
		case DT_SYMTAB:
			symbols = (const ElfW(Sym) *)address(o, d->d_un.d_ptr);
			break;
		case DT_JMPREL:
			jumps = (const ElfW(Rela) *)address(o, d->d_un.d_ptr);
			break;
		case DT_PLTRELSZ:
			jumps_size = d->d_un.d_val;
			break;
		case DT_PLTREL:
			rela = d->d_un.d_val == DT_RELA;
			break;
		case DT_RELA:
			others = (const ElfW(Rela) *)address(o, d->d_un.d_ptr);
			break;
		case DT_RELASZ:
			others_size = d->d_un.d_val;
			break;
		default:
			break;
		}
	}
	if (!symbols || !rela) {
		return 0;
	}
	return (jumps ? change_table(o, jumps, jumps_size, symbols, slot, n) : 0) +
		(others ? change_table(o, others, others_size, symbols, slot, n) : 0);
}

int vt_slots_change(const struct vt_slot *slot, size_t n)
{
	struct objects all = { calloc(OBJECTS, sizeof(*all.object)), 0 };
	int changed = 0;
	size_t i;

	if (!POSSIBLE || !all.object) {
		free(all.object);
		return 0;
	}
	dl_iterate_phdr(add_object, &all);
	find_own(&all);
	for (i = 0; i < all.n; i++) {
		changed += all.object[i].ours ? change_object(&all.object[i], slot, n) : 0;
	}
	free(all.object);
	return changed;
}

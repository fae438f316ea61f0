/* SPDX-License-Identifier: BSD-3-Clause */
/* Where in the program a call was made. Places are kept as addresses; names and lines are looked up when they are printed. */
#include "config.h"
#include "collector-plugin/checker/checker.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "collector-plugin/merge/definitions/lines.h"

enum { SITES = 256, HELD = 8 };

enum { OBJECTS = 16, DEEP = 24 };

void vt_mc_here(struct vt_mc_place *p, const struct vt_mc_call *k)
{
	void *all[DEEP];
	int n, i;
	static int traced = -1;

	p->f = k->f;
	p->pc[0] = k->pc;
	p->n = 1;
	traced = traced < 0 ? vt_mc_limit("PCTRACE", 1) != 0 : traced;
	if (!traced) {
		return;
	}
	n = backtrace(all, DEEP);
	for (i = 0; k->pc && i < n && all[i] != k->pc; i++) {
	}
	for (p->n = i < n ? 0 : 1; i < n && p->n < VT_MC_DEPTH; i++) {
		p->pc[p->n++] = all[i];
	}
}

/* ---- names ---- */

static const struct vt_lines *lines_of(const Dl_info *of)
{
	static struct {
		void *base;
		struct vt_lines *lines;
	} known[OBJECTS];
	static int n;
	const char *why;
	int i;

	for (i = 0; i < n && known[i].base != of->dli_fbase; i++) {
	}
	if (i == n && n < OBJECTS) {
		known[n].base = of->dli_fbase;
		known[n].lines = vt_lines_there(&why)
			? vt_lines_open(of->dli_fname[0] == '/' ? of->dli_fname : "/proc/self/exe", NULL, 0)
			: NULL;
		n++;
	}
	return i < OBJECTS ? known[i].lines : NULL;
}

static int is_of_mpi(const char *path)
{
	static const char *const names[] = { "libVT", "libmpi", "libopen-", "libpmix", "libc.so", "mca_", NULL };
	const char *name = strrchr(path, '/');
	int i;

	name = name ? name + 1 : path;
	for (i = 0; names[i] && strncmp(name, names[i], strlen(names[i])); i++) {
	}
	return names[i] != NULL;
}

/* "main (solver.c:62)"; 0: the frame is inside MPI; 2: it is main(). */
static int print_frame(void *pc, char *text, size_t size)
{
	uint64_t offset;
	char file[500];
	Dl_info of;
	const struct vt_lines *lines;
	const char *name, *slash;
	int line = 0;

	if (!dladdr((char *)pc - 1, &of) || !of.dli_fname) {
		snprintf(text, size, "%p", pc);
		return 1;
	}
	if (is_of_mpi(of.dli_fname)) {
		return 0;
	}
	offset = (uint64_t)((char *)pc - 1 - (char *)of.dli_fbase);
	lines = lines_of(&of);
	name = lines ? vt_lines_function(lines, offset) : NULL;
	name = name ? name : of.dli_sname;
	line = lines ? vt_lines_find(lines, offset, file, sizeof(file)) : 0;
	slash = line ? strrchr(file, '/') : NULL;
	if (line) {
		snprintf(text, size, "%s (%s:%d)", name ? name : "?", slash ? slash + 1 : file, line);
	} else {
		slash = strrchr(of.dli_fname, '/');
		snprintf(text, size, "%s (%s+%#llx)", name ? name : "?", slash ? slash + 1 : of.dli_fname,
			(unsigned long long)offset);
	}
	return name && !strcmp(name, "main") ? 2 : 1;
}

void vt_mc_print_frames(const struct vt_mc_place *p, const char *begin, char *text, size_t size)
{
	char one[400];
	size_t n = 0;
	int i, rc = 1, shown = 0;

	text[0] = '\0';
	for (i = 0; i < p->n && rc < 2 && n < size; i++) {
		rc = print_frame(p->pc[i], one, sizeof(one));
		if (rc) {
			n += (size_t)snprintf(text + n, size - n, "%s%s", shown++ ? begin : "", one);
		}
	}
}

/* ---- places of other processes of the same program ---- */

static struct {
	uintptr_t base, low, high;
} program;

static int find_program_range(struct dl_phdr_info *of, size_t size, void *ctx)
{
	int i;

	(void)size;
	(void)ctx;
	program.base = of->dlpi_addr;
	for (i = 0; i < of->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &of->dlpi_phdr[i];

		if (h->p_type == PT_LOAD && (h->p_flags & PF_X)) {
			program.low = of->dlpi_addr + h->p_vaddr;
			program.high = program.low + h->p_memsz;
		}
	}
	/* the first object is the program */
	return 1;
}

int vt_mc_in_program(const void *pc)
{
	if (!program.high) {
		dl_iterate_phdr(find_program_range, NULL);
	}
	return (uintptr_t)pc >= program.low && (uintptr_t)pc < program.high;
}

uint64_t vt_mc_place_offset(const struct vt_mc_call *k, const struct vt_mc_place *stack)
{
	struct vt_mc_place here;
	int i;

	if (vt_mc_in_program(k->pc)) {
		return (uint64_t)((uintptr_t)k->pc - program.base);
	}
	if (stack && stack->n > 1) {
		here = *stack;
	} else {
		vt_mc_here(&here, k);
	}
	for (i = 0; i < here.n && !vt_mc_in_program(here.pc[i]); i++) {
	}
	return i < here.n ? (uint64_t)((uintptr_t)here.pc[i] - program.base) : 0;
}

char *vt_mc_print_offset(uint64_t offset, char *text, size_t size)
{
	text[0] = '\0';
	vt_mc_in_program(NULL); /* finds the base */
	if (offset && vt_mc_in_program((void *)(program.base + (uintptr_t)offset))) {
		print_frame((void *)(program.base + (uintptr_t)offset), text, size);
	}
	return text;
}

int vt_mc_first_from(const void *pc)
{
	static struct {
		const void *pc;
		int n;
	} site[SITES];
	size_t i = ((uintptr_t)pc * UINT64_C(0x9e3779b97f4a7c15)) >> 56, n;

	for (n = 0; n < 8 && site[(i + n) % SITES].pc && site[(i + n) % SITES].pc != pc; n++) {
	}
	i = (i + n) % SITES;
	if (n == 8) {
		return 0;
	}
	site[i].pc = pc;
	site[i].n += site[i].n < HELD + 1;
	return site[i].n <= HELD;
}

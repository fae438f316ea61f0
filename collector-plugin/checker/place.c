/* SPDX-License-Identifier: BSD-3-Clause */
/* Where in the program a call was made. Places are kept as addresses; names and lines are looked up when they are printed. */
#include "config.h"
#include "collector-plugin/checker/checker.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unwind.h>

#include "collector-plugin/merge/definitions/lines.h"

enum { SITES = 256, HELD = 8 };

enum { OBJECTS = 16, DEEP = 24 };

/* ---- call stacks ---- */

/* A stack that was walked, from the call of MPI on. A call from the same place with the same frame has the same stack as long as the
 * return addresses are where they were: to compare them is fifty times as fast as to walk again. */
enum { STACKS = 64 };

static __thread uintptr_t stack_low, stack_high; /* of the thread; a program may switch to others, and unmap those */

struct stack {
	const void *pc, *frame;
	int n, known; /* known: the addresses are in memory where `at` says */
	void *address[VT_MC_DEPTH];
	void *const *at[VT_MC_DEPTH];
};

struct walk {
	struct stack *to;
	const void *first;
	int depth, begun;
};

static _Unwind_Reason_Code add_frame(struct _Unwind_Context *c, void *ctx)
{
	struct walk *w = ctx;
	struct stack *s = w->to;
	void *pc = (void *)_Unwind_GetIP(c);
	uintptr_t above = (uintptr_t)_Unwind_GetCFA(c) - sizeof(pc), frame = (uintptr_t)s->frame;

	w->begun |= pc == w->first;
	if (w->begun && pc) {
#ifdef __x86_64__
		s->known &= above > frame && above < stack_high && *(void **)above == pc;
#else
		s->known = 0;
#endif
		s->at[s->n] = (void *const *)above;
		s->address[s->n++] = pc;
	}
	return s->n < VT_MC_DEPTH && ++w->depth < DEEP ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static int is_same(const struct stack *s)
{
	int i;

	for (i = 0; i < s->n && *s->at[i] == s->address[i]; i++) {
	}
	return i == s->n;
}

static int is_on_own_stack(uintptr_t at)
{
	pthread_attr_t a;
	void *low;
	size_t size;

	if (!stack_high) {
		stack_low = stack_high = 1;
		if (pthread_getattr_np(pthread_self(), &a) == 0) {
			if (pthread_attr_getstack(&a, &low, &size) == 0) {
				stack_low = (uintptr_t)low;
				stack_high = stack_low + size;
			}
			pthread_attr_destroy(&a);
		}
	}
	return at >= stack_low && at < stack_high;
}

static const struct stack *find_stack(const struct vt_mc_call *k)
{
	static __thread struct stack known[STACKS];
	struct stack *s = &known[((uintptr_t)k->pc ^ (uintptr_t)k->pc >> 6 ^ (uintptr_t)k >> 4) % STACKS];
	struct walk w = { s, k->pc, 0, !k->pc };

	if (s->known && s->pc == k->pc && s->frame == k && is_on_own_stack((uintptr_t)k) && is_same(s)) {
		return s;
	}
	*s = (struct stack){ .pc = k->pc, .frame = k, .known = k->pc && is_on_own_stack((uintptr_t)k) };
	_Unwind_Backtrace(add_frame, &w);
	s->known &= s->n > 0;
	return s;
}

void vt_mc_here(struct vt_mc_place *p, const struct vt_mc_call *k)
{
	const struct stack *s;
	static int traced = -1;

	p->f = k->f;
	p->pc[0] = k->pc;
	p->n = 1;
	traced = traced < 0 ? vt_mc_limit("PCTRACE", 1) != 0 : traced;
	if (!traced) {
		return;
	}
	s = find_stack(k);
	if (s->n) {
		memcpy(p->pc, s->address, (size_t)s->n * sizeof(p->pc[0]));
		p->n = s->n;
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

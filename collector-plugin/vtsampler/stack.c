/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the call stacks of a process with source lines, using libdw. That library is loaded only when it is needed,
 * which is rare: it would make each start of the sampler slower. */
#include "config.h"
#include "collector-plugin/vtsampler/stack.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "collector-plugin/host/program/needed.h"

#ifdef HAVE_LIBDW
#include <elfutils/libdwfl.h>

enum { FRAMES = 64 };

/* X(result, name, parameters) */
#define CALLS(X) \
	X(Dwfl *, dwfl_begin, (const Dwfl_Callbacks *)) \
	X(void, dwfl_end, (Dwfl *)) \
	X(int, dwfl_linux_proc_report, (Dwfl *, pid_t)) \
	X(int, dwfl_report_end, (Dwfl *, int (*)(Dwfl_Module *, void *, const char *, Dwarf_Addr, void *), void *)) \
	X(int, dwfl_linux_proc_attach, (Dwfl *, pid_t, bool)) \
	X(int, dwfl_getthreads, (Dwfl *, int (*)(Dwfl_Thread *, void *), void *)) \
	X(int, dwfl_thread_getframes, (Dwfl_Thread *, int (*)(Dwfl_Frame *, void *), void *)) \
	X(const char *, dwfl_module_info, \
		(Dwfl_Module *, void ***, Dwarf_Addr *, Dwarf_Addr *, Dwarf_Addr *, Dwarf_Addr *, const char **, \
			const char **)) \
	X(int, dwfl_getthread_frames, (Dwfl *, pid_t, int (*)(Dwfl_Frame *, void *), void *)) \
	X(bool, dwfl_frame_pc, (Dwfl_Frame *, Dwarf_Addr *, bool *)) \
	X(Dwfl_Module *, dwfl_addrmodule, (Dwfl *, Dwarf_Addr)) \
	X(const char *, dwfl_module_addrname, (Dwfl_Module *, Dwarf_Addr)) \
	X(Dwfl_Line *, dwfl_module_getsrc, (Dwfl_Module *, Dwarf_Addr)) \
	X(const char *, dwfl_lineinfo, (Dwfl_Line *, Dwarf_Addr *, int *, int *, Dwarf_Word *, Dwarf_Word *)) \
	X(const char *, dwfl_errmsg, (int))

#define DECLARE(result, name, parameters) result(*name) parameters;
static struct {
	void *library;
	CALLS(DECLARE)
} dw;

static int load_unwinder(char *why, size_t size)
{
	int whole = 1;

	dw.library = dw.library ? dw.library : dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!dw.library) {
		snprintf(why, size, "%s", dlerror());
		return -1;
	}
#define FIND(result, name, parameters) \
	*(void **)&dw.name = dlsym(dw.library, #name); \
	whole &= dw.name != NULL;
	CALLS(FIND)
	if (!whole) {
		snprintf(why, size, "libdw.so.1 is too old");
	}
	return whole ? 0 : -1;
}

struct walk {
	Dwfl *dwfl;
	int n;
	void (*line)(void *ctx, const char *text);
	void *ctx;
};

static int one_frame(Dwfl_Frame *frame, void *arg)
{
	struct walk *w = arg;
	const char *name = NULL, *file = NULL, *library = NULL, *base;
	Dwfl_Module *module;
	char text[600], where[400] = "";
	bool is_call;
	Dwarf_Addr pc;
	Dwfl_Line *l;
	int line = 0;

	if (!dw.dwfl_frame_pc(frame, &pc, &is_call)) {
		return DWARF_CB_ABORT;
	}
	pc -= is_call ? 0 : 1; /* the address of the call, not that of its return */
	module = dw.dwfl_addrmodule(w->dwfl, pc);
	if (module) {
		name = dw.dwfl_module_addrname(module, pc);
		l = dw.dwfl_module_getsrc(module, pc);
		file = l ? dw.dwfl_lineinfo(l, NULL, &line, NULL, NULL, NULL) : NULL;
	}
	if (file) {
		snprintf(where, sizeof(where), " at %.350s:%d", file, line);
	} else if (!name && module) { /* a function that only its library knew by name */
		library = dw.dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
		base = library ? strrchr(library, '/') : NULL;
		snprintf(where, sizeof(where), " function of %.200s",
			base              ? base + 1
				: library ? library
					  : "a library");
	}
	snprintf(text, sizeof(text), "#%d %.150s%s", w->n, name ? name : "unknown", where);
	w->line(w->ctx, text);
	return ++w->n < FRAMES ? DWARF_CB_OK : DWARF_CB_ABORT;
}

/* rc: what libdw returned: -1 with an error of its own, or an errno. */
static int unwinding_failed(char *why, size_t size, const char *what, int rc)
{
	snprintf(why, size, "%s: %s", what, rc > 0 ? strerror(rc) : dw.dwfl_errmsg(-1));
	return -1;
}

static int attach_unwinder(Dwfl *dwfl, pid_t pid, char *why, size_t size)
{
	int rc = dw.dwfl_linux_proc_report(dwfl, pid);

	rc = rc ? rc : dw.dwfl_report_end(dwfl, NULL, NULL);
	if (rc) {
		return unwinding_failed(why, size, "its mappings cannot be read", rc);
	}
	rc = dw.dwfl_linux_proc_attach(dwfl, pid, false);
	return rc ? unwinding_failed(why, size, "it cannot be attached to", rc) : 0;
}

/* Attaches to the process. To be ended with dwfl_end(); NULL: failed. */
static Dwfl *begin_unwinding(pid_t pid, char *why, size_t size)
{
	static char *paths;
	static Dwfl_Callbacks calls = { .debuginfo_path = &paths };
	Dwfl *dwfl;

	if (load_unwinder(why, size) < 0) {
		return NULL;
	}
	*(void **)&calls.find_elf = dlsym(dw.library, "dwfl_linux_proc_find_elf");
	*(void **)&calls.find_debuginfo = dlsym(dw.library, "dwfl_standard_find_debuginfo");
	dwfl = dw.dwfl_begin(&calls);
	if (!dwfl) {
		unwinding_failed(why, size, "libdw", -1);
	} else if (attach_unwinder(dwfl, pid, why, size) < 0) {
		dw.dwfl_end(dwfl);
		return NULL;
	}
	return dwfl;
}

int vt_measured_stack(pid_t pid, void (*line)(void *ctx, const char *text), void *ctx, char *why, size_t size)
{
	struct walk w = { begin_unwinding(pid, why, size), 0, line, ctx };
	int rc;

	if (!w.dwfl) {
		return -1;
	}
	rc = dw.dwfl_getthread_frames(w.dwfl, pid, one_frame, &w);
	rc = w.n ? 0 : unwinding_failed(why, size, "its frames cannot be read", rc);
	dw.dwfl_end(w.dwfl);
	return rc;
}

/* ---- call-backs of MPI ---- */

struct search {
	Dwfl *dwfl;
	const uint64_t *objects;
	int n;
	char program[4096];      /* its file */
	int inner;               /* a frame of the program, below no wrapper of an MPI call so far */
	int in_mpi, in_callback; /* threads */
};

static int is_of_program(const struct search *s, Dwfl_Module *module, const char *name, Dwarf_Addr start)
{
	int i;

	/* code without a file is made at run time */
	if (!module || !strcmp(name, s->program)) {
		return 1;
	}
	for (i = 0; i < s->n; i++) {
		if (s->objects[i] == start) {
			return 1;
		}
	}
	return 0;
}

static int look_at_frame(Dwfl_Frame *frame, void *arg)
{
	struct search *s = arg;
	const char *name = NULL, *base;
	Dwarf_Addr pc, start = 0;
	Dwfl_Module *module;
	bool is_call;

	if (!dw.dwfl_frame_pc(frame, &pc, &is_call)) {
		return DWARF_CB_ABORT;
	}
	module = dw.dwfl_addrmodule(s->dwfl, pc - (is_call ? 0 : 1));
	if (module) {
		name = dw.dwfl_module_info(module, NULL, &start, NULL, NULL, NULL, NULL, NULL);
	}
	name = name ? name : "";
	base = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
	if (vt_is_mpi_recorder(base, NULL)) {
		s->in_mpi++;
		s->in_callback += s->inner;
		s->inner = 0;
	} else if (is_of_program(s, module, name, start)) {
		s->inner = 1;
	}
	return DWARF_CB_OK;
}

static int look_at_thread(Dwfl_Thread *thread, void *arg)
{
	struct search *s = arg;

	s->inner = 0;
	dw.dwfl_thread_getframes(thread, look_at_frame, s);
	return DWARF_CB_OK;
}

int vt_measured_in_callback(pid_t pid, const uint64_t *objects, int n, char *why, size_t size)
{
	struct search s = { .objects = objects, .n = n };
	char exe[40];

	s.dwfl = begin_unwinding(pid, why, size);
	if (!s.dwfl) {
		return -1;
	}
	snprintf(exe, sizeof(exe), "/proc/%d/exe", (int)pid);
	if (readlink(exe, s.program, sizeof(s.program) - 1) < 0) {
		snprintf(why, size, "%s cannot be read", exe);
	}
	dw.dwfl_getthreads(s.dwfl, look_at_thread, &s);
	dw.dwfl_end(s.dwfl);
	if (!s.in_mpi && !why[0]) {
		snprintf(why, size, "its frames cannot be read");
	}
	return s.in_callback ? 1 : s.in_mpi && s.program[0] ? 0 : -1;
}
#else
int vt_measured_stack(pid_t pid, void (*line)(void *ctx, const char *text), void *ctx, char *why, size_t size)
{
	(void)pid;
	(void)line;
	(void)ctx;
	snprintf(why, size, "this build is without libdw");
	return -1;
}

int vt_measured_in_callback(pid_t pid, const uint64_t *objects, int n, char *why, size_t size)
{
	(void)pid;
	(void)objects;
	(void)n;
	snprintf(why, size, "this build is without libdw");
	return -1;
}
#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the call stacks of a process with source lines, using libdw. That library is loaded only when it is needed,
 * which is rare: it would make each start of the sampler slower. */
#include "config.h"
#include "collector-plugin/vtsampler/stack.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

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
	const char *name = NULL, *file = NULL;
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

static int walk_thread_frames(struct walk *w, pid_t pid, char *why, size_t size)
{
	int rc = dw.dwfl_linux_proc_report(w->dwfl, pid);

	rc = rc ? rc : dw.dwfl_report_end(w->dwfl, NULL, NULL);
	if (rc) {
		return unwinding_failed(why, size, "its mappings cannot be read", rc);
	}
	rc = dw.dwfl_linux_proc_attach(w->dwfl, pid, false);
	if (rc) {
		return unwinding_failed(why, size, "it cannot be attached to", rc);
	}
	rc = dw.dwfl_getthread_frames(w->dwfl, pid, one_frame, w);
	return w->n ? 0 : unwinding_failed(why, size, "its frames cannot be read", rc);
}

int vt_measured_stack(pid_t pid, void (*line)(void *ctx, const char *text), void *ctx, char *why, size_t size)
{
	static char *paths;
	Dwfl_Callbacks calls = { .debuginfo_path = &paths };
	struct walk w = { NULL, 0, line, ctx };
	int rc;

	if (load_unwinder(why, size) < 0) {
		return -1;
	}
	*(void **)&calls.find_elf = dlsym(dw.library, "dwfl_linux_proc_find_elf");
	*(void **)&calls.find_debuginfo = dlsym(dw.library, "dwfl_standard_find_debuginfo");
	w.dwfl = dw.dwfl_begin(&calls);
	if (!w.dwfl) {
		return unwinding_failed(why, size, "libdw", -1);
	}
	rc = walk_thread_frames(&w, pid, why, size);
	dw.dwfl_end(w.dwfl);
	return rc;
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
#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* States of class SYSTEM. The program's own address tables are changed (host/program/slots.h) so that its calls of libc's
 * functions come here. Calls inside libc and MPI are not affected. The replacements are in system_calls.c, which
 * calls the functions here. If a signal interrupts or cancels a call, or longjmp() leaves it, its state is closed
 * like that of an instrumented function. errno is as the real call left it. */
#include "config.h"
#include "collector-plugin/trace/system.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/rootfs.h"
#include "collector-plugin/filter/filter.h"
#include "collector-plugin/host/lock.h"
#include "collector-plugin/host/say.h"
#include "collector-plugin/host/program/slots.h"
#include "collector-plugin/stats/stats.h"
#include "collector-plugin/trace/callstack.h"
#include "collector-plugin/trace/define.h"
#include "collector-plugin/trace/system_calls.h"
#include "collector-plugin/trace/trace.h"

/* ---- functions ---- */

/* The names of the functions in the trace, in one text: a table of pointers would have to be relocated in each
 * program. */
static const char texts[] =
#define SYSTEM(symbol, text, ...) text "\0"
#define NOTHING SYSTEM
#define PRINTS SYSTEM
#define OPENS SYSTEM
#include "collector-plugin/trace/system_calls.def"
	;
#undef SYSTEM
enum {
	FUNCTIONS = 0
#define SYSTEM(...) +1
#include "collector-plugin/trace/system_calls.def"
};

static _Atomic char wanted[FUNCTIONS];  /* by a rule; calls that an earlier start redirected also come here */
static _Atomic uint32_t ids[FUNCTIONS]; /* 0: not defined yet */
enum { NO_STATE = -1 };
static const struct vt_system_table *table;
static pid_t pid; /* the process that the descriptors belong to */

static const char *system_name(unsigned f)
{
	const char *t = texts;

	while (f--) {
		t += strlen(t) + 1;
	}
	return t;
}

static VT_SELDOM uint32_t define_system_function(struct vt_collect *c, unsigned f)
{
	uint32_t id;

	vt_inside_begin();
	id = vt_function(c, "SYSTEM", system_name(f));
	vt_inside_end();
	atomic_store(&ids[f], id);
	return id;
}

static void enter_system_call(struct vt_system_call *k, unsigned f, uintptr_t sp)
{
	struct vt_collect *c = vt_collect_running();
	uint32_t rule;

	k->on = 0;
	k->id = (uint32_t)NO_STATE;
	k->error = errno;
	if (!c || vt_tls.inside || !atomic_load_explicit(&wanted[f], memory_order_relaxed)) {
		return;
	}
	k->id = atomic_load_explicit(&ids[f], memory_order_relaxed);
	if (!k->id && vt_self() == VT_OK) {
		k->id = define_system_function(c, f);
	}
	rule = vt_trace_rule(k->id);
	if (rule & VT_TRACE_PUSH) {
		vt_trace_call_of(k->id, rule, (uintptr_t)table->next[f], sp);
		k->on = vt_tls.trace != NULL;
	}
	errno = k->error;
}

static void leave_system_call(const struct vt_system_call *k)
{
	if (k->on && vt_collect_running() && vt_tls.trace) {
		vt_trace_return(k->id);
	}
	errno = k->error;
}

/* ---- files ---- */

enum { DESCRIPTORS = 1 << 16 };
static _Atomic uint32_t file_of[DESCRIPTORS]; /* 0: not looked up yet */

static void forget_file(int fd)
{
	if (fd >= 0 && fd < DESCRIPTORS) {
		atomic_store_explicit(&file_of[fd], 0, memory_order_relaxed);
	}
}

/* The name of the descriptor's file; `name` has room for size bytes. */
static VT_SELDOM void name_file(int fd, char *name, size_t size)
{
	int root = vt_lock_is_without_calls() ? -1 : tkm_root_open("/");
	char path[40];
	ssize_t n = -1;

	if (root >= 0 && root != fd) {
		snprintf(path, sizeof(path), "proc/self/fd/%d", fd);
		n = readlinkat(root, path, name, size - 1);
	}
	if (root >= 0) {
		close(root); /* it got the number that we look for, so that number is no open file */
	}
	if (n <= 0) {
		n = snprintf(name, size, fd < 0 ? "stream in memory" : "descriptor %d", fd);
	}
	name[n] = '\0';
}

static VT_SELDOM uint32_t find_system_file(struct vt_collect *c, int fd)
{
	enum { ROOM = 4096 };
	/* not on the stack, which may be small in a thread or a signal handler */
	char *name = vt_trace_memory(ROOM);
	uint32_t id;

	if (!name) {
		return 0;
	}
	name_file(fd, name, ROOM);
	vt_inside_begin();
	id = vt_file(c, name, 0);
	vt_inside_end();
	munmap(name, ROOM);
	/* the child of vfork() shares this table, but not the descriptors */
	if (fd >= 0 && fd < DESCRIPTORS && !vt_lock_is_without_calls() && getpid() == pid) {
		atomic_store_explicit(&file_of[fd], id, memory_order_relaxed);
	}
	return id;
}

void vt_trace_transfer(const ltick_t *at, int begins, enum vt_raw_io kind, uint32_t file, uint64_t bytes)
{
	struct vt_raw_transfer body = { file, (uint32_t)bytes, (uint32_t)(bytes >> 32) };
	const struct vt_trace_thread *t = vt_tls.trace;
	int in_state = begins || kind <= VT_RAW_READ;

	if (t && (!in_state || (t->top > t->frame && t->top[-1].how.recorded)) &&
		vt_tls.collect == vt_collect_running()) {
		vt_trace_record(at ? *at : vt_ticks_now(vt_tls.collect), begins ? VT_RAW_IO_BEGIN : VT_RAW_IO_END,
			(uint8_t)kind, &body, sizeof(body));
	}
	if (!begins) {
		vt_trace_communicates(VT_RAW_ROW_FILE, 0, 0, bytes);
	}
}

static void record_transfer_begin(struct vt_system_call *k, enum vt_raw_io kind, int fd, uint64_t bytes)
{
	struct vt_collect *c = vt_collect_running();

	/* statistics also count it if the state is not recorded */
	if (c && k->on && (vt_trace_current() == k->id || vt_stats_wanted())) {
		k->file = fd >= 0 && fd < DESCRIPTORS ? atomic_load_explicit(&file_of[fd], memory_order_relaxed) : 0;
		k->file = k->file ? k->file : find_system_file(c, fd);
		k->kind = kind;
		vt_trace_transfer(NULL, 1, kind, k->file, bytes);
	} else {
		k->file = 0;
	}
	errno = k->error;
}

static void record_transfer_end(const struct vt_system_call *k, uint64_t bytes)
{
	if (k->file && vt_collect_running() && vt_tls.trace) {
		vt_trace_transfer(NULL, 0, k->kind, k->file, bytes);
	}
}

/* ---- start ---- */

static int compare_system_names(const void *a, const void *b)
{
	return strcmp(((const struct vt_slot *)a)->symbol, ((const struct vt_slot *)b)->symbol);
}

/* Finds the functions that a rule turns on. Returns how many. */
static VT_SELDOM int ask_rules(int rules)
{
	const char *t = texts;
	struct vt_verdict v = { .record = 0 };
	int i, on, n = 0;

	for (i = 0; i < FUNCTIONS; i++, t += strlen(t) + 1) {
		if (rules) {
			vt_filter_decide("SYSTEM", t, NULL, &v);
		}
		on = v.record || (v.caller_bit && v.called_record);
		atomic_store(&wanted[i], (char)on);
		n += on;
	}
	return n;
}

VT_SELDOM void vt_system_start(int rules)
{
	static const struct vt_system_own own = { enter_system_call, leave_system_call, record_transfer_begin,
		record_transfer_end, forget_file };
	struct vt_slot slot[FUNCTIONS];
	int i;

	if (!ask_rules(rules)) {
		return;
	}
	pid = getpid();
	for (i = 0; i < DESCRIPTORS; i++) {
		atomic_store_explicit(&file_of[i], 0, memory_order_relaxed);
	}
	for (i = 0; i < FUNCTIONS; i++) {
		atomic_store(&ids[i], 0);
	}
	if (!vt_slots_possible()) {
		vt_say(1, "WARNING", "calls of class SYSTEM are not recorded on this kind of machine");
		return;
	}
	table = vt_system_begin(&own);
	if (!table) {
		return;
	}
	vt_callstack_own(table->function[0].own);
	for (i = 0; i < FUNCTIONS; i++) {
		const struct vt_system_function *f = &table->function[i];

		/* this is needed even if no rule wants any: functions that an earlier start redirected still come
		 * here */
		table->next[i] = dlsym(RTLD_DEFAULT, f->next);
		slot[i] = (struct vt_slot){ f->symbol, atomic_load(&wanted[i]) && table->next[i] ? f->own : NULL };
	}
	qsort(slot, FUNCTIONS, sizeof(slot[0]), compare_system_names);
	vt_slots_change(slot, FUNCTIONS);
}

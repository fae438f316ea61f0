/* SPDX-License-Identifier: BSD-3-Clause */
/* libVTcs.so inside the program that vtrun started. It starts the collector before main(), ends it at exit(),
 * _exit() and quick_exit(), and does nothing in children unless FOLLOW-CHILDREN is on.
 *
 * Before the program sees the environment, it is restored to what it was without vtrun, so that children never load
 * this library. Only a program that replaces the sampled one by exec in the same process (the last line of a wrapper
 * script) must get the library again. The exec functions are wrapped only for that. With FOLLOW-CHILDREN the
 * environment stays as it is, and every way of starting a child works. */
#include "config.h"
#include "collector-plugin/core/collect.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "collector-plugin/core/hooks.h"
#include "collector-plugin/core/names.h"
#include "collector-plugin/core/thread.h"
#include "collector-plugin/host/program/exec_target.h"
#include "collector-plugin/host/memory.h"
#include "collector-plugin/host/program/needed.h"
#include "collector-plugin/host/say.h"
#include "collector-plugin/run/run.h"
#include "collector-plugin/sample/sample.h"
#include "collector-plugin/settings/run_value.h"

extern char **environ;

static VT_WRITTEN_IN_CHILD struct {
	int active; /* 1: this process is the one to sample, or a followed child */
	int follow;
	pid_t pid;
} run;

static struct {
	char preload[4096], run[8300]; /* NAME=VALUE for the program after an exec */
	char commanded[32][1200];      /* VT_ variables of vtrun's command line, the same way */
	int n_commanded;
} passed;

/* ---- the environment ---- */

static void copy_variable(char *to, size_t size, const char *name)
{
	const char *value = secure_getenv(name);

	if (!value || snprintf(to, size, "%s=%s", name, value) >= (int)size) {
		to[0] = '\0';
	}
}

/* Removes a variable in the array itself: programs such as bash have their own functions setenv() and unsetenv(). */
static void take_out(const char *name)
{
	size_t n = strlen(name), from, to;

	for (from = to = 0; environ && environ[from]; from++) {
		if (strncmp(environ[from], name, n) || environ[from][n] != '=') {
			environ[to++] = environ[from];
		}
	}
	if (environ) {
		environ[to] = NULL;
	}
}

/* text is NAME=VALUE, and must stay valid. */
static void replace_variable(const char *name, char *text)
{
	size_t n = strlen(name), i;

	for (i = 0; environ && environ[i]; i++) {
		if (!strncmp(environ[i], name, n) && environ[i][n] == '=') {
			environ[i] = text;
		}
	}
}

/* For the programs that belong to the same trace: its name, and where a raw file is. */
static void add_names_of_run(char *words, size_t size)
{
	size_t n = strlen(words);

	snprintf(words + n, size - n, "\ttrace=%s\traw=%s", vt_collect_trace(), vt_collect_raw_path());
}

/* Removes what vtrun added, after saving it. */
static void clean_environment(const char *text)
{
	static char preload[4096 + 16];
	char set[2048], before[4096], *save = NULL, *name, *prog;

	copy_variable(passed.preload, sizeof(passed.preload), "LD_PRELOAD");
	copy_variable(passed.run, sizeof(passed.run), VT_RUN_VARIABLE);
	/* the last word, from an exec before this one */
	passed.run[strstr(passed.run, "\tcpu=") ? (size_t)(strstr(passed.run, "\tcpu=") - passed.run)
						: strlen(passed.run)] = '\0';
	prog = strstr(passed.run, "\tprog=");
	if (prog) {
		/* the program after an exec is another one */
		memcpy(prog, "\twas_", 5);
	}
	if (passed.run[0] && !strstr(passed.run, "\ttrace=") && vt_collect_trace()) {
		add_names_of_run(passed.run, sizeof(passed.run));
	}
	if (vt_run_value(text, "set", set, sizeof(set))) {
		for (name = strtok_r(set, ",", &save); name && passed.n_commanded < 32;
			name = strtok_r(NULL, ",", &save)) {
			copy_variable(passed.commanded[passed.n_commanded], sizeof(passed.commanded[0]), name);
			passed.n_commanded += passed.commanded[passed.n_commanded][0] != '\0';
		}
	}
	if (run.follow) {
		return;
	}
	if (vt_run_value(text, "preload", before, sizeof(before)) && *before) {
		snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", before);
		replace_variable("LD_PRELOAD", preload);
	} else {
		take_out("LD_PRELOAD");
	}
	take_out(VT_RUN_VARIABLE);
	if (vt_run_value(text, "set", set, sizeof(set))) {
		for (name = strtok_r(set, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
			take_out(name);
		}
	}
}

/* Tells children that are followed that they belong to the same trace. */
static void tell_children(void)
{
	char text[8300];
	const char *old = secure_getenv(VT_RUN_VARIABLE);

	if (run.follow && old && !strstr(old, "\ttrace=") && vt_collect_trace()) {
		snprintf(text, sizeof(text), "%s", old);
		add_names_of_run(text, sizeof(text));
		setenv(VT_RUN_VARIABLE, text, 1);
	}
}

/* ---- fork ---- */

/* A followed child that does not exec soon. Most children exec at once, and get a collector in the new program. */
static VT_WRITTEN_IN_CHILD struct {
	_Atomic uint32_t state;
	sigset_t signals; /* that the child blocks at its begin */
} child;
enum { CHILD_WAITS, CHILD_RECORDS_AT_ONCE, CHILD_STARTED };

static void wait_for_child_state(uint32_t while_it_is, long ns)
{
	struct timespec wait = { ns / 1000000000, ns % 1000000000 };

	syscall(SYS_futex, &child.state, FUTEX_WAIT_PRIVATE, while_it_is, &wait, NULL, 0);
}

static void set_child_state(uint32_t state)
{
	atomic_store(&child.state, state);
	syscall(SYS_futex, &child.state, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

static void *start_in_child(void *unused)
{
	struct tkm_err e;

	(void)unused;
	wait_for_child_state(CHILD_WAITS, 50000000);
	if (run.active && vt_collect_start(-1, 0, NULL, &e) < 0) {
		vt_say(2, "WARNING", "a forked child runs unsampled: %s", e.text);
	}
	vt_hooks.first_event = NULL;
	set_child_state(CHILD_STARTED);
	return NULL;
}

/* The child makes a call that is recorded: it waits for its collector. Not in a handler of a signal, which may have
 * interrupted what the start needs. */
static void start_before_event(void)
{
	sigset_t now;
	uint32_t waits = CHILD_WAITS;
	int i;

	pthread_sigmask(SIG_SETMASK, NULL, &now);
	for (i = 1; i < NSIG; i++) {
		if (sigismember(&now, i) != sigismember(&child.signals, i)) {
			return;
		}
	}
	if (atomic_compare_exchange_strong(&child.state, &waits, CHILD_RECORDS_AT_ONCE)) {
		set_child_state(CHILD_RECORDS_AT_ONCE);
	}
	/* the start may need a lock of libc that this thread holds */
	wait_for_child_state(CHILD_RECORDS_AT_ONCE, 500000000);
	vt_hooks.first_event = NULL;
}

static void before_fork(void)
{
	if (run.active && run.follow) {
		vt_names_before_fork();
	}
}

static void parent_of_fork(void)
{
	vt_names_after_fork(0);
	vt_collect_leave_out(run.active && run.follow && vt_collect_is_of_job());
}

static VT_IN_CHILD void child_of_fork(void)
{
	sigset_t all, old;
	pthread_t t;
	int of_job = vt_collect_is_of_job(), follow;

	if (!run.active) {
		return;
	}
	follow = run.follow && vt_names_after_fork(1);
	vt_alloc_forked();
	vt_collect_forked();
	/* the trace of a job has its ranks only */
	run.active = follow && !of_job;
	run.pid = getpid();
	if (run.active) {
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &old);
		child.signals = old;
		atomic_store(&child.state, CHILD_WAITS);
		if (pthread_create(&t, NULL, start_in_child, NULL) == 0) {
			pthread_detach(t);
			vt_hooks.first_event = start_before_event;
		}
		pthread_sigmask(SIG_SETMASK, &old, NULL);
	}
}

/* ---- begin and end ---- */

#define NEXT(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

int __cxa_atexit(void (*fn)(void *), void *arg, void *dso);

/* Looked up before main(), because dlsym() must not be called between vfork and exec. */
static struct {
	int (*execve)(const char *, char *const *, char *const *);
	int (*execvpe)(const char *, char *const *, char *const *);
	int (*fexecve)(int, char *const *, char *const *);
	int (*cxa_atexit)(void (*)(void *), void *, void *);
	int (*on_exit)(void (*)(int, void *), void *);
	int (*prctl)(int, ...);
	int (*swapcontext)(ucontext_t *, const ucontext_t *);
} next;

__attribute__((constructor(101))) static void look_up_libc_call(void)
{
	next.execve = NEXT(execve);
	next.execvpe = NEXT(execvpe);
	next.fexecve = NEXT(fexecve);
	next.cxa_atexit = NEXT(__cxa_atexit);
	next.on_exit = NEXT(on_exit);
	next.prctl = NEXT(prctl);
	next.swapcontext = NEXT(swapcontext);
}

/* The end needs 20 KB of stack and more. A handler on a stack for signals often has 8 KB, a thread or a coroutine 16 KB: what
 * they end runs on a stack of its own. */
enum { END_STACK = 1 << 20, SIGNAL_STACK = 1 << 16 };
struct end_stack {
	ucontext_t here, there;
	sigset_t signals; /* that the program has blocked */
	uint32_t how;
	char for_signals[SIGNAL_STACK];
};
static _Atomic(struct end_stack *) end_stack;

static void end_there(void)
{
	struct end_stack *s = end_stack;
	stack_t own = { .ss_sp = s->for_signals, .ss_size = sizeof(s->for_signals) }, was;
	/* another handler would begin at the top of the stack that a handler has left here */
	int is_set = sigaltstack(NULL, &was) == 0 && !(was.ss_flags & SS_DISABLE) && sigaltstack(&own, NULL) == 0;
	sigset_t all;

	pthread_sigmask(SIG_SETMASK, &s->signals, NULL);
	vt_collect_end_how(1, s->how);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &s->signals);
	if (is_set) {
		sigaltstack(&was, NULL);
	}
}

/* Alone: gcc takes getcontext() for a function that returns twice. */
static __attribute__((noinline)) int take_context(ucontext_t *to)
{
	return getcontext(to);
}

/* Returns a stack with a page below it that must not be touched, or NULL. */
static struct end_stack *make_end_stack(const sigset_t *signals)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), below = (sizeof(struct end_stack) + page - 1) & -page;
	struct end_stack *s = mmap(NULL, END_STACK, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);

	if (s == MAP_FAILED) {
		return NULL;
	}
	if (mprotect((char *)s + below, page, PROT_NONE) < 0 || take_context(&s->there) < 0) {
		munmap(s, END_STACK);
		return NULL;
	}
	s->there.uc_stack = (stack_t){ .ss_sp = (char *)s + below + page, .ss_size = END_STACK - below - page };
	s->there.uc_link = &s->here;
	s->there.uc_sigmask = *signals;
	makecontext(&s->there, end_there, 0);
	return s;
}

static void end_on_own_stack(uint32_t how)
{
	struct end_stack *s, *none = NULL;
	sigset_t all;

	sigfillset(&all);
	s = next.swapcontext ? make_end_stack(&all) : NULL;
	if (!s || !atomic_compare_exchange_strong(&end_stack, &none, s)) {
		vt_collect_end_how(1, how);
	} else {
		s->how = how;
		pthread_sigmask(SIG_SETMASK, &all, &s->signals);
		next.swapcontext(&s->here, &s->there);
		all = s->signals;
		end_stack = NULL;
		pthread_sigmask(SIG_SETMASK, &all, NULL);
	}
	if (s) {
		munmap(s, END_STACK);
	}
}

/* how: enum vt_raw_ending, with the status if that is known. */
static void end_by(uint32_t how)
{
	if (!run.active || vt_self_is_lent()) {
		return;
	}
	/* not even getpid() may be called */
	if (vt_collect_is_quiet(how)) {
		run.active = 0;
	}
	if (run.active && run.pid == getpid()) {
		end_on_own_stack(how);
		run.active = 0;
	}
}

static uint32_t with_status(uint32_t how, int status)
{
	return how + VT_RAW_ENDED_STATUS * (1 + (uint32_t)(status & 255));
}

static void at_quick(void)
{
	end_by(VT_RAW_ENDED_EXIT);
}

static void at_exit_last(int status, void *unused)
{
	(void)unused;
	end_by(with_status(VT_RAW_ENDED_EXIT, status));
}

static void at_exit_first(int status, void *unused)
{
	if (!vt_hooks.ends_later) {
		at_exit_last(status, unused);
	}
}

/* Called for each atexit(). Programs such as coreutils close their standard error in a handler, and handlers run in
 * the reverse order. So our handler is added again after each of theirs: it runs first, and can still print. Ending
 * twice has no effect. The list must stay short in a program that loads and unloads libraries again and again.
 * ThreadSanitizer calls this function while it starts, before anything of its own can be called. */
__attribute__((no_sanitize("thread"))) int __cxa_atexit(void (*fn)(void *), void *arg, void *dso)
{
	static _Atomic int times;
	int rc = (next.cxa_atexit ? next.cxa_atexit : NEXT(__cxa_atexit))(fn, arg, dso);

	if (rc == 0 && next.on_exit && run.active && run.pid == getpid() && times < 1000) {
		times++;
		next.on_exit(at_exit_first, NULL);
	}
	return rc;
}

/* dash and others end this way, without atexit() handlers. It makes the system call, because this function replaces
 * the one of libc. */
void _exit(int status)
{
	end_by(with_status(VT_RAW_ENDED_AT_ONCE, status));
	for (;;) {
		syscall(SYS_exit_group, status);
	}
}

void _Exit(int status)
{
	_exit(status);
}

/* A program that is about to give up system calls must not be killed because of one of ours. From here on the
 * library only writes memory, and the sampler process detects the end. If a program uses the system call seccomp()
 * directly, the sampler notices it. One that forbids the time stamp counter takes the clocks away, too. */
int prctl(int option, ...)
{
	unsigned long v[4];
	va_list ap;
	int i, rc, no_clock;

	va_start(ap, option);
	for (i = 0; i < 4; i++) {
		v[i] = va_arg(ap, unsigned long);
	}
	va_end(ap);
	if (option == PR_SET_TSC && v[0] == PR_TSC_SIGSEGV) {
		rc = (next.prctl ? next.prctl : NEXT(prctl))(option, v[0], v[1], v[2], v[3]);
		if (rc == 0) {
			vt_collect_be_quiet(1);
		}
		return rc;
	}
	no_clock = option == PR_SET_SECCOMP && v[0] == SECCOMP_MODE_STRICT;
	if (option == PR_SET_SECCOMP || option == PR_SET_NO_NEW_PRIVS || no_clock) {
		vt_collect_be_quiet(no_clock);
	}
	return (next.prctl ? next.prctl : NEXT(prctl))(option, v[0], v[1], v[2], v[3]);
}

static int is_for_us(const char *text)
{
	char pid[16], follow[4];

	run.follow = vt_run_value(text, "follow", follow, sizeof(follow)) && follow[0] == '1';
	return run.follow || (vt_run_value(text, "pid", pid, sizeof(pid)) && atoi(pid) == (int)getpid());
}

__attribute__((constructor)) static void begin_preloaded(void)
{
	const char *text = secure_getenv(VT_RUN_VARIABLE);
	int saved = errno;
	struct tkm_err e;

	if (!text || !is_for_us(text)) {
		return;
	}
	run.pid = getpid();
	run.active = 1;
	if (vt_collect_start(-1, 0, NULL, &e) < 0) {
		vt_say(1, "WARNING", "the program runs unsampled: %s", e.text);
		run.active = 0;
	}
	/* a copy that the changes below do not affect */
	clean_environment(vt_collect_run_text()[0] ? vt_collect_run_text() : text);
	if (run.active) {
		tell_children();
		/* of no library: it runs after the destructors of all, which may call MPI_Finalize */
		on_exit(at_exit_last, NULL);
		on_exit(at_exit_first, NULL);
		at_quick_exit(at_quick);
		pthread_atfork(before_fork, parent_of_fork, child_of_fork);
	}
	errno = saved;
}

/* ---- exec in place ---- */

enum { NOT_OURS, IN_PLACE, IN_PLACE_MPI, IN_PLACE_ABI, FOLLOWED };

/* Finds our library, as vtrun has named it in LD_PRELOAD. */
static int own_library(char *to, size_t size)
{
	const char *first = passed.preload + strcspn(passed.preload, "=");

	first += *first == '=';
	return snprintf(to, size, "%.*s", (int)strcspn(first, ": "), first);
}

/* Does the program need libVT.so or libVTabi.so instead? They, in the folder of libVTcs.so, are for programs that link MPI,
 * if they were made for the same MPI. `library` gets the path. */
static int wants_mpi(const char *path, char *library, size_t size)
{
	struct vt_mpi_links program = { .uses = 0 }, ours = { .uses = 0 };
	char *slash;

	vt_each_needed(path, vt_mpi_link, &program);
	if (!program.uses || own_library(library, size) >= (int)size) {
		return 0;
	}
	slash = strrchr(library, '/');
	if (!slash ||
		snprintf(slash + 1, size - (size_t)(slash + 1 - library), "%s", vt_mpi_recorder(&program)) >=
			(int)(size - (size_t)(slash + 1 - library))) {
		return 0;
	}
	vt_each_needed(library, vt_mpi_link, &ours);
	return ours.mpi[0] && (!program.mpi[0] || !strcmp(program.mpi, ours.mpi));
}

/* Does `name` replace the sampled program, with our library in it? If no library can be loaded into it, sampling
 * ends here, and the trace is written now. FOLLOWED: the environment contains all that is needed. */
static int in_place(const char *name, int search)
{
	struct room {
		char given[4096], path[4096], library[4096];
		struct tkm_err e;
	};
	struct room *room;
	int status, rc = IN_PLACE;

	if (!run.active || run.pid != getpid() || (!run.follow && !passed.preload[0])) {
		return NOT_OURS;
	}
	if (run.follow) {
		return FOLLOWED;
	}
	room = vt_pages(sizeof(*room));
	if (!room) {
		return NOT_OURS;
	}
	snprintf(room->given, sizeof(room->given), "%s%s", search || strchr(name, '/') ? "" : "./", name);
	if (vt_exec_target(room->given, room->path, sizeof(room->path), &status, &room->e) > 0) {
		vt_say(1, "INFO", "the sampling ends here: %s", room->e.text);
		at_quick();
		rc = NOT_OURS;
	} else if (wants_mpi(room->path, room->library, sizeof(room->library))) {
		rc = strstr(room->library, "/libVTabi.so") ? IN_PLACE_ABI : IN_PLACE_MPI;
	}
	munmap(room, sizeof(*room));
	return rc;
}

static int same_name(const char *a, const char *b)
{
	size_t n = strcspn(a, "=");

	return !strncmp(a, b, n + 1);
}

enum {
	MORE = 36,
	PRELOAD = 8192
}; /* pointers beyond those of envp; bytes of a new LD_PRELOAD, and of our own variable */

/* Adds how much CPU time our thread has used: the next program continues the sum. */
static void add_account(char *text, const char *old)
{
	const char *cpu = strstr(old, "\tcpu=");

	snprintf(text, PRELOAD, "%.*s\tcpu=%d:%llu", (int)(cpu ? (size_t)(cpu - old) : strlen(old)), old, (int)getpid(),
		(unsigned long long)vt_sampler_cpu(&vt_collector));
}

static void with_account(char *const *envp, char **out, char *text)
{
	size_t n;

	for (n = 0; envp && envp[n]; n++) {
		out[n] = envp[n];
		if (same_name(VT_RUN_VARIABLE "=", envp[n])) {
			add_account(text, envp[n]);
			out[n] = text;
		}
	}
	out[n] = NULL;
}

/* Makes a copy of envp with our variables, and with our library before the present contents of LD_PRELOAD. `preload`
 * and `text` are the memory for those. */
static void with_ours(int how, char *const *envp, char **out, char *preload, char *text)
{
	size_t n = 0;
	int i;

	if (how == FOLLOWED) {
		with_account(envp, out, text);
		return;
	}
	add_account(text, passed.run);
	snprintf(preload, PRELOAD, "%.*s", (int)strcspn(passed.preload, ": "), passed.preload);
	if (how == IN_PLACE_MPI || how == IN_PLACE_ABI) {
		/* wants_mpi() has found it there */
		strcpy(strrchr(preload, '/') + 1, how == IN_PLACE_ABI ? "libVTabi.so" : "libVT.so");
	}
	for (; envp && *envp; envp++) {
		int ours = same_name(passed.run, *envp);

		if (same_name(passed.preload, *envp)) {
			snprintf(preload + strlen(preload), PRELOAD - strlen(preload), ":%s",
				*envp + strlen("LD_PRELOAD="));
			continue;
		}
		for (i = 0; i < passed.n_commanded; i++) {
			ours |= same_name(passed.commanded[i], *envp);
		}
		if (!ours) {
			out[n++] = *envp;
		}
	}
	out[n++] = preload;
	out[n++] = text;
	for (i = 0; i < passed.n_commanded; i++) {
		out[n++] = passed.commanded[i];
	}
	out[n] = NULL;
}

static size_t count_arguments(char *const *v)
{
	size_t n = 0;

	while (v && v[n]) {
		n++;
	}
	return n;
}

/* The environment of the program after the exec. It has pages of its own, because a thread may have a small stack. */
struct changed {
	size_t size;
	char preload[PRELOAD], text[PRELOAD];
	char *env[];
};

static struct changed *changed(int how, char *const *envp)
{
	size_t size = sizeof(struct changed) + (count_arguments(envp) + MORE) * sizeof(char *);
	struct changed *c = vt_pages(size);

	if (c) {
		c->size = size;
		with_ours(how, envp, c->env, c->preload, c->text);
	}
	return c;
}

/* An exec that returns has failed. */
static int start_failed(int result, struct changed *c)
{
	int error = errno;

	if (c) {
		munmap(c, c->size);
	}
	vt_sampler_stays(&vt_collector);
	errno = error;
	return result;
}

/* Defines an exec function whose first argument is `what`; name: of the program that it starts. */
#define EXEC(function, declaration, what, name, search) \
	int function(declaration, char *const argv[], char *const envp[]) \
	{ \
		int how = in_place(name, search); \
		struct changed *c; \
\
		if (!how) { \
			return (next.function ? next.function : NEXT(function))(what, argv, envp); \
		} \
		c = changed(how, envp); \
		return start_failed(next.function(what, argv, c ? c->env : envp), c); \
	}

static const char *name_of_descriptor(int fd, char *path, size_t size)
{
	snprintf(path, size, "/proc/self/fd/%d", fd);
	return path;
}

EXEC(execve, const char *path, path, path, 0)
EXEC(execvpe, const char *file, file, file, 1)
EXEC(fexecve, int fd, fd, name_of_descriptor(fd, (char[40]){ 0 }, 40), 0)

int execv(const char *path, char *const argv[])
{
	return execve(path, argv, environ);
}

int execvp(const char *file, char *const argv[])
{
	return execvpe(file, argv, environ);
}

/* Defines one with a list of arguments, up to the NULL. Nothing at all is a legal list, whatever the header says.
 * after: declares what the exec needs besides; the list of variables, ap, has come to what follows the NULL. */
#define EXEC_LIST(function, what, after, call) \
	int function(const char *what, const char *arg, ...) \
	{ \
		const char *volatile first = arg; \
		size_t n, i; \
		va_list ap; \
\
		va_start(ap, arg); \
		for (n = first ? 1 : 0; n && va_arg(ap, char *); n++) { \
		} \
		va_end(ap); \
		{ \
			char *argv[n + 1]; \
\
			argv[0] = (char *)(uintptr_t)arg; \
			va_start(ap, arg); \
			for (i = 1; i <= n; i++) { \
				argv[i] = va_arg(ap, char *); \
			} \
			after; \
			va_end(ap); \
			return call; \
		} \
	}

EXEC_LIST(execl, path, , execve(path, argv, environ))
EXEC_LIST(execlp, file, , execvpe(file, argv, environ))
EXEC_LIST(execle, path, char *const *envp = va_arg(ap, char *const *), execve(path, argv, envp))

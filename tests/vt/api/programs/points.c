/* SPDX-License-Identifier: BSD-3-Clause */
/* points cancel N | points signal SECONDS | points ends N: threads are cancelled, or signal handlers run that call the interface themselves, at
 * random points inside each entry point; of VT_initialize and VT_finalize in N children. Every join must return, and the others go on. "done
 * COUNT" is the last line. */
#define _GNU_SOURCE
#include <VT.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static int function, counter, location;
static _Atomic unsigned fresh, fresh_value;

static void call_begin(void)
{
	VT_begin(function);
	VT_end(function);
	VT_beginl(function, location);
	VT_endl(function, location);
}

static void call_enter(void)
{
	VT_enter(function, location);
	VT_leave(location);
}

static void call_count(void)
{
	/* a sum of others is none of these (points.sh) */
	uint64_t i = fresh_value++ % 100000, v = i * 4096 + i * i % 4093;

	VT_countval(1, &counter, &v);
}

static void call_switch(void)
{
	VT_traceoff();
	VT_traceon();
}

static void call_define(void)
{
	char name[32];
	int h = 0, members[2] = { 0, 0 };

	snprintf(name, sizeof(name), "f%u", fresh++ % 2000);
	VT_funcdef(name, VT_NOCLASS, &h);
	VT_classdef(name, &h);
	VT_symdef(1000 + (int)(fresh % 2000), name, "old");
	VT_countdef(name, VT_NOCLASS, VT_COUNT_FLOAT, VT_GROUP_THREAD, NULL, "x", &h);
	VT_scldef("file.c", (int)(fresh % 1000) + 1, &h);
	VT_getprocid(0, &members[0]);
	VT_getthreadid(0, 0, &members[1]);
	VT_groupdef(name, 2, members, &h);
}

static void call_name(void)
{
	int h = 0, truncated;

	VT_enterstate("class:named", &h, &truncated);
	VT_leave(VT_NOSCL);
}

static void call_scope(void)
{
	int h, number = 0;

	VT_scopedef("scope", VT_NOCLASS, location, location, &h);
	VT_scopebegin(h, location, &number);
	VT_scopeend(h, number, location);
}

static void call_flush(void)
{
	VT_flush();
}

static void call_ask(void)
{
	int n;

	VT_getrank(&n);
	VT_getthrank(&n);
	VT_tracestate(&n);
	VT_symstate(function, &n);
	VT_timestamp();
	VT_timestart();
	VT_timeofday();
	VT_getdescription(0);
	VT_version();
	VT_timesync();
}

static void call_log(void)
{
	int bytes[1] = { 8 };
	double begin[1] = { VT_timestamp() };

	VT_begin_unordered();
	VT_log_sendmsg(0, 8, 1, VT_COMM_SELF, VT_NOSCL);
	VT_log_recvmsg(0, 8, 1, VT_COMM_SELF, VT_NOSCL);
	VT_log_msgevent(0, 0, 8, 2, VT_COMM_SELF, begin[0], VT_NOSCL, VT_NOSCL);
	VT_log_op(VT_OP_BCAST, VT_COMM_SELF, 0, 8, 8, begin[0], VT_NOSCL);
	VT_log_opevent(VT_OP_BCAST, VT_COMM_SELF, 0, 1, bytes, bytes, begin, VT_NOSCL);
	VT_end_unordered();
}

static void call_wake(void)
{
	int h;

	VT_wakeup();
	VT_thisloc(location);
	VT_sclstack(NULL, NULL, 0, 3, &h);
}

static void call_thread(void)
{
	int index = 1 + (int)(fresh++ % 100);

	VT_registerthread(index);
	VT_registernamed("named", -1);
	VT_registerprefixed("prefixed", -1);
}

static void call_connect(void)
{
	const char *contact = NULL;
	int comm;

	VT_clientinit(0, "client", &contact);
	VT_serverinit("server", 0, NULL, &contact);
	VT_attach(0, VT_COMM_SELF, 0, &comm);
	VT_get_parent(&comm);
	VT_abort();
	VT_setfinalizecallback(NULL);
	VT_countsetcallback(NULL, NULL, 1);
}

/* ---- what the library has instead of libc, and calls of the compiler ---- */

void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);
void __longjmp_chk(jmp_buf to, int value) __attribute__((noreturn));
int __cxa_atexit(void (*f)(void *), void *arg, void *library);

static void call_instrumented(void)
{
	__cyg_profile_func_enter((void *)(uintptr_t)call_begin, (void *)(uintptr_t)call_count);
	__cyg_profile_func_exit((void *)(uintptr_t)call_begin, (void *)(uintptr_t)call_count);
}

static void call_exec(void)
{
	static const char none[] = "/no/such/program";
	char *words[] = { (char *)(uintptr_t)none, NULL };

	execl(none, none, (char *)NULL);
	execle(none, none, (char *)NULL, environ);
	execlp(none, none, (char *)NULL);
	execv(none, words);
	execve(none, words, environ);
	execvp(none, words);
	execvpe(none, words, environ);
	fexecve(-1, words, environ);
}

static void call_jump(void)
{
	jmp_buf here;
	sigjmp_buf there;
	int n;

	VT_begin(function);
	if ((n = setjmp(here)) == 0) {
		longjmp(here, 1);
	} else if (n == 1) {
		_longjmp(here, 2);
	} else if (n == 2) {
		__longjmp_chk(here, 3);
	}
	if (sigsetjmp(there, 1) == 0) {
		siglongjmp(there, 1);
	}
	VT_end(function);
}

static void nothing(void)
{
}

/* to another stack and back; and back to where the thread was */
static void call_context(void)
{
	_Alignas(64) char stack[65536];
	ucontext_t here, there;
	volatile int back = 0;

	if (getcontext(&there) != 0) {
		return;
	}
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = sizeof(stack);
	there.uc_link = &here;
	makecontext(&there, nothing, 0);
	swapcontext(&here, &there);
	getcontext(&here);
	if (!back++) {
		setcontext(&here);
	}
}

static void at_exit(void *unused)
{
	(void)unused;
}

void *ompt_start_tool(unsigned version, const char *runtime);
/* of libVTmc (collector-plugin/run/errors.h) */
void vt_record_error(const char *type, const char *level, const char *text, const void *call, int n);
void *vt_record_caller(void);

static void call_libc(void)
{
	char name[16];

	dlclose(dlopen("libm.so.6", RTLD_LAZY));
	prctl(PR_GET_NAME, name, 0, 0, 0);
	ompt_start_tool(0, "none");
	vt_record_error("LOCAL:X", "warning", vt_record_caller() ? "in MPI" : "not in MPI", NULL, 0);
	if (fresh++ % 16 == 0) {
		__cxa_atexit(at_exit, NULL, NULL);
	}
}

/* a child that ends at once by one of both */
static void call_exit(void)
{
	pid_t child;

	if (fresh++ % 8) {
		return;
	}
	child = fork();
	if (child == 0) {
		if (fresh % 16 == 1) {
			_exit(0);
		}
		_Exit(0);
	}
	if (child > 0) {
		waitpid(child, NULL, 0);
	}
}

static int end_at_once(void *unused)
{
	(void)unused;
	return 0;
}

/* children with the memory of their parent, which waits */
static void call_vfork(void)
{
	_Alignas(64) char stack[32768];
	pid_t child;

	if (fresh++ % 8) {
		return;
	}
	child = vfork();
	if (child == 0) {
		_exit(0);
	}
	if (child > 0) {
		waitpid(child, NULL, 0);
	}
	child = clone(end_at_once, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
	if (child > 0) {
		waitpid(child, NULL, 0);
	}
}

static void (*const point[])(void) = { call_begin, call_enter, call_count, call_switch, call_define, call_name,
	call_scope, call_flush, call_ask, call_log, call_wake, call_thread, call_connect,
	call_instrumented, /* a handler must not: */
	call_exec, call_jump, call_context, call_libc, call_exit, call_vfork };
enum { POINTS = sizeof(point) / sizeof(point[0]), IN_HANDLERS = 14, FREQUENT = 3 };

/* Of two victims of an entry point one is cancelled by another thread, at a random point, and one before its calls, which end it at the first
 * point inside them where it can be cancelled. */
static void *victim(void *arg)
{
	uintptr_t n = (uintptr_t)arg;
	void (*call)(void) = point[n % POINTS];
	int i, calls = n % POINTS < FREQUENT ? 5000 : 300; /* more than a block holds */

	for (i = 0; n >= POINTS && i < calls; i++) {
		if (i == 0) {
			call();
			pthread_cancel(pthread_self());
		}
		call();
	}
	for (;;) {
		pthread_testcancel();
		call();
	}
	return NULL;
}

static void nap(unsigned ns)
{
	struct timespec t = { 0, (long)ns };

	nanosleep(&t, NULL);
}

static long cancel(int n)
{
	unsigned seed = 1;
	long done = 0;
	pthread_t t;
	int i;

	for (i = 0; i < n; i++) {
		if (pthread_create(&t, NULL, victim, (void *)(uintptr_t)(i % (2 * POINTS))) != 0) {
			continue;
		}
		if (i % (2 * POINTS) < POINTS) {
			nap((unsigned)rand_r(&seed) % 200000);
			pthread_cancel(t);
		}
		pthread_join(t, NULL);
		point[i % POINTS]();
		done++;
	}
	return done;
}

static volatile sig_atomic_t came;

static void handler(int sig)
{
	(void)sig;
	came++;
	call_begin();
	call_count();
	if (came % 16 == 0) {
		point[came / 16 % IN_HANDLERS]();
	}
}

static long signals(int seconds)
{
	struct sigaction a = { .sa_handler = handler, .sa_flags = SA_RESTART };
	struct itimerval every = { { 0, 100 }, { 0, 100 } };
	time_t start = time(NULL);
	unsigned i;

	sigaction(SIGALRM, &a, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	for (i = 0; time(NULL) - start < seconds; i++) {
		point[i % POINTS]();
	}
	memset(&every, 0, sizeof(every));
	setitimer(ITIMER_REAL, &every, NULL);
	return came;
}

/* ---- the first and the last call ---- */

static void *begin_and_end(void *unused)
{
	VT_initialize(NULL, NULL);
	VT_finalize();
	return unused;
}

/* One thread makes both calls, and is cancelled or interrupted after so long. */
static void child(int is_cancelled, unsigned ns)
{
	struct sigaction a = { .sa_handler = handler, .sa_flags = SA_RESTART };
	struct itimerval every = { { 0, 100 }, { 0, 100 } };
	pthread_t t;

	if (!is_cancelled) {
		sigaction(SIGALRM, &a, NULL);
		setitimer(ITIMER_REAL, &every, NULL);
		begin_and_end(NULL);
		_exit(0);
	}
	if (pthread_create(&t, NULL, begin_and_end, NULL) == 0) {
		nap(ns);
		pthread_cancel(t);
		pthread_join(t, NULL);
	}
	VT_finalize();
	_exit(0);
}

/* Counts the children that come to an end, within a minute. */
static long ends(int n)
{
	unsigned seed = 1, ns;
	int i, tries, status;
	long done = 0;
	pid_t pid;

	for (i = 0; i < n; i++) {
		ns = (unsigned)rand_r(&seed) % 20000000;
		pid = fork();
		if (pid == 0) {
			child(i % 4 > 0, ns);
		}
		for (tries = 0; tries < 60000 && waitpid(pid, &status, WNOHANG) == 0; tries++) {
			nap(1000000);
		}
		if (tries == 60000) {
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
		}
		done += WIFEXITED(status) && WEXITSTATUS(status) == 0;
	}
	return done;
}

int main(int argc, char **argv)
{
	uint64_t bounds[2] = { 0, UINT64_MAX };
	long done;

	if (argc == 3 && strcmp(argv[1], "ends") == 0) {
		printf("done %ld\n", ends(atoi(argv[2])));
		return 0;
	}
	if (argc != 3 || VT_initialize(&argc, &argv) != VT_OK) {
		return 2;
	}
	VT_funcdef("work", VT_NOCLASS, &function);
	VT_scldef("points.c", 1, &location);
	VT_countdef("n", VT_NOCLASS, VT_COUNT_INTEGER64 | VT_COUNT_ABSVAL | VT_COUNT_VALID_SAMPLE, VT_ME, bounds, "x",
		&counter);
	done = strcmp(argv[1], "cancel") == 0 ? cancel(atoi(argv[2])) : signals(atoi(argv[2]));
	VT_finalize();
	printf("done %ld\n", done);
	return 0;
}

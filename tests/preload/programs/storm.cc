// SPDX-License-Identifier: BSD-3-Clause
// What a program may do with its processes, threads and stacks, for storm.sh; compiled with -finstrument-functions. Prints how
// often leaf() was called by this process, and how often by its handlers.
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <stdexcept>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#define PLAIN __attribute__((no_instrument_function))
static long leaves, handled;
static volatile int over;
static int dev_null;
extern "C" {
void leaf() { __atomic_add_fetch(&leaves, 1, __ATOMIC_RELAXED); }
void handler_leaf() { __atomic_add_fetch(&handled, 1, __ATOMIC_RELAXED); }
void on_signal(int) { handler_leaf(); }
void filler() { __asm__ volatile(""); }
}

// ---- children: what they call is not a call of this process ----
PLAIN static int child(void *end)
{
	for (int i = 0; i < 100; i++) { handler_leaf(); if (write(dev_null, "x", 1) != 1) _exit(3); }
	if (end) { execl("/nonexistent", "x", (char *)NULL); _exit(7); }
	return 7;
}
PLAIN static void ended(const char *how, pid_t pid)
{
	int s = 0;
	if (pid <= 0 || waitpid(pid, &s, 0) != pid || !WIFEXITED(s) || WEXITSTATUS(s) != 7) { printf("%s: child ended with %x\n", how, s); exit(1); }
	leaf();
}
PLAIN static void children()
{
	static char stack[1 << 16] __attribute__((aligned(64)));
	struct clone_args a;
	long was = handled;
	pid_t pid;
	if ((pid = fork()) == 0) _exit(child(NULL));
	ended("fork", pid);
	if ((pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)) == 0) _exit(child(NULL));
	ended("SYS_clone", pid);
	memset(&a, 0, sizeof a); a.exit_signal = SIGCHLD;
	if ((pid = (pid_t)syscall(SYS_clone3, &a, sizeof a)) == 0) exit(child(NULL));
	ended("clone3", pid);
	if ((pid = vfork()) == 0) child(&a);
	ended("vfork", pid);
	ended("clone", clone(child, stack + sizeof stack, SIGCHLD, NULL));
	ended("CLONE_VFORK", clone(child, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, &a));
	ended("CLONE_VM", clone(child, stack + sizeof stack, CLONE_VM | SIGCHLD, &a));
	handled = was;
}

// ---- functions that end by exceptions and jumps, also of a handler on a signal stack, stacks that are switched, cancellation ----
struct own { ucontext_t here, there; jmp_buf point; sigjmp_buf signal_point; };
static thread_local own *mine;
extern "C" {
void throws() { leaf(); throw 1; }
void jumps() { leaf(); longjmp(mine->point, 1); }
void swaps() { leaf(); swapcontext(&mine->there, &mine->here); leaf(); }
void on_other_stack() { leaf(); siglongjmp(mine->signal_point, 1); }
}
PLAIN static void coroutine() { for (;;) swaps(); }
PLAIN static void on_usr2(int) { on_other_stack(); }
PLAIN static void leave_functions()
{
	char *stacks = (char *)malloc(2 << 16);
	own *o = mine = (own *)malloc(sizeof *o);
	stack_t s, was;
	memset(&s, 0, sizeof s); s.ss_sp = stacks; s.ss_size = 1 << 16;
	sigaltstack(&s, &was);
	getcontext(&o->there);
	o->there.uc_stack.ss_sp = stacks + (1 << 16); o->there.uc_stack.ss_size = 1 << 16; o->there.uc_link = NULL;
	makecontext(&o->there, coroutine, 0);
	for (volatile int i = 0; i < 5; i = i + 1) {
		try { throws(); } catch (int) { leaf(); }
		if (setjmp(o->point) == 0) jumps();
		swapcontext(&o->here, &o->there);
		if (sigsetjmp(o->signal_point, 1) == 0) pthread_kill(pthread_self(), SIGUSR2);
	}
	sigaltstack(&was, NULL);
	free(o); free(stacks);
}
PLAIN static void *cancelled(void *)
{
	for (int i = 0;; i++) { if (i < 20) leaf(); else sched_yield(); pthread_testcancel(); }
	return NULL;
}
PLAIN static void cancel()
{
	pthread_t t[8];
	for (int i = 0; i < 8; i++) pthread_create(&t[i], NULL, cancelled, NULL);
	for (int i = 0; i < 8; i++) { pthread_cancel(t[i]); pthread_join(t[i], NULL); }
}

// ---- threads that begin in a handler which interrupted malloc(), end under a storm of signals, and call late destructors ----
static volatile pid_t tid[8];
static pthread_key_t late;
static long rounds = 3; /* of destructors, in which a thread still calls */
PLAIN static void destroyed(void *round)
{
	leaf();
	if ((long)round < rounds) pthread_setspecific(late, (void *)((long)round + 1));
}
PLAIN static void *killer(void *)
{
	sigset_t s;
	sigfillset(&s); pthread_sigmask(SIG_BLOCK, &s, NULL);
	while (!over) for (int i = 0; i < 8; i++) if (tid[i]) syscall(SYS_tgkill, getpid(), tid[i], SIGUSR1);
	return NULL;
}
PLAIN static void *thread(void *n)
{
	void *p[20];
	pthread_setspecific(late, (void *)1);
	tid[(long)n] = (pid_t)syscall(SYS_gettid);
	for (int k = 0; k < 20; k++) {
		for (int i = 0; i < 20; i++) p[i] = malloc(2000 + 100 * (size_t)i);
		for (int i = 0; i < 20; i++) free(p[i]);
		if (k > 10) leaf();
	}
	leave_functions();
	return NULL;
}
PLAIN static void threads()
{
	pthread_t k, t[8];
	struct sigaction a;
	memset(&a, 0, sizeof a); a.sa_handler = on_signal; a.sa_flags = SA_RESTART;
	sigaction(SIGUSR1, &a, NULL);
	a.sa_handler = on_usr2; a.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR2, &a, NULL);
	pthread_key_create(&late, destroyed);
	pthread_create(&k, NULL, killer, NULL);
	for (int n = 0; n < 25; n++) {
		for (long i = 0; i < 8; i++) pthread_create(&t[i], NULL, thread, (void *)i);
		for (int i = 0; i < 8; i++) { pthread_join(t[i], NULL); tid[i] = 0; }
		if (n % 5 == 0) cancel();
	}
	over = 1;
	pthread_join(k, NULL);
}

// ---- jumps out of a handler, and cancellation, at any place of what records a call ----
static sigjmp_buf before_alarm;
static volatile int alarms;
extern "C" { void on_alarm(int) { if (++alarms <= 200) siglongjmp(before_alarm, 1); } }
PLAIN static void *cancelled_anywhere(void *)
{
	int was;
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &was);
	for (;;) filler();
	return NULL;
}
PLAIN static void interrupted()
{
	char *stack = (char *)malloc(1 << 16);
	struct itimerval often = { { 0, 700 }, { 0, 700 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction a;
	stack_t s;
	memset(&s, 0, sizeof s); s.ss_sp = stack; s.ss_size = 1 << 16;
	sigaltstack(&s, NULL);
	memset(&a, 0, sizeof a); a.sa_handler = on_alarm; a.sa_flags = SA_ONSTACK;
	sigaction(SIGALRM, &a, NULL);
	if (sigsetjmp(before_alarm, 1) == 0) setitimer(ITIMER_REAL, &often, NULL);
	while (alarms < 200) leaf();
	setitimer(ITIMER_REAL, &never, NULL);
	for (int i = 0; i < 20; i++) {
		pthread_t t;
		pthread_create(&t, NULL, cancelled_anywhere, NULL);
		usleep(300);
		pthread_cancel(t); pthread_join(t, NULL);
	}
	for (int i = 0; i < 1000; i++) leaf();
}

// ---- more events than FLUSH-LIMIT has room for ----
PLAIN static void many() { for (int i = 0; i < 200000; i++) filler(); }

PLAIN int main(int argc, char **argv)
{
	dev_null = open("/dev/null", O_WRONLY);
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "children")) children();
		if (!strcmp(argv[i], "threads")) threads();
		if (!strcmp(argv[i], "many")) many();
		if (!strcmp(argv[i], "interrupted")) interrupted();
		if (!strcmp(argv[i], "two_rounds")) rounds = 2;
	}
	printf("%ld %ld\n", leaves, handled);
	return 0;
}

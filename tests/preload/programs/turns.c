/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that do what a preloaded library must survive: turns NAME. Output and exit status are the same every time. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static void nap(int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&t, &t) < 0 && errno == EINTR) {
	}
}

static int wait_for(pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static int count_fds(void)
{
	int fd, n = 0;

	for (fd = 0; fd < 2048; fd++) {
		n += fcntl(fd, F_GETFD) >= 0;
	}
	return n;
}

/* ---- children ---- */

static int do_fork(void)
{
	int i, sum = 0;

	for (i = 0; i < 20; i++) {
		pid_t p = fork();

		if (p == 0) {
			free(malloc(1000));
			exit(i);
		}
		sum += wait_for(p);
	}
	printf("children: %d\n", sum);
	return 3;
}

static int do_vfork(void)
{
	char sh[] = "/bin/sh", c[] = "-c", what[] = "echo from the child; exit 5", *argv[] = { sh, c, what, NULL };
	pid_t p;

	fflush(stdout);
	p = vfork();
	if (p == 0) {
		execv(argv[0], argv);
		_exit(127);
	}
	printf("vfork and exec: %d\n", wait_for(p));
	p = vfork();
	if (p == 0) {
		execl("/no/such/program", "x", (char *)NULL);
		_exit(127);
	}
	printf("vfork and no exec: %d\n", wait_for(p));
	return 0;
}

static int do_system(void)
{
	FILE *f;
	char line[100] = "";

	printf("system: %d\n", WEXITSTATUS(system("exit 7")));
	f = popen("echo piped", "r");
	if (f && fgets(line, sizeof(line), f)) {
		printf("popen: %s", line);
	}
	return f ? pclose(f) : 1;
}

static int do_spawn(void)
{
	char sh[] = "sh", c[] = "-c", what[] = "exit 9", *argv[] = { sh, c, what, NULL };
	pid_t p = 0;
	int rc = posix_spawnp(&p, "sh", NULL, NULL, argv, environ);

	printf("spawn: %d %d\n", rc, wait_for(p));
	return 0;
}

/* Children see the environment as it was. */
static int do_environment(void)
{
	char **e;

	for (e = environ; *e; e++) {
		if (!strncmp(*e, "LD_PRELOAD", 10) || !strncmp(*e, "TICKMARK", 8) || !strncmp(*e, "VT_", 3)) {
			printf("own: %s\n", *e);
		}
	}
	fflush(stdout);
	return system("env | grep -E '^(LD_PRELOAD|TICKMARK|VT_)'; true");
}

static int do_exec(void)
{
	nap(150);
	execlp("sh", "sh", "-c", "echo replaced; sleep 0.2; exit 11", (char *)NULL);
	return 1;
}

/* The program that STATIC names has no place for a library. */
static int do_exec_static(void)
{
	const char *name = getenv("STATIC");

	nap(150);
	return name ? execlp(name, name, "nothing", (char *)NULL) : 1;
}

static int do_exec_fails(void)
{
	char x[] = "x", a[] = "A=1", *argv[] = { x, NULL }, *env[] = { a, NULL };

	printf("%d ", execve("/no/such/file", argv, env));
	printf("%d ", execle("/no/such/file", "x", (char *)NULL, env));
	printf("%d ", execvp("no-such-program-anywhere", argv));
	printf("%d\n", execl("/no/such/file", "x", "y", (char *)NULL));
	nap(150);
	return 4;
}

/* ---- threads ---- */

static void *sleeper(void *ms)
{
	nap((int)(intptr_t)ms);
	return NULL;
}

static pthread_t early;

__attribute__((constructor)) static void before_main(void)
{
	if (getenv("EARLY_THREAD")) {
		pthread_create(&early, NULL, sleeper, (void *)(intptr_t)1000);
	}
}

static int do_early(void)
{
	pthread_join(early, NULL);
	printf("a thread from before main\n");
	return 0;
}

static void *forever(void *unused)
{
	do {
		free(malloc(100));
	} while (!unused);
	return unused;
}

static int do_late(void)
{
	pthread_t t;

	pthread_create(&t, NULL, forever, NULL);
	nap(200);
	printf("a thread that outlives main\n");
	return 6;
}

static void *exits(void *unused)
{
	nap(150);
	printf("exit in a thread\n");
	exit(8);
	return unused;
}

static int do_thread_exit(void)
{
	pthread_t t;

	pthread_create(&t, NULL, exits, NULL);
	pthread_join(t, NULL);
	return 1;
}

/* main ends by pthread_exit: the process lives on without its first thread. */
static int do_main_gone(void)
{
	pthread_t t;

	pthread_create(&t, NULL, exits, NULL);
	pthread_exit(NULL);
}

static int do_many_threads(void)
{
	pthread_t t[64];
	int i, k;

	for (k = 0; k < 5; k++) {
		for (i = 0; i < 64; i++) {
			if (pthread_create(&t[i], NULL, sleeper, (void *)(intptr_t)(i % 7 * 10))) {
				return 1;
			}
		}
		for (i = 0; i < 64; i++) {
			pthread_join(t[i], NULL);
		}
	}
	printf("320 threads\n");
	return 0;
}

/* ---- signals ---- */

static volatile sig_atomic_t ticks;

static void on_tick(int sig)
{
	(void)sig;
	ticks++;
	if (syscall(SYS_gettid) != getpid()) {
		_exit(99); /* no other thread of the program is there, so this is not ours */
	}
}

static int do_signals(void)
{
	struct sigaction sa = { .sa_handler = on_tick };
	timer_t timer;
	struct sigevent ev = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	struct itimerspec it = { { 0, 1000000 }, { 0, 1000000 } };

	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGALRM, &sa, NULL);
	timer_create(CLOCK_MONOTONIC, &ev, &timer);
	timer_settime(timer, 0, &it, NULL);
	while (ticks < 300) {
		kill(getpid(), SIGALRM);
		nap(1);
	}
	printf("signals arrived in the right thread\n");
	return 0;
}

static void on_term(int sig)
{
	(void)sig;
	exit(12);
}

/* exit() in a handler that interrupted malloc: not allowed, and done. */
static int do_handler_exit(void)
{
	struct sigaction sa = { .sa_handler = on_term };
	struct itimerspec it = { { 0, 0 }, { 0, 150000000 } };
	struct sigevent ev = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGTERM };
	timer_t timer;

	sigaction(SIGTERM, &sa, NULL);
	timer_create(CLOCK_MONOTONIC, &ev, &timer);
	timer_settime(timer, 0, &it, NULL);
	while (ticks == 0) {
		free(malloc((size_t)rand() % 100000));
	}
	return 1;
}

static int do_mask(void)
{
	sigset_t set;
	int i, n = 0;

	pthread_sigmask(SIG_SETMASK, NULL, &set);
	for (i = 1; i < 32; i++) {
		n += sigismember(&set, i);
	}
	printf("%d signals blocked in main\n", n);
	return 0;
}

/* ---- files ---- */

/* Closes all, and then opens files under the numbers that are free. */
static int do_close_all(void)
{
	int fd, i, n[5];
	char name[32];

	nap(150);
	for (fd = 3; fd < 1024; fd++) {
		close(fd);
	}
	for (i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "own%d", i);
		n[i] = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
		if (write(n[i], "abc", 3) != 3) {
			return 1;
		}
	}
	nap(350);
	for (i = 0; i < 5; i++) {
		struct stat st;

		fstat(n[i], &st);
		printf("%d:%ld ", n[i], (long)st.st_size);
		snprintf(name, sizeof(name), "own%d", i);
		unlink(name);
	}
	printf("\n");
	return 0;
}

static int do_descriptors(void)
{
	nap(150);
	printf("next descriptor %d, %d open\n", open("/dev/null", O_RDONLY), count_fds());
	return 0;
}

/* A pipe that the program closes must be closed: its reader sees the end. */
static int do_pipe(void)
{
	int p[2];
	char c;
	pid_t child;

	if (pipe(p) < 0) {
		return 1;
	}
	nap(150);
	child = fork();
	if (child == 0) {
		close(p[1]);
		_exit(read(p[0], &c, 1) == 0 ? 0 : 1);
	}
	close(p[0]);
	close(p[1]);
	printf("end of the pipe: %d\n", wait_for(child));
	return 0;
}

static int do_chdir(void)
{
	mkdir("elsewhere", 0700);
	if (chdir("elsewhere") < 0) {
		return 1;
	}
	nap(250);
	printf("elsewhere\n");
	if (chdir("..") == 0) {
		rmdir("elsewhere");
	}
	return chdir("/");
}

static int do_daemon(void)
{
	pid_t p = fork();

	if (p == 0) {
		setsid();
		close(0);
		close(1);
		close(2);
		nap(100);
		_exit(0);
	}
	printf("daemon %d\n", wait_for(p));
	return 0;
}

static int do_dlopen(void)
{
	int i;
	void *h, *own = dlopen("libVTcs.so.0", RTLD_NOW | RTLD_NOLOAD);

	for (i = 0; i < 20; i++) {
		h = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
		if (!h || dlclose(h)) {
			return 1;
		}
	}
	if (own) {
		dlclose(own);
		dlclose(own);
	}
	nap(150);
	printf("dlopen and dlclose\n");
	return 0;
}

static int do_limits(void)
{
	struct rlimit r = { 16, 16 };

	setrlimit(RLIMIT_NOFILE, &r);
	r.rlim_cur = r.rlim_max = 0;
	setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 1 << 30, 1 << 30 });
	nap(250);
	printf("few descriptors\n");
	return 0;
}

static int do_abort(void)
{
	signal(SIGABRT, SIG_DFL);
	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
	nap(150);
	abort();
}

static int do_uexit(void)
{
	printf("by _exit\n");
	fflush(stdout);
	nap(150);
	_exit(13);
}

static int do_quick(void)
{
	printf("by quick_exit\n");
	fflush(stdout);
	nap(150);
	quick_exit(14);
}

static int do_nothing(void)
{
	nap(250);
	printf("nothing\n");
	return 0;
}

/* Closes its standard streams as coreutils do. */
static void close_streams(void)
{
	fclose(stdout);
	fclose(stderr);
}

static int do_closed_streams(void)
{
	atexit(close_streams);
	nap(250);
	printf("closed\n");
	return 0;
}

/* ---- last values ---- */

static long long steps;

static void *counts(void *n)
{
	struct timespec t = { 0, 50000 };
	long i;

	for (i = 0; i < (intptr_t)n; i++) {
		steps++;
		nanosleep(&t, NULL);
	}
	return NULL;
}

/* 1000 steps of a software-defined event; STEPS_END says how it ends. */
static int do_steps(void)
{
	void *sde = dlopen("libsde.so.1", RTLD_NOW | RTLD_GLOBAL), *(*init)(const char *) = NULL;
	int (*add)(void *, const char *, int, int, void *) = NULL;
	const char *end = getenv("STEPS_END");
	pthread_t t;

	if (sde) {
		*(void **)&init = dlsym(sde, "papi_sde_init");
		*(void **)&add = dlsym(sde, "papi_sde_register_counter");
	}
	if (!init || !add || !end) {
		return 77;
	}
	add(init("turns"), "steps", 0, 0, &steps);
	if (!strcmp(end, "thread")) {
		pthread_create(&t, NULL, counts, (void *)1000);
		pthread_join(t, NULL);
	} else {
		counts((void *)1000);
	}
	printf("%lld\n", steps);
	fflush(stdout);
	if (!strcmp(end, "exit")) {
		exit(0);
	}
	if (!strcmp(end, "_exit")) {
		_exit(0);
	}
	if (!strcmp(end, "quick_exit")) {
		quick_exit(0);
	}
	return 0;
}

enum { PAGES = 1000 };

static int told[2];

/* Touches pages, says so, and lives on. */
static void *touches(void *pages)
{
	long i, size = sysconf(_SC_PAGESIZE);

	nap(1000); /* until the sampler has seen this thread, on a busy machine too */
	for (i = 0; i < PAGES; i++) {
		((volatile char *)pages)[i * size] = 1;
	}
	if (write(told[1], "x", 1) == 1) {
		nap(100000);
	}
	return NULL;
}

/* The last thing before the end is what a thread does that outlives it. */
static int do_last_faults(void)
{
	size_t size = PAGES * (size_t)sysconf(_SC_PAGESIZE);
	void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t t;
	char c;

	/* whole pages of the kernel would be one fault */
	if (pages == MAP_FAILED || madvise(pages, size, MADV_NOHUGEPAGE) < 0 || pipe(told) < 0 ||
		pthread_create(&t, NULL, touches, pages)) {
		return 1;
	}
	return read(told[0], &c, 1) == 1 ? 0 : 1;
}

/* ---- malloc of its own ---- */

#ifdef OWN_MALLOC
static char heap[1 << 26];
static size_t used;
static int busy;
static long calls;

void *malloc(size_t n)
{
	void *p;

	while (__atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE)) {
	}
	calls++;
	n = (n + 31) & ~(size_t)15;
	p = used + n > sizeof(heap) ? NULL : heap + used + 16;
	if (p) {
		*(size_t *)(void *)(heap + used) = n - 16;
		used += n;
	}
	__atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
	return p;
}

void free(void *p)
{
	/* whoever frees what is not from here would be found out */
	if (p && ((char *)p < heap || (char *)p >= heap + sizeof(heap))) {
		abort();
	}
}

void *calloc(size_t a, size_t b)
{
	void *p = malloc(a * b);

	return p ? memset(p, 0, a * b) : NULL;
}

void *realloc(void *p, size_t n)
{
	void *q = malloc(n);

	if (p && q) {
		size_t had = *(size_t *)(void *)((char *)p - 16);

		memcpy(q, p, had < n ? had : n);
	}
	return q;
}

static int do_malloc(void)
{
	free(malloc(100));
	nap(250);
	printf("own malloc\n");
	return 0;
}
#endif

static const struct {
	const char *name;
	int (*fn)(void);
	/* clang-format off */
} turns[] = {
	{ "fork", do_fork }, { "vfork", do_vfork }, { "system", do_system }, { "spawn", do_spawn },
	{ "environment", do_environment }, { "exec", do_exec }, { "exec-fails", do_exec_fails }, { "exec-static", do_exec_static }, { "early", do_early },
	{ "late", do_late }, { "thread-exit", do_thread_exit }, { "main-gone", do_main_gone },
	{ "many-threads", do_many_threads }, { "signals", do_signals }, { "handler-exit", do_handler_exit }, { "mask", do_mask },
	{ "close-all", do_close_all }, { "descriptors", do_descriptors }, { "pipe", do_pipe }, { "chdir", do_chdir },
	{ "daemon", do_daemon }, { "dlopen", do_dlopen }, { "limits", do_limits }, { "abort", do_abort }, { "_exit", do_uexit },
	{ "quick", do_quick }, { "steps", do_steps }, { "last-faults", do_last_faults }, { "nothing", do_nothing }, { "closed-streams", do_closed_streams },
#ifdef OWN_MALLOC
	{ "malloc", do_malloc },
#endif
};
/* clang-format on */

int main(int argc, char **argv)
{
	size_t i;

	for (i = 0; argc > 1 && i < sizeof(turns) / sizeof(turns[0]); i++) {
		if (!strcmp(argv[1], turns[i].name)) {
			return turns[i].fn();
		}
	}
	fprintf(stderr, "usage: turns NAME\n");
	return 2;
}

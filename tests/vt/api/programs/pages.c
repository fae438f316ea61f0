/* SPDX-License-Identifier: BSD-3-Clause */
/* pages THREADS ROUNDS PAGES [close | fork | wait]: each thread touches PAGES fresh pages, ROUNDS times, with a state change after each (MPI: an
 * MPI call, which is two). What is true then is recorded beside it: its number as Pages:go, and the process's own count of faults,
 * before it; Pages:low and Pages:high, between which the pages of all threads are that were touched when the state change was
 * made, and again the faults after it. The first thread has one before and one after all this. The count is a
 * software-defined event as well. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <VT.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif

enum { MOST = 64 };

static _Atomic long long begun, done;
static long long shown; /* as `done`, where libsde reads it */
static int state, go[2], truth[3], rounds, pages;
static long page;
static pid_t child = -1;
static pthread_barrier_t all;

static int64_t faults(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_minflt + u.ru_majflt;
}

static void event(int64_t number)
{
	int64_t v[3] = { number, faults() };

	VT_countval(2, go, v);
	v[0] = done;
#ifdef WITH_MPI
	{
		int rank;

		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	}
#else
	VT_enter(state, VT_NOSCL);
#endif
	v[1] = begun;
	v[2] = faults();
	VT_countval(3, truth, v);
}

/* A child's pages are its own, whoever closes all descriptors that are not his goes on as before, and one waits to be killed. */
static void disturb(const char *how)
{
	int fd;

	if (how && !strcmp(how, "close")) {
		for (fd = 3; fd < 4096; fd++) {
			close(fd);
		}
	}
	if (how && !strcmp(how, "wait")) {
		pause();
	}
	if (how && !strcmp(how, "fork")) {
		child = fork();
		if (child == 0) {
			size_t i, size = 1000 * (size_t)page;
			volatile char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

			for (i = 0; p != MAP_FAILED && i < size; i += (size_t)page) {
				p[i] = 1;
			}
			/* nor is what it calls recorded */
			for (i = 0; i < 2000; i++) {
				event(-1);
			}
			_exit(0);
		}
	}
}

static void *work(void *arg)
{
	volatile char *p = arg;
	int i, k;

	for (i = 0; i < rounds; i++) {
		begun += pages;
		for (k = 0; k < pages; k++) {
			*p = 1;
			p += page;
		}
		/* never less than `done` */
		__atomic_fetch_add(&shown, pages, __ATOMIC_SEQ_CST);
		done += pages;
		event(i + 1);
	}
	/* a number is given out again when its thread ends */
	pthread_barrier_wait(&all);
	return NULL;
}

/* "sde:::pages::touched", without linking libsde: it is there when PAPI's component is. */
static void show(void)
{
	void *lib = dlopen("libsde.so.1", RTLD_NOW | RTLD_GLOBAL);
	void *(*init)(const char *);
	int (*reg)(void *, const char *, int, int, void *);

	if (lib) {
		*(void **)&init = dlsym(lib, "papi_sde_init");
		*(void **)&reg = dlsym(lib, "papi_sde_register_counter");
		if (init && reg) {
			reg(init("pages"), "touched", 0 /* read only */, 0 /* long long */, &shown);
		}
	}
}

int main(int argc, char **argv)
{
	int threads = argc > 3 ? atoi(argv[1]) : 0, i, cls;
	static const char *const name[3] = { "low", "high", "faults" };
	pthread_t thread[MOST];
	void *room[MOST];
	size_t size;

	if (threads < 1 || threads > MOST) {
		return 2;
	}
	rounds = atoi(argv[2]);
	pages = atoi(argv[3]);
	show();
#ifdef WITH_MPI
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &i);
#else
	VT_initialize(&argc, &argv);
#endif
	VT_classdef("Pages", &cls);
	VT_funcdef("touch", cls, &state);
	VT_countdef("go", cls, VT_COUNT_INTEGER64 | VT_COUNT_VALID_SAMPLE, VT_ME, NULL, "#", &go[0]);
	VT_countdef("before", cls, VT_COUNT_INTEGER64 | VT_COUNT_VALID_SAMPLE, VT_ME, NULL, "#", &go[1]);
	for (i = 0; i < 3; i++) {
		VT_countdef(name[i], cls, VT_COUNT_INTEGER64 | VT_COUNT_VALID_SAMPLE, VT_ME, NULL, "#", &truth[i]);
	}
	page = sysconf(_SC_PAGESIZE);
	size = (size_t)rounds * (size_t)pages * (size_t)page;
	for (i = 0; i < threads; i++) {
		room[i] = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (room[i] == MAP_FAILED || madvise(room[i], size, MADV_NOHUGEPAGE) != 0) {
			return 3;
		}
	}
	pthread_barrier_init(&all, NULL, (unsigned)threads);
	event(0);
	disturb(argv[4]);
	for (i = 1; i < threads; i++) {
		pthread_create(&thread[i], NULL, work, room[i]);
	}
	work(room[0]);
	for (i = 1; i < threads; i++) {
		pthread_join(thread[i], NULL);
	}
	if (child > 0) {
		waitpid(child, NULL, 0);
	}
	event(rounds + 1);
#ifdef WITH_MPI
	MPI_Finalize();
#else
	VT_finalize();
#endif
	return 0;
}

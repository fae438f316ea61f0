/* SPDX-License-Identifier: BSD-3-Clause */
/* Two threads touch 3000 and 5000 fresh pages, and only the sampler sees them. A third one comes, touches 100 and calls VT_:
 * it gets number 1. Then the first one calls, too, and chooses 7; the second never does. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <VT.h>

static pthread_barrier_t touched, called;

static int touch(int n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (size_t)n * page, i;
	volatile char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || madvise((void *)(uintptr_t)p, size, MADV_NOHUGEPAGE) != 0) {
		return -1;
	}
	for (i = 0; i < size; i += page) {
		p[i] = 1;
	}
	return 0;
}

/* Until the sampler process has waited n times more, and has seen what was there before; a minute at most. */
static void sampled(int n)
{
	long pid = 0, times = 0, first = -1;
	char line[200];
	FILE *f;
	int i;

	for (i = 0; i < 6000 && (first < 0 || times < first + n); i++) {
		f = fopen("t.prot", "r");
		while (f && !pid && fgets(line, sizeof(line), f)) {
			sscanf(line, "INFO SAMPLED by process %ld", &pid);
		}
		if (f) {
			fclose(f);
		}
		snprintf(line, sizeof(line), "/proc/%ld/status", pid);
		f = pid ? fopen(line, "r") : NULL;
		while (f && fgets(line, sizeof(line), f)) {
			if (sscanf(line, "voluntary_ctxt_switches: %ld", &times) == 1 && first < 0) {
				first = times;
			}
		}
		if (f) {
			fclose(f);
		}
		usleep(10000);
	}
}

static void *silent(void *arg)
{
	int n = (int)(intptr_t)arg;

	if (touch(n) != 0) {
		return NULL;
	}
	pthread_barrier_wait(&touched);
	pthread_barrier_wait(&called);
	if (n == 3000) {
		VT_registerthread(7);
		VT_enter(1, VT_NOSCL);
	}
	sampled(10);
	return NULL;
}

static void *caller(void *arg)
{
	(void)arg;
	touch(100);
	VT_enter(1, VT_NOSCL);
	VT_leave(VT_NOSCL);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[3];

	VT_initialize(&argc, &argv);
	VT_symdef(1, "state", "Application");
	pthread_barrier_init(&touched, NULL, 3);
	pthread_barrier_init(&called, NULL, 3);
	pthread_create(&t[0], NULL, silent, (void *)3000);
	pthread_create(&t[1], NULL, silent, (void *)5000);
	pthread_barrier_wait(&touched);
	sampled(20);
	pthread_create(&t[2], NULL, caller, NULL);
	pthread_join(t[2], NULL);
	pthread_barrier_wait(&called);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	VT_finalize();
	return 0;
}

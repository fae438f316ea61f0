/* SPDX-License-Identifier: BSD-3-Clause */
/* The preloaded library's own memory: blocks do not overlap, threads may take and free at once, and a child that was forked while another
 * thread held the lock has memory, too. */
#include "config.h"
#include "collector-plugin/host/alloc.c"

#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/check.h"

enum { BLOCKS = 400 };

/* In place of what the linker makes of --wrap. */
static void *foreign;
static _Atomic int freed; /* of all threads */
static size_t grown;

void __real_free(void *p)
{
	freed += p != NULL && p == foreign;
}

void *__real_realloc(void *p, size_t n)
{
	grown = p == foreign ? n : 0;
	return p;
}

static void blocks_keep_their_bytes(void)
{
	static unsigned char *block[BLOCKS];
	static size_t size[BLOCKS];
	size_t n, k;
	int i, j;

	for (i = 0; i < 20 * BLOCKS; i++) {
		j = (int)(check_random() % BLOCKS);
		n = (size_t)1 << check_random() % 16;
		n = n - 1 + check_random() % 3;
		for (k = 0; k < size[j]; k++) {
			CHECK(block[j][k] == (unsigned char)j, "byte %zu of %zu of block %d", k, size[j], j);
		}
		if (check_random() % 2) {
			block[j] = __wrap_realloc(block[j], n);
			for (k = 0; k < size[j] && k < n; k++) {
				CHECK(block[j][k] == (unsigned char)j, "grown from %zu to %zu: byte %zu", size[j], n,
					k);
			}
		} else {
			__wrap_free(block[j]);
			block[j] = __wrap_malloc(n);
		}
		CHECK(block[j] && (uintptr_t)block[j] % 16 == 0, "%zu bytes at %p", n, (void *)block[j]);
		memset(block[j], j, n);
		size[j] = n;
	}
	for (j = 0; j < BLOCKS; j++) {
		__wrap_free(block[j]);
	}
}

static void large_and_impossible_sizes(void)
{
	size_t large = (size_t)40 << 20;
	char *p = __wrap_malloc(large), *q = __wrap_malloc(large);
	unsigned char *zero = __wrap_calloc(1000, 30), there[100];
	size_t i, n = 0;

	CHECK(p && q && (p + large <= q || q + large <= p), "more than the first piece of addresses");
	memset(p, 1, large);
	__wrap_free(p);
	/* its pages went back, and the addresses are given out again */
	CHECK(__wrap_malloc(large) == p && p[large / 2] == 0, "pages of a large block that was freed");
	memset(zero, 7, 30000);
	__wrap_free(zero);
	zero = __wrap_calloc(1000, 30);
	for (i = 0; i < 30000; i++) {
		n += zero[i] != 0;
	}
	CHECK_INT(n, 0);
	/* memory that was never used is 0 already, and its pages are not there yet */
	zero = __wrap_calloc(1, large);
	CHECK(zero && mincore(zero + 4096 - ((uintptr_t)zero & 4095), 4096 * sizeof(there), there) == 0, "mincore");
	for (i = n = 0; i < sizeof(there); i++) {
		n += there[i] & 1;
	}
	CHECK_INT(n, 0);
	CHECK(!__wrap_malloc(SIZE_MAX) && !__wrap_malloc(SIZE_MAX / 2) && !__wrap_calloc(SIZE_MAX / 8, 16), "sizes");
}

static void texts(void)
{
	char *p = __wrap_strdup("a text"), *q = __wrap_strndup("a text", 3), *r = __wrap_strndup("a", 3);

	CHECK_STR(p, "a text");
	CHECK_STR(q, "a t");
	CHECK_STR(r, "a");
}

static void memory_of_libc_goes_back(void)
{
	foreign = malloc(8);
	freed = 0;
	__wrap_free(foreign);
	CHECK_INT(freed, 1);
	CHECK(__wrap_realloc(foreign, 77) == foreign && grown == 77, "realloc");
	__wrap_free(NULL);
	CHECK_INT(freed, 1);
	CHECK(__wrap_realloc(NULL, 10) != NULL, "realloc of NULL");
}

static pthread_barrier_t together;

static void *takes_and_frees(void *p)
{
	unsigned char mine = (unsigned char)(uintptr_t)p, *block[16] = { NULL };
	size_t wrong = 0;
	int i, k;

	pthread_barrier_wait(&together);
	for (i = 0; i < 20000; i++) {
		for (k = 0; k < 24 && block[i % 16]; k++) {
			wrong += block[i % 16][k] != mine;
		}
		__wrap_free(block[i % 16]);
		block[i % 16] = __wrap_malloc(24);
		memset(block[i % 16], mine, 24);
	}
	return (void *)wrong;
}

static void threads_at_once(void)
{
	pthread_t t[4];
	void *wrong;
	uintptr_t i;

	pthread_barrier_init(&together, NULL, 4);
	for (i = 0; i < 4; i++) {
		CHECK(pthread_create(&t[i], NULL, takes_and_frees, (void *)(i + 1)) == 0, "thread");
	}
	for (i = 0; i < 4; i++) {
		pthread_join(t[i], &wrong);
		CHECK(!wrong, "%zu bytes of thread %zu are another's", (size_t)wrong, (size_t)i);
	}
	pthread_barrier_destroy(&together);
}

static void *holds(void *p)
{
	(void)p;
	vt_lock(&lock);
	pthread_barrier_wait(&together); /* forked after this, */
	pthread_barrier_wait(&together); /* and before this */
	vt_unlock(&lock);
	return NULL;
}

/* Each call takes the lock: while another thread holds it, none comes through. */
static void *frees(void *p)
{
	pthread_barrier_wait(&together);
	__wrap_free(p);
	return NULL;
}

static int is_waiting(pthread_t t)
{
	/* what a mutex that is waited for looks like to the one that has it */
	(void)t;
	return lock.mutex.__data.__lock > 1;
}

static void a_child_of_a_fork_has_memory(void)
{
	pthread_t t;
	int status = -1;
	pid_t pid;

	pthread_barrier_init(&together, NULL, 2);
	CHECK(pthread_create(&t, NULL, holds, NULL) == 0, "thread");
	pthread_barrier_wait(&together);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		vt_alloc_forked();
		if (vt_lock_try(&lock) != 0) {
			_exit(1);
		}
		vt_unlock(&lock);
		__wrap_free(__wrap_malloc(100));
		_exit(__wrap_malloc(100) ? 0 : 2);
	}
	pthread_barrier_wait(&together);
	pthread_join(t, NULL);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0, "status %d", status);
	pthread_barrier_destroy(&together);
}

static void freeing_waits_for_the_lock(void)
{
	void *p = __wrap_malloc(100);
	union head *before;
	uint32_t k = size_class_of(100 + sizeof(union head));
	pthread_t t;
	int through = 0;

	pthread_barrier_init(&together, NULL, 2);
	vt_lock(&lock);
	before = free_list[k];
	CHECK(pthread_create(&t, NULL, frees, p) == 0, "thread");
	pthread_barrier_wait(&together);
	while (!is_waiting(t) && !through) {
		through = __atomic_load_n(&free_list[k], __ATOMIC_ACQUIRE) != before;
	}
	CHECK(!through, "memory was freed while another thread held the lock");
	vt_unlock(&lock);
	pthread_join(t, NULL);
	CHECK(free_list[k] != before, "and then it was not freed");
	pthread_barrier_destroy(&together);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(blocks_keep_their_bytes);
	RUN(large_and_impossible_sizes);
	RUN(texts);
	RUN(memory_of_libc_goes_back);
	RUN(threads_at_once);
	RUN(freeing_waits_for_the_lock);
	RUN(a_child_of_a_fork_has_memory);
	return check_end();
}

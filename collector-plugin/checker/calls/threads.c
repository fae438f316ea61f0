/* SPDX-License-Identifier: BSD-3-Clause */
/* Which threads of the program call MPI, and whether they may, by the level that MPI_Init_thread has given. */
#include "config.h"
#include "collector-plugin/checker/checker.h"

#include <dirent.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/rootfs.h"

enum { TASKS = 64 };

static int level = MPI_THREAD_SINGLE;
static pthread_t main_thread;
static int inside;              /* threads that are in a call */
static int task[TASKS], n_task; /* those that there were after MPI_Init; -1: not known */

/* Threads of this process, at most TASKS; -1: more, or unknown. */
static int list_tasks(int *list)
{
	int root = tkm_root_open("/"), fd = root < 0 ? -1 : tkm_root_openat(root, "/proc/self/task");
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	int n = dir ? 0 : -1;

	while (dir && n >= 0 && (entry = readdir(dir))) {
		if (entry->d_name[0] != '.') {
			if (n < TASKS) {
				list[n] = atoi(entry->d_name);
			}
			n = n < TASKS ? n + 1 : -1;
		}
	}
	if (dir) {
		closedir(dir);
	} else if (fd >= 0) {
		close(fd);
	}
	if (root >= 0) {
		close(root);
	}
	return n;
}

void vt_mc_threads_before_init(void)
{
	int list[TASKS];

	n_task = list_tasks(list) == 1 ? 0 : -1;
}

void vt_mc_threads_own(void)
{
	vt_mc_lock();
	if (n_task >= 0 && n_task < TASKS) {
		task[n_task++] = (int)gettid();
	}
	vt_mc_unlock();
}

void vt_mc_threads_begin(void)
{
	main_thread = pthread_self();
	PMPI_Query_thread(&level);
	vt_mc_need_locks(level == MPI_THREAD_MULTIPLE);
	/* with one thread before MPI_Init, the others after it are MPI's own */
	n_task = n_task == 0 ? list_tasks(task) : -1;
}

/* Has a thread begun after MPI_Init? Those before it are known. age_ns: how old the answer may be. With vt_mc_lock(). */
static int has_new_task(int64_t age_ns)
{
	static int64_t asked_ns;
	static int has;
	int list[TASKS], n, i, j, is;

	if (asked_ns && vt_mc_now_ns() - asked_ns < age_ns) {
		return has;
	}
	asked_ns = vt_mc_now_ns();
	n = list_tasks(list);
	is = n < 0 || n_task < 0;
	for (i = 0; i < n && !is; i++) {
		for (j = 0; j < n_task && task[j] != list[i]; j++) {
		}
		is = j == n_task;
	}
	has = is;
	return is;
}

int vt_mc_others_may_call(int between)
{
	return vt_mc_several_threads ||
		((level == MPI_THREAD_MULTIPLE || (between && level == MPI_THREAD_SERIALIZED)) &&
			has_new_task(VT_MC_THREADS_NS));
}

/* Is the thread asleep until another one wakes it? Returns 2 if a thread of another process may do that. */
static int is_woken_by_threads(int id)
{
	unsigned long long at, operation, value, timeout;
	int root = tkm_root_open("/"), number = -1, shared;
	char path[60], text[200] = "";

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", id);
	tkm_root_line(root, path, text, sizeof(text));
	if (root >= 0) {
		close(root);
	}
	if (sscanf(text, "%d %llx %llx %llx %llx", &number, &at, &operation, &value, &timeout) != 5 ||
		number != SYS_futex || timeout) {
		return 0;
	}
	shared = !(operation & FUTEX_PRIVATE_FLAG);
	operation &= FUTEX_CMD_MASK;
	return operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET ? 1 + shared : 0;
}

static int is_known_task(int id)
{
	int i;

	for (i = 0; i < n_task && task[i] != id; i++) {
	}
	return i < n_task && id != (int)getpid();
}

int vt_mc_threads_wait(const struct vt_mc_wait *list, int *others)
{
	const struct vt_mc_wait *w;
	int tasks[TASKS], n = list_tasks(tasks), i, in_list = 0, asleep = n_task >= 0 && n > 0;

	*others = 0;
	for (w = list; w; w = w->next) {
		in_list++;
	}
	asleep &= in_list == __atomic_load_n(&inside, __ATOMIC_RELAXED);
	for (i = 0; i < n && asleep; i++) {
		for (w = list; w && w->task != tasks[i]; w = w->next) {
		}
		if (!w && !is_known_task(tasks[i])) {
			asleep = is_woken_by_threads(tasks[i]);
			*others |= asleep == 2;
		}
	}
	return asleep != 0;
}

/* Calls that any thread may make at any time. */
void vt_mc_threads_learn(struct vt_mc_function *f)
{
	static const char *const begins[] = { "Query_thread", "Is_thread_main", "Get_address", "Get_count",
		"Get_elements", "Get_library_version", "Get_processor_name", "Get_version", "Error_", NULL };
	int i;

	for (i = 0; begins[i] && strncmp(f->text + 4, begins[i], strlen(begins[i])); i++) {
	}
	f->any_thread = begins[i] != NULL;
}

/* Was the calling thread, the main one, ever not alone? No thread begins while it alone is in a call. */
static int has_company(void)
{
	static int has;

	if (!has) {
		vt_mc_lock();
		has = vt_mc_several_threads || has_new_task(0);
		vt_mc_unlock();
	}
	return has;
}

void vt_mc_thread_enters(struct vt_mc_call *k)
{
	int others, is_main = pthread_equal(main_thread, pthread_self());

	if (is_main && level < MPI_THREAD_SERIALIZED) {
		/* the other thread of two is the wrong one */
		return;
	}
	if (k->f->any_thread) {
		/* another thread may be in a call meanwhile, which works on the same tables without the lock, or in MPI, which changes buffers */
		k->mute = !is_main || has_company();
		return;
	}
	k->counted = 1;
	others = __atomic_fetch_add(&inside, 1, __ATOMIC_RELAXED);
	if (is_main && !others) {
		return;
	}
	if (level == MPI_THREAD_MULTIPLE) {
		if (!is_main && !vt_mc_several_threads) {
			vt_mc_several_threads = 1;
			if (vt_mc_shared) {
				vt_mc_shared->unordered = 1;
			}
		}
	} else if (level != MPI_THREAD_SERIALIZED && !is_main) {
		vt_mc_need_locks(1);
		vt_mc_report(VT_MC_THREAD, k, NULL,
			"a thread that has not called MPI_Init calls %s, and the level of threads is %s: ask MPI_Init_thread for "
			"MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE",
			k->f->text, level == MPI_THREAD_FUNNELED ? "MPI_THREAD_FUNNELED" : "MPI_THREAD_SINGLE");
	} else if (others) {
		vt_mc_need_locks(1);
		vt_mc_report(VT_MC_THREAD, k, NULL,
			"another thread is in a call of MPI meanwhile, and the level of threads is not MPI_THREAD_MULTIPLE");
	}
}

void vt_mc_thread_leaves(const struct vt_mc_call *k)
{
	if (k->counted) {
		__atomic_fetch_sub(&inside, 1, __ATOMIC_RELAXED);
	}
}

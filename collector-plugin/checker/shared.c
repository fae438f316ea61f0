/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory that the ranks of a node share: what each waits for, messages that were sent and not received, collective
 * operations that not all members have reached. It has no name any more once all ranks have it. */
#include "config.h"
#include "collector-plugin/checker/checker.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A receive that nothing comes for: MPI makes progress when it is asked about it. MPI_Iprobe would not do under MPICH. */
static MPI_Comm own_comm = MPI_COMM_NULL;
static MPI_Request never = MPI_REQUEST_NULL;

void vt_mc_progress(void)
{
	int flag;

	PMPI_Request_get_status(never, &flag, MPI_STATUS_IGNORE);
}

void vt_mc_progress_end(void)
{
	PMPI_Cancel(&never);
	PMPI_Wait(&never, MPI_STATUS_IGNORE);
	PMPI_Comm_free(&own_comm);
}

static size_t segment_size(int ranks)
{
	return sizeof(struct vt_mc_shared) + (size_t)ranks * sizeof(struct vt_mc_rank);
}

/* Makes the file, with all its room, so that no later access can fail. */
static int make_segment(char *name, size_t size)
{
	static const char *const dirs[] = { "/dev/shm", "/tmp", NULL };
	int i, fd;

	for (i = 0; dirs[i]; i++) {
		snprintf(name, 100, "%s/.VT-check-XXXXXX", dirs[i]);
		fd = mkstemp(name);
		if (fd >= 0 && posix_fallocate(fd, 0, (off_t)size) == 0) {
			close(fd);
			return 0;
		}
		if (fd >= 0) {
			close(fd);
			unlink(name);
		}
	}
	name[0] = '\0';
	return -1;
}

static struct vt_mc_shared *map_segment(const char *name, size_t size)
{
	int fd = open(name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	void *p = fd < 0 ? MAP_FAILED : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (fd >= 0) {
		close(fd);
	}
	return p == MAP_FAILED ? NULL : p;
}

static void fill_segment(struct vt_mc_shared *s, int ranks)
{
	int i;

	s->ranks = ranks;
	for (i = 0; i < VT_MC_MESSAGES; i++) {
		s->message[i].next = i + 2 <= VT_MC_MESSAGES ? i + 2 : 0;
	}
	s->free_message = 1;
	for (i = 0; i < VT_MC_ACCESSES; i++) {
		s->access[i].next = i + 2 <= VT_MC_ACCESSES ? i + 2 : 0;
	}
	s->free_access = 1;
}

/* By all ranks together, at the end of MPI_Init. */
void vt_mc_shared_begin(void)
{
	char name[100] = "";
	int ranks, here, at, good, all;
	MPI_Comm node;
	size_t size;

	PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
	PMPI_Comm_rank(MPI_COMM_WORLD, &vt_mc_rank);
	PMPI_Comm_dup(MPI_COMM_SELF, &own_comm);
	PMPI_Comm_set_errhandler(own_comm, MPI_ERRORS_RETURN);
	PMPI_Irecv(NULL, 0, MPI_BYTE, 0, 0, own_comm, &never);
	size = segment_size(ranks);
	PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, vt_mc_rank, MPI_INFO_NULL, &node);
	PMPI_Comm_size(node, &here);
	PMPI_Comm_rank(node, &at);
	if (at == 0 && ranks <= VT_MC_RANKS) {
		make_segment(name, size);
	}
	PMPI_Bcast(name, sizeof(name), MPI_CHAR, 0, node);
	vt_mc_shared = name[0] ? map_segment(name, size) : NULL;
	if (vt_mc_shared && at == 0) {
		fill_segment(vt_mc_shared, ranks);
		vt_mc_shared->absent = ranks - here;
		vt_mc_shared->oversubscribed = here > sysconf(_SC_NPROCESSORS_ONLN);
	}
	good = vt_mc_shared != NULL;
	PMPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, node);
	if (name[0] && at == 0) {
		unlink(name);
	}
	if (!all && vt_mc_shared) {
		munmap(vt_mc_shared, size);
		vt_mc_shared = NULL;
	}
	if (vt_mc_shared) {
		vt_mc_shared->rank[vt_mc_rank].pid = (int)getpid();
		vt_mc_shared->rank[vt_mc_rank].state = VT_MC_RUNNING;
	}
	if (at == 0 && !all) {
		vt_mc_say(
			"ranks are not compared with each other: there is no room in /dev/shm or /tmp, or"
			"  the job has more than %d ranks; messages, collective operations and deadlocks are not checked",
			VT_MC_RANKS);
	} else if (vt_mc_rank == 0 && here < ranks) {
		vt_mc_say(
			"the job has several nodes: only ranks of one node are compared with each other, and deadlocks "
			"that include ranks of two nodes are not found");
	}
	PMPI_Barrier(node);
	PMPI_Comm_free(&node);
}

void vt_mc_shared_lock(void)
{
	int turns = 0, owner;

	if (vt_mc_holds_lock) {
		return;
	}
	while (__atomic_exchange_n(&vt_mc_shared->lock, 1, __ATOMIC_ACQUIRE)) {
		if (++turns % 50 == 0) {
			sched_yield();
		}
		owner = turns % 10000 == 0 ? vt_mc_shared->owner : 0;
		if (owner && kill(owner, 0) < 0 && errno == ESRCH &&
			__sync_bool_compare_and_swap(&vt_mc_shared->owner, owner, (int)getpid())) {
			/* the holder was killed; the lock is ours now */
			return;
		}
	}
	vt_mc_shared->owner = vt_mc_shared->rank[vt_mc_rank].pid;
}

void vt_mc_shared_unlock(void)
{
	if (vt_mc_holds_lock) {
		return;
	}
	vt_mc_shared->owner = 0;
	__atomic_store_n(&vt_mc_shared->lock, 0, __ATOMIC_RELEASE);
}

void vt_mc_wake(int rank)
{
	struct vt_mc_rank *r = &vt_mc_shared->rank[rank];

	if (r->state == VT_MC_BLOCKED && !r->in_number) {
		r->state = VT_MC_RUNNING;
		r->generation++;
	}
}

/* ---- who can go on ---- */

static int is_gone(const struct vt_mc_rank *r)
{
	return r->state == VT_MC_STOPPED || r->state == VT_MC_ENDED;
}

/* Can the rank go on, if those in `stuck` cannot? */
static int can_go_on(const struct vt_mc_rank *r, const uint64_t *stuck)
{
	uint64_t any = 0;
	int i, open = 0;

	for (i = 0; i < VT_MC_BITS; i++) {
		if (r->all[i] & stuck[i]) {
			return 0;
		}
		any |= r->any[i];
		open |= (r->any[i] & ~stuck[i]) != 0;
	}
	return !any || open;
}

/* With the lock. The ranks that are blocked and stay so; `gone` ones count as stuck. Returns how many. */
int vt_mc_find_stuck(uint64_t *stuck)
{
	const struct vt_mc_shared *s = vt_mc_shared;
	int i, n = 0, changed = 1;

	memset(stuck, 0, VT_MC_BITS * sizeof(stuck[0]));
	for (i = 0; i < s->ranks; i++) {
		if (s->rank[i].state == VT_MC_BLOCKED || is_gone(&s->rank[i])) {
			vt_mc_set_bit(stuck, i);
		}
	}
	while (changed) {
		changed = 0;
		for (i = 0; i < s->ranks; i++) {
			if (vt_mc_has_bit(stuck, i) && s->rank[i].state == VT_MC_BLOCKED &&
				can_go_on(&s->rank[i], stuck)) {
				stuck[i / 64] &= ~((uint64_t)1 << (i % 64));
				changed = 1;
			}
		}
	}
	for (i = 0; i < s->ranks; i++) {
		n += vt_mc_has_bit(stuck, i) && s->rank[i].state == VT_MC_BLOCKED;
	}
	return n;
}

int vt_mc_all_others_stuck(void)
{
	uint64_t stuck[VT_MC_BITS];
	int i, all = 1;

	vt_mc_shared_lock();
	vt_mc_find_stuck(stuck);
	for (i = 0; i < vt_mc_shared->ranks; i++) {
		all &= vt_mc_has_bit(stuck, i) || vt_mc_shared->rank[i].state == VT_MC_ABSENT;
	}
	vt_mc_shared_unlock();
	return all;
}

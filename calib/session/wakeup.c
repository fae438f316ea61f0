/* SPDX-License-Identifier: BSD-3-Clause */
/* A table of wakeup slots in shared memory; see calib/session/wakeup.h. */
#include "config.h"
#include "calib/session/wakeup.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A cache line each, or signals would disturb their neighbours. */
struct slot {
	_Alignas(64) _Atomic uint32_t signalled;
	_Atomic uint32_t asleep, joined;
};

/* What is shared: the ticket's number first, since a pid and a descriptor alone might mean something else where
 * processes are counted differently. */
struct slot_table {
	uint64_t magic[2];
	struct slot slot[];
};

struct cal_wakeup {
	struct slot_table *at;
	size_t size;
	int fd, slots, mine;
};

static size_t wakeup_size(int slots, size_t shared)
{
	return sizeof(struct slot_table) + (size_t)slots * sizeof(struct slot) + shared;
}

static struct cal_wakeup *map(int fd, int slots, int mine, size_t shared)
{
	struct cal_wakeup *b = calloc(1, sizeof(*b));
	void *at = b ? mmap(NULL, wakeup_size(slots, shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;

	if (at == MAP_FAILED) {
		free(b);
		return NULL;
	}
	*b = (struct cal_wakeup){
		.at = at, .size = wakeup_size(slots, shared), .fd = -1, .slots = slots, .mine = mine
	};
	return b;
}

/* A file beyond the program's limit would be the end of it (SIGXFSZ). */
static int fits_file_limit(size_t size)
{
	struct rlimit most;

	return getrlimit(RLIMIT_FSIZE, &most) == 0 && (most.rlim_cur == RLIM_INFINITY || size <= most.rlim_cur);
}

struct cal_wakeup *cal_wakeup_make(int slots, int mine, size_t shared, struct cal_wakeup_ticket *ticket)
{
	int fd = memfd_create("tickmark-wakeup", MFD_CLOEXEC);
	struct cal_wakeup *b = NULL;

	*ticket = (struct cal_wakeup_ticket){ .pid = getpid(), .fd = -1 };
	if (fd < 0) {
		return NULL;
	}
	if (fits_file_limit(wakeup_size(slots, shared)) &&
		getrandom(ticket->magic, sizeof(ticket->magic), GRND_NONBLOCK) == sizeof(ticket->magic) &&
		ftruncate(fd, (off_t)wakeup_size(slots, shared)) == 0) {
		b = map(fd, slots, mine, shared);
	}
	if (!b) {
		close(fd);
		return NULL;
	}
	b->fd = fd;
	ticket->fd = fd;
	memcpy(b->at->magic, ticket->magic, sizeof(ticket->magic));
	atomic_store(&b->at->slot[mine].joined, 1);
	return b;
}

struct cal_wakeup *cal_wakeup_join(const struct cal_wakeup_ticket *ticket, int slots, int mine, size_t shared)
{
	struct cal_wakeup *b = NULL;
	struct stat st;
	char path[64];
	int fd;

	if (ticket->fd < 0) {
		return NULL;
	}
	snprintf(path, sizeof(path), "/proc/%lld/fd/%lld", (long long)ticket->pid, (long long)ticket->fd);
	fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0) {
		return NULL;
	}
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == (off_t)wakeup_size(slots, shared)) {
		b = map(fd, slots, mine, shared);
	}
	close(fd);
	if (b && memcmp(b->at->magic, ticket->magic, sizeof(ticket->magic)) != 0) {
		cal_wakeup_close(b);
		return NULL;
	}
	if (b) {
		atomic_store(&b->at->slot[mine].joined, 1);
	}
	return b;
}

void cal_wakeup_all_joined(struct cal_wakeup *b)
{
	if (b && b->fd >= 0) {
		close(b->fd);
		b->fd = -1;
	}
}

void cal_wakeup_close(struct cal_wakeup *b)
{
	if (b) {
		cal_wakeup_all_joined(b);
		munmap(b->at, b->size);
		free(b);
	}
}

void *cal_wakeup_shared(struct cal_wakeup *b)
{
	return b ? &b->at->slot[b->slots] : NULL;
}

int cal_wakeup_is_from(const struct cal_wakeup *b, int other)
{
	return b && other >= 0 && other < b->slots && atomic_load(&b->at->slot[other].joined);
}

uint32_t cal_wakeup_prepare(struct cal_wakeup *b)
{
	struct slot *mine;

	if (!b) {
		return 0;
	}
	mine = &b->at->slot[b->mine];
	atomic_store(&mine->asleep, 1);
	return atomic_load(&mine->signalled);
}

void cal_wakeup_sleep(struct cal_wakeup *b, uint32_t seen, long ns)
{
	struct timespec ts = { ns / 1000000000, ns % 1000000000 };

	if (b) {
		/* not the private kind: the memory has another address in each process */
		syscall(SYS_futex, &b->at->slot[b->mine].signalled, FUTEX_WAIT, seen, &ts, NULL, 0);
	}
}

void cal_wakeup_end(struct cal_wakeup *b)
{
	if (b) {
		atomic_store(&b->at->slot[b->mine].asleep, 0);
	}
}

void cal_wakeup_signal(struct cal_wakeup *b, int other)
{
	struct slot *to;

	if (!b || other < 0 || other >= b->slots) {
		return;
	}
	to = &b->at->slot[other];
	atomic_thread_fence(memory_order_seq_cst); /* the message is visible before the check */
	if (atomic_load(&to->asleep)) {
		atomic_fetch_add(&to->signalled, 1);
		syscall(SYS_futex, &to->signalled, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
}

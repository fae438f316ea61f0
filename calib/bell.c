/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "calib/bell.h"

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

/* A cache line each, or rings would disturb their neighbours. */
struct bell {
	_Alignas(64) _Atomic uint32_t rung;
	_Atomic uint32_t asleep, there;
};

/* What is shared: the ticket's number first, since a pid and a descriptor alone might mean something else where
 * processes are counted differently. */
struct belfry {
	uint64_t magic[2];
	struct bell bell[];
};

struct cal_bells {
	struct belfry *at;
	size_t size;
	int fd, bells, mine;
};

static size_t size_of(int bells, size_t room)
{
	return sizeof(struct belfry) + (size_t)bells * sizeof(struct bell) + room;
}

static struct cal_bells *map(int fd, int bells, int mine, size_t room)
{
	struct cal_bells *b = calloc(1, sizeof(*b));
	void *at = b ? mmap(NULL, size_of(bells, room), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;

	if (at == MAP_FAILED) {
		free(b);
		return NULL;
	}
	*b = (struct cal_bells){ .at = at, .size = size_of(bells, room), .fd = -1, .bells = bells, .mine = mine };
	return b;
}

/* A file beyond the program's limit would be the end of it (SIGXFSZ). */
static int fits(size_t size)
{
	struct rlimit most;

	return getrlimit(RLIMIT_FSIZE, &most) == 0 && (most.rlim_cur == RLIM_INFINITY || size <= most.rlim_cur);
}

struct cal_bells *cal_bells_make(int bells, int mine, size_t room, struct cal_bells_ticket *ticket)
{
	int fd = memfd_create("tickmark-bells", MFD_CLOEXEC);
	struct cal_bells *b = NULL;

	*ticket = (struct cal_bells_ticket){ .pid = getpid(), .fd = -1 };
	if (fd < 0) {
		return NULL;
	}
	if (fits(size_of(bells, room)) && getrandom(ticket->magic, sizeof(ticket->magic), GRND_NONBLOCK) == sizeof(ticket->magic) &&
		ftruncate(fd, (off_t)size_of(bells, room)) == 0) {
		b = map(fd, bells, mine, room);
	}
	if (!b) {
		close(fd);
		return NULL;
	}
	b->fd = fd;
	ticket->fd = fd;
	memcpy(b->at->magic, ticket->magic, sizeof(ticket->magic));
	atomic_store(&b->at->bell[mine].there, 1);
	return b;
}

struct cal_bells *cal_bells_join(const struct cal_bells_ticket *ticket, int bells, int mine, size_t room)
{
	struct cal_bells *b = NULL;
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
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == (off_t)size_of(bells, room)) {
		b = map(fd, bells, mine, room);
	}
	close(fd);
	if (b && memcmp(b->at->magic, ticket->magic, sizeof(ticket->magic)) != 0) {
		cal_bells_close(b);
		return NULL;
	}
	if (b) {
		atomic_store(&b->at->bell[mine].there, 1);
	}
	return b;
}

void cal_bells_all_here(struct cal_bells *b)
{
	if (b && b->fd >= 0) {
		close(b->fd);
		b->fd = -1;
	}
}

void cal_bells_close(struct cal_bells *b)
{
	if (b) {
		cal_bells_all_here(b);
		munmap(b->at, b->size);
		free(b);
	}
}

void *cal_bells_room(struct cal_bells *b)
{
	return b ? &b->at->bell[b->bells] : NULL;
}

int cal_bell_is_rung_by(const struct cal_bells *b, int other)
{
	return b && other >= 0 && other < b->bells && atomic_load(&b->at->bell[other].there);
}

uint32_t cal_bell_listen(struct cal_bells *b)
{
	struct bell *mine;

	if (!b) {
		return 0;
	}
	mine = &b->at->bell[b->mine];
	atomic_store(&mine->asleep, 1);
	return atomic_load(&mine->rung);
}

void cal_bell_sleep(struct cal_bells *b, uint32_t heard, long ns)
{
	struct timespec ts = { ns / 1000000000, ns % 1000000000 };

	if (b) {
		/* not the private kind: the memory has another address in each process */
		syscall(SYS_futex, &b->at->bell[b->mine].rung, FUTEX_WAIT, heard, &ts, NULL, 0);
	}
}

void cal_bell_wake_up(struct cal_bells *b)
{
	if (b) {
		atomic_store(&b->at->bell[b->mine].asleep, 0);
	}
}

void cal_bell_ring(struct cal_bells *b, int other)
{
	struct bell *to;

	if (!b || other < 0 || other >= b->bells) {
		return;
	}
	to = &b->at->bell[other];
	atomic_thread_fence(memory_order_seq_cst); /* the message stands before the look */
	if (atomic_load(&to->asleep)) {
		atomic_fetch_add(&to->rung, 1);
		syscall(SYS_futex, &to->rung, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
}

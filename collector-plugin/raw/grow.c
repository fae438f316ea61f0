/* SPDX-License-Identifier: BSD-3-Clause */
/* Extends the raw file: places for blocks, space on the disk, mapping. A store into a mapped block cannot fail,
 * because its space on the disk was reserved before. This process reserves it, or the sampler process if this
 * process has given up system calls. */
#include "config.h"
#include "collector-plugin/raw/grow.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector-plugin/host/memory.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/private.h"

enum { LEAST_AHEAD_BYTES = 1 << 20, MOST_AHEAD_BYTES = 32 << 20, FEW = 4, LAST_STOCK_BYTES = 4 << 20 };

static VT_SELDOM int is_raw_file(const struct vt_raw *r, int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_nlink && st.st_dev == r->device && st.st_ino == r->inode;
}

/* The descriptor of the file that the calling thread has; -1: none. Its table of descriptors may be another one than that of the
 * program, where the same number is another file. */
static VT_SELDOM int held_descriptor(const struct vt_raw *r)
{
	pid_t keeper = atomic_load_explicit(&r->keeper, memory_order_acquire), me;

	if (!keeper && !r->starter) {
		return -1;
	}
	me = (pid_t)syscall(SYS_gettid);
	return keeper == me ? r->keeper_fd : r->starter == me && is_raw_file(r, r->start_fd) ? r->start_fd : -1;
}

/* Opens the file again. No descriptor stays in the program's own table: the program might close it and get the same
 * number for a file of its own. */
VT_SELDOM int vt_raw_open_again(struct vt_raw *r)
{
	int fd = held_descriptor(r);

	if (fd >= 0) {
		return fd;
	}
	fd = open(r->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd >= 0 && !is_raw_file(r, fd)) {
		close(fd);
		errno = ESTALE; /* the file was removed or replaced */
		return -1;
	}
	return fd;
}

VT_SELDOM void vt_raw_close_again(struct vt_raw *r, int fd)
{
	if (fd != held_descriptor(r)) {
		close(fd);
	}
}

VT_SELDOM void vt_raw_started(struct vt_raw *r)
{
	int fd = held_descriptor(r);

	if (r->starter && fd == r->start_fd) {
		close(fd);
	}
	r->starter = 0;
}

/* Does the file exceed the program's limit? Beyond the limit the kernel not only refuses, it also sends a signal. */
static VT_SELDOM int too_long(off_t end)
{
	struct rlimit l;

	return getrlimit(RLIMIT_FSIZE, &l) == 0 && l.rlim_cur != RLIM_INFINITY && (rlim_t)end > l.rlim_cur;
}

/* Reserves space on the disk, so that a store can never fail. Returns 0 or an errno. */
VT_SELDOM int vt_raw_reserve(int fd, off_t offset, off_t size)
{
	static char zeros[4096]; /* not const: then it would add 4 KB to the library's text */
	ssize_t n;
	int rc;

	if (too_long(offset + size)) {
		return EFBIG;
	}

	do {
		rc = fallocate(fd, 0, offset, size);
	} while (rc < 0 && errno == EINTR);
	if (rc == 0) {
		return 0;
	}
	if (errno != EOPNOTSUPP && errno != ENOSYS) {
		return errno;
	}
	while (size > 0) {
		n = pwrite(fd, zeros, size < (off_t)sizeof(zeros) ? (size_t)size : sizeof(zeros), offset);
		if (n < 0 && errno != EINTR) {
			return errno;
		}
		offset += n > 0 ? n : 0;
		size -= n > 0 ? n : 0;
	}
	return 0;
}

/* Has the program given up system calls? Then only blocks that are already mapped are filled. The sampler process,
 * which has the file open, too, can still make system calls. */
VT_SELDOM int vt_raw_is_forbidden(const struct vt_raw *r)
{
	int is = r->alone && atomic_load_explicit(&r->head->quiet, memory_order_relaxed);

	if (is) {
		vt_lock_without_calls();
	}
	return is;
}

/* Are n blocks from the place `first` on ready for use: on the disk and in memory? */
static VT_SELDOM int is_ready(const struct vt_raw *r, uint64_t first, size_t n)
{
	return r->window && (first + n) * r->block_size <= r->window_size &&
		first + n <= atomic_load_explicit(&r->head->ahead, memory_order_acquire);
}

/* Takes n places at the end of the file; *at: their offset. Another process may take places at the same time.
 * Returns 0 or an errno. */
VT_SELDOM int vt_raw_take_places(struct vt_raw *r, size_t n, off_t *at)
{
	uint64_t first = atomic_load_explicit(&r->head->file_blocks, memory_order_relaxed);

	do {
		*at = (off_t)(r->head->head_size + first * r->block_size);
		if ((long long)*at + (long long)(n * r->block_size) > r->limit + r->beyond ||
			(!is_ready(r, first, n) && !vt_raw_is_forbidden(r) &&
				too_long(*at + (off_t)(n * r->block_size)))) {
			return EFBIG;
		}
	} while (!atomic_compare_exchange_weak(&r->head->file_blocks, &first, first + n));
	return 0;
}

/* Gives back places that could not be filled. If another process has taken places after them, they stay empty. */
VT_SELDOM void vt_raw_give_places_back(struct vt_raw *r, size_t n, off_t at)
{
	uint64_t first = ((uint64_t)at - r->head->head_size) / r->block_size, last = first + n;

	atomic_compare_exchange_strong(&r->head->file_blocks, &last, first);
}

/* Reserves space on the disk for `size` bytes at `at`, and maps them. Returns 0 or an errno. */
static VT_SELDOM int map_new_blocks(struct vt_raw *r, off_t at, size_t size, char **p)
{
	size_t from = (size_t)at - r->head->head_size;
	int fd = vt_raw_open_again(r), rc;

	if (fd < 0) {
		return errno;
	}
	rc = vt_raw_reserve(fd, at, (off_t)size);
	if (rc == 0 && r->window && from + size <= r->window_size) {
		*p = r->window + from;
	} else if (rc == 0) {
		*p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, at);
		rc = *p == MAP_FAILED ? errno : 0;
	}
	vt_raw_close_again(r, fd);
	return rc;
}

/* Makes n more blocks ready. Returns 0 or an errno. */
static VT_SELDOM int grow_raw_file(struct vt_raw *r, size_t n)
{
	off_t at;
	size_t i;
	char *p = NULL;
	int rc;

	rc = vt_raw_take_places(r, n, &at);
	if (rc) {
		return rc;
	}
	i = (size_t)at - r->head->head_size;
	if (is_ready(r, i / r->block_size, n)) {
		p = r->window + i;
	} else {
		rc = vt_raw_is_forbidden(r) ? EPERM : map_new_blocks(r, at, n * r->block_size, &p);
	}
	if (rc) {
		vt_raw_give_places_back(r, n, at);
		return rc;
	}
	/* the first block is taken first, so that the file fills from its start */
	for (i = n; i-- > 0;) {
		r->ready[r->n_ready++] = (struct vt_raw_block *)(void *)(p + i * r->block_size);
	}
	r->mapped += n;
	return 0;
}

/* Makes the file longer by a chunk, or by as little as one block near its limits. */
VT_SELDOM int vt_raw_grow_some(struct vt_raw *r)
{
	size_t n = r->beyond ? 1 : r->chunk, room = (size_t)r->max_blocks - r->mapped;
	uint64_t given, ahead;
	int rc;

	n = n > room ? room : n;
	given = atomic_load_explicit(&r->head->file_blocks, memory_order_relaxed);
	ahead = atomic_load_explicit(&r->head->ahead, memory_order_relaxed);
	r->was_ready = r->window && ahead > given && given * r->block_size < r->window_size;
	if (r->was_ready) {
		/* this costs nothing, so a few blocks are enough; they show the sampler process how much is used */
		n = n > FEW ? FEW : n;
		n = n > ahead - given ? (size_t)(ahead - given) : n;
	}
	rc = grow_raw_file(r, n);
	if (rc && n > 1) {
		rc = grow_raw_file(r, 1);
	}
	return rc;
}

VT_SELDOM void vt_raw_stock_up(struct vt_raw *r)
{
	size_t enough = LAST_STOCK_BYTES / r->block_size;

	vt_lock(&r->lock);
	while (!r->closed && r->n_ready < enough && r->mapped < (size_t)r->max_blocks && vt_raw_grow_some(r) == 0) {
	}
	vt_unlock(&r->lock);
}

/* In the sampler process: reserves space for a program that can no longer do it. Uses fallocate() only, so that what
 * the program writes there at the same time stays. */
VT_SELDOM void vt_raw_make_room_ahead(struct vt_raw *r)
{
	uint64_t given = atomic_load_explicit(&r->head->file_blocks, memory_order_relaxed),
		 more = 2 * (given - r->given), ahead = atomic_load_explicit(&r->head->ahead, memory_order_relaxed),
		 from = ahead > given ? ahead : given, to;
	long long most = r->limit < LLONG_MAX ? (r->limit - (long long)r->head->head_size) / (long long)r->block_size
					      : LLONG_MAX;
	struct stat st;

	r->given = given;
	more = more * r->block_size < LEAST_AHEAD_BYTES ? LEAST_AHEAD_BYTES / r->block_size : more;
	more = more * r->block_size > MOST_AHEAD_BYTES ? MOST_AHEAD_BYTES / r->block_size : more;
	to = (long long)(given + more) > most ? (uint64_t)(most > 0 ? most : 0) : given + more;
	/* a program whose file was removed must notice that itself */
	if (!atomic_load_explicit(&r->head->whole, memory_order_relaxed) ||
		!atomic_load_explicit(&r->head->quiet, memory_order_relaxed) || to <= from || (to - from) * 2 < more ||
		fstat(r->keeper_fd, &st) < 0 || st.st_nlink == 0) {
		return;
	}
	if (fallocate(r->keeper_fd, 0, (off_t)(r->head->head_size + from * r->block_size),
		    (off_t)((to - from) * r->block_size)) == 0) {
		atomic_store_explicit(&r->head->ahead, to, memory_order_release);
	}
}

VT_SELDOM void vt_raw_map_whole(struct vt_raw *r)
{
	size_t size = (size_t)r->max_blocks * r->block_size;
	int fd = r->overwrite ? -1 : vt_raw_open_again(r);
	void *p;

	if (fd < 0) {
		return;
	}
	if (r->limit < (long long)size) {
		size = (size_t)r->limit / r->block_size * r->block_size;
	}
	p = size ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, (off_t)r->head->head_size)
		 : MAP_FAILED;
	if (p != MAP_FAILED) {
		r->window = p;
		r->window_size = size;
		atomic_store(&r->head->whole, 1);
	}
	vt_raw_close_again(r, fd);
}

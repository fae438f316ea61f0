/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates a raw file, with its head and its name. */
#include "config.h"
#include "collector-plugin/host/program/address.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <limits.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/rootfs.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/private.h"
#include "collector-plugin/raw/process.h"
#include "collector-plugin/raw/writer.h"

static VT_SELDOM void copy_text(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from ? from : "");
}

static VT_SELDOM void sign_head(struct vt_raw_head *h)
{
	h->check = vt_raw_check(&h->pid, offsetof(struct vt_raw_head, state) - offsetof(struct vt_raw_head, pid), 0);
}

VT_SELDOM void vt_raw_set_rank(struct vt_raw *r, int rank, int ranks)
{
	if (!r->forgotten) {
		r->head->rank = rank;
		r->head->ranks = ranks;
		sign_head(r->head);
	}
}

VT_SELDOM void vt_raw_fill_head(
	struct vt_raw_head *h, const struct vt_raw_options *o, size_t head_size, size_t block_size)
{
	struct timespec ts;

	h->id = vt_raw_own_id();
	copy_text(h->boot, sizeof(h->boot), h->id.boot);
	h->order = VT_RAW_ORDER;
	h->version = VT_RAW_VERSION;
	h->head_size = (uint32_t)head_size;
	h->block_size = (uint32_t)block_size;
	h->pid = h->id.pid;
	h->parent = (uint32_t)getppid();
	h->born = h->id.born;
	h->rank = o->rank;
	h->ranks = o->ranks;
	h->hz = o->hz;
	h->start_tick = o->start.v;
	clock_gettime(CLOCK_REALTIME, &ts);
	h->start_realtime_ns = (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
	copy_text(h->job, sizeof(h->job), o->job);
	copy_text(h->timer, sizeof(h->timer), o->timer);
	copy_text(h->program, sizeof(h->program), o->program);
	copy_text(h->writer, sizeof(h->writer), PACKAGE_STRING);
	copy_text(h->trace, sizeof(h->trace), o->trace);
	if (gethostname(h->host, sizeof(h->host) - 1) < 0) {
		h->host[0] = '\0';
	}
	vt_own_addresses(h->ip, sizeof(h->ip));
	atomic_store(&h->state, VT_RAW_RECORDING);
	atomic_store(&h->end_tick, o->start.v);
	sign_head(h);
	memcpy(h->magic, VT_RAW_MAGIC, 8);
}

/* Is /proc visible? A file without a name gets its name through /proc, which a container may hide. */
static VT_SELDOM int has_proc(void)
{
	int root = tkm_root_open("/"), has = root >= 0 && faccessat(root, "proc/self/fd", X_OK, 0) == 0;

	if (root >= 0) {
		close(root);
	}
	return has;
}

VT_SELDOM int vt_raw_open_nameless(const char *path, mode_t mode, char *temporary)
{
	const char *slash = strrchr(path, '/');
	int fd;

	snprintf(temporary, VT_RAW_PATH_SIZE, "%.*s", (int)(slash ? slash - path : 0), path);
	fd = has_proc() ? open(*temporary         ? temporary
					  : slash ? "/"
						  : ".",
				  O_TMPFILE | O_RDWR | O_CLOEXEC, mode)
			: (errno = EOPNOTSUPP, -1);
	temporary[0] = '\0';
	if (fd < 0 && errno != ENOSPC && errno != EACCES && errno != EROFS && errno != ENOENT) {
		/* the file system does not support files without a name */
		snprintf(temporary, VT_RAW_PATH_SIZE, "%s.new", path);
		fd = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
	}
	return fd;
}

VT_SELDOM int vt_raw_publish(int fd, const char *temporary, const char *path)
{
	struct stat there;
	char self[40];
	int root, rc;

	if (temporary[0]) {
		/* Not by link(): file systems of FUSE may keep a page cache for each name of a file. Data that is
		 * mapped under the first name would never be seen under the second one. Some of these file systems
		 * do not know the flag; on those no other process makes a file of this name. */
		rc = (int)syscall(SYS_renameat2, AT_FDCWD, temporary, AT_FDCWD, path, RENAME_NOREPLACE);
		if (rc < 0 && errno != EEXIST) {
			rc = lstat(path, &there) == 0 ? (errno = EEXIST, -1) : rename(temporary, path);
		}
		return rc;
	}
	root = tkm_root_open("/");
	snprintf(self, sizeof(self), "proc/self/fd/%d", fd);
	rc = root < 0 ? -1 : linkat(root, self, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
	if (root >= 0) {
		int saved = errno;

		close(root);
		errno = saved;
	}
	return rc;
}

/* ---- the file in memory ---- */

enum { FIRST_CHUNK = 2, MOST_HEAD_BYTES = 1 << 16 };

static VT_SELDOM long long clamp_option(long long v, long long lo, long long hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

/* Copies the options, with sizes in whole pages. */
static VT_SELDOM void set_options(struct vt_raw *r, const struct vt_raw_options *o, size_t page)
{
	r->block_size = ((size_t)clamp_option(o->block_size, VT_RAW_MIN_BLOCK, 1 << 28) + page - 1) / page * page;
	r->max_blocks = clamp_option(o->max_blocks, 4, 1 << 24);
	r->min_blocks = clamp_option(o->min_blocks, 0, r->max_blocks / 2);
	r->flush_blocks = o->flush_blocks;
	r->autoflush = o->autoflush;
	r->overwrite = !o->autoflush && o->overwrite;
	r->stopped = o->stopped;
	r->limit = o->limit > 0 ? o->limit : LLONG_MAX;
	r->chunk = FIRST_CHUNK;
	r->cap = (size_t)r->max_blocks + 1;
}

/* Maps head_size bytes of the file. Returns 0 or -1. */
static VT_SELDOM int map_head(struct vt_raw *r, int fd, size_t head_size, int served, struct tkm_err *err)
{
	struct statfs fs;
	struct stat st;
	/* what is used of it, and its last page, so that the file has that size */
	int rc = vt_raw_reserve(fd, 0, VT_RAW_SLOTS_AT + VT_RAW_SLOTS * sizeof(struct vt_raw_thread_slot));

	rc = rc ? rc : vt_raw_reserve(fd, (off_t)head_size - VT_RAW_MIN_BLOCK, VT_RAW_MIN_BLOCK);
	if (rc) {
		return tkm_fail_errno(err, TKM_ERR_IO, rc, "cannot record into %s", r->path);
	}
	if (fstat(fd, &st) < 0) {
		return tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot record into %s", r->path);
	}
	if (!served && fstatfs(fd, &fs) == 0 && fs.f_type == FUSE_SUPER_MAGIC) {
		return tkm_fail(err, TKM_ERR_UNAVAIL,
			"%s: if the server of this file system (FUSE) ended, the program would, too; --flush-prefix "
			"names another folder, or this one nevertheless",
			r->path);
	}
	r->device = st.st_dev;
	r->inode = st.st_ino;
	r->head = mmap(NULL, head_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (r->head == MAP_FAILED) {
		return tkm_fail_errno(err, TKM_ERR_UNAVAIL, errno,
			"%s: this file system cannot be mapped; --flush-prefix "
			"names another folder",
			r->path);
	}
	return 0;
}

static VT_SELDOM void give_back(struct vt_raw *r)
{
	munmap(r->arrays, r->arrays_size);
}

/* Allocates all that a raw file needs, except the file itself. */
static VT_SELDOM struct vt_raw *new_raw(const struct vt_raw_options *o, int first_copy, struct tkm_err *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size, cap;
	struct vt_raw *r;
	char *p;
	int i;

	/* everything that is needed until the end, in one piece and not from malloc, which the program may replace */
	cap = (size_t)clamp_option(o->max_blocks, 4, 1 << 24) + 1;
	size = sizeof(*r) + 2 * cap * sizeof(void *);
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED) {
		tkm_fail_errno(err, TKM_ERR_NOMEM, errno, "%s: no memory for %zu blocks (MEM-MAXBLOCKS)", o->path, cap);
		return NULL;
	}
	r = (struct vt_raw *)(void *)p;
	r->arrays = p;
	r->arrays_size = size;
	r->ready = (struct vt_raw_block **)(void *)(p + sizeof(*r));
	r->full = r->ready + cap;
	r->keeper_fd = -1;
	r->texts = VT_RAW_FIRST_ID;
	vt_lock_forget(&r->lock);
	set_options(r, o, page);
	for (i = 0; i < VT_RAW_COPIES; i++) {
		r->copy[i].raw = r;
		r->copy[i].id = (uint32_t)(first_copy + i);
	}
	if (snprintf(r->path, sizeof(r->path), "%s", o->path) >= (int)sizeof(r->path)) {
		tkm_fail(err, TKM_ERR_ARG, "the name of the flush file is too long: %s", o->path);
		give_back(r);
		return NULL;
	}
	return r;
}

/* Does read() see what was stored in the mapping? On 9p with cache=mmap it does not before the page is written back, so
 * the sampler process would find an empty file. */
static VT_SELDOM int is_seen_by_read(int fd, struct tkm_err *err, const char *path)
{
	char magic[8];

	if (pread(fd, magic, 8, 0) == 8 && !memcmp(magic, VT_RAW_MAGIC, 8)) {
		return 1;
	}
	tkm_fail(err, TKM_ERR_UNAVAIL,
		"%s: reading from this file system does not show what is mapped; --flush-prefix names another folder",
		path);
	return 0;
}

/* The mapping of a file that had no name yet keeps a name of its own in /proc/PID/maps. elfutils reads no stack of a process
 * that maps one file under two names, so the head is mapped by the name that all other mappings have. */
static VT_SELDOM int map_by_name(struct vt_raw *r, size_t head_size, int nameless)
{
	int fd = vt_raw_open_again(r);
	void *p = fd < 0 ? MAP_FAILED : mmap(NULL, head_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p != MAP_FAILED) {
		munmap(r->head, head_size);
		r->head = p;
	}
	if (fd >= 0) {
		close(nameless);
	}
	return fd >= 0 ? fd : nameless;
}

VT_SELDOM struct vt_raw *vt_raw_create(const struct vt_raw_options *o, struct tkm_err *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE),
	       head_size = VT_RAW_SLOTS_AT + VT_RAW_SLOTS * sizeof(struct vt_raw_thread_slot);
	struct vt_raw *r = new_raw(o, 0, err);
	char temporary[VT_RAW_PATH_SIZE];
	int fd;

	if (!r) {
		return NULL;
	}
	/* blocks then begin at multiples of the largest power of two in their size, up to 64 KB: see append_block() */
	while (page < MOST_HEAD_BYTES && r->block_size % (2 * page) == 0) {
		page *= 2;
	}
	head_size = (head_size + page - 1) / page * page;
	fd = vt_raw_open_nameless(r->path, o->own ? 0600 : 0644, temporary);
	if (fd < 0) {
		tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot create %s", r->path);
		give_back(r);
		return NULL;
	}
	if (map_head(r, fd, head_size, o->served, err) == 0) {
		vt_raw_fill_head(r->head, o, head_size, r->block_size);
		if (is_seen_by_read(fd, err, r->path)) {
			if (vt_raw_publish(fd, temporary, r->path) == 0) {
				r->start_fd = temporary[0] ? fd : map_by_name(r, head_size, fd);
				r->starter = (pid_t)syscall(SYS_gettid);
				return r;
			}
			tkm_fail_errno(
				err, errno == EEXIST ? TKM_ERR_EXISTS : TKM_ERR_IO, errno, "cannot create %s", r->path);
		}
		munmap(r->head, head_size);
	}
	if (temporary[0]) {
		unlink(temporary);
	}
	close(fd);
	give_back(r);
	return NULL;
}

/* Is this the head of a file that is being written? */
static VT_SELDOM int good_head(const struct vt_raw_head *h, off_t size)
{
	return !memcmp(h->magic, VT_RAW_MAGIC, 8) && h->order == VT_RAW_ORDER && h->version == VT_RAW_VERSION &&
		h->head_size >= VT_RAW_SLOTS_AT + VT_RAW_SLOTS * sizeof(struct vt_raw_thread_slot) &&
		(off_t)h->head_size <= size && h->block_size >= VT_RAW_MIN_BLOCK && h->block_size <= 1u << 28 &&
		atomic_load(&h->state) == VT_RAW_RECORDING;
}

VT_SELDOM struct vt_raw *vt_raw_attach(int fd, const struct vt_raw_options *o, struct tkm_err *err)
{
	struct vt_raw *r = new_raw(o, VT_RAW_COPIES, err);
	struct vt_raw_head h;
	struct stat st;
	int rc = 0;

	if (!r) {
		return NULL;
	}
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || pread(fd, &h, sizeof(h), 0) != (ssize_t)sizeof(h) ||
		!good_head(&h, st.st_size)) {
		rc = tkm_fail(err, TKM_ERR_FORMAT, "%s: no raw file that is being written", o->path);
	} else {
		r->device = st.st_dev;
		r->inode = st.st_ino;
		r->block_size = h.block_size;
		r->head = mmap(NULL, h.head_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		rc = r->head == MAP_FAILED ? tkm_fail_errno(err, TKM_ERR_UNAVAIL, errno, "cannot map %s", o->path) : 0;
	}
	if (rc < 0) {
		give_back(r);
		return NULL;
	}
	/* below those of the program, and above those of a sampler process before this one */
	r->texts = (uint32_t)atomic_load(&r->head->definitions) % VT_RAW_FIRST_ID;
	r->keeper_fd = fd;
	r->keeper = (pid_t)syscall(SYS_gettid);
	vt_raw_hold(fd);
	return r;
}

VT_SELDOM struct vt_raw_head *vt_raw_head(struct vt_raw *r)
{
	return r->forgotten ? NULL : r->head;
}

VT_SELDOM struct vt_raw_thread_slot *vt_raw_slot(struct vt_raw *r, int i)
{
	struct vt_raw_thread_slot *slots =
		r->forgotten ? NULL : (struct vt_raw_thread_slot *)(void *)((char *)r->head + VT_RAW_SLOTS_AT);

	return slots && i >= 0 && i < VT_RAW_SLOTS ? &slots[i] : NULL;
}

VT_SELDOM void vt_raw_detach(struct vt_raw *r)
{
	struct vt_raw_stream *s, *next;
	size_t i;
	int k;

	for (i = 0; i < r->n_full; i++) {
		munmap(*vt_raw_full_at(r, i), r->block_size);
	}
	for (k = 0; k < VT_RAW_COPIES; k++) {
		if (r->copy[k].block) {
			munmap(r->copy[k].block, r->block_size);
		}
	}
	for (s = r->streams; s; s = next) {
		next = s->next;
		if (s->block) {
			munmap(s->block, r->block_size);
		}
		munmap(s, sizeof(*s));
	}
	munmap(r->head, r->head->head_size);
	close(r->keeper_fd);
	give_back(r);
}

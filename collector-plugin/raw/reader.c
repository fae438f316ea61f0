/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a raw file, whole or truncated. Blocks are found only by their heads, and nothing in them is trusted. */
#include "config.h"
#include "collector-plugin/raw/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "collector-plugin/raw/definition.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/process.h"

enum { AT_ONCE = 1 << 22 };

struct block_ref {
	uint32_t stream;
	uint32_t index; /* in the file */
	uint64_t number;
};

struct range {
	size_t first, last; /* of refs */
};

enum { MOST_MAPPED = 32768, SMALL_FILE = 1 << 20 };

struct vt_raw_file {
	char *path;
	const uint8_t *map;
	size_t size;
	struct vt_raw_head head; /* a copy, because a file in use goes on changing */
	struct vt_raw_damage damage;
	struct block_ref *ref; /* sorted by stream, then by number */
	size_t n_refs;
	struct range *stream; /* data streams */
	size_t n_streams;
	struct range copy[VT_RAW_DEFINING];
	uint32_t *table; /* blocks that are tables */
	size_t n_tables, room_tables;
	int is_read;   /* `map` is memory that was read into, not mapped */
	int unchecked; /* the checksums of data blocks were not compared */
};

const struct vt_raw_head *vt_raw_file_head(const struct vt_raw_file *f)
{
	return &f->head;
}

const struct vt_raw_damage *vt_raw_file_damage(const struct vt_raw_file *f)
{
	return &f->damage;
}

const char *vt_raw_file_path(const struct vt_raw_file *f)
{
	return f->path;
}

size_t vt_raw_file_size(const struct vt_raw_file *f)
{
	return f->size;
}

static const struct vt_raw_block *block_at(const struct vt_raw_file *f, uint32_t index)
{
	return (const struct vt_raw_block *)(const void *)(f->map + f->head.head_size +
		(size_t)index * f->head.block_size);
}

/* Returns the end of the records of a block. The file may still be written to, so what was checked before may have
 * changed. */
static const uint8_t *block_end(const struct vt_raw_file *f, const struct vt_raw_block *b)
{
	const uint8_t *p = (const uint8_t *)b;

	return f->map + f->size - p < (ptrdiff_t)f->head.block_size ? f->map + f->size : p + f->head.block_size;
}

/* Releases pages that were read. They stay in the page cache as long as there is room, and a file may be larger than
 * memory. */
static void release_pages(const struct vt_raw_file *f, const uint8_t *from, const uint8_t *to)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = ((uintptr_t)from + page - 1) / page * page,
		  last = (uintptr_t)to / page * page;

	if (first < last && from >= f->map && to <= f->map + f->size) {
		madvise((void *)first, last - first, MADV_DONTNEED);
	}
}

static int compare_blocks(const void *a, const void *b)
{
	const struct block_ref *x = a, *y = b;

	if (x->stream != y->stream) {
		return x->stream < y->stream ? -1 : 1;
	}
	return x->number < y->number ? -1 : x->number > y->number;
}

static int read_raw_at(int fd, void *p, size_t n, uint64_t at)
{
	return pread(fd, p, n, (off_t)at) == (ssize_t)n ? 0 : -1;
}

/* A block that was read by system calls, with room for the largest one. They take less time than the faults of a mapping, and in a hole
 * of a full tmpfs those would be a SIGBUS. */
struct read_block {
	struct vt_raw_block head;
	uint8_t records[];
};

/* Reads the block at that place. Is it a readable one? Counts it as damaged if it only looks like one. */
static int usable(struct vt_raw_file *f, int fd, uint64_t at, size_t room, struct read_block *to)
{
	struct vt_raw_block *h = &to->head;
	uint32_t magic, used;
	unsigned state;

	if (read_raw_at(fd, h, sizeof(*h), at) < 0) {
		return 0;
	}
	magic = atomic_load_explicit(&h->magic, memory_order_relaxed);
	used = atomic_load_explicit(&h->used, memory_order_relaxed);
	state = h->state;
	if (magic != VT_RAW_BLOCK_MAGIC) {
		f->damage.blocks += magic != 0 && magic != VT_RAW_FREE_MAGIC;
		return 0;
	}
	if (h->kind == VT_RAW_TABLE && used <= room - sizeof(*h) && used % sizeof(struct vt_raw_row) == 0) {
		return 1;
	}
	if (used > room - sizeof(*h) || used % 4 || (h->kind != VT_RAW_DATA && h->kind != VT_RAW_DEFINITIONS) ||
		(h->kind == VT_RAW_DEFINITIONS) != (h->stream < VT_RAW_DEFINING) || state < VT_RAW_OPEN ||
		state > VT_RAW_SEALED ||
		(state == VT_RAW_SEALED && !(f->unchecked && h->kind == VT_RAW_DATA) &&
			(read_raw_at(fd, to->records, used, at + sizeof(*h)) < 0 ||
				h->check != vt_raw_block_check(h, used)))) {
		f->damage.blocks++;
		return 0;
	}
	f->damage.open += state == VT_RAW_OPEN;
	return used > 0;
}

static int add_ref(struct vt_raw_file *f, size_t *cap, uint32_t index, const struct vt_raw_block *b)
{
	if (TKM_GROW(f->ref, *cap, f->n_refs + 1) < 0) {
		return -1;
	}
	f->ref[f->n_refs++] = (struct block_ref){ b->stream, index, b->number };
	return 0;
}

static int add_table(struct vt_raw_file *f, uint32_t index)
{
	if (TKM_GROW(f->table, f->room_tables, f->n_tables + 1) < 0) {
		return -1;
	}
	f->table[f->n_tables++] = index;
	return 0;
}

/* Drops the second of two blocks with the same number, which a crash may leave, and counts the gaps. */
static void count_block_gaps(struct vt_raw_file *f)
{
	size_t i, n = 0;

	for (i = 0; i < f->n_refs; i++) {
		if (n && compare_blocks(&f->ref[n - 1], &f->ref[i]) == 0) {
			continue;
		}
		if (n && f->ref[n - 1].stream == f->ref[i].stream) {
			f->damage.missing += f->ref[i].number - f->ref[n - 1].number - 1;
		} else {
			f->damage.missing += f->ref[i].number;
		}
		f->ref[n++] = f->ref[i];
	}
	f->n_refs = n;
}

static int make_streams(struct vt_raw_file *f)
{
	size_t i, first = 0, n = 0;

	for (i = 0; i < f->n_refs; i++) {
		n += i == 0 || f->ref[i].stream != f->ref[i - 1].stream;
	}
	f->stream = calloc(n ? n : 1, sizeof(*f->stream));
	if (!f->stream) {
		return -1;
	}
	for (i = 1; i <= f->n_refs; i++) {
		if (i == f->n_refs || f->ref[i].stream != f->ref[first].stream) {
			if (f->ref[first].stream < VT_RAW_DEFINING) {
				f->copy[f->ref[first].stream] = (struct range){ first, i };
			} else {
				f->stream[f->n_streams++] = (struct range){ first, i };
			}
			first = i;
		}
	}
	return 0;
}

static int find_blocks(struct vt_raw_file *f, int fd, struct read_block *b)
{
	size_t room = f->size - f->head.head_size, size = f->head.block_size, i, cap = 0;

	/* the unused end of the last block may be missing */
	for (i = 0; i * size < room && i <= UINT32_MAX; i++) {
		size_t left = room - i * size < size ? room - i * size : size;

		if (left < sizeof(struct vt_raw_block)) {
			f->damage.tail = left;
		} else if (usable(f, fd, f->head.head_size + i * size, left, b) &&
			(b->head.kind == VT_RAW_TABLE ? add_table(f, (uint32_t)i)
						      : add_ref(f, &cap, (uint32_t)i, &b->head)) < 0) {
			return -1;
		}
	}
	return 0;
}

static int scan(struct vt_raw_file *f, int fd, struct tkm_err *err)
{
	size_t room = f->size - f->head.head_size;
	struct read_block *b = malloc(sizeof(*b) + (room < f->head.block_size ? room : f->head.block_size));
	int rc = b ? find_blocks(f, fd, b) : -1;

	free(b);
	if (rc < 0) {
		return tkm_fail(
			err, TKM_ERR_NOMEM, "%s: out of memory for its %zu blocks", f->path, room / f->head.block_size);
	}
	if (f->n_refs) {
		qsort(f->ref, f->n_refs, sizeof(*f->ref), compare_blocks);
	}
	count_block_gaps(f);
	return make_streams(f) < 0 ? tkm_fail(err, TKM_ERR_NOMEM, "%s: out of memory", f->path) : 0;
}

static int good_texts(const struct vt_raw_head *h)
{
	return !h->job[sizeof(h->job) - 1] && !h->host[sizeof(h->host) - 1] && !h->ip[sizeof(h->ip) - 1] &&
		!h->timer[sizeof(h->timer) - 1] && !h->program[sizeof(h->program) - 1] &&
		!h->trace[sizeof(h->trace) - 1] && !h->boot[sizeof(h->boot) - 1];
}

static int check_head(struct vt_raw_file *f, struct tkm_err *err)
{
	const struct vt_raw_head *h = &f->head;

	if (memcmp(h->magic, VT_RAW_MAGIC, 8)) {
		return tkm_fail(
			err, TKM_ERR_FORMAT, "%s: no raw file of vtrun or libVT (its first bytes are others)", f->path);
	}
	if (h->order != VT_RAW_ORDER) {
		return tkm_fail(err, TKM_ERR_FORMAT, "%s: written on a machine of the other byte order; merge it there",
			f->path);
	}
	if (h->version != VT_RAW_VERSION) {
		return tkm_fail(err, TKM_ERR_FORMAT, "%s: raw format %u, this program reads %d; use stftool of %.63s",
			f->path, h->version, VT_RAW_VERSION,
			h->writer[0] ? h->writer : "the installation that recorded it");
	}
	if (h->check !=
			vt_raw_check(
				&h->pid, offsetof(struct vt_raw_head, state) - offsetof(struct vt_raw_head, pid), 0) ||
		h->head_size < sizeof(*h) || h->head_size % 8 || h->head_size > f->size ||
		h->block_size < VT_RAW_MIN_BLOCK || h->block_size % 8 || h->block_size > 1u << 30 || !(h->hz > 0) ||
		!good_texts(h)) {
		return tkm_fail(err, TKM_ERR_FORMAT, "%s: offset 0: its head is damaged", f->path);
	}
	return 0;
}

static _Atomic int mapped; /* files at present */

/* A process may have 65,530 mappings (vm.max_map_count). Beyond half of that, small files are read. Returns MAP_FAILED with errno. */
static void *map_or_read(struct vt_raw_file *f, int fd, size_t size)
{
	void *p;

	f->is_read = size <= SMALL_FILE && atomic_load(&mapped) >= MOST_MAPPED;
	if (!f->is_read) {
		atomic_fetch_add(&mapped, 1);
		return mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	}
	p = malloc(size);
	if (p && pread(fd, p, size, 0) != (ssize_t)size) {
		free(p);
		p = NULL;
		errno = EIO;
	}
	return p ? p : MAP_FAILED;
}

static int map_raw_file(struct vt_raw_file *f, struct tkm_err *err)
{
	int fd = open(f->path, O_RDONLY | O_CLOEXEC), rc;
	struct stat st;
	void *p;

	if (fd < 0 || fstat(fd, &st) < 0) {
		rc = tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot open %s", f->path);
	} else if (!S_ISREG(st.st_mode) || st.st_size < (off_t)sizeof(f->head)) {
		rc = tkm_fail(err, TKM_ERR_FORMAT, "%s: too short for a raw file", f->path);
	} else {
		p = map_or_read(f, fd, (size_t)st.st_size);
		if (p == MAP_FAILED) {
			rc = tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot map %s", f->path);
			atomic_fetch_sub(&mapped, !f->is_read);
		} else {
			f->map = p;
			f->size = (size_t)st.st_size;
			memcpy(&f->head, p, sizeof(f->head));
			rc = check_head(f, err) < 0 ? -1 : scan(f, fd, err);
		}
	}
	if (fd >= 0) {
		close(fd);
	}
	return rc;
}

static struct vt_raw_file *open_raw_file(const char *path, int unchecked, struct tkm_err *err)
{
	struct vt_raw_file *f = calloc(1, sizeof(*f));

	if (!f || !(f->path = strdup(path))) {
		free(f);
		tkm_fail(err, TKM_ERR_NOMEM, "%s: out of memory", path);
		return NULL;
	}
	f->unchecked = unchecked;
	if (map_raw_file(f, err) < 0) {
		vt_raw_file_close(f);
		return NULL;
	}
	return f;
}

struct vt_raw_file *vt_raw_open(const char *path, struct tkm_err *err)
{
	return open_raw_file(path, 0, err);
}

struct vt_raw_file *vt_raw_open_definitions(const char *path, struct tkm_err *err)
{
	return open_raw_file(path, 1, err);
}

void vt_raw_file_close(struct vt_raw_file *f)
{
	if (!f) {
		return;
	}
	if (f->is_read) {
		free((void *)(uintptr_t)f->map);
	} else if (f->map) {
		atomic_fetch_sub(&mapped, 1);
		munmap((void *)(uintptr_t)f->map, f->size);
	}
	free(f->ref);
	free(f->stream);
	free(f->table);
	free(f->path);
	free(f);
}

/* ---- is its writer alive? ---- */

int vt_raw_file_alive(const struct vt_raw_file *f)
{
	return vt_raw_head_alive(f->path, (const struct vt_raw_head *)(const void *)f->map);
}

int vt_raw_read_head(const char *path, struct vt_raw_head *head)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	int rc = -1;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
		pread(fd, head, sizeof(*head), 0) == (ssize_t)sizeof(*head) && !memcmp(head->magic, VT_RAW_MAGIC, 8) &&
		head->order == VT_RAW_ORDER && head->version == VT_RAW_VERSION && good_texts(head)) {
		rc = 0;
	}
	if (fd >= 0) {
		close(fd);
	}
	return rc;
}

int vt_raw_head_alive(const char *path, const struct vt_raw_head *head)
{
	return atomic_load(&head->state) == VT_RAW_RECORDING && vt_raw_life_of_file(path, head) == VT_RAW_LIVES;
}

enum tkm_maker vt_raw_maker(const char *path)
{
	enum vt_raw_life program, sampler;
	struct vt_raw_head h;

	if (vt_raw_read_head(path, &h) < 0) {
		return TKM_MAKER_UNKNOWN;
	}
	program = vt_raw_life(&h, &h.id);
	sampler = h.sampler_id.pid ? vt_raw_life(&h, &h.sampler_id) : VT_RAW_DEAD;
	if (program == VT_RAW_LIVES) {
		return TKM_MAKER_PROGRAM;
	}
	if (program == VT_RAW_UNSEEN || sampler == VT_RAW_UNSEEN) {
		return TKM_MAKER_UNKNOWN;
	}
	return sampler == VT_RAW_LIVES ? TKM_MAKER_SAMPLER : TKM_MAKER_GONE;
}

int vt_raw_may_go_on(const struct vt_raw_head *head)
{
	uint32_t state = atomic_load(&head->state), how = atomic_load(&head->ending);

	return state == VT_RAW_RECORDING || (state == VT_RAW_CLOSED && (how == VT_RAW_ENDED_EXEC || how == 0));
}

/* ---- records ---- */

size_t vt_raw_streams(const struct vt_raw_file *f)
{
	return f->n_streams;
}

void vt_raw_cursor(struct vt_raw_file *f, size_t stream, struct vt_raw_cursor *c)
{
	static const uint8_t none[1];

	*c = (struct vt_raw_cursor){ .f = f,
		.p = none,
		.end = none,
		.next = f->stream[stream].first,
		.last = f->stream[stream].last,
		.damaged = &f->damage.blocks };
}

int vt_raw_cursor_block(struct vt_raw_cursor *c)
{
	const struct vt_raw_block *b;
	const uint8_t *p, *end;

	if (c->begin && c->end - c->begin >= AT_ONCE / 4) {
		release_pages(c->f, c->begin, c->end);
		c->begin = NULL;
	}
	while (c->next < c->last) {
		b = block_at(c->f, c->f->ref[c->next++].index);
		p = (const uint8_t *)(b + 1);
		end = p + atomic_load_explicit(&b->used, memory_order_acquire);
		end = end > block_end(c->f, b) ? p : end;
		c->lost = b->lost;
		c->now = b->base;
		c->owner = UINT32_MAX;
		c->known = 0;
		c->p = p;
		/* blocks of a stream are in order; blocks of others may lie in between, and are read in again */
		c->begin = c->begin && c->begin <= (const uint8_t *)b ? c->begin : (const uint8_t *)b;
		c->end = end;
		if (c->p < c->end) {
			return 1;
		}
	}
	return 0;
}

size_t vt_raw_cursor_values(struct vt_raw_cursor *c, uint32_t w)
{
	uint32_t first = VT_RAW_GET(w, VALUES_COUNTER), i = 0, n, value = 0;
	int one = VT_RAW_IS(w, ONE_VALUE);
	const uint8_t *p = c->p + sizeof(w);

	c->h.dt = one ? VT_RAW_GET(w, ONE_VALUE_DT) : VT_RAW_GET(w, VALUES_DT);
	do {
		if (first + i >= VT_RAW_SHORT_COUNTERS || !(c->known >> (first + i) & 1) ||
			(!one && c->end - p < (ptrdiff_t)sizeof(value))) {
			return 0;
		}
		if (one) {
			c->latest[first] += VT_RAW_GET_SIGNED(w, ONE_VALUE_STEP);
		} else {
			value = tkm_get32(p, 0);
			p += sizeof(value);
			c->latest[first + i] += VT_RAW_GET_SIGNED(value, VALUE_STEP);
		}
		i++;
	} while (VT_RAW_GET(value, VALUE_MORE));
	n = i;
	memcpy(c->values, &c->latest[first], 8 * (size_t)n);
	for (i = 0; i < n; i++) {
		c->values[2 * n + i] = VT_RAW_FIRST_ID + first + i;
	}
	c->h.type = VT_RAW_COUNTERS;
	c->h.n = (uint8_t)n;
	c->body = (const uint8_t *)c->values;
	return (size_t)(p - c->p);
}

void vt_raw_cursor_remember(struct vt_raw_cursor *c)
{
	const uint8_t *ids = c->body + 8 * (size_t)c->h.n;
	uint32_t i, counter;

	for (i = 0; i < c->h.n; i++) {
		memcpy(&counter, ids + 4 * (size_t)i, 4);
		counter -= VT_RAW_FIRST_ID;
		if (counter < VT_RAW_SHORT_COUNTERS) {
			memcpy(&c->latest[counter], c->body + 8 * (size_t)i, 8);
			c->known |= 1u << counter;
		}
	}
}

/* ---- definitions ---- */

struct copy {
	size_t next, last;
	const uint8_t *p, *end;
	uint64_t number; /* of the definition at p */
	uint32_t size;
};

/* Moves to the next valid definition of this copy. Returns 0 if there is none. */
static int copy_next(struct vt_raw_file *f, struct copy *c)
{
	struct vt_raw_record h;
	const struct vt_raw_block *b;

	if (c->size) { /* at the beginning there is no p */
		c->p += c->size;
		c->size = 0;
	}
	for (;;) {
		if (c->end - c->p >= 16) {
			memcpy(&h, c->p, 8);
			if (h.dt >= 16 && h.dt % 8 == 0 && h.dt <= (size_t)(c->end - c->p)) {
				memcpy(&c->number, c->p + 8, 8);
				c->size = h.dt;
				return 1;
			}
			f->damage.blocks++;
		}
		if (c->next == c->last) {
			c->p = c->end = NULL;
			return 0;
		}
		b = block_at(f, f->ref[c->next++].index);
		c->p = (const uint8_t *)(b + 1);
		c->end = c->p + atomic_load_explicit(&b->used, memory_order_acquire);
		if (c->end > block_end(f, b)) {
			c->end = c->p;
		}
	}
}

/* Is a definition of statistics a copy of what is still in a table? */
static int is_in_table(const struct vt_raw_file *f, const struct vt_raw_def *d, uint64_t number)
{
	size_t i;

	for (i = 0; d->type == VT_RAW_DEF_STATISTICS && i < f->n_tables; i++) {
		const struct vt_raw_block *b = block_at(f, f->table[i]);

		if (b->stream == d->id && b->late == d->parent && b->base > 0 && number >= (uint64_t)b->base - 1) {
			return 1;
		}
	}
	return 0;
}

/* Hands out the rows of the tables as definitions. */
static int read_tables(const struct vt_raw_file *f, int (*fn)(const struct vt_raw_def *d, void *ctx), void *ctx)
{
	size_t i, k;
	int rc = 0;

	for (i = 0; i < f->n_tables; i++) {
		const struct vt_raw_block *b = block_at(f, f->table[i]);
		const struct vt_raw_row *row = (const struct vt_raw_row *)(const void *)(b + 1);
		size_t n = atomic_load_explicit(&b->used, memory_order_relaxed) / sizeof(*row);

		for (k = 0; k < n && rc == 0 && (const uint8_t *)(row + k + 1) <= block_end(f, b); k++) {
			struct vt_raw_def d = { .type = VT_RAW_DEF_STATISTICS,
				.name = "",
				.text = "",
				.description = "",
				.id = b->stream,
				.parent = b->late,
				.row = row[k] };

			/* the last call may be half counted */
			d.row.t.more = d.row.t.more < d.row.t.count ? d.row.t.more : d.row.t.count;
			rc = d.row.t.count ? fn(&d, ctx) : 0;
		}
	}
	return rc;
}

int vt_raw_definitions(struct vt_raw_file *f, int (*fn)(const struct vt_raw_def *d, void *ctx), void *ctx)
{
	struct copy c[VT_RAW_DEFINING] = { { 0 } };
	/* a definition is no longer than a block, and a block no longer than the file, whatever the head says */
	size_t room_size = f->head.block_size < f->size ? f->head.block_size : f->size;
	char *room = malloc(2 * room_size);
	void *list = malloc(room_size);
	struct vt_raw_def d;
	int rc = room && list ? 0 : -1, more[VT_RAW_DEFINING] = { 0 }, i, from, said;
	uint64_t number;

	for (i = 0; i < VT_RAW_DEFINING && rc == 0; i++) {
		c[i].next = f->copy[i].first;
		c[i].last = f->copy[i].last;
		more[i] = copy_next(f, &c[i]);
	}
	while (rc == 0) {
		for (i = 0, from = -1; i < VT_RAW_DEFINING; i++) {
			from = more[i] && (from < 0 || c[i].number < c[from].number) ? i : from;
		}
		if (from < 0) {
			break;
		}
		/* the same number in several copies is the same definition */
		number = c[from].number;
		for (i = from, said = 0; i < VT_RAW_DEFINING; i++) {
			if (more[i] && c[i].number == number) {
				if (!said && rc == 0 &&
					vt_raw_unpack_definition(c[i].p, c[i].size, &d, room, list) == 0) {
					said = 1;
					rc = is_in_table(f, &d, number) ? 0 : fn(&d, ctx);
				}
				more[i] = copy_next(f, &c[i]);
			}
		}
	}
	free(room);
	free(list);
	return rc ? rc : read_tables(f, fn, ctx);
}

static int is_one_of(const struct vt_raw_id *id, const struct vt_raw_id *of, size_t m)
{
	while (m > 0 &&
		(of[m - 1].pid != id->pid || of[m - 1].born != id->born || strcmp(of[m - 1].boot, id->boot) ||
			of[m - 1].pid_namespace != id->pid_namespace)) {
		m--;
	}
	return m > 0;
}

size_t vt_raw_leave_out(char **path, size_t *n, uint64_t launch)
{
	struct vt_raw_id *other = NULL, *id;
	size_t i, others = 0, kept = 0, all = *n;
	struct vt_raw_head h;
	char *moved;

	for (i = 0; i < all && launch; i++) {
		id = vt_raw_read_head(path[i], &h) == 0 && h.launch && h.launch != launch ? TKM_APPEND(other, others)
											  : NULL;
		if (id) {
			*id = h.id;
		}
	}
	for (i = 0; i < all && others; i++) {
		if (vt_raw_read_head(path[i], &h) < 0 || h.launch == launch || !is_one_of(&h.id, other, others)) {
			moved = path[kept];
			path[kept++] = path[i];
			path[i] = moved;
		}
	}
	*n = others ? kept : all;
	free(other);
	return all - *n;
}

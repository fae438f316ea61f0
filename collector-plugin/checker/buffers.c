/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory that MPI may read or write while a transfer is under way: no other transfer may use it, and the program must not
 * change it. */
#include "config.h"
#include "collector-plugin/checker/checker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "collector-plugin/raw/format.h"

enum { SHOWN = 32, SHOWN_BYTES = 4096, MOST = 1 << 24, PIECES = 2048, COMPARED = 1024 };

static int is_page_readable(int64_t at)
{
	enum { KNOWN = 256 };
	static __thread int64_t known[KNOWN]; /* pages that are */
	int64_t page = at >> 12;
	struct iovec from = { (void *)(uintptr_t)at, 1 }, to;
	int saved = errno, good = known[page % KNOWN] == page;
	char byte;

	if (!good) {
		to = (struct iovec){ &byte, 1 };
		good = process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 1 || errno != EFAULT;
		known[page % KNOWN] = good ? page : 0;
		errno = saved;
	}
	return good;
}

/* Memory of a GPU may be given to MPI, but cannot be read here. */
static int is_readable(int64_t low, int64_t high)
{
	return low >= high || (is_page_readable(low) && is_page_readable(high - 1));
}

static uint64_t sum_bytes(int64_t low, int64_t high)
{
	size_t n = (size_t)(high - low), whole = n & ~(size_t)3, at, length;
	const char *p = (const char *)low, *from;
	uint32_t aligned[PIECES / 4], rest = 0;
	uint64_t sum = 0;

	for (at = 0; at < whole; at += length) {
		length = whole - at < PIECES ? whole - at : PIECES;
		from = p + at;
		if ((uintptr_t)p % 4) {
			memcpy(aligned, from, length);
			from = (const char *)aligned;
		}
		sum = sum * 31 + vt_raw_check(from, length, 0);
	}
	memcpy(&rest, p + whole, n - whole);
	return sum * 31 + rest;
}

static int is_dense(const struct vt_mc_pending *p)
{
	return p->type && p->type->known && p->type->n_blocks == 1 && p->type->bytes == p->type->extent &&
		p->type->true_lb == 0;
}

static int has_range(const struct vt_mc_pending *p)
{
	return p->high > p->low && p->low >= 4096;
}

/* ---- two transfers in one place ---- */

static int compare_blocks(const void *a, const void *b)
{
	const struct vt_mc_block *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

/* The bytes of a transfer; NULL: they are too many, or unknown. */
static struct vt_mc_block *list_blocks(const struct vt_mc_pending *p, int *n)
{
	const struct vt_mc_object *t = p->type;
	struct vt_mc_block *list;
	long long i;
	int k;

	*n = 0;
	if (is_dense(p) || !t) {
		list = malloc(sizeof(*list));
		if (list) {
			list[(*n)++] = (struct vt_mc_block){ p->low, p->high };
		}
		return list;
	}
	if (t->n_blocks <= 0 || p->count > PIECES / t->n_blocks) {
		return NULL;
	}
	list = malloc((size_t)(p->count * t->n_blocks) * sizeof(*list));
	for (i = 0; list && i < p->count; i++) {
		for (k = 0; k < t->n_blocks; k++) {
			list[(*n)++] = (struct vt_mc_block){ (int64_t)p->buffer + i * t->extent + t->block[k].from,
				(int64_t)p->buffer + i * t->extent + t->block[k].to };
		}
	}
	if (list) {
		qsort(list, (size_t)*n, sizeof(*list), compare_blocks);
	}
	return list;
}

static int share_bytes(const struct vt_mc_pending *p, const struct vt_mc_pending *q)
{
	struct vt_mc_block *a, *b;
	int na, nb, i = 0, j = 0, found = 0;

	if (is_dense(p) && is_dense(q)) {
		return 1;
	}
	a = list_blocks(p, &na);
	b = list_blocks(q, &nb);
	while (a && b && i < na && j < nb && !found) {
		if (a[i].to <= b[j].from) {
			i++;
		} else if (b[j].to <= a[i].from) {
			j++;
		} else {
			found = 1;
		}
	}
	free(a);
	free(b);
	return found;
}

void vt_mc_buffer_begins(struct vt_mc_call *k, struct vt_mc_pending *p)
{
	struct vt_mc_pending *q;
	struct vt_mc_involved other;
	int n = 0, overlaps = 0;

	p->overlapped = 0;
	if (!has_range(p) || (p->transfer <= VT_MC_RECEIVES && p->peer == MPI_PROC_NULL)) {
		return;
	}
	for (q = vt_mc_active_next(NULL); q && n++ < COMPARED; q = vt_mc_active_next(q)) {
		if (q->low < p->high && p->low < q->high && (p->writes || q->writes) && q != p->twin && q->twin != p &&
			!q->freed && share_bytes(p, q)) {
			other = (struct vt_mc_involved){ "started by", &q->started };
			vt_mc_report(VT_MC_OVERLAP, k, &other, "the buffer is in use by %s, which is not complete%s",
				q->started.f ? q->started.f->text : "another call",
				q->started.f == k->f && q->blocking ? ": it is the other buffer of this call" : "");
			/* then MPI itself may change the one that is sent */
			overlaps = 1;
			q->summed = q->has_shown = 0;
			p->overlapped = q->overlapped = 1;
			break;
		}
	}
	if (!overlaps && !p->writes && is_dense(p) && p->high - p->low <= MOST && is_readable(p->low, p->high)) {
		p->checksum = sum_bytes(p->low, p->high);
		p->summed = 1;
	}
}

static void report_change(struct vt_mc_call *k, struct vt_mc_pending *p)
{
	struct vt_mc_involved other = { "started by", &p->started };

	if (!p->told) {
		p->told = 1;
		vt_mc_report(p->writes ? VT_MC_RECEIVE_MODIFIED : VT_MC_MODIFICATION, k, &other,
			"the program has changed the buffer of %s, which is not complete: MPI may still %s it",
			p->started.f ? p->started.f->text : "a call", p->writes ? "write into" : "read");
	}
}

void vt_mc_buffer_ends(struct vt_mc_call *k, struct vt_mc_pending *p)
{
	if (p->summed && !p->told && !p->partitioned && sum_bytes(p->low, p->high) != p->checksum) {
		report_change(k, p);
	}
	p->summed = 0;
}

void vt_mc_buffer_received(struct vt_mc_call *k, struct vt_mc_pending *p, const MPI_Status *status)
{
	struct vt_mc_involved other = { "started by", &p->started };
	char place[300];
	int bytes = -1;

	if (!vt_mc_on(VT_MC_CORRUPTED) || !p->got.summed || p->overlapped || !has_range(p) || !is_dense(p) ||
		vt_mc_several_threads || vt_mc_shared->unordered || vt_mc_shared->untracked || !status ||
		PMPI_Get_count(status, MPI_BYTE, &bytes) != MPI_SUCCESS || (uint64_t)bytes != p->got.bytes ||
		bytes > p->high - p->low || !is_readable(p->low, p->low + bytes) ||
		sum_bytes(p->low, p->low + bytes) == p->got.checksum) {
		return;
	}
	vt_mc_report(VT_MC_CORRUPTED, k, p->blocking ? NULL : &other,
		"the %d bytes that came are not those that rank %d had when it began to send them, with tag %d by %s   %s",
		bytes, p->got.from, p->got.tag, p->got.name, vt_mc_print_offset(p->got.place, place, sizeof(place)));
}

/* Only of basic types: derived ones may have the same bytes in another order. */
int64_t vt_mc_bcast_sum(const struct vt_mc_call *k, uint64_t *sum)
{
	const struct vt_mc_object *type;
	int64_t low, bytes;

	if (!vt_mc_is(k, "Bcast") || !VT_MC_HAS(k, VT_MC_BUF) || !vt_mc_on(VT_MC_COLL_CORRUPTED) ||
		vt_mc_several_threads) {
		return 0;
	}
	type = vt_mc_type((MPI_Datatype)VT_MC_WORD(k, VT_MC_DATATYPE));
	low = (int64_t)VT_MC_WORD(k, VT_MC_BUF);
	if (!type || !type->predefined || !type->known || type->bytes <= 0 || type->bytes != type->extent ||
		low < 4096 || vt_mc_count(k, VT_MC_COUNT) > MOST / type->bytes) {
		return 0;
	}
	bytes = vt_mc_count(k, VT_MC_COUNT) * type->bytes;
	if (!is_readable(low, low + bytes)) {
		return 0;
	}
	*sum = sum_bytes(low, low + bytes);
	return bytes;
}

void vt_mc_bcast_received(const struct vt_mc_call *k)
{
	uint64_t sum;

	if (k->root_bytes && vt_mc_bcast_sum(k, &sum) == k->root_bytes && sum != k->root_sum) {
		vt_mc_report(VT_MC_COLL_CORRUPTED, k, NULL, "the %lld bytes that came are not those that the root had",
			(long long)k->root_bytes);
	}
}

/* ---- between two calls ---- */

static int is_shown(const struct vt_mc_pending *p)
{
	return has_range(p) && is_dense(p) && p->high - p->low <= SHOWN_BYTES && !p->partitioned && !p->freed &&
		is_readable(p->low, p->high);
}

void vt_mc_buffers_show(void)
{
	struct vt_mc_pending *p;
	int n = 0;

	for (p = vt_mc_active_next(NULL); p && n < SHOWN; p = vt_mc_active_next(p)) {
		if (is_shown(p)) {
			p->shown = sum_bytes(p->low, p->high);
			p->has_shown = 1;
			n++;
		}
	}
	for (; p && n < 2 * SHOWN; p = vt_mc_active_next(p), n++) {
		p->has_shown = 0;
	}
}

void vt_mc_buffers_compare(struct vt_mc_call *k)
{
	struct vt_mc_pending *p, *next;
	int n = 0;

	for (p = vt_mc_active_next(NULL); p && n < SHOWN; p = next, n++) {
		next = vt_mc_active_next(p);
		if (p->has_shown && is_shown(p) && !p->told && !vt_mc_several_threads &&
			sum_bytes(p->low, p->high) != p->shown) {
			report_change(k, p);
		}
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory that MPI may read or write while a transfer is under way: no other transfer may use it, and the program must not
 * change it. */
#include "config.h"
#include "collector-plugin/checker/checker.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "collector-plugin/raw/format.h"

enum { SHOWN = 32, SHOWN_BYTES = 4096, MOST = 1 << 24, PIECES = 2048, COMPARED = 1024 };

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

/* ---- the buffers of one call ---- */

struct range {
	int64_t low, high; /* equal: none, or not known */
	int dense;
};

static struct range range_of(const struct vt_mc_call *k, struct vt_mc_side side)
{
	struct range r = { 0, 0, 0 };
	enum vt_mc_role buffer = side.buffer, count = side.count, type = side.type;
	const struct vt_mc_object *t;
	long long n;

	if (!VT_MC_HAS(k, buffer) || !VT_MC_HAS(k, count) || !VT_MC_HAS(k, type) || k->f->pointer[k->f->at[count]] ||
		k->f->pointer[k->f->at[type]] || (void *)VT_MC_WORD(k, buffer) == MPI_IN_PLACE ||
		vt_mc_is_unused(k, k->f->at[buffer])) {
		return r;
	}
	t = vt_mc_type((MPI_Datatype)VT_MC_WORD(k, type));
	n = vt_mc_count(k, count) * side.times;
	if (t && t->known && t->bytes > 0 && t->extent >= 0 && n > 0) {
		r.low = (int64_t)VT_MC_WORD(k, buffer) + t->true_lb;
		r.high = r.low + (n - 1) * t->extent + t->true_extent;
		r.dense = t->n_blocks == 1 && t->bytes == t->extent && t->true_lb == 0;
	}
	return r;
}

static int has_word(const struct vt_mc_call *k, const char *word)
{
	return strstr(k->f->text, word) != NULL;
}

static int is_of_device(struct dl_phdr_info *info, size_t size, void *arg)
{
	static const char *const libraries[] = { "libcuda.so", "libamdhip64.so", "libhsa-runtime64.so",
		"libze_loader.so", NULL };
	int i;

	(void)size;
	(void)arg;
	for (i = 0; libraries[i] && !(info->dlpi_name && strstr(info->dlpi_name, libraries[i])); i++) {
	}
	return libraries[i] != NULL;
}

/* May memory be given to MPI that only a device can read? Its libraries are then in the process. */
static int has_device(void)
{
	return dl_iterate_phdr(is_of_device, NULL);
}

static void check_there(struct vt_mc_call *k, const struct range *r, const char *what)
{
	if (r->high > r->low && r->low >= 4096 && !k->refused && !vt_mc_is_readable(r->low, r->high) &&
		(vt_mc_is_unmapped(r->low) || vt_mc_is_unmapped(r->high - 1)) && !has_device()) {
		k->rc = MPI_ERR_BUFFER;
		k->refused = vt_mc_report(VT_MC_INACCESSIBLE, k, NULL,
			"there is no memory for all of the %lld bytes of %s, from %#llx", (long long)(r->high - r->low),
			what, (unsigned long long)r->low);
	}
}

static const int *array_named(const struct vt_mc_call *k, const char *name)
{
	int i;

	for (i = 0; i < k->f->n; i++) {
		if (vt_mc_name_is(k->f, i, name) && k->f->kind[i] == VT_MC_INT && k->f->pointer[i]) {
			return (const int *)k->w[i];
		}
	}
	return NULL;
}

/* MPI_Gatherv and its like: the parts of several members may not come to one place. */
static void check_parts(struct vt_mc_call *k, const struct vt_mc_object *c)
{
	const int *counts = array_named(k, "recvcounts"), *at = array_named(k, "displs");
	const struct vt_mc_object *t = VT_MC_HAS(k, VT_MC_RTYPE) && !k->f->pointer[k->f->at[VT_MC_RTYPE]] &&
			!vt_mc_is_unused(k, k->f->at[VT_MC_RTYPE])
		? vt_mc_type((MPI_Datatype)VT_MC_WORD(k, VT_MC_RTYPE))
		: NULL;
	struct vt_mc_block *part;
	int i, n = 0, ordered = 1;

	at = at ? at : array_named(k, "rdispls");
	if (!counts || !at || !t || !t->known || t->n_blocks != 1 || t->bytes != t->extent || has_word(k, "catter")) {
		return;
	}
	part = malloc((size_t)c->size * sizeof(*part) + 1);
	for (i = 0; part && i < c->size; i++) {
		if (counts[i] > 0) {
			part[n++] = (struct vt_mc_block){ at[i], (int64_t)at[i] + counts[i] };
			ordered &= n < 2 || part[n - 2].from <= part[n - 1].from;
		}
	}
	if (!ordered) {
		qsort(part, (size_t)n, sizeof(*part), vt_mc_compare_blocks);
	}
	for (i = 1; i < n && part[i].from >= part[i - 1].to; i++) {
	}
	if (i < n) {
		vt_mc_report(VT_MC_OVERLAP, k, NULL,
			"the parts of two members have the same place: one begins at %lld, and another one, from %lld, ends at %lld",
			(long long)part[i].from, (long long)part[i - 1].from, (long long)part[i - 1].to);
	}
	free(part);
}

void vt_mc_buffer_sides(
	const struct vt_mc_call *k, const struct vt_mc_object *c, struct vt_mc_side *sent, struct vt_mc_side *taken)
{
	int all = has_word(k, "lltoall"), blocks = has_word(k, "educe_scatter_block");
	enum vt_mc_role count = blocks ? VT_MC_RCOUNT : VT_MC_COUNT;

	if (VT_MC_HAS(k, VT_MC_OPERATOR)) {
		*sent = (struct vt_mc_side){ VT_MC_BUF, count, VT_MC_DATATYPE, blocks ? c->size : 1 };
		*taken = (struct vt_mc_side){ VT_MC_RBUF, count, VT_MC_DATATYPE, 1 };
	} else {
		*sent = (struct vt_mc_side){ VT_MC_BUF, VT_MC_COUNT, VT_MC_DATATYPE,
			all || has_word(k, "catter") ? c->size : 1 };
		*taken = (struct vt_mc_side){ VT_MC_RBUF, VT_MC_RCOUNT, VT_MC_RTYPE,
			all || has_word(k, "ather") ? c->size : 1 };
	}
}

static void check_collective(struct vt_mc_call *k, const struct vt_mc_object *c)
{
	struct vt_mc_side sends, takes;
	struct range sent, taken;

	vt_mc_buffer_sides(k, c, &sends, &takes);
	sent = range_of(k, sends);
	taken = range_of(k, takes);
	check_there(k, &sent, "the buffer that is sent");
	check_there(k, &taken, "the buffer that receives");
	if (!k->refused && sent.dense && taken.dense && sent.low < taken.high && taken.low < sent.high) {
		vt_mc_report(VT_MC_OVERLAP, k, NULL,
			"the two buffers have bytes in common: give MPI_IN_PLACE, where that is meant, or other memory");
	}
	if (k->f->fits && VT_MC_HAS(k, VT_MC_RBUF)) {
		check_parts(k, c);
	}
}

void vt_mc_buffers_of_call(struct vt_mc_call *k)
{
	enum vt_mc_sort s = k->f->sort;
	const struct vt_mc_object *c;
	struct range r;

	if (s >= VT_MC_COLL && s <= VT_MC_COLL_INIT) {
		c = VT_MC_HAS(k, VT_MC_OF_COMM) ? vt_mc_comm((MPI_Comm)VT_MC_WORD(k, VT_MC_OF_COMM)) : NULL;
		if (c && !c->inter && !has_word(k, "eighbor")) {
			check_collective(k, c);
		}
		return;
	}
	if (s < VT_MC_SEND || (s > VT_MC_SENDRECV_REPLACE && s != VT_MC_RMA && s != VT_MC_IO && s != VT_MC_IO_POSTED)) {
		return;
	}
	if (!(VT_MC_HAS(k, VT_MC_DEST) && VT_MC_NUMBER(k, VT_MC_DEST) == MPI_PROC_NULL) &&
		!(VT_MC_HAS(k, VT_MC_SOURCE) && VT_MC_NUMBER(k, VT_MC_SOURCE) == MPI_PROC_NULL)) {
		r = range_of(k, (struct vt_mc_side){ VT_MC_BUF, VT_MC_COUNT, VT_MC_DATATYPE, 1 });
		check_there(k, &r, "the buffer");
		if (s == VT_MC_SENDRECV) {
			r = range_of(k, (struct vt_mc_side){ VT_MC_RBUF, VT_MC_RCOUNT, VT_MC_RTYPE, 1 });
			check_there(k, &r, "the buffer that receives");
		}
	}
}

/* ---- two transfers in one place ---- */

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
		qsort(list, (size_t)*n, sizeof(*list), vt_mc_compare_blocks);
	}
	return list;
}

int vt_mc_share_bytes(const struct vt_mc_pending *p, const struct vt_mc_pending *q)
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

/* The program may use it again. */
static void leave_memory(struct vt_mc_pending *p)
{
	p->low = p->high = 0;
	p->summed = p->has_shown = 0;
}

void vt_mc_buffer_begins(struct vt_mc_call *k, struct vt_mc_pending *p)
{
	struct vt_mc_pending *q;
	struct vt_mc_involved other;
	int n = 0, overlaps = 0;

	p->overlapped = p->readable = 0;
	if (!has_range(p) || (p->transfer <= VT_MC_RECEIVES && p->peer == MPI_PROC_NULL)) {
		return;
	}
	for (q = vt_mc_active_next(NULL); q && n++ < COMPARED; q = vt_mc_active_next(q)) {
		if (q->low < p->high && p->low < q->high && (p->writes || q->writes) && q != p->twin && q->twin != p &&
			!q->freed && vt_mc_share_bytes(p, q)) {
			if (vt_mc_is_over(q)) {
				leave_memory(q);
				continue;
			}
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
	p->readable = vt_mc_is_readable(p->low, p->high);
	if (!overlaps && !p->writes && is_dense(p) && p->high - p->low <= MOST && p->readable) {
		p->checksum = sum_bytes(p->low, p->high);
		p->summed = 1;
	}
}

/* Are its bytes others, or has the program given their memory back? A call that waits has it meanwhile. */
static int is_changed(struct vt_mc_pending *p, uint64_t checksum)
{
	p->readable = p->blocking || vt_mc_is_readable(p->low, p->high);
	return p->readable ? sum_bytes(p->low, p->high) != checksum
			   : vt_mc_is_unmapped(p->low) || vt_mc_is_unmapped(p->high - 1);
}

static void report_change(struct vt_mc_call *k, struct vt_mc_pending *p)
{
	struct vt_mc_involved other = { "started by", &p->started };

	if (!p->told) {
		p->told = 1;
		vt_mc_report(p->writes ? VT_MC_RECEIVE_MODIFIED : VT_MC_MODIFICATION, k, &other,
			"the program has %s the buffer of %s, which is not complete: MPI may still %s it",
			p->readable ? "changed" : "given back the memory of",
			p->started.f ? p->started.f->text : "a call", p->writes ? "write into" : "read");
	}
}

void vt_mc_buffer_ends(struct vt_mc_call *k, struct vt_mc_pending *p)
{
	if (p->summed && !p->told && !p->partitioned && is_changed(p, p->checksum)) {
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
		bytes > p->high - p->low || !vt_mc_is_readable(p->low, p->low + bytes) ||
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
	if (!vt_mc_is_readable(low, low + bytes)) {
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

/* A network may bring what a one-sided operation gets, at any time, and a thread of MPI what is read from a file. */
static int may_come(const struct vt_mc_pending *p)
{
	return p->writes && (p->file || (p->win && (!vt_mc_shared || vt_mc_shared->absent)));
}

static int may_show_bytes(const struct vt_mc_pending *p)
{
	return has_range(p) && !may_come(p) && is_dense(p) && p->high - p->low <= SHOWN_BYTES && !p->partitioned &&
		!p->freed && p->readable;
}

void vt_mc_buffers_show(void)
{
	struct vt_mc_pending *p;
	int n = 0;

	for (p = vt_mc_active_next(NULL); p && n < SHOWN && !vt_mc_several_threads; p = vt_mc_active_next(p)) {
		/* of the others, vt_mc_buffers_compare() has asked before this call */
		p->readable = may_show_bytes(p) && (p->has_shown || vt_mc_is_readable(p->low, p->high));
		if (p->readable) {
			/* MPI does not change what it sends */
			p->shown = p->has_shown && !p->writes && !p->overlapped ? p->shown : sum_bytes(p->low, p->high);
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
	struct vt_mc_pending *p;
	int n = 0;

	for (p = vt_mc_active_next(NULL); p && n < SHOWN && !vt_mc_several_threads; p = vt_mc_active_next(p)) {
		if (!p->has_shown || !may_show_bytes(p)) {
			continue;
		}
		n++;
		if (is_changed(p, p->shown)) {
			if (vt_mc_is_over(p)) {
				leave_memory(p);
			} else {
				report_change(k, p);
			}
		}
	}
}

void vt_mc_set_range(struct vt_mc_pending *p)
{
	const struct vt_mc_object *t = p->type;

	p->low = p->high = 0;
	if (t && t->known && t->bytes > 0 && p->count > 0 && t->extent >= 0) {
		p->low = (int64_t)p->buffer + t->true_lb;
		p->high = p->low + (p->count - 1) * t->extent + t->true_extent;
	}
}

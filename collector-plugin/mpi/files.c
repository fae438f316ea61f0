/* SPDX-License-Identifier: BSD-3-Clause */
/* Records the bytes that MPI-IO and one-sided operations move, and keeps the table of open files and windows. */
#include "config.h"
#include "collector-plugin/mpi/files.h"

#include <stdio.h>
#include <string.h>

#include "collector-plugin/host/lock.h"
#include "collector-plugin/mpi/record.h"
#include "collector-plugin/trace/define.h"

/* The table from handles to files and windows, searched without a lock. */
enum { HANDLES = 1 << 12, GONE = 1 };
struct handle {
	_Atomic uintptr_t handle; /* 0: free; GONE: was freed */
	uint32_t id;              /* of a file its id; of a window its number on its communicator */
	uint32_t communicator;
	int ranks;                /* of a window: how many ranks it has */
	_Atomic uint32_t *places; /* [ranks]: id from vt_file(); 0: not defined yet */
	struct vt_window *window;
};
static struct handle files[HANDLES], windows[HANDLES];
static struct handle symmetric; /* of OpenSHMEM */
static struct vt_lock lock = VT_LOCK_INIT;

static uint32_t first_slot_of_file(uintptr_t handle)
{
	return (uint32_t)((uint64_t)handle * 0x9e3779b97f4a7c15u >> 52);
}

static struct handle *find_file_handle(struct handle *table, uintptr_t handle)
{
	uint32_t i = first_slot_of_file(handle), n;
	uintptr_t there;

	for (n = 0; n < HANDLES; n++, i = (i + 1) % HANDLES) {
		there = atomic_load_explicit(&table[i].handle, memory_order_acquire);
		if (there == handle || there == 0) {
			return there ? &table[i] : NULL;
		}
	}
	return NULL;
}

/* Enters a new handle into the table. If the table is full, it is ignored. */
static void add_file_handle(struct handle *table, const struct handle *h, uintptr_t handle)
{
	uint32_t i = first_slot_of_file(handle), n;
	struct handle *old;

	vt_lock(&lock);
	old = find_file_handle(table, handle);
	if (old) {
		atomic_store(&old->handle, GONE);
	}
	for (n = 0; n < HANDLES && atomic_load(&table[i].handle) > GONE; n++) {
		i = (i + 1) % HANDLES;
	}
	if (n < HANDLES) {
		table[i].id = h->id;
		table[i].communicator = h->communicator;
		table[i].ranks = h->ranks;
		table[i].places = h->places;
		table[i].window = h->window;
		atomic_store_explicit(&table[i].handle, handle, memory_order_release);
	}
	vt_unlock(&lock);
}

static void take_away(struct handle *table, uintptr_t handle)
{
	struct handle *h = find_file_handle(table, handle);

	if (h) {
		/* another thread may still use `places`, which is not freed */
		atomic_store(&h->handle, GONE);
	}
}

static uint32_t define_moved_file(const char *name, uint32_t communicator)
{
	uint32_t id;

	vt_inside_begin();
	id = vt_file(vt_tls.collect, name, communicator);
	vt_inside_end();
	return id;
}

void vt_file_opened(MPI_File file, const char *name, size_t length, MPI_Comm comm)
{
	const struct vt_comm *c = vt_comm_of(comm);
	struct handle h = { .communicator = c ? c->id : 0 };
	char text[4096];

	if (name) {
		snprintf(text, sizeof(text), "%.*s", (int)(length < sizeof(text) ? length : sizeof(text) - 1), name);
		h.id = define_moved_file(text, h.communicator);
		add_file_handle(files, &h, (uintptr_t)file);
	}
}

void vt_file_closed(MPI_File file)
{
	take_away(files, (uintptr_t)file);
}

void vt_window_made(MPI_Win win, MPI_Comm comm)
{
	struct vt_comm *c = vt_comm_of(comm);
	struct handle h = { 0 };

	if (c) {
		h.communicator = c->id;
		h.id = atomic_fetch_add(&c->windows, 1) + 1;
		h.ranks = c->size;
		h.places = vt_trace_memory((size_t)c->size * sizeof(*h.places));
		h.window = vt_trace_memory(sizeof(*h.window));
		if (h.window) {
			*h.window = (struct vt_window){ .parent = c, .number = h.id };
		}
		if (h.places) {
			add_file_handle(windows, &h, (uintptr_t)win);
		}
	}
}

void vt_window_gone(MPI_Win win)
{
	take_away(windows, (uintptr_t)win);
}

struct vt_window *vt_window_of(MPI_Win win)
{
	struct handle *h = find_file_handle(windows, (uintptr_t)win);

	return h ? h->window : NULL;
}

void vt_symmetric_made(void)
{
	const struct vt_comm *c = vt_comm_of(MPI_COMM_WORLD);

	if (c && !symmetric.places) {
		symmetric.communicator = c->id;
		symmetric.places = vt_trace_memory((size_t)c->size * sizeof(*symmetric.places));
		symmetric.ranks = symmetric.places ? c->size : 0;
	}
}

static uint32_t file_of_place(struct handle *h, int target)
{
	char text[60];
	uint32_t id;

	if (!h || target < 0 || target >= h->ranks) {
		return 0; /* MPI_PROC_NULL, a wrong rank, or a window that was made before we could see it */
	}
	id = atomic_load_explicit(&h->places[target], memory_order_relaxed);
	if (!id) {
		if (h == &symmetric) {
			snprintf(text, sizeof(text), "symmetric memory of PE %d", target);
		} else {
			snprintf(text, sizeof(text), "window %u of rank %d", (unsigned)h->id, target);
		}
		id = define_moved_file(text, h->communicator);
		atomic_store_explicit(&h->places[target], id, memory_order_relaxed);
	}
	return id;
}

static uint32_t file_of_window(MPI_Win win, int target)
{
	return file_of_place(find_file_handle(windows, (uintptr_t)win), target);
}

/* ---- before and after the calls ---- */

static void begin_transfer(struct vt_mpi_call *k, const ltick_t *at, enum vt_raw_io kind, uint32_t file, uint64_t bytes)
{
	k->file = k->frame ? file : 0;
	k->io = kind;
	k->moving = k->file ? bytes : 0;
	if (k->file) {
		vt_trace_transfer(at, 1, kind, file, k->moving);
	}
}

static void end_transfer(struct vt_mpi_call *k, uint64_t bytes)
{
	ltick_t at = ltick(k->leave);

	if (k->file) {
		vt_trace_transfer(&at, 0, k->io, k->file, bytes);
	}
}

void vt_io_begin(struct vt_mpi_call *k, enum vt_raw_io kind, MPI_File file, long long count, MPI_Datatype type)
{
	const struct handle *h = find_file_handle(files, (uintptr_t)file);

	begin_transfer(k, NULL, kind, h ? h->id : 0, vt_type_bytes(count, type));
}

void vt_rma_begin(
	struct vt_mpi_call *k, enum vt_raw_io kind, int target, MPI_Win win, long long count, MPI_Datatype type)
{
	begin_transfer(k, NULL, kind, file_of_window(win, target), vt_type_bytes(count, type));
}

void vt_io_end(struct vt_mpi_call *k, const MPI_Status *status)
{
	MPI_Count n = 0;

	if (status && (PMPI_Get_elements_x(status, MPI_BYTE, &n) != MPI_SUCCESS || n < 0)) {
		n = 0;
	}
	end_transfer(k, (uint64_t)n);
}

void vt_io_all(struct vt_mpi_call *k, int result)
{
	end_transfer(k, result == MPI_SUCCESS ? k->moving : 0);
}

void vt_io_posted(struct vt_mpi_call *k, int result, MPI_Request request)
{
	if (result != MPI_SUCCESS || !vt_outside_posted(k, request)) {
		vt_io_all(k, result);
	}
}

void vt_rma_both(struct vt_mpi_call *k, int target, MPI_Win win, long long count, MPI_Datatype type, int result)
{
	ltick_t at = ltick(k->leave);

	vt_io_all(k, result);
	if (k->file) {
		begin_transfer(k, &at, VT_RAW_READ, file_of_window(win, target), vt_type_bytes(count, type));
		vt_io_all(k, result);
	}
}

/* ---- OpenSHMEM ---- */

void vt_symmetric_begin(struct vt_mpi_call *k, enum vt_raw_io kind, int pe, uint64_t bytes)
{
	begin_transfer(k, NULL, kind, file_of_place(&symmetric, pe), bytes);
}

void vt_symmetric_end(struct vt_mpi_call *k, int back)
{
	ltick_t at = ltick(k->leave);

	end_transfer(k, k->moving);
	if (back >= 0) {
		begin_transfer(k, &at, VT_RAW_READ, file_of_place(&symmetric, back), k->moving);
		end_transfer(k, k->moving);
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Room for MPI_Bsend, in the worst case that the MPI standard allows: a message leaves the buffer when it was received, and room is free
 * again from the oldest message on (section 3.6.1 of MPI 3.1). MPI often needs less, and then only at times. */
#include "config.h"
#include "collector-plugin/checker/checker.h"

#include <stdlib.h>
#include <string.h>

/* Messages in the buffer, the oldest first. */
static struct held {
	int message;
	uint64_t number;
	long long bytes;
} * held;
static size_t n_held, room;
static long long buffer_bytes = -1; /* none */

static void drop_received(void)
{
	size_t n = 0;

	while (n < n_held && !vt_mc_message_waits(held[n].message, held[n].number)) {
		n++;
	}
	if (n) {
		n_held -= n;
		memmove(held, held + n, n_held * sizeof(*held));
	}
}

static void hold_message(const struct vt_mc_pending *p, long long bytes)
{
	struct held *more;

	if (n_held == room) {
		more = realloc(held, (2 * room + 16) * sizeof(*held));
		if (!more) {
			return;
		}
		held = more;
		room = 2 * room + 16;
	}
	held[n_held++] = (struct held){ p->message, p->number, bytes };
}

void vt_mc_bsend_begins(struct vt_mc_call *k, const struct vt_mc_pending *p)
{
	long long used = 0;
	int size = 0;
	size_t i;

	/* a message that is not followed may have left at once */
	if (buffer_bytes < 0 || !p->number || p->count <= 0 || !p->type || p->type->bytes == 0 ||
		PMPI_Pack_size((int)p->count, (MPI_Datatype)p->type->handle, (MPI_Comm)p->comm->handle, &size) !=
			MPI_SUCCESS) {
		return;
	}
	drop_received();
	for (i = 0; i < n_held; i++) {
		used += held[i].bytes;
	}
	if (used + size + MPI_BSEND_OVERHEAD > buffer_bytes) {
		vt_mc_report(VT_MC_BSEND, k, NULL,
			"the message needs %d bytes of the buffer of %lld, and %zu message%s before it may still be in "
			"%lld of them",
			size + MPI_BSEND_OVERHEAD, buffer_bytes, n_held, n_held == 1 ? "" : "s", used);
	}
	hold_message(p, size + MPI_BSEND_OVERHEAD);
}

void vt_mc_bsend_after(const struct vt_mc_call *k)
{
	if (!strncmp(k->f->text, "MPI_Buffer_attach", 17)) {
		buffer_bytes = k->f->kind[1] == VT_MC_INT ? (int)k->w[1] : (long long)k->w[1];
		n_held = 0;
	} else if (!strncmp(k->f->text, "MPI_Buffer_detach", 17)) {
		buffer_bytes = -1;
		n_held = 0;
	}
}

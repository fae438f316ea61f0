/* SPDX-License-Identifier: BSD-3-Clause */
/* Room for MPI_Bsend, in the worst case that the MPI standard allows: a message leaves the buffer when it was received, and room is free
 * again from the oldest message on (section 3.6.1 of MPI 3.1). MPI often needs less, and then only at times. */
#include "config.h"
#include "collector-plugin/checker/checker.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Messages in the buffer, the oldest first. */
static struct held {
	int message;
	uint64_t number;
	long long bytes;
} * held;
static size_t first, n_held, room;  /* held[first] is the oldest */
static long long used;              /* bytes of all of them */
static long long buffer_bytes = -1; /* none, or its room is not known */
static int attached;                /* the program has given a buffer, of whatever size */
static int others; /* a communicator has a buffer of its own: which messages are in it is not followed */

static void forget_held(void)
{
	first = n_held = 0;
	used = 0;
}

static void drop_received(void)
{
	while (first < n_held && !vt_mc_message_waits(held[first].message, held[first].number)) {
		used -= held[first++].bytes;
	}
	if (first > n_held / 2) {
		n_held -= first;
		memmove(held, held + first, n_held * sizeof(*held));
		first = 0;
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
	used += bytes;
}

/* What a message takes in the buffer; -1: unknown. */
static long long room_of(const struct vt_mc_pending *p)
{
	long long bytes = p->count > 0 && p->type ? p->count * (long long)p->type->bytes : 0;
	int size = 0;

	if (p->count < 0 || !p->type) {
		return -1;
	}
	/* in an int, as MPI_Pack_size() counts, large messages have no room */
	if (bytes > 0 && bytes < INT_MAX / 2 &&
		PMPI_Pack_size((int)p->count, (MPI_Datatype)p->type->handle, (MPI_Comm)p->comm->handle, &size) ==
			MPI_SUCCESS) {
		bytes = size;
	}
	return bytes + MPI_BSEND_OVERHEAD;
}

void vt_mc_bsend_begins(struct vt_mc_call *k, const struct vt_mc_pending *p)
{
	/* a message that is not followed may have left at once */
	long long bytes = buffer_bytes < 0 || !p->number || !vt_mc_on(VT_MC_BSEND) ? -1 : room_of(p);

	if (!attached && !others && p->peer >= 0 && p->comm) {
		vt_mc_report(VT_MC_BSEND, k, NULL,
			"there is no buffer: MPI_Buffer_attach was not called, or MPI_Buffer_detach was");
		return;
	}
	if (bytes < 0) {
		return;
	}
	drop_received();
	if (used + bytes > buffer_bytes) {
		vt_mc_report(VT_MC_BSEND, k, NULL,
			"the message needs %lld bytes of the buffer of %lld, and %zu message%s before it may still be in "
			"%lld of them",
			bytes, buffer_bytes, n_held - first, n_held - first == 1 ? "" : "s", used);
	} else {
		hold_message(p, bytes);
	}
}

static int is_named(const struct vt_mc_call *k, const char *begin)
{
	return !strncmp(k->f->text, begin, strlen(begin));
}

void vt_mc_bsend_after(const struct vt_mc_call *k)
{
	if (!strstr(k->f->text, "uffer")) {
		return;
	}
	if (is_named(k, "MPI_Buffer_attach")) {
		forget_held();
		attached = 1;
		buffer_bytes = others ? -1 : k->f->kind[1] == VT_MC_INT ? (int)k->w[1] : (long long)k->w[1];
#ifdef MPI_BUFFER_AUTOMATIC
		buffer_bytes = (void *)k->w[0] == MPI_BUFFER_AUTOMATIC ? -1 : buffer_bytes;
#endif
	} else if (is_named(k, "MPI_Buffer_detach")) {
		forget_held();
		attached = 0;
		buffer_bytes = -1;
	} else if (is_named(k, "MPI_Buffer_flush") || is_named(k, "MPI_Buffer_iflush")) {
		forget_held();
	} else if (is_named(k, "MPI_Comm_attach_buffer") || is_named(k, "MPI_Session_attach_buffer")) {
		buffer_bytes = -1;
		others = 1;
	}
}

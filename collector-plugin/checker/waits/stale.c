/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that is not there, and handles of requests that are complete or freed, or in memory that the program has not set. MPI itself
 * may wait for such a one for ever. Only Open MPI tells, by what a handle points to: other calls than those seen here may have made
 * it. */
#include "config.h"
#include "collector-plugin/checker/checker.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Is nothing mapped there? A mapping that cannot be read may be that of a device. */
int vt_mc_is_unmapped(int64_t at)
{
	unsigned char resident;
	int saved = errno, is = mincore((void *)(uintptr_t)(at & ~(int64_t)4095), 1, &resident) != 0 && errno == ENOMEM;

	errno = saved;
	return is;
}

/* The kernel reads the set of signals before it looks at what to do with it, and that is nothing it knows. No other way takes less time,
 * and what the program has unmapped since is not taken for readable. */
static int is_page_readable(int64_t at)
{
	enum { NOTHING = 99, SET = _NSIG / 8 };
	int saved = errno, good;

	/* the pointer as one: to a system call of 32 bits, a number of 64 is two arguments; a set at 0 is not read */
	good = at >= 4096 &&
		(syscall(SYS_rt_sigprocmask, NOTHING, (void *)(uintptr_t)(at & -(int64_t)SET), NULL, (size_t)SET) ==
				0 ||
			errno != EFAULT);
	errno = saved;
	return good;
}

/* Memory of a GPU may be given to MPI, but cannot be read here. */
int vt_mc_is_readable(int64_t low, int64_t high)
{
	return low >= high || (is_page_readable(low) && ((high - 1) >> 12 == low >> 12 || is_page_readable(high - 1)));
}

#ifdef OPEN_MPI
enum { PAGE = 4096, NAME = 64, WORDS = 40, TRANSFER = 96 };
/* Debug builds of Open MPI begin its objects with it. */
#define MAGIC UINT64_C(0xdeafbeeddeafbeed)

static int state_at; /* which word of a request is its state; 0: not known */

/* The state of an own persistent request goes from inactive, 1, to active, 2, and back, and is 0 when MPI may give it again. */
void vt_mc_request_learn(void)
{
	static const int states[] = { 1, 2, 1, 0 };
	MPI_Request request, at;
	MPI_Comm own;
	int word[4][WORDS], i, j, seen, n = 0;

	PMPI_Comm_dup(MPI_COMM_SELF, &own);
	PMPI_Recv_init(NULL, 0, MPI_BYTE, 0, 0, own, &request);
	at = request;
	for (i = 0; i < 4; i++) {
		if (!vt_mc_is_readable((int64_t)at, (int64_t)at + (int64_t)sizeof(word[i]))) {
			break;
		}
		memcpy(word[i], (const void *)at, sizeof(word[i]));
		if (i == 0) {
			PMPI_Start(&request);
		} else if (i == 1) {
			PMPI_Cancel(&request);
			PMPI_Wait(&request, MPI_STATUS_IGNORE);
		} else if (i == 2) {
			PMPI_Request_free(&request);
		}
	}
	PMPI_Comm_free(&own);
	for (j = 0, seen = i; seen == 4 && j < WORDS; j++) {
		for (i = 0; i < 4 && word[i][j] == states[i]; i++) {
		}
		if (i == 4) {
			state_at = j;
			n++;
		}
	}
	state_at = n == 1 ? state_at : 0;
}

/* The word there; 0: it cannot be read. */
static uintptr_t word_at(uintptr_t at)
{
	return at % sizeof(at) == 0 && at >= PAGE && vt_mc_is_readable((int64_t)at, (int64_t)(at + sizeof(at)))
		? *(const uintptr_t *)at
		: 0;
}

/* An object of Open MPI begins with a pointer to its class, and that with one to its name, like "ompi_request_t". */
int vt_mc_may_be(enum vt_mc_kind kind, uintptr_t handle)
{
	static const char *const names[VT_MC_KINDS] = { [VT_MC_COMM] = "communicator",
		[VT_MC_TYPE] = "datatype",
		[VT_MC_OP] = "op",
		[VT_MC_REQUEST] = "request",
		[VT_MC_GROUP] = "group" };
	uintptr_t class = word_at(handle), name = class == MAGIC ? 0 : word_at(class);
	char text[NAME + 1] = "";
	size_t room;

	if (class == MAGIC || !names[kind]) {
		return 1;
	}
	if (name < PAGE || !vt_mc_is_readable((int64_t)name, (int64_t)name + 1)) {
		return 0;
	}
	room = vt_mc_is_readable((int64_t)name, (int64_t)name + NAME) ? NAME : PAGE - name % PAGE;
	memcpy(text, (const char *)name, room < NAME ? room : NAME);
	return strstr(text, names[kind]) != NULL;
}

/* Is the handle certainly still that of the transfer, though the variable is null, as after the program copied it? MPI may have given it
 * again; then its words, which begin with what MPI knows of a transfer, have another buffer. */
static int is_kept(const struct vt_mc_pending *p)
{
	const uintptr_t *word = (const uintptr_t *)p->handle;
	int i;

	if (!state_at || !vt_mc_is_readable((int64_t)word, (int64_t)(word + TRANSFER)) ||
		!vt_mc_may_be(VT_MC_REQUEST, (uintptr_t)word) || ((const int *)word)[state_at] < 2) {
		return 0;
	}
	for (i = 0; i < TRANSFER && word[i] != p->buffer; i++) {
	}
	return i < TRANSFER;
}

static int is_in_state(uintptr_t handle, int least)
{
	return vt_mc_may_be(VT_MC_REQUEST, handle) && (!state_at || ((const int *)handle)[state_at] >= least);
}
#else
void vt_mc_request_learn(void)
{
}

int vt_mc_may_be(enum vt_mc_kind kind, uintptr_t handle)
{
	(void)kind;
	(void)handle;
	return 1;
}

enum { state_at = 0 };

static int is_kept(const struct vt_mc_pending *p)
{
	(void)p;
	return 0;
}

static int is_in_state(uintptr_t handle, int least)
{
	/* MPICH tells which numbers it has given */
	(void)handle;
	(void)least;
	return 1;
}
#endif

int vt_mc_is_request(uintptr_t handle)
{
	return is_in_state(handle, 1);
}

/* A call that completes it sets the variable to null. Only that tells of a message that was sent at once: its handle is one of all such. */
static int is_nulled(const struct vt_mc_pending *p)
{
	int64_t at = (int64_t)p->request_at, size = p->in_fortran ? sizeof(MPI_Fint) : sizeof(MPI_Request);

	return at && vt_mc_is_readable(at, at + size) && !is_kept(p) &&
		(p->in_fortran ? *(const MPI_Fint *)at == PMPI_Request_c2f(MPI_REQUEST_NULL)
			       : *(const MPI_Request *)at == MPI_REQUEST_NULL);
}

/* Where MPI shows no state: is this persistent request, which was started, no longer active? Its status is then an empty one. One that
 * is complete, but was not waited for, gives none of a receive, and no rank at all of a send. */
static int is_idle(const struct vt_mc_pending *p)
{
	MPI_Status status = { .MPI_SOURCE = MPI_PROC_NULL };
	int flag = 0;

	return !state_at && p->persistent && p->active &&
		(PMPI_Request_get_status(p->handle, &flag, &status) != MPI_SUCCESS ||
			(flag && status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG));
}

int vt_mc_is_over(const struct vt_mc_pending *p)
{
	const struct vt_mc_pending *q = vt_mc_active_next(NULL);

	while (q && q->twin != p) {
		q = vt_mc_active_next(q);
	}
	p = q ? q : p;
	return p->handle && !p->freed &&
		(is_nulled(p) || is_idle(p) || !is_in_state((uintptr_t)p->handle, 1 + (p->persistent && p->active)));
}

void vt_mc_refuse_stale(struct vt_mc_call *k, size_t i)
{
	if (!k->refused) {
		k->rc = MPI_ERR_REQUEST;
		k->refused = vt_mc_report(VT_MC_CALL_FAILED, k, NULL,
			"request %zu is none: it is complete or was freed before, or the variable was never set", i);
	}
}

/* p: what is known of it, or NULL: it is null. */
void vt_mc_refuse_start(struct vt_mc_call *k, const struct vt_mc_pending *p)
{
	const struct vt_mc_involved other = { "started by", p ? &p->started : NULL };

	k->refused = 1;
	k->rc = MPI_ERR_REQUEST;
	vt_mc_report(VT_MC_ILLEGAL_CALL, k, p ? &other : NULL, "%s",
		!p                      ? "the request is MPI_REQUEST_NULL"
			: p->persistent ? "the persistent request is active already: it was started and not completed"
					: "the request is not a persistent one");
}

void vt_mc_check_free(struct vt_mc_call *k, const struct vt_mc_pending *p, MPI_Request request)
{
	const struct vt_mc_involved other = { "started by", p ? &p->started : NULL };

	if (vt_mc_is_null(VT_MC_REQUEST, (uintptr_t)request)) {
		k->refused = 1;
		k->rc = MPI_ERR_REQUEST;
		vt_mc_report(VT_MC_FREE_FAILED, k, NULL,
			"the request is MPI_REQUEST_NULL: it is complete or was freed before");
	} else if (p && p->active && p->transfer == VT_MC_RECEIVES) {
		vt_mc_report(VT_MC_PREMATURE_FREE, k, &other,
			"the receive is not complete, and nothing will show when it is");
	}
}

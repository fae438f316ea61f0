/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles of requests in memory that the program has not set. MPI itself may wait for such a one for ever. */
#include "config.h"
#include "collector-plugin/checker/checker.h"

#ifdef OPEN_MPI
enum { PAGE = 4096, NAME = 64 };
/* Debug builds of Open MPI begin its objects with it. */
#define MAGIC UINT64_C(0xdeafbeeddeafbeed)

/* The word there; 0: it cannot be read. */
static uintptr_t word_at(uintptr_t at)
{
	return at % sizeof(at) == 0 && at >= PAGE && vt_mc_is_readable((int64_t)at, (int64_t)(at + sizeof(at)))
		? *(const uintptr_t *)at
		: 0;
}

/* An object of Open MPI begins with a pointer to its class, and that with one to its name, like "ompi_request_t". */
int vt_mc_may_be_request(uintptr_t handle)
{
	uintptr_t class = word_at(handle), name = class == MAGIC ? 0 : word_at(class);
	char text[NAME + 1] = "";
	size_t room;

	if (class == MAGIC) {
		return 1;
	}
	if (name < PAGE || !vt_mc_is_readable((int64_t)name, (int64_t)name + 1)) {
		return 0;
	}
	room = vt_mc_is_readable((int64_t)name, (int64_t)name + NAME) ? NAME : PAGE - name % PAGE;
	memcpy(text, (const char *)name, room < NAME ? room : NAME);
	return strstr(text, "request") != NULL;
}
#else
int vt_mc_may_be_request(uintptr_t handle)
{
	/* MPICH tells which numbers it has given */
	(void)handle;
	return 1;
}
#endif

void vt_mc_refuse_stale(struct vt_mc_call *k, size_t i)
{
	if (!k->refused) {
		k->rc = MPI_ERR_REQUEST;
		k->refused = vt_mc_report(VT_MC_CALL_FAILED, k, NULL,
			"request %zu is none: it is complete or was freed before, or the variable was never set", i);
	}
}

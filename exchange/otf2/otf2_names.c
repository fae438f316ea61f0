/* SPDX-License-Identifier: BSD-3-Clause */
/* The numbers of collective operations in OTF2, and the error messages of the OTF2 library. */
#include "config.h"
#include "exchange/otf2/otf2.h"

#include <stdarg.h>
#include <string.h>
#include <strings.h>

static OTF2_ErrorCode note_error(void *user, const char *file, uint64_t line, const char *function, OTF2_ErrorCode code,
	const char *format, va_list va)
{
	struct xch_otf2_errors *e = user;

	(void)file;
	(void)line;
	(void)function;
	if (!*e->text) {
		vsnprintf(e->text, sizeof(e->text), format, va);
	}
	return code;
}

void xch_otf2_errors_begin(struct xch_otf2_errors *e)
{
	e->text[0] = 0;
	e->before = OTF2_Error_RegisterCallback(note_error, e);
}

void xch_otf2_errors_end(struct xch_otf2_errors *e)
{
	OTF2_Error_RegisterCallback(e->before, NULL);
}

int xch_otf2_fail(
	struct tkm_err *err, struct xch_otf2_errors *e, const char *path, const char *what, OTF2_ErrorCode code)
{
	return tkm_fail(err, TKM_ERR_FORMAT, "%s: %s: %s%s%s", path, what,
		code != OTF2_SUCCESS ? OTF2_Error_GetDescription(code)
			: *e->text   ? ""
				     : "OTF2 gives no reason",
		code != OTF2_SUCCESS && *e->text ? ": " : "", e->text);
}

static const struct {
	const char *name;
	OTF2_CollectiveOp op;
	uint8_t type;
} ops[] = {
	{ "Barrier", OTF2_COLLECTIVE_OP_BARRIER, 1 },
	{ "Bcast", OTF2_COLLECTIVE_OP_BCAST, 2 },
	{ "Gather", OTF2_COLLECTIVE_OP_GATHER, 3 },
	{ "Gatherv", OTF2_COLLECTIVE_OP_GATHERV, 3 },
	{ "Scatter", OTF2_COLLECTIVE_OP_SCATTER, 2 },
	{ "Scatterv", OTF2_COLLECTIVE_OP_SCATTERV, 2 },
	{ "Allgather", OTF2_COLLECTIVE_OP_ALLGATHER, 4 },
	{ "Allgatherv", OTF2_COLLECTIVE_OP_ALLGATHERV, 4 },
	{ "Alltoall", OTF2_COLLECTIVE_OP_ALLTOALL, 4 },
	{ "Alltoallv", OTF2_COLLECTIVE_OP_ALLTOALLV, 4 },
	{ "Alltoallw", OTF2_COLLECTIVE_OP_ALLTOALLW, 4 },
	{ "Allreduce", OTF2_COLLECTIVE_OP_ALLREDUCE, 4 },
	{ "Reduce", OTF2_COLLECTIVE_OP_REDUCE, 3 },
	{ "Reduce_scatter", OTF2_COLLECTIVE_OP_REDUCE_SCATTER, 4 },
	{ "Scan", OTF2_COLLECTIVE_OP_SCAN, 4 },
	{ "Exscan", OTF2_COLLECTIVE_OP_EXSCAN, 4 },
	{ "Reduce_scatter_block", OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK, 4 },
	{ "create handle", OTF2_COLLECTIVE_OP_CREATE_HANDLE, 4 },
	{ "destroy handle", OTF2_COLLECTIVE_OP_DESTROY_HANDLE, 4 },
	{ "allocate", OTF2_COLLECTIVE_OP_ALLOCATE, 4 },
	{ "deallocate", OTF2_COLLECTIVE_OP_DEALLOCATE, 4 },
	{ "create handle and allocate", OTF2_COLLECTIVE_OP_CREATE_HANDLE_AND_ALLOCATE, 4 },
	{ "destroy handle and deallocate", OTF2_COLLECTIVE_OP_DESTROY_HANDLE_AND_DEALLOCATE, 4 },
};

int xch_otf2_is_request(const char *name)
{
	return !strncasecmp(name, "MPI_I", 5) && name[5] >= 'a' && name[5] <= 'z';
}

OTF2_CollectiveOp xch_otf2_collective(const char *name, uint32_t type)
{
	static const OTF2_CollectiveOp near[] = { OTF2_COLLECTIVE_OP_ALLTOALL, OTF2_COLLECTIVE_OP_BARRIER,
		OTF2_COLLECTIVE_OP_BCAST, OTF2_COLLECTIVE_OP_GATHER, OTF2_COLLECTIVE_OP_ALLTOALL };
	size_t i;

	name += xch_otf2_is_request(name) ? 5 : !strncasecmp(name, "MPI_", 4) ? 4 : 0;
	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (!strcasecmp(name, ops[i].name)) {
			return ops[i].op;
		}
	}
	return near[type < 5 ? type : 0];
}

const char *xch_otf2_collective_name(OTF2_CollectiveOp op, uint8_t *type)
{
	size_t i;

	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (ops[i].op == op) {
			*type = ops[i].type;
			return ops[i].name;
		}
	}
	*type = 4;
	return "unknown";
}

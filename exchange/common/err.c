/* SPDX-License-Identifier: BSD-3-Clause */
/* Error messages, and the names of the kinds of records that a conversion cannot keep. */
#include "config.h"
#include "exchange/common/private.h"

#include <inttypes.h>

int xch_fail_memory(struct tkm_err *err, const char *path)
{
	return tkm_fail(err, TKM_ERR_NOMEM, "%s: out of memory", path);
}

int xch_fail_stf(struct tkm_err *err, const char *path, const struct stf_err *e)
{
	enum tkm_code code = e->code == STF_ERR_NOMEM ? TKM_ERR_NOMEM
		: e->code == STF_ERR_IO               ? TKM_ERR_IO
		: e->code == STF_ERR_EXISTS           ? TKM_ERR_EXISTS
						      : TKM_ERR_FORMAT;

	if (e->record) {
		return tkm_fail(err, code, "%s: offset %" PRIu64 ", record %" PRIu64 ": %s", *e->file ? e->file : path,
			e->offset, e->record, e->text);
	}
	return tkm_fail(err, code, "%s: %s", *e->file ? e->file : path, e->text);
}

static const char *const kinds[] = {
	[XCH_ENTER] = "function entries",
	[XCH_LEAVE] = "function exits",
	[XCH_SAMPLE] = "counter samples",
	[XCH_SEND] = "message sends",
	[XCH_RECEIVE] = "message receives",
	[XCH_COLL_BEGIN] = "begins of collective operations",
	[XCH_COLL_END] = "ends of collective operations",
	[XCH_IO_BEGIN] = "begins of file operations",
	[XCH_IO_END] = "ends of file operations",
	[XCH_SCOPE_BEGIN] = "scope entries",
	[XCH_SCOPE_END] = "scope exits",
	[XCH_COMMENT] = "comments",
	[XCH_REPORT] = "reports",
	[XCH_OPAQUE] = "opaque data",
	[XCH_RAW] = "unmatched raw events",
	[XCH_GROUPS] = "groups",
	[XCH_COMMUNICATORS] = "communicators",
	[XCH_LOCATIONS] = "source locations",
	[XCH_UNITS] = "counter units",
	[XCH_PROCESSES] = "threads with host, name or ids",
	[XCH_STATISTICS] = "statistics",
	[XCH_INFOS] = "infos",
	[XCH_BOUND] = "processes with a clock bound",
};

const char *xch_kind_name(enum xch_kind k)
{
	return kinds[k];
}

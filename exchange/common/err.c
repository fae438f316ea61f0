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

static const struct {
	const char *name, *word;
} kinds[] = {
	[XCH_ENTER] = { "function entries", "enter" },
	[XCH_LEAVE] = { "function exits", "leave" },
	[XCH_SAMPLE] = { "counter samples", "sample" },
	[XCH_SEND] = { "message sends", "send" },
	[XCH_RECEIVE] = { "message receives", "receive" },
	[XCH_COLL_BEGIN] = { "begins of collective operations", "collective_begin" },
	[XCH_COLL_END] = { "ends of collective operations", "collective_end" },
	[XCH_IO_BEGIN] = { "begins of file operations", "io_begin" },
	[XCH_IO_END] = { "ends of file operations", "io_end" },
	[XCH_SCOPE_BEGIN] = { "scope entries", "scope_begin" },
	[XCH_SCOPE_END] = { "scope exits", "scope_end" },
	[XCH_COMMENT] = { "comments", "comment" },
	[XCH_REPORT] = { "reports", "report" },
	[XCH_OPAQUE] = { "opaque data", "opaque" },
	[XCH_RAW] = { "unmatched raw events", "raw" },
	[XCH_GROUPS] = { "groups", NULL },
	[XCH_COMMUNICATORS] = { "communicators", NULL },
	[XCH_LOCATIONS] = { "source locations", NULL },
	[XCH_UNITS] = { "counter units", NULL },
	[XCH_PROCESSES] = { "threads with host, name or ids", NULL },
	[XCH_ADDRESSES] = { "IP addresses of threads", NULL },
	[XCH_STATISTICS] = { "statistics", NULL },
	[XCH_INFOS] = { "infos", NULL },
	[XCH_BOUND] = { "processes with a clock bound", NULL },
};

const char *xch_kind_name(enum xch_kind k)
{
	return kinds[k].name;
}

const char *xch_kind_word(enum xch_kind k)
{
	return kinds[k].word;
}

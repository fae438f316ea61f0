/* SPDX-License-Identifier: BSD-3-Clause */
/* Classes, states, scopes, source locations and the client/server calls (Intel Trace Collector guide, sections 3.1.4
 * to 3.1.6 and 3.1.10). The same name always gets the same handle. */
#include "config.h"
#include "collector-plugin/core/thread.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "include/VT.h"
#include "collector-plugin/core/collect.h"
#include "collector-plugin/core/names.h"
#include "collector-plugin/core/sink.h"
#include "collector-plugin/trace/callstack.h"
#include "collector-plugin/trace/define.h"
#include "collector-plugin/trace/scope.h"
#include "collector-plugin/trace/trace.h"

static VT_ErrorCode store_handle(int *where, uint32_t number)
{
	if (where) {
		*where = (int)number;
	}
	return number ? VT_OK : VT_ERR_NOMEMORY;
}

/* Copies a name that the program passed to *clean, which the caller frees, and finds the name of its class, "" where
 * none is given. */
static VT_ErrorCode names_of(const char *name, int classhandle, char **clean, const char **class_name)
{
	VT_ErrorCode rc = vt_self_to_define();

	*clean = NULL;
	if (rc != VT_OK) {
		return rc;
	}
	*class_name = classhandle == VT_NOCLASS ? "" : vt_class_name((uint32_t)classhandle);
	if (!name || !*class_name) {
		return VT_ERR_BADARG;
	}
	*clean = vt_clean_name(name);
	return !*clean ? VT_ERR_NOMEMORY : (*clean)[0] ? VT_OK : VT_ERR_BADARG;
}

/* ---- classes ---- */

VT_ErrorCode VT_classdef(const char *classname, int *classhandle)
{
	VT_ErrorCode rc = vt_self_to_define();
	char *clean;

	if (rc != VT_OK) {
		return rc;
	}
	clean = vt_clean_name(classname);
	if (!clean) {
		return VT_ERR_NOMEMORY;
	}
	if (!clean[0]) {
		free(clean);
		return classhandle ? (*classhandle = VT_NOCLASS, VT_OK) : VT_OK;
	}
	rc = store_handle(classhandle, vt_class(vt_tls.collect, clean));
	free(clean);
	return rc;
}

/* ---- states ---- */

VT_ErrorCode VT_funcdef(const char *symname, int classhandle, int *statehandle)
{
	const char *class_name;
	char *clean;
	VT_ErrorCode rc = names_of(symname, classhandle, &clean, &class_name);
	uint32_t id;

	if (rc == VT_OK) {
		id = vt_function_in(vt_tls.collect, class_name, clean);
		rc = store_handle(statehandle, id ? VT_FUNCTION_HANDLE | id : 0);
	}
	free(clean);
	return rc;
}

/* From here on the number that the program chose means the function. */
_Static_assert(VT_MAX_USERCODE == VT_FUNCTION_HANDLE, "the numbers of programs end where the handles begin");

VT_ErrorCode VT_symdef(int statehandle, const char *symname, const char *activity)
{
	const char *class_name;
	char *clean, *cls = vt_clean_name(activity);
	VT_ErrorCode rc = names_of(symname, VT_NOCLASS, &clean, &class_name);
	uint32_t id;
	int taken;

	if (rc == VT_OK && (!cls || (statehandle > 0 && statehandle & VT_FUNCTION_HANDLE))) {
		rc = cls ? VT_ERR_BADARG : VT_ERR_NOMEMORY;
	}
	if (rc == VT_OK) {
		id = vt_function_in(vt_tls.collect, cls, clean);
		taken = id ? vt_function_number(statehandle, id) : -2;
		rc = taken == 0 ? VT_OK : taken == -1 ? VT_ERR_BADARG : VT_ERR_NOMEMORY;
	}
	free(clean);
	free(cls);
	return rc;
}

VT_ErrorCode VT_symstate(int statehandle, int *on)
{
	VT_ErrorCode rc = vt_self();
	uint32_t rule = rc == VT_OK ? vt_trace_rule(vt_function_of(statehandle)) : 0;

	if (on) {
		*on = (rule & VT_TRACE_RECORD) != 0;
	}
	return rc != VT_OK ? rc : rule ? VT_OK : VT_ERR_BADSYMBOLID;
}

/* ---- state changes ---- */

static __attribute__((noinline)) VT_ErrorCode enter_located(int statehandle, int sclhandle, enum vt_trace_kind kind)
{
	if (sclhandle != VT_NOSCL && !vt_location_known((uint32_t)sclhandle)) {
		return vt_self() != VT_OK ? vt_self() : VT_ERR_BADSCLID;
	}
	return vt_trace_enter(vt_function_of(statehandle), (uint32_t)sclhandle, kind);
}

/* Most states have a handle of VT_funcdef() and no location. For these, one function is called, as the last
 * statement, and no registers are saved. */
static inline VT_ErrorCode enter_handle(int statehandle, int sclhandle, enum vt_trace_kind kind)
{
	if (VT_LIKELY(sclhandle == VT_NOSCL && statehandle > 0 && statehandle & VT_FUNCTION_HANDLE)) {
		return vt_trace_enter(vt_function_of(statehandle), 0, kind);
	}
	return enter_located(statehandle, sclhandle, kind);
}

VT_ErrorCode VT_begin(int statehandle)
{
	return enter_handle(statehandle, VT_NOSCL, VT_TRACE_REGION);
}

VT_ErrorCode VT_beginl(int statehandle, int sclhandle)
{
	return enter_handle(statehandle, sclhandle, VT_TRACE_REGION);
}

/* The guide says of the handle: "now it is safe to pass a 0 instead of the original state handle". */
VT_ErrorCode VT_end(int statehandle)
{
	(void)statehandle;
	return vt_trace_leave(0, VT_TRACE_REGION);
}

VT_ErrorCode VT_endl(int statehandle, int sclhandle)
{
	VT_ErrorCode rc;
	int known = sclhandle == VT_NOSCL || vt_location_known((uint32_t)sclhandle);

	(void)statehandle;
	/* the state is left even if the location is unknown */
	rc = vt_trace_leave(known ? (uint32_t)sclhandle : 0, VT_TRACE_REGION);
	return rc != VT_OK || known ? rc : VT_ERR_BADSCLID;
}

VT_ErrorCode VT_enter(int statehandle, int sclhandle)
{
	return enter_handle(statehandle, sclhandle, VT_TRACE_FUNCTION);
}

/* The guide says that the argument is "currently ignored": some programs pass a state's handle where the location
 * belongs. */
VT_ErrorCode VT_leave(int sclhandle)
{
	(void)sclhandle;
	return vt_trace_leave(0, VT_TRACE_FUNCTION);
}

/* As many levels of the name as DETAILED-STATES asks for, with colons in place of slashes. NULL: no memory. */
static char *detailed(const char *name, int *truncated)
{
	const char *text = vt_collect_option("DETAILED-STATES");
	long level = !text ? 0 : !strcasecmp(text, "on") ? 1 : strtol(text, NULL, 10);
	char *used = strdup(name), *at;

	*truncated = 0;
	for (at = used; at && (at = strchr(at, '/')) != NULL;) {
		if (level-- > 0) {
			*at++ = ':';
		} else {
			*at = '\0';
			*truncated = 1;
		}
	}
	return used;
}

/* The handle of a truncated name is marked, so that entering it again inside itself is ignored. A name that is not
 * logged at all has the handle TRUNCATED, with no other bits. */
enum { TRUNCATED = 0x20000000 };

static VT_ErrorCode define_state(const char *name, int *statehandle, int *truncated)
{
	VT_ErrorCode rc = vt_self_to_define();
	char *used, *clean;
	uint32_t id;
	int cut;

	if (rc != VT_OK || !name) {
		return rc != VT_OK ? rc : VT_ERR_BADARG;
	}
	used = detailed(name, &cut);
	clean = used ? vt_clean_name(used) : NULL;
	id = clean && clean[0] ? vt_function_in(vt_tls.collect, "", clean) : 0;
	if (truncated) {
		*truncated = cut;
	}
	if (id) {
		*statehandle = (int)(VT_FUNCTION_HANDLE | id | (cut ? TRUNCATED : 0));
	} else if (clean && !clean[0]) {
		*statehandle = TRUNCATED;
	} else {
		rc = VT_ERR_NOMEMORY;
	}
	free(used);
	free(clean);
	return rc;
}

VT_ErrorCode VT_enterstate(const char *name, int *statehandle, int *truncated)
{
	VT_ErrorCode rc = VT_OK;
	uint32_t id;
	int handle;

	if (!statehandle) {
		return VT_ERR_BADARG;
	}
	if (*statehandle == 0) {
		rc = define_state(name, statehandle, truncated);
	}
	handle = *statehandle;
	if (rc != VT_OK || handle == TRUNCATED) {
		return rc != VT_OK ? rc : VT_ERR_IGNORE;
	}
	id = (uint32_t)(handle & ~(VT_FUNCTION_HANDLE | TRUNCATED));
	if (handle & TRUNCATED && vt_trace_innermost() == id) {
		return VT_ERR_IGNORE;
	}
	return vt_trace_enter(id, 0, VT_TRACE_FUNCTION);
}

VT_ErrorCode VT_wakeup(void)
{
	return vt_event();
}

/* ---- scopes ---- */

VT_ErrorCode VT_scopedef(const char *scopename, int classhandle, int scl1, int scl2, int *scopehandle)
{
	const char *class_name;
	char *clean;
	VT_ErrorCode rc = names_of(scopename, classhandle, &clean, &class_name);

	if (rc == VT_OK &&
		((scl1 != VT_NOSCL && !vt_location_known((uint32_t)scl1)) ||
			(scl2 != VT_NOSCL && !vt_location_known((uint32_t)scl2)))) {
		rc = VT_ERR_BADSCLID;
	}
	if (rc == VT_OK) {
		rc = store_handle(
			scopehandle, vt_scope_in(vt_tls.collect, class_name, clean, (uint32_t)scl1, (uint32_t)scl2));
	}
	free(clean);
	return rc;
}

static VT_ErrorCode check_scope(int scopehandle, int scl)
{
	VT_ErrorCode rc = vt_self();

	if (rc != VT_OK) {
		return rc;
	}
	if (scl != VT_NOSCL && !vt_location_known((uint32_t)scl)) {
		return VT_ERR_BADSCLID;
	}
	return vt_scope_known((uint32_t)scopehandle) ? VT_OK : VT_ERR_BADARG;
}

VT_ErrorCode VT_scopebegin(int scopehandle, int scl, int *seqnr)
{
	VT_ErrorCode rc = check_scope(scopehandle, scl);

	return rc != VT_OK ? rc : vt_scope_begin((uint32_t)scopehandle, (uint32_t)scl, seqnr);
}

VT_ErrorCode VT_scopeend(int scopehandle, int seqnr, int scl)
{
	VT_ErrorCode rc = check_scope(scopehandle, scl);

	return rc != VT_OK ? rc : vt_scope_end((uint32_t)scopehandle, seqnr, (uint32_t)scl);
}

/* ---- source locations ---- */

VT_ErrorCode VT_scldef(const char *file, int line_nr, int *sclhandle)
{
	VT_ErrorCode rc = vt_self();

	if (rc != VT_OK) {
		return rc;
	}
	if (!file) {
		return VT_ERR_BADARG;
	}
	return store_handle(sclhandle, vt_location(vt_tls.collect, file, line_nr));
}

VT_ErrorCode VT_sclstack(void *pc, void *stackframe, int skip, int trace, int *sclhandle)
{
	VT_ErrorCode rc = vt_self();
	struct vt_callstack_levels l;
	uint32_t id = 0;

	if (rc == VT_OK && (skip < -1 || trace < -1)) {
		rc = VT_ERR_BADARG;
	} else if (rc == VT_OK && vt_tls.trace) {
		l = vt_callstack_default();
		l.skip = skip < 0 ? l.skip : (unsigned)skip;
		l.levels = trace < 0 ? l.levels : (unsigned)trace;
		id = vt_callstack_from(&vt_tls.trace->stack, (uintptr_t)pc, stackframe, l.skip,
			l.levels < VT_CALLSTACK_MOST ? l.levels : VT_CALLSTACK_MOST);
	}
	if (sclhandle) {
		*sclhandle = (int)id;
	}
	return rc;
}

VT_ErrorCode VT_thisloc(int sclhandle)
{
	VT_ErrorCode rc = vt_self();

	if (rc == VT_OK && sclhandle != VT_NOSCL && !vt_location_known((uint32_t)sclhandle)) {
		rc = VT_ERR_BADSCLID;
	}
	if (rc == VT_OK && vt_tls.trace) {
		vt_tls.trace->scl = (uint32_t)sclhandle;
	}
	return rc;
}

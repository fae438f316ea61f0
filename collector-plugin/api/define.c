/* SPDX-License-Identifier: BSD-3-Clause */
/* Classes, states, scopes, source locations, messages and the client/server calls: seeds/003 sections 3.1.4 to
 * 3.1.6, 3.1.9, 3.1.10. States are not recorded: they are what triggers counter sampling. Handles are real, and
 * the same again for the same name. */
#include "config.h"
#include "collector-plugin/core/thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector-plugin/api/VT.h"
#include "collector-plugin/core/collect.h"
#include "collector-plugin/core/names.h"
#include "collector-plugin/core/sink.h"
#include "collector-plugin/raw/writer.h"

static struct vt_names classes = VT_NAMES_INIT, states = VT_NAMES_INIT, scopes = VT_NAMES_INIT,
		       locations = VT_NAMES_INIT, recorded = VT_NAMES_INIT;

static VT_ErrorCode give(int *where, uint32_t number)
{
	if (where) {
		*where = (int)number;
	}
	return number ? VT_OK : VT_ERR_NOMEMORY;
}

/* ---- classes ---- */

/* Records class `number` of the table, below its parent. */
static void record_class(struct vt_collect *c, const char *clean, uint32_t number)
{
	const char *colon = strrchr(clean, ':');
	uint32_t parent = 0;

	if (colon) {
		char *outer = strndup(clean, (size_t)(colon - clean));

		parent = outer ? vt_class(c, outer) : 0;
		free(outer);
	}
	vt_raw_class(c->raw, VT_FIRST_ID + number, parent, colon ? colon + 1 : clean);
}

uint32_t vt_class(struct vt_collect *c, const char *clean)
{
	int fresh;
	uint32_t n;

	vt_names_define();
	n = vt_names_number(&classes, clean, &fresh);
	if (fresh) {
		record_class(c, clean, n);
	}
	vt_names_defined();
	return n ? VT_FIRST_ID + n : 0;
}

VT_ErrorCode VT_classdef(const char *classname, int *classhandle)
{
	VT_ErrorCode rc = vt_self();
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
	rc = give(classhandle, vt_class(vt_tls.collect, clean));
	free(clean);
	return rc;
}

uint32_t vt_function(struct vt_collect *c, const char *class_name, const char *name)
{
	uint32_t cls = vt_class(c, class_name), n;
	char *full = malloc(strlen(class_name) + strlen(name) + 2);
	int fresh;

	if (!full) {
		return 0;
	}
	sprintf(full, "%s:%s", class_name, name);
	vt_names_define();
	n = vt_names_number(&recorded, full, &fresh);
	if (fresh) {
		vt_raw_function(c->raw, VT_FIRST_ID + n, cls, name);
	}
	vt_names_defined();
	free(full);
	return n ? VT_FIRST_ID + n : 0;
}

/* ---- names in a class: states, scopes ---- */

static VT_ErrorCode define(struct vt_names *t, const char *name, int classhandle, int *handle)
{
	VT_ErrorCode rc = vt_self();
	char *clean, *key;
	int fresh;

	if (rc != VT_OK) {
		return rc;
	}
	clean = vt_clean_name(name);
	key = clean ? malloc(strlen(clean) + 16) : NULL;
	if (key) {
		sprintf(key, "%x %s", (unsigned)classhandle, clean);
		rc = give(handle, vt_names_number(t, key, &fresh));
	} else {
		rc = VT_ERR_NOMEMORY;
	}
	free(key);
	free(clean);
	return rc;
}

VT_ErrorCode VT_funcdef(const char *symname, int classhandle, int *statehandle)
{
	return define(&states, symname, classhandle, statehandle);
}

/* The program's own number is as good as ours: nothing is looked up by it. */
VT_ErrorCode VT_symdef(int statehandle, const char *symname, const char *activity)
{
	(void)statehandle;
	(void)symname;
	(void)activity;
	return vt_self();
}

VT_ErrorCode VT_symstate(int statehandle, int *on)
{
	(void)statehandle;
	if (on) {
		*on = 0;
	}
	return vt_self();
}

VT_ErrorCode VT_scopedef(const char *scopename, int classhandle, int scl1, int scl2, int *scopehandle)
{
	(void)scl1;
	(void)scl2;
	return define(&scopes, scopename, classhandle, scopehandle);
}

/* ---- state changes ---- */

VT_ErrorCode VT_begin(int statehandle)
{
	(void)statehandle;
	return vt_event();
}

VT_ErrorCode VT_beginl(int statehandle, int sclhandle)
{
	(void)statehandle;
	(void)sclhandle;
	return vt_event();
}

VT_ErrorCode VT_end(int statehandle)
{
	(void)statehandle;
	return vt_event();
}

VT_ErrorCode VT_endl(int statehandle, int sclhandle)
{
	(void)statehandle;
	(void)sclhandle;
	return vt_event();
}

VT_ErrorCode VT_enter(int statehandle, int sclhandle)
{
	(void)statehandle;
	(void)sclhandle;
	return vt_event();
}

VT_ErrorCode VT_leave(int sclhandle)
{
	(void)sclhandle;
	return vt_event();
}

/* DETAILED-STATES is off as long as states are not recorded: the part before the first slash, and it is
 * truncated if there is one. */
VT_ErrorCode VT_enterstate(const char *name, int *statehandle, int *truncated)
{
	VT_ErrorCode rc = vt_self();
	const char *slash = name ? strchr(name, '/') : NULL;

	if (rc != VT_OK) {
		return rc;
	}
	if (statehandle && *statehandle == 0) {
		char *used = strndup(name ? name : "", slash ? (size_t)(slash - name) : SIZE_MAX);

		if (!used) {
			return VT_ERR_NOMEMORY;
		}
		rc = VT_funcdef(used, VT_NOCLASS, statehandle);
		free(used);
		if (truncated) {
			*truncated = slash != NULL;
		}
	}
	return rc == VT_OK ? vt_event() : rc;
}

VT_ErrorCode VT_wakeup(void)
{
	return vt_event();
}

VT_ErrorCode VT_scopebegin(int scopehandle, int scl, int *seqnr)
{
	static _Atomic int next = 1;

	(void)scopehandle;
	(void)scl;
	if (seqnr) {
		*seqnr = atomic_fetch_add(&next, 1) & 0x7fffffff;
	}
	return vt_event();
}

VT_ErrorCode VT_scopeend(int scopehandle, int seqnr, int scl)
{
	(void)scopehandle;
	(void)seqnr;
	(void)scl;
	return vt_event();
}

/* ---- source locations ---- */

VT_ErrorCode VT_scldef(const char *file, int line_nr, int *sclhandle)
{
	VT_ErrorCode rc = vt_self();
	char *key;
	int fresh;

	if (rc != VT_OK) {
		return rc;
	}
	if (!file) {
		return VT_ERR_BADARG;
	}
	key = malloc(strlen(file) + 16);
	if (!key) {
		return VT_ERR_NOMEMORY;
	}
	sprintf(key, "%x %s", (unsigned)line_nr, file);
	rc = give(sclhandle, vt_names_number(&locations, key, &fresh));
	free(key);
	return rc;
}

VT_ErrorCode VT_sclstack(void *pc, void *stackframe, int skip, int trace, int *sclhandle)
{
	(void)pc;
	(void)stackframe;
	(void)skip;
	(void)trace;
	if (sclhandle) {
		*sclhandle = VT_NOSCL;
	}
	return vt_self();
}

VT_ErrorCode VT_thisloc(int sclhandle)
{
	(void)sclhandle;
	return vt_self();
}

/* ---- communication ---- */

VT_ErrorCode VT_log_sendmsg(int other_rank, int count, int tag, int commid, int sclhandle)
{
	(void)other_rank;
	(void)count;
	(void)tag;
	(void)commid;
	(void)sclhandle;
	return vt_event();
}

VT_ErrorCode VT_log_recvmsg(int other_rank, int count, int tag, int commid, int sclhandle)
{
	return VT_log_sendmsg(other_rank, count, tag, commid, sclhandle);
}

VT_ErrorCode VT_log_msgevent(int sender, int receiver, int count, int tag, int commid, double sendts,
	int sendscl, int recvscl)
{
	(void)sender;
	(void)receiver;
	(void)count;
	(void)tag;
	(void)commid;
	(void)sendts;
	(void)sendscl;
	(void)recvscl;
	return vt_event();
}

VT_ErrorCode VT_log_op(int opid, int commid, int root, int bsend, int brecv, double startts, int sclhandle)
{
	(void)opid;
	(void)commid;
	(void)root;
	(void)bsend;
	(void)brecv;
	(void)startts;
	(void)sclhandle;
	return vt_event();
}

VT_ErrorCode VT_log_opevent(int opid, int commid, int root, int numprocs, int *bsend, int *brecv,
	double *startts, int sclhandle)
{
	(void)opid;
	(void)commid;
	(void)root;
	(void)numprocs;
	(void)bsend;
	(void)brecv;
	(void)startts;
	(void)sclhandle;
	return vt_event();
}

VT_ErrorCode VT_begin_unordered(void)
{
	return vt_event();
}

VT_ErrorCode VT_end_unordered(void)
{
	return vt_event();
}

/* ---- client and server: allowed before VT_initialize() ---- */

VT_ErrorCode VT_clientinit(int procid, const char *clientname, const char **contact)
{
	(void)procid;
	(void)clientname;
	if (contact && !*contact) {
		*contact = "none";
	}
	return VT_OK;
}

VT_ErrorCode VT_serverinit(const char *servername, int numcontacts, const char *contacts[], const char **contact)
{
	(void)servername;
	(void)numcontacts;
	(void)contacts;
	if (contact && !*contact) {
		*contact = "none";
	}
	return VT_OK;
}

VT_ErrorCode VT_attach(int root, int comm, int numchildren, int *childcomm)
{
	(void)root;
	(void)comm;
	(void)numchildren;
	if (childcomm) {
		*childcomm = VT_COMM_SELF;
	}
	return vt_event();
}

VT_ErrorCode VT_get_parent(int *parentcomm)
{
	if (parentcomm) {
		*parentcomm = VT_COMM_INVALID;
	}
	return vt_self();
}

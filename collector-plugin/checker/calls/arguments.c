/* SPDX-License-Identifier: BSD-3-Clause */
/* What the arguments of a call are. The text of its parameters in mpi/calls.def is the binding of the MPI standard, whose types
 * and names say that, so the table needs no column for it. */
#include "config.h"
#include "collector-plugin/checker/checker.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *type;
	enum vt_mc_kind kind;
} kinds[] = { { "MPI_Comm", VT_MC_COMM }, { "MPI_Datatype", VT_MC_TYPE }, { "MPI_Op", VT_MC_OP },
	{ "MPI_Request", VT_MC_REQUEST }, { "MPI_Win", VT_MC_WIN }, { "MPI_Group", VT_MC_GROUP },
	{ "MPI_File", VT_MC_FILE }, { "MPI_Info", VT_MC_INFO }, { "MPI_Errhandler", VT_MC_ERRHANDLER },
	{ "MPI_Message", VT_MC_MESSAGE }, { "MPI_Aint", VT_MC_LONG }, { "MPI_Count", VT_MC_LONG },
	{ "MPI_Offset", VT_MC_LONG }, { "int", VT_MC_INT }, { "char", VT_MC_TEXT } };

static const struct {
	const char *name;
	enum vt_mc_role role;
} roles[] = { { "buf", VT_MC_BUF }, { "buffer", VT_MC_BUF }, { "sendbuf", VT_MC_BUF }, { "origin_addr", VT_MC_BUF },
	{ "count", VT_MC_COUNT }, { "sendcount", VT_MC_COUNT }, { "sendcounts", VT_MC_COUNT },
	{ "origin_count", VT_MC_COUNT }, { "datatype", VT_MC_DATATYPE }, { "sendtype", VT_MC_DATATYPE },
	{ "sendtypes", VT_MC_DATATYPE }, { "origin_datatype", VT_MC_DATATYPE }, { "recvbuf", VT_MC_RBUF },
	{ "result_addr", VT_MC_RBUF }, { "recvcount", VT_MC_RCOUNT }, { "recvcounts", VT_MC_RCOUNT },
	{ "result_count", VT_MC_RCOUNT }, { "recvtype", VT_MC_RTYPE }, { "recvtypes", VT_MC_RTYPE },
	{ "result_datatype", VT_MC_RTYPE }, { "dest", VT_MC_DEST }, { "target_rank", VT_MC_DEST },
	{ "source", VT_MC_SOURCE }, { "tag", VT_MC_TAG }, { "sendtag", VT_MC_TAG }, { "recvtag", VT_MC_RTAG },
	{ "comm", VT_MC_OF_COMM }, { "old_comm", VT_MC_OF_COMM }, { "comm_old", VT_MC_OF_COMM },
	{ "local_comm", VT_MC_OF_COMM }, { "intercomm", VT_MC_OF_COMM }, { "root", VT_MC_ROOT_RANK },
	{ "op", VT_MC_OPERATOR }, { "request", VT_MC_OF_REQUEST }, { "array_of_requests", VT_MC_OF_REQUEST },
	{ "status", VT_MC_STATUS }, { "array_of_statuses", VT_MC_STATUS }, { "win", VT_MC_OF_WIN },
	{ "group", VT_MC_OF_GROUP }, { "newcomm", VT_MC_FRESH_COMM }, { "message", VT_MC_OF_MESSAGE },
	{ "flag", VT_MC_FLAG }, { "index", VT_MC_INDEX }, { "outcount", VT_MC_OUTCOUNT },
	{ "array_of_indices", VT_MC_INDICES }, { "incount", VT_MC_N } };

static int is_word(const char *at, size_t length, const char *word)
{
	return strlen(word) == length && !memcmp(at, word, length);
}

/* One parameter, like "const int recvcounts[]", from `at` to `end`. */
static void learn_argument(struct vt_mc_function *f, int i, const char *at, const char *end)
{
	const char *name, *last = end, *type = at;
	size_t k, length;

	while (last > at && !isalnum((unsigned char)last[-1]) && last[-1] != '_') {
		last--;
	}
	for (name = last; name > at && (isalnum((unsigned char)name[-1]) || name[-1] == '_'); name--) {
	}
	f->constant[i] = (uint8_t)!strncmp(type, "const ", 6);
	type += f->constant[i] ? 6 : 0;
	length = strcspn(type, " *");
	f->pointer[i] = (uint8_t)(memchr(at, '*', (size_t)(end - at)) || memchr(at, '[', (size_t)(end - at)));
	f->kind[i] = f->pointer[i] ? VT_MC_POINTER : VT_MC_LONG;
	for (k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		if (is_word(type, length, kinds[k].type)) {
			f->kind[i] = (uint8_t)kinds[k].kind;
		}
	}
	f->name[i].at = name;
	f->name[i].length = (int)(last - name);
	for (k = 0; k < sizeof(roles) / sizeof(roles[0]); k++) {
		if (is_word(name, (size_t)(last - name), roles[k].name) && f->at[roles[k].role] < 0) {
			f->at[roles[k].role] = (int8_t)i;
		}
	}
}

void vt_mc_learn(struct vt_mc_function *f)
{
	const char *at = f->params + 1, *end;

	memset(f->at, -1, sizeof(f->at));
	for (f->n = 0; *at && *at != ')' && f->n < VT_MC_ARGUMENTS; at = end + (*end == ',')) {
		at += strspn(at, " ");
		end = at + strcspn(at, ",)");
		learn_argument(f, f->n++, at, end);
	}
	/* MPI_Intercomm_merge and others have a handle to which they write, under the name of one that they read */
	if (f->at[VT_MC_OF_COMM] >= 0 && f->pointer[f->at[VT_MC_OF_COMM]] && f->sort != VT_MC_COMM_FREE) {
		f->at[VT_MC_OF_COMM] = -1;
	}
}

int vt_mc_name_is(const struct vt_mc_function *f, int i, const char *name)
{
	return is_word(f->name[i].at, (size_t)f->name[i].length, name);
}

long long vt_mc_count(const struct vt_mc_call *k, enum vt_mc_role role)
{
	int i = k->f->at[role];

	return i < 0 ? 0 : k->f->kind[i] == VT_MC_INT ? (int)k->w[i] : (long long)(intptr_t)k->w[i];
}

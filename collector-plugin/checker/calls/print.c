/* SPDX-License-Identifier: BSD-3-Clause */
/* A call with its arguments as text. */
#include "config.h"
#include "collector-plugin/checker/checker.h"

#include <stdio.h>
#include <string.h>

/* Numbers with a name of their own. */
static const char *number_name(const struct vt_mc_function *f, int i, int value)
{
	if (i == f->at[VT_MC_SOURCE] || i == f->at[VT_MC_DEST]) {
		return value == MPI_ANY_SOURCE ? "MPI_ANY_SOURCE" : value == MPI_PROC_NULL ? "MPI_PROC_NULL" : NULL;
	}
	if (i == f->at[VT_MC_ROOT_RANK]) {
		return value == MPI_ROOT ? "MPI_ROOT" : value == MPI_PROC_NULL ? "MPI_PROC_NULL" : NULL;
	}
	if (i == f->at[VT_MC_TAG] || i == f->at[VT_MC_RTAG]) {
		return value == MPI_ANY_TAG ? "MPI_ANY_TAG" : NULL;
	}
	return NULL;
}

static void print_handle(char *text, size_t size, enum vt_mc_kind kind, uintptr_t handle)
{
	struct vt_mc_object *o = vt_mc_is_null(kind, handle) ? NULL : vt_mc_object(kind, handle);
	char name[MPI_MAX_OBJECT_NAME + 1] = "";
	int n;

	if (vt_mc_is_null(kind, handle)) {
		snprintf(text, size, "NULL");
	} else if (kind == VT_MC_OP && vt_mc_op_name((MPI_Op)handle)) {
		snprintf(text, size, "%s", vt_mc_op_name((MPI_Op)handle));
	} else if (o && o->freed) {
		snprintf(text, size, "freed");
	} else if (kind == VT_MC_COMM && o && vt_mc_running &&
		PMPI_Comm_get_name((MPI_Comm)handle, name, &n) == MPI_SUCCESS && name[0]) {
		snprintf(text, size, "%s", name);
	} else if (kind == VT_MC_TYPE && o && vt_mc_running &&
		PMPI_Type_get_name((MPI_Datatype)handle, name, &n) == MPI_SUCCESS && name[0]) {
		snprintf(text, size, "%s", name);
	} else {
		snprintf(text, size, "%#llx", (unsigned long long)handle);
	}
}

static void print_argument(const struct vt_mc_call *k, int i, char *text, size_t size)
{
	const struct vt_mc_function *f = k->f;
	enum vt_mc_kind kind = (enum vt_mc_kind)f->kind[i];
	const char *name;

	if (f->pointer[i] && (void *)k->w[i] == MPI_IN_PLACE) {
		snprintf(text, size, "MPI_IN_PLACE");
	} else if (f->pointer[i]) {
		snprintf(text, size, "%#llx", (unsigned long long)k->w[i]);
	} else if (kind == VT_MC_INT) {
		name = number_name(f, i, (int)k->w[i]);
		if (name) {
			snprintf(text, size, "%s", name);
		} else {
			snprintf(text, size, "%d", (int)k->w[i]);
		}
	} else if (kind == VT_MC_LONG) {
		snprintf(text, size, "%lld", (long long)(intptr_t)k->w[i]);
	} else {
		print_handle(text, size, kind, k->w[i]);
	}
}

char *vt_mc_print_call(const struct vt_mc_call *k, char *text, size_t size)
{
	const struct vt_mc_function *f = k->f;
	size_t n = (size_t)snprintf(text, size, "%s(", f->text);
	char one[100];
	int i;

	for (i = 0; i < f->n && n < size; i++) {
		print_argument(k, i, one, sizeof(one));
		n += (size_t)snprintf(
			text + n, size - n, "%s%.*s=%s", i ? ", " : "", f->name[i].length, f->name[i].at, one);
	}
	if (n < size) {
		snprintf(text + n, size - n, ")");
	}
	return text;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* What the names that a trace declares mean for the analysis. */
#include "config.h"
#include "stf/analysis/names.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_DENSE = 1 << 20, MAX_MEMBERS = 1 << 24 };

static const char *const wait_names[] = { "late sender", "late receiver", "wait at barrier", "wait at N to N",
	"early reduce", "late broadcast", "early scan", "late sender, wrong order", "wait at MPI_Init",
	"wait at MPI_Finalize", "open at the end", "wait at fence", "late post", "late complete",
	"wait at OpenMP barrier", "wait for window lock" };

const char *stf_wait_name(enum stf_wait_kind kind)
{
	return (unsigned)kind < STF_WAIT_KINDS ? wait_names[kind] : "unknown";
}

/* ---- functions ---- */

/* The name without "P" for PMPI, in any case, as MPI's Fortran names are written by some. NULL: no function of MPI. */
static const char *name_in_mpi(const char *name)
{
	const char *p = name && (*name == 'P' || *name == 'p') ? name + 1 : name;

	return p && !strncasecmp(p, "MPI_", 4) && p[4] ? p + 4 : NULL;
}

static unsigned flags_of_mpi(const char *name)
{
	static const struct {
		const char *name;
		unsigned flags;
	} known[] = {
		{ "Init", STF_CALL_INIT },
		{ "Init_thread", STF_CALL_INIT },
		{ "Finalize", STF_CALL_FINALIZE },
		{ "Send", STF_CALL_SENDS },
		{ "Send_c", STF_CALL_SENDS },
		{ "Ssend", STF_CALL_SENDS | STF_CALL_SYNC },
		{ "Ssend_c", STF_CALL_SENDS | STF_CALL_SYNC },
		{ "Recv", STF_CALL_RECEIVES },
		{ "Recv_c", STF_CALL_RECEIVES },
		{ "Mrecv", STF_CALL_RECEIVES },
		{ "Mrecv_c", STF_CALL_RECEIVES },
		{ "Sendrecv", STF_CALL_SENDS | STF_CALL_RECEIVES },
		{ "Sendrecv_c", STF_CALL_SENDS | STF_CALL_RECEIVES },
		{ "Sendrecv_replace", STF_CALL_SENDS | STF_CALL_RECEIVES },
		{ "Sendrecv_replace_c", STF_CALL_SENDS | STF_CALL_RECEIVES },
		{ "Isend", STF_CALL_STARTS },
		{ "Isend_c", STF_CALL_STARTS },
		{ "Issend", STF_CALL_STARTS },
		{ "Issend_c", STF_CALL_STARTS },
		{ "Isendrecv", STF_CALL_STARTS },
		{ "Isendrecv_c", STF_CALL_STARTS },
		{ "Isendrecv_replace", STF_CALL_STARTS },
		{ "Isendrecv_replace_c", STF_CALL_STARTS },
		{ "Start", STF_CALL_STARTS },
		{ "Startall", STF_CALL_STARTS },
		{ "Wait", STF_CALL_COMPLETES },
		{ "Waitall", STF_CALL_COMPLETES },
		{ "Waitany", STF_CALL_COMPLETES },
		{ "Waitsome", STF_CALL_COMPLETES },
		{ "Test", STF_CALL_POLLS },
		{ "Testall", STF_CALL_POLLS },
		{ "Testany", STF_CALL_POLLS },
		{ "Testsome", STF_CALL_POLLS },
		{ "Win_test", STF_CALL_POLLS },
		{ "Win_post", STF_CALL_POSTS },
		{ "Win_complete", STF_CALL_ENDS_ACCESS },
		{ "Win_unlock", STF_CALL_UNLOCKS },
		{ "Win_lock_all", STF_CALL_LOCKS_ALL },
		{ "Iprobe", STF_CALL_POLLS },
		{ "Improbe", STF_CALL_POLLS },
		{ "Request_get_status", STF_CALL_POLLS },
	};
	const char *mpi = name_in_mpi(name);
	size_t i;

	for (i = 0; mpi && i < sizeof(known) / sizeof(known[0]); i++) {
		if (!strcasecmp(mpi, known[i].name)) {
			return STF_CALL_MPI | known[i].flags;
		}
	}
	return !mpi ? 0 : strncasecmp(mpi, "File_", 5) ? STF_CALL_MPI : STF_CALL_MPI | STF_CALL_FILES;
}

/* The collector's states of OpenMP. */
static unsigned flags_of_openmp(const char *name)
{
	if (!strcmp(name, "parallel")) {
		return STF_CALL_REGION;
	}
	return !strcmp(name, "implicit_barrier") || !strcmp(name, "barrier") ? STF_CALL_BARRIER : STF_CALL_OTHER;
}

static unsigned flags_of_function(struct stf_names *n, const struct stf_record *rec)
{
	struct stf_function_definition d;
	const char *name, *class;
	unsigned flags;

	stf_get_function_definition(rec, &d);
	name = stf_reader_name(n->r, STF_ID_function_definition, d.id);
	class = stf_reader_name(n->r, STF_ID_class_definition, d.classid);
	if (name && class && !strcmp(class, "OMP")) {
		flags = flags_of_openmp(name);
	} else if (class && (!strcmp(class, "SYSTEM") || !strcmp(class, "SHMEM"))) {
		flags = STF_CALL_OTHER;
	} else {
		flags = flags_of_mpi(name);
	}
	n->has_openmp |= (flags & (STF_CALL_REGION | STF_CALL_BARRIER)) != 0;
	return flags;
}

static int note_function_flags(struct stf_names *n, uint32_t id, unsigned flags)
{
	uint32_t *at = id < n->dense ? &n->flags[id] : tkm_table_put(&n->sparse, &id, sizeof(id), sizeof(*at));

	if (!at) {
		return -1;
	}
	*at = flags;
	return 0;
}

static int read_function_names(struct stf_names *n)
{
	size_t count = stf_reader_count(n->r, STF_ID_function_definition), i;
	uint32_t id;
	int rc;

	for (i = 0; i < count; i++) {
		id = (uint32_t)stf_reader_record(n->r, STF_ID_function_definition, i)->values[0].u;
		n->dense = id < MAX_DENSE && id >= n->dense ? id + 1 : n->dense;
	}
	n->flags = calloc((size_t)n->dense + 1, sizeof(*n->flags));
	rc = n->flags ? 0 : -1;
	for (i = 0; rc == 0 && i < count; i++) {
		const struct stf_record *rec = stf_reader_record(n->r, STF_ID_function_definition, i);

		rc = note_function_flags(n, (uint32_t)rec->values[0].u, flags_of_function(n, rec));
	}
	return rc;
}

unsigned stf_names_function(const struct stf_names *n, uint32_t id)
{
	const uint32_t *at;

	if (id < n->dense) {
		return n->flags[id];
	}
	at = tkm_table_find(&n->sparse, &id, sizeof(id));
	return at ? *at : 0;
}

/* ---- collective operations ---- */

/* What the name says; -1: only some members wait for some others, and the trace does not say which. */
static int kind_of_operation(const char *name, unsigned type)
{
	static const int kind_by_type[] = { -1, STF_WAIT_BARRIER, STF_WAIT_LATE_BROADCAST, STF_WAIT_EARLY_REDUCE,
		STF_WAIT_N_TO_N };
	const char *mpi = name_in_mpi(name);

	if (mpi && (strcasestr(mpi, "neighbor") || strcasestr(mpi, "reduce_local"))) {
		return -1;
	}
	if (mpi && !strcasecmp(mpi, "win_fence")) {
		return STF_WAIT_FENCE;
	}
	if (mpi && strcasestr(mpi, "scan")) {
		return STF_WAIT_EARLY_SCAN;
	}
	return type < 5 ? kind_by_type[type] : -1;
}

static void read_operation_names(struct stf_names *n)
{
	static const unsigned class_by_type[] = { 0, STF_ID_all_communication, STF_ID_one_to_all_communication,
		STF_ID_all_to_one_communication, STF_ID_all_to_all_communication };
	const struct stf_record *rec;
	struct stf_collective_operation_definition d;
	struct stf_operation *o;
	size_t i;

	for (i = 0; i < 256; i++) {
		n->operation[i] = (struct stf_operation){ -1, 0, NULL };
	}
	for (i = 0; (rec = stf_reader_record(n->r, STF_ID_collective_operation_definition, i)); i++) {
		stf_get_collective_operation_definition(rec, &d);
		o = &n->operation[d.id & 255];
		o->name = stf_reader_name(n->r, STF_ID_collective_operation_definition, d.id);
		o->kind = kind_of_operation(o->name, d.type);
		o->class = d.type < 5 ? class_by_type[d.type] : 0;
	}
}

/* ---- communicators ---- */

/* Lists the members of the triplets. A stride is added to the willy unchanged. */
static uint32_t list_members(const struct stf_communicator_definition *d, uint32_t *out)
{
	uint32_t i, n = 0;
	int64_t step, count, k;

	for (i = 0; i < d->size_2_3; i++) {
		step = d->stride[i] ? d->stride[i] : 1;
		count = ((int64_t)d->last_id[i] - (int64_t)d->first_id[i]) / step;
		for (k = 0; k <= count && n < MAX_MEMBERS; k++, n++) {
			if (out) {
				out[n] = (uint32_t)((int64_t)d->first_id[i] + k * step);
			}
		}
	}
	return n;
}

static int read_communicator_members(struct stf_names *n)
{
	const struct stf_record *rec;
	struct stf_communicator_definition d;
	struct stf_members *m;
	size_t i;

	for (i = 0; (rec = stf_reader_record(n->r, STF_ID_communicator_definition, i)); i++) {
		stf_get_communicator_definition(rec, &d);
		m = tkm_table_put(&n->communicators, &d.id, sizeof(d.id), sizeof(*m));
		if (m && m->willy) {
			continue;
		}
		if (m) {
			m->n = list_members(&d, NULL);
			m->willy = malloc(((size_t)m->n + 1) * sizeof(*m->willy));
		}
		if (!m || !m->willy) {
			return -1;
		}
		list_members(&d, m->willy);
	}
	return 0;
}

const struct stf_members *stf_names_members(const struct stf_names *n, uint32_t communicator)
{
	return tkm_table_find(&n->communicators, &communicator, sizeof(communicator));
}

int stf_names_read(struct stf_names *n, const struct stf_reader *r)
{
	n->r = r;
	read_operation_names(n);
	return read_function_names(n) < 0 ? -1 : read_communicator_members(n);
}

void stf_names_free(struct stf_names *n)
{
	struct stf_members *m = NULL;

	while ((m = tkm_table_next(&n->communicators, m))) {
		free(m->willy);
	}
	tkm_table_free(&n->communicators);
	tkm_table_free(&n->sparse);
	free(n->flags);
}

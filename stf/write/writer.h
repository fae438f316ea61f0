/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a trace that is being written, shared by the files that write it. */
#ifndef STF_WRITE_WRITER_H
#define STF_WRITE_WRITER_H

#include "stf/write/put.h"
#include "stf/write/stream.h"

#define DATA_KINDS 8
#define FILE_DCL 1
#define FILE_STS 2
#define IDS_PER_SET 12

struct stf_category {
	const char *suffix; /* the number of the set follows it if per_set is not 0 */
	int per_set;
	uint32_t first_id;
};
extern const struct stf_category stf_category[DATA_KINDS];

/* Where the last record of a category went. All processes (or threads) from first to first + span - 1 use the
 * same stream. */
struct stf_way {
	struct stf_stream *s; /* NULL: not known */
	uint32_t first, span;
};

#define STX_ALL_SETS UINT32_MAX

/* How the processes are distributed over sets. The processes of a set share their files. */
struct stf_sets {
	/* the set of each of n_of processes, by their nodes; NULL: sets have a fixed number of processes */
	uint32_t *of;
	uint32_t n_of, n; /* n: number of sets */
	uint32_t *home;   /* for each of n_home groups, the process whose set it belongs to */
	uint32_t n_home;
	int by_thread; /* the fixed number counts threads of the only process */
	int decided;   /* by_thread is final; it is decided at the first record */
};

struct stf_writer {
	char *path, *comment;
	struct stf_writer_options opt;
	struct stf_err err;
	struct stf_zst *zst; /* NULL: not compressed */
	uint8_t used[256];
	struct stf_trace_identity identity;
	struct stf_identities others; /* identities of the writers of the parts that were taken in */
	struct stf_way way[DATA_KINDS];
	struct stf_sets sets;
	struct stf_stream *dcl, *sts;
	struct stf_stream *infos, *procs; /* in memory: parts of the index */
	struct stf_stream **data[DATA_KINDS];
	uint32_t n_sets[DATA_KINDS];
	uint32_t n_data;         /* number of data files */
	struct stf_map declared; /* STX_KEY of every id in .dcl */
	struct stf_map texts;    /* hash of a text: its string id */
	struct stf_map classes;  /* hash of a class for info records: its id */
	uint32_t top_string, top_class;
	struct stf_out base;
	uint32_t own_text[2], own_class[2]; /* STX_OWN_...: ids of string and class, 0: not declared yet */
};

/* ---- route.c ---- */

/* Classes of the info records that the writer makes itself. */
enum { STX_OWN_INTEGRITY, STX_OWN_LATE };
extern const char *const stf_own_class[2];

/* The stream for a record of this kind, willy and id; NULL with the writer's error set. `key` is the record's
 * first field; for declarations this is its id. */
struct stf_stream *stf_route_slow(struct stf_writer *w, unsigned id, unsigned kind, uint32_t willy, uint64_t key);

static inline struct stf_stream *stf_route(
	struct stf_writer *w, unsigned id, unsigned kind, uint32_t willy, uint64_t key)
{
	/* a group has bit 31 set, so it is outside the span unless all records go to one file */
	uint32_t who = w->sets.by_thread ? willy >> 16 : willy & 0x8000ffffu;

	if (kind < DATA_KINDS && who - w->way[kind].first < w->way[kind].span && !stf_is_fatal(&w->err)) {
		return w->way[kind].s;
	}
	return stf_route_slow(w, id, kind, willy, key);
}

/* Checks a stf_string, class_definition or info before it is written. 1: the writer drops it. */
int stf_note(struct stf_writer *w, unsigned id, const void *record);

/* ---- writer.c ---- */

/* The names and options of its files. */
struct stf_where stf_writer_where(struct stf_writer *w);
/* Frees w. It removes and renames only files that w created. */
void stf_writer_free(struct stf_writer *w);
/* Makes room in w->data[kind] for a set. */
int stf_make_room(struct stf_writer *w, unsigned kind, uint32_t set);
void stf_suffix(unsigned kind, uint32_t set, char *suffix, size_t n);

/* ---- sets.c ---- */

/* Makes the sets, from the nodes of the processes and the homes of groups in the options, if given. */
int stf_sets_begin(struct stf_writer *w, const struct stf_writer_options *o);
/* Must be called before the first record is written to a file. */
void stf_sets_decide(struct stf_writer *w);
uint32_t stf_set_of(const struct stf_writer *w, uint32_t willy);
/* The set of the files in which this willy's records are stored. */
void stf_sets_way(const struct stf_writer *w, uint32_t willy, struct stf_way *way);
/* Is there more than one set? */
int stf_sets_many(const struct stf_writer *w);
/* Writes the willies of one set, or of all sets, as willy_list `id`. */
int stf_put_willies(struct stf_writer *w, struct stf_stream *idx, uint32_t id, uint32_t set);

uint32_t stf_threads_of(const struct stf_writer *w, uint32_t process);
uint32_t stf_count_processes(const struct stf_writer *w);

/* ---- index.c ---- */

/* Writes into the temporary base file what a reader needs if the writer is killed: a definition of every record,
 * and the clock. Returns 0 or -1. */
int stf_begin_base(struct stf_writer *w);

#endif

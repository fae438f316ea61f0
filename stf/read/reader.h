/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of an open trace, for the files of stf/ that read. */
#ifndef STF_READ_READER_H
#define STF_READ_READER_H

#include "stf/component/anchor_table.h"
#include "stf/read/repair.h"
#include "stf/component/source.h"

struct stf_table {
	struct stf_record **record;
	size_t n;
};

/* What the index states about a component as it is stored, and about its blocks. */
struct stf_stated {
	uint64_t size, hash;
	int has_hash, checked; /* 1: compared and good, -1: damaged */
	const char *blocks;    /* text of stf_blocks_print(); NULL: none */
	size_t n_blocks;
	int has_late;
	uint64_t late; /* by how much a record may be late */
};

struct stf_reader {
	struct stf_archive archive;
	unsigned flags;
	struct stf_defs defs;
	uint64_t index_at;                  /* offset of the index in the base file */
	struct stf_table table[STF_ID_END]; /* one for each class */
	struct stf_map ids;                 /* STX_KEY(class, id): 1 + index in the table */
	struct stf_anchors *anchors;
	size_t n_anchors;
	struct stf_faults faults;
	struct stf_err first_fault; /* code STF_OK: none */
	uint64_t skipped;
	int base_stated, base_is_good; /* the base file has a checksum of its own; the checksum is right */
	uint64_t base_hash, base_want;
	struct stf_identities identities; /* the identities that the trace's components may carry */
	struct stf_stated *stated;
	size_t n_stated;
	struct stf_map stated_at;  /* hash of the suffix: index in `stated` */
	struct stf_map files_at;   /* hash of the suffix: 1 + index among the file_declarations */
	struct stf_map anchors_of; /* 1 + id of a data file: 1 + index of its first anchor_file_declaration */
	struct stf_map tables_at;  /* 1 + id of a data file: 1 + index in `anchors` */
	struct stf_damages damages;
};

/* ---- stated.c ---- */

int stf_hash_file(int fd, const char *name, uint64_t start, uint64_t size, uint64_t *hash, struct stf_err *err);
/* Compares the base file with the checksum at its end, if there is one. -1: it cannot be read. */
int stf_check_base(struct stf_reader *r, const struct stf_source *s, struct stf_err *err);
/* Reads the statements of the index about components. */
int stf_reader_read_stated(struct stf_reader *r, struct stf_err *err);
/* Notes where files are declared. -1: no memory. */
int stf_reader_find_files(struct stf_reader *r);
/* The first file_declaration of this component; NULL: none. */
const struct stf_record *stf_reader_file(const struct stf_reader *r, const char *suffix);
/* The first anchor_file_declaration of a data file; NULL: none. */
const struct stf_record *stf_reader_anchors_of(const struct stf_reader *r, uint32_t file);
/* What is stated about the component that is stored under this suffix; NULL: nothing. */
struct stf_stated *stf_reader_stated(const struct stf_reader *r, const char *suffix);
/* The checksums of the component's blocks; none if none are stated. */
int stf_reader_blocks(const struct stf_reader *r, const char *suffix, struct stf_blocks *l, struct stf_err *err);

/* ---- check.c ---- */

/* Checks, once, a component whose index states a single checksum for all of it. -1: it is damaged, or cannot be
 * read. */
int stf_check_whole(struct stf_reader *r, const struct stf_record *file, struct stf_err *err);

/* Copies a record into one piece of memory: record, values, arrays. */
struct stf_record *stf_copy_record(const struct stf_record *r);
/* Reads the index and the declarations of a trace whose definition layer is known. s is positioned after that
 * layer in the base file. */
int stf_reader_load(struct stf_reader *r, struct stf_source *s, struct stf_err *err);
/* anchors.c: the anchors of a data file; NULL without memory. The table is empty if there is no anchor file. */
const struct stf_anchors *stf_reader_anchors(struct stf_reader *r, uint32_t file);
/* By how much a record of this data file may be late; UINT64_MAX: the trace does not say. */
uint64_t stf_reader_late(const struct stf_reader *r, const struct stf_record *file);
/* The component that a file_declaration names. */
struct stf_source *stf_reader_source(struct stf_reader *r, const struct stf_record *file, struct stf_err *err);
/* Compares every reference of a record with the declarations. */
int stf_check_references(
	const struct stf_reader *r, const struct stf_source *s, const struct stf_record *rec, struct stf_err *err);

#endif

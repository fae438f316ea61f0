/* SPDX-License-Identifier: BSD-3-Clause */
/* The reading side inside stf/: what an open trace knows. */
#ifndef STF_READER_H
#define STF_READER_H

#include "stf/source.h"

struct stx_table {
	struct stf_record **record;
	size_t n, cap;
};

struct stf_reader {
	char *path;
	unsigned flags;
	struct stx_defs defs;
	uint64_t index_at; /* offset of the index in the base file */
	struct stx_table table[STF_ID_END]; /* by class */
	struct stx_map ids; /* STX_KEY(class, id): 1 + place in the table */
	struct stf_err fault;
	uint64_t skipped;
};

/* The component that a file_declaration names. */
struct stx_source *stx_reader_source(const struct stf_reader *r, const struct stf_record *file, struct stf_err *err);
/* Every reference of a record against what was declared. */
int stx_check_references(const struct stf_reader *r, const struct stx_source *s, const struct stf_record *rec,
			 struct stf_err *err);

#endif

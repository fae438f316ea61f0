/* SPDX-License-Identifier: BSD-3-Clause */
/* The definition layer. It prints our own, parses that of any writer and matches it with our layouts. The decoder
 * here follows the parsed layer. */
#ifndef STF_FORMAT_DEFLAYER_H
#define STF_FORMAT_DEFLAYER_H

#include "stf/format/private.h"

#define STX_NESTED 100 /* stf_ffield.type: a record of the same definition layer */
#define STX_MAX_DEF_FIELDS 256
#define STX_MAX_DEPTH 16

struct stf_fdef;

/* A field as the file defines it. */
struct stf_ffield {
	char *name;
	int type; /* enum stf_type, or STX_NESTED */
	const struct stf_fdef *nested;
	int is_array, is_time;
	int arrays_follow; /* for a size field: the number of arrays that follow; else 0 */
	int has_dflt;
	uint64_t dflt;
	uint64_t min_size; /* smallest size of one element in bytes */
	int fixed;         /* the size is always min_size */
	int to;            /* index of our field that receives it, -1: skipped */
};

/* A record as the file defines it. */
struct stf_fdef {
	uint8_t id;
	char *specifier;
	unsigned n;
	struct stf_ffield *field;
	uint64_t min_size; /* without the type byte */
	int fixed, depth;
	/* time records and identities are not delivered */
	enum { STX_NO_TIMING, STX_ADD_TIME, STX_SUB_TIME, STX_IDENTITY } timing;
	int native;                       /* bytes, ids and order are as ours: see stf_native_decode() */
	int time_field;                   /* of a native record: index of the field that has its time, -1: none */
	int time_to;                      /* index of our field that is a time, -1: none */
	const struct stf_layout *ours;    /* NULL: unknown, the whole record is skipped */
	uint64_t missing[STX_MAX_FIELDS]; /* defaults of our fields that the file does not have */
	uint8_t present[STX_MAX_FIELDS];
};

struct stf_defs {
	struct stf_fdef *def[STX_LAST_ID + 1];
	int big;
	struct stf_fdef *order[STX_LAST_ID + 1]; /* in the order of the file */
	unsigned n;
};

/* Prints the layer for the ids that are set in used[256]. */
void stf_defs_print(struct stf_buf *out, const uint8_t *used, int big, const char *comment);
/* Prints the line of one of our records; nothing for an id that is not ours. */
void stf_defs_print_one(struct stf_buf *out, unsigned id);
/* Prints any layer as it was parsed. */
void stf_defs_print_all(struct stf_buf *out, const struct stf_defs *d);

/* Parses the layer line by line: the first line, then each further one without its LF. Returns 1 after END, 0 if
 * more lines follow, or -1 with err's code and text set. */
int stf_defs_head(struct stf_defs *d, const char *line, size_t n, struct stf_err *err);
int stf_defs_line(struct stf_defs *d, char *line, size_t n, struct stf_err *err);
void stf_defs_free(struct stf_defs *d);
/* Finds for each record our layout that is nearest to it. */
void stf_defs_bind(struct stf_defs *d);

/* Memory of a decoded record, reused for the next record. */
struct stf_scratch {
	struct stf_value value[STX_MAX_FIELDS];
	struct stf_buf mem;
};

enum { STX_SHORT = 0, STX_DONE = 1, STX_BAD = -1 };

struct stf_decoded {
	const struct stf_fdef *def;
	size_t size; /* includes the type byte */
	int has_time;
	uint64_t time; /* value of the record's `time` field */
	enum stf_code code;
	char why[160];
};

/* Decodes the record at p. `avail` bytes of it are in memory, `left` are in the file. SHORT: more of it must be
 * read into memory first. Known records leave their values in s->value; arrays are in s->mem. */
int stf_decode(const struct stf_defs *d, const uint8_t *p, size_t avail, uint64_t left, struct stf_scratch *s,
	struct stf_decoded *out);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations that the files of exchange/ share in addition to format.h. */
#ifndef EXCHANGE_COMMON_PRIVATE_H
#define EXCHANGE_COMMON_PRIVATE_H

#include "base/table.h"
#include "exchange/common/format.h"

/* The stretches of the bound of one process. */
struct xch_process {
	struct xch_bound *bound;
	size_t n, at;   /* at: index where the last look-up ended */
	uint32_t first; /* index of the process's first place */
	uint32_t threads;
};

/* The maps of a trace: one for each list of names, and these. */
enum { XCH_BY_COUNTER = XCH_LISTS, XCH_BY_COMMUNICATOR, XCH_BY_GROUP, XCH_MAPS };

/* A map from ids to indices. */
struct xch_map {
	uint32_t *direct; /* index by id, XCH_NONE: none; for ids up to a few million */
	uint32_t n;
	size_t room;
	struct tkm_table large; /* all other ids */
};

struct xch_private {
	struct xch_process *process;
	struct xch_map map[XCH_MAPS];
	char **text; /* texts that the trace owns */
	size_t n_text;
};

/* Reads all definitions of r. Returns 0 or -1. In both cases the caller must call xch_trace_free(). */
int xch_trace_read(struct xch_trace *t, struct stf_reader *r, const char *path, struct tkm_err *err);
void xch_trace_free(struct xch_trace *t);
int xch_map_add(struct xch_map *m, uint32_t id, uint32_t index);
uint32_t xch_map_find(const struct xch_map *m, uint32_t id);
void xch_map_free(struct xch_map *m);

/* The clock of the trace: period, decimals and bounds from its info records. */
int xch_clock_read(struct xch_trace *t, struct tkm_err *err);

/* Gives all events of t to w in the order of their time. */
int xch_stream(struct xch_writer *w, struct xch_trace *t, struct tkm_err *err);

/* tkm_fail() with the file, offset and record of *e. */
int xch_fail_stf(struct tkm_err *err, const char *path, const struct stf_err *e);
int xch_fail_memory(struct tkm_err *err, const char *path);

/* Set the names and make the directory of the output; move its entries to their places; remove the rest and free. */
int xch_output_begin(struct xch_writer *w, struct tkm_err *err);
int xch_output_commit(const struct xch_writer *w, struct tkm_err *err);
void xch_output_end(struct xch_writer *w);

/* csv_read.c */
int xch_csv_read(struct xch_input *in, struct tkm_err *err);
int xch_csv_is(const char *path, const unsigned char *head, size_t n);

/* ---- gz.c, which needs zlib ---- */

/* Reads a file as it is, or what gzip has compressed in it: all members. zlib's gzread() takes a damaged head of a further member
 * for the end of the file; here it is an error. Zeros after the last member are padding, as for gunzip. */
struct xch_gz;

/* NULL: *err has the reason. `path` must stay valid. */
struct xch_gz *xch_gz_open(const char *path, struct tkm_err *err);
void xch_gz_close(struct xch_gz *g);
int xch_gz_is_compressed(const struct xch_gz *g);
/* Begins anew. Returns 0, or -1: the file cannot be read twice. */
int xch_gz_rewind(struct xch_gz *g, struct tkm_err *err);
/* Reads up to n bytes, n > 0. Returns their number, 0: the file has ended, or -1: *err names the place, as the offset of the next byte in
 * what is uncompressed, and the byte of the file. */
long xch_gz_read(struct xch_gz *g, void *buf, size_t n, struct tkm_err *err);

/* The formats, in the order of listing: xch_NAME is at the end of a file of its room. */
#define XCH_FORMATS(X) X(csv) X(otf2) X(jsonl) X(chrome) X(ctf) X(lttng) X(otf) X(paje) X(perfetto) X(parquet)
#define XCH_DECLARE(name) extern const struct xch_format xch_##name;
XCH_FORMATS(XCH_DECLARE)

#endif

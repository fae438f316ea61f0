/* SPDX-License-Identifier: BSD-3-Clause */
/* Which part of a trace is wanted: --request of the Intel Trace Collector guide. */
#ifndef TOOLS_CLI_REQUEST_H
#define TOOLS_CLI_REQUEST_H

#include "base/text/text.h"
#include "tools/cli/stftool.h"

/* A group of the trace, and whether one of its members is wanted. */
struct stt_group {
	uint32_t id;
	const struct stf_record *rec;
	enum { STT_GROUP_NEW, STT_GROUP_OUT, STT_GROUP_IN } state;
};

struct stt_window {
	uint32_t categories;         /* 1 << enum stf_kind of data; 0: all */
	struct tkm_triplet *triplet; /* of thread numbers; none: all threads */
	size_t n_triplets;
	struct stt_group *group; /* indexed by id, after the request was bound to a trace */
	size_t n_groups;
	double start_s, end_s;
	uint64_t start, end; /* both included */
	int timed;
};

struct stt_request {
	struct stt_window *window; /* a record that matches any of them is wanted; none: all records are */
	size_t n;
};

/* Parses all requests of the options. Returns -1 and fills *err if one is wrong. */
int stt_request_parse(struct stt_request *q, const struct stt_options *o, struct tkm_err *err);
/* Converts times to the stamps of t, and thread numbers to its threads. Returns -1 if this is not possible. */
int stt_request_bind(
	struct stt_request *q, const struct stt_trace *t, const struct stt_options *o, struct tkm_err *err);
int stt_request_wants(const struct stt_request *q, const struct stt_trace *t, const struct stf_record *rec);
/* A cursor over the merged data, which begins near the first window if there are windows. It may deliver more
 * than is wanted, so the caller must still check each record with stt_request_wants(). NULL: *e says why. */
struct stf_cursor *stt_request_cursor(const struct stt_request *q, const struct stt_trace *t, struct stf_err *e);
void stt_request_free(struct stt_request *q);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* From the times of a trace to those at which the same happens in a run that is played: pairs of stamps of each thread, in a
 * temporary file. */
#ifndef TOOLS_CONVERT_MOVES_H
#define TOOLS_CONVERT_MOVES_H

#include "tools/cli/stftool.h"

struct stt_move {
	uint64_t time, played;
};

struct stt_move_block {
	uint64_t first;     /* time of its first pair */
	uint64_t number, n; /* its first pair in the file, and how many it has */
};

struct stt_thread_moves {
	struct stt_move *open; /* those that are not in the file yet */
	size_t n_open;
	uint64_t latest; /* of `played` so far */
	struct stt_move_block *block;
	size_t n_blocks, at; /* at: the block that was used last */
};

struct stt_moves {
	const struct stt_trace *t;
	struct stt_thread_moves *thread;
	uint64_t n_threads, written;
	size_t room;                /* pairs in a block */
	int fd, error;              /* error: errno of a write that failed */
	const struct stt_move *all; /* the file, once it is complete */
};

/* Returns 0 or -1, which was printed. */
int stt_moves_begin(struct stt_moves *m, const struct stt_trace *t, const struct stt_options *o);
/* Adds a pair, in the order of time of each thread. Returns 0 or -1: no memory, or the file cannot be written. */
int stt_moves_add(void *moves, uint32_t willy, uint64_t time, uint64_t played);
/* All pairs were added. Returns 0 or -1, which was printed. */
int stt_moves_complete(struct stt_moves *m, const struct stt_options *o);
/* In a call that takes another time than in the trace, what is sent belongs to its begin and what is received to its end. */
enum stt_move_as { STT_MOVE_EVENLY, STT_MOVE_SENT, STT_MOVE_RECEIVED };

/* When that stamp of a thread or group is in the run that is played. A thread without pairs moves with the first thread of
 * its process, and a group with process 0. */
uint64_t stt_move_stamp(struct stt_moves *m, uint32_t willy, uint64_t time, enum stt_move_as as);
void stt_moves_free(struct stt_moves *m);

#endif

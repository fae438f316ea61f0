/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages between two processes of a node over cache lines that they share: neither MPI nor the kernel is called
 * between a stamp and its message. So it does not matter how MPI waits, or what else MPI does for the program. No
 * function here waits. */
#ifndef CALIB_LINE_H
#define CALIB_LINE_H

#include <stddef.h>
#include <stdint.h>

struct cal_lines;

enum { CAL_LINE_MOST = 2048 }; /* bytes of a letter */

/* Bytes of shared memory, zero at the beginning, for that many processes. Memory pages that are not used are not
 * touched. */
size_t cal_lines_size(int processes);

/* Over that memory, for process `mine` of 0 to processes - 1. NULL: no memory. */
struct cal_lines *cal_lines_open(void *room, int processes, int mine);
void cal_lines_close(struct cal_lines *l);

/* Both are about to exchange messages; in another epoch than the last time, what was left over from then is forgotten. */
void cal_lines_begin(struct cal_lines *l, int other, unsigned epoch);

/* A message without content. It came: 1, and the next one is waited for; 0: not yet. Many may be on their way. */
void cal_line_ping(struct cal_lines *l, int to);
int cal_line_pinged(struct cal_lines *l, int from);

/* A word, or a letter of up to CAL_LINE_MOST bytes. The next one in the same direction may follow only when the other has
 * answered, in whatever way. Taking returns 1, 0: not yet, -1: it has been overwritten. */
void cal_line_word(struct cal_lines *l, int to, int64_t word);
int cal_line_take_word(struct cal_lines *l, int from, int64_t *word);
void cal_line_letter(struct cal_lines *l, int to, const void *data, size_t size);
int cal_line_take_letter(struct cal_lines *l, int from, void *data, size_t size);

/* Tells the other that the two have one processing unit together, so that a wait has to leave it to the other; and what it told. */
void cal_line_set_together(struct cal_lines *l, int other, int together);
int cal_line_are_together(const struct cal_lines *l, int other);

#endif

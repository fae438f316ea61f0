/* SPDX-License-Identifier: BSD-3-Clause */
/* Correction data as text, NAME.clk: all measurements and the maps that follow from them, in lines that libc alone can
 * read. doc/clk-format.md is the specification. */
#ifndef CALIB_CLK_H
#define CALIB_CLK_H

#include <stdio.h>

#include "calib/solve/solve.h"

/* Writes the head of the file, all ranks and the end line. Returns 0, or -1 when the stream failed. */
int cal_clk_write(FILE *f, const struct cal_run *run, const char *program, struct tkm_err *err);

/* Writes one rank's block only: what a process sends to the master. Same return. */
int cal_clk_write_rank(FILE *f, const struct cal_rank *r, struct tkm_err *err);

/* How much of a rank's block is written already. Initialise it with zeros. */
struct cal_clk_done {
	int begun, disruption_changed;
	size_t anchors, pairs, sessions, edges;
};

/* Writes what was added to the block since the last call, as whole lines without the end line. So the measurements of a
 * process can be kept while it runs. Same return. */
int cal_clk_write_new(FILE *f, const struct cal_rank *r, struct cal_clk_done *done, struct tkm_err *err);

/* Reads these texts, one after the other, into *r. Lines "pair" may come in any order and from several writers. length bytes.
 * Returns 0, or -1: text that does not begin with a block, or out of memory. */
int cal_clk_read_new(const char *text, size_t length, const char *name, struct cal_rank *r, struct tkm_err *err);
/* Are there more than readings of clocks in these texts, which another process may have written? */
int cal_clk_has_sessions(const char *text, size_t length);

/* Adds the pairs among these lines to *p, in the order of their time; one that overlaps another is left out. Returns 0 or -1. */
int cal_clk_add_pairs(const char *text, size_t length, struct cal_pairs *p, struct tkm_err *err);

/* Writes the line of one reading of that clock of the kernel: `clock` as for cal_clock_name(). */
void cal_clk_write_clock(FILE *f, int clock, const struct cal_reading *p);

/* Adds the readings of clocks of the kernel among these lines to those of the rank; one that does not follow those before it is
 * left out. Returns 0 or -1. */
int cal_clk_add_clocks(const char *text, size_t length, struct cal_rank *r, struct tkm_err *err);

/* Reads a whole file from memory (length bytes and a terminating zero after them); name is for
 * messages. *run is new, to be freed with cal_run_free(). Returns 0, or -1 with file and line. */
int cal_clk_read(const char *text, size_t length, const char *name, struct cal_run *run, struct tkm_err *err);

/* Reads one rank's block, as cal_clk_write_rank() made it, into *r. */
int cal_clk_read_rank(const char *text, size_t length, const char *name, struct cal_rank *r, struct tkm_err *err);

/* Reads a file by name; "-" does not mean standard input. */
int cal_clk_load(const char *path, struct cal_run *run, struct tkm_err *err);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The clocks of a file of Perfetto's. A stamp is of the clock that its packet names, else of the default of its sequence, else of that of
 * the file. Clocks 64 to 127 are each sequence's own, and may count from stamp to stamp. Snapshots tie clocks together. */
#ifndef EXCHANGE_PERFETTO_CLOCKS_H
#define EXCHANGE_PERFETTO_CLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/table.h"

enum {
	XCH_PFT_DEFAULT, /* of the file */
	XCH_PFT_REALTIME,
	XCH_PFT_COARSE,
	XCH_PFT_MONOTONIC,
	XCH_PFT_COARSE_MONOTONIC,
	XCH_PFT_RAW,
	XCH_PFT_BOOTTIME,
	XCH_PFT_OWN = 64, /* the first and the last of a sequence's own */
	XCH_PFT_OWN_LAST = 127
};

/* Part of a packet; p NULL: it has none. */
struct xch_pft_part {
	const unsigned char *p;
	size_t n;
};

/* What of a packet matters here. */
struct xch_pft_packet {
	int has_stamp, cleared, lost, of_chrome, no_other; /* no_other: all of it is here */
	uint64_t stamp, sequence, flags, machine;
	uint32_t clock; /* 0: it names none */
	struct xch_pft_part snapshot, defaults, ftrace, zlib, zstd, attributes, testing, log, remote;
};

/* A clock at a time: what it showed, in units of so many ns. */
struct xch_pft_time {
	uint32_t clock;
	int64_t ns, unit_ns; /* unit_ns 0: 1 */
	double within_s;     /* how far off that can be, besides the unit */
};

struct xch_pft_reading {
	uint64_t snapshot;
	struct xch_pft_time at;
};

/* Two clocks, read together. */
struct xch_pft_pair {
	int64_t from_ns, to_ns;
};

struct xch_pft_range {
	struct xch_pft_time least, most;
	struct xch_pft_pair *pair; /* to the anchor, ascending */
	size_t pairs, room;
};

/* Initialise it with zeros. */
struct xch_pft_clocks {
	struct tkm_table sequences, own; /* struct of this file's source, by the sequence, or sequence and clock */
	struct tkm_table used;           /* struct xch_pft_range by clock */
	struct xch_pft_reading *reading; /* of clocks that all sequences share */
	size_t readings, room;
	uint64_t snapshots;
	uint32_t file_default; /* 0: no snapshot says */
	uint32_t anchor;       /* the clock that the correction has; 0: not known yet */
};

/* Returns 0, or -1: it is no packet. */
int xch_pft_parse(const unsigned char *b, size_t n, struct xch_pft_packet *p);
/* Takes the packets in the order of the file. Returns 1 with the clock and the time of the packet's stamp; 0: it has none, or one that no
 * reader shows; or -1 with *why. */
int xch_pft_take(struct xch_pft_clocks *c, const struct xch_pft_packet *p, struct xch_pft_time *at, const char **why);
/* Adds a time to the range of its clock. Returns 0 or -1: no memory. */
int xch_pft_note(struct xch_pft_clocks *c, const struct xch_pft_time *at);
/* Forgets what the packets so far said of sequences, to begin the file anew. */
void xch_pft_rewind(struct xch_pft_clocks *c);
/* Chooses the anchor, and ties all clocks to it. Returns 0, or -1 with the clock that no snapshot ties, 0: no memory. */
int xch_pft_anchor(struct xch_pft_clocks *c, uint32_t anchor, uint32_t *untied);
/* Which clock it is, if it is the default of the file. */
uint32_t xch_pft_real_clock(const struct xch_pft_clocks *c, uint32_t clock);
/* What the anchor showed then; *within_s: how far off that can be. Returns 0 or -1: too far away. */
int xch_pft_at_anchor(
	const struct xch_pft_clocks *c, const struct xch_pft_time *at, int64_t *anchor_ns, double *within_s);
/* How far off times can be, at most, of which a reader puts each as far from the anchor as the snapshot before it says. margin_s: before and
 * after those that are known. */
double xch_pft_widest(const struct xch_pft_clocks *c, double margin_s);
void xch_pft_free(struct xch_pft_clocks *c);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* From a clock map of a run (calib/map/map.h) to the one line that a page has room for. */
#ifndef CLOCK_FROM_MAP_H
#define CLOCK_FROM_MAP_H

#include "calib/map/map.h"
#include "clock/page.h"

/* The line that touches the map at `raw` and is certain to within *out's half width there and on both sides. hz:
 * nominal, of the timer; lag_s: how far a reading of any process on this node can differ from one of the map's own
 * process: the effective tick, or the result of tmr_prove_one_clock(); valid_s: how long the line may be used. */
void tkc_from_map(const struct cal_map *m, ltick_t raw, double hz, double lag_s, double valid_s, struct tkc_map *out);

/* The same for the master's clock, to which the map is relative: the line is exact to within lag_s. axis: its stamp at
 * 0 ns. */
void tkc_from_master(ltick_t axis, ltick_t raw, double hz, double lag_s, double valid_s, struct tkc_map *out);

#endif

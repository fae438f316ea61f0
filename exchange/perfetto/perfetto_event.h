/* SPDX-License-Identifier: BSD-3-Clause */
/* What a TrackEvent of Perfetto's says. */
#ifndef EXCHANGE_PERFETTO_EVENT_H
#define EXCHANGE_PERFETTO_EVENT_H

#include "exchange/perfetto/perfetto_clocks.h"

struct xch_pft_event {
	uint64_t type, track, name_id, category_id;
	int has_track, has_value, is_old;
	struct xch_pft_part name, category, legacy;
	double value;
	uint64_t others; /* values of other counters */
};

/* A TrackEvent.LegacyEvent. */
struct xch_pft_legacy {
	uint64_t phase, name_id, id, bind_id;
	unsigned flow; /* 1: it comes in, 2: it goes out, 3: both; 0: none */
	int64_t duration_us;
	int is_local;
};

/* Return 0, or -1: it is damaged. A part that is missing is empty. */
int xch_pft_parse_event(const struct xch_pft_part *part, struct xch_pft_event *e);
int xch_pft_parse_legacy(const struct xch_pft_part *part, struct xch_pft_legacy *l);

#endif

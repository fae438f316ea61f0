/* SPDX-License-Identifier: BSD-3-Clause */
/* The open slices of a track. An end takes the highest slice of its text, however many others are open, in constant time. */
#include "config.h"
#include "exchange/common/slices_open.h"

#include <stdlib.h>

#include "base/grow.h"

int xch_open_push(struct xch_open_slices *o, const struct xch_open_slice *slice)
{
	uint32_t number = (uint32_t)o->n + 1, *highest = NULL;
	struct xch_open_slice *new;

	if (TKM_GROW(o->slice, o->room, o->n + 1) < 0) {
		return -1;
	}
	if (slice->text) {
		highest = tkm_table_put(&o->by_text, &slice->text, sizeof(slice->text), sizeof(*highest));
		if (!highest) {
			return -1;
		}
	}
	new = &o->slice[o->n++];
	*new = *slice;
	new->over = 0;
	new->above = 0;
	new->below = number - 1;
	new->same = highest ? *highest : 0;
	if (highest) {
		*highest = number;
	}
	if (new->below) {
		o->slice[new->below - 1].above = number;
	} else {
		o->first = number;
	}
	return 0;
}

uint32_t xch_open_find(const struct xch_open_slices *o, uint32_t text)
{
	const uint32_t *highest = text ? tkm_table_find(&o->by_text, &text, sizeof(text)) : NULL;

	return !text ? (uint32_t)o->n : highest ? *highest : 0;
}

void xch_open_remove(struct xch_open_slices *o, uint32_t number)
{
	struct xch_open_slice *s = &o->slice[number - 1];
	uint32_t *highest = s->text ? tkm_table_find(&o->by_text, &s->text, sizeof(s->text)) : NULL;

	if (highest) {
		*highest = s->same;
	}
	if (s->above) {
		o->slice[s->above - 1].below = s->below;
	}
	if (s->below) {
		o->slice[s->below - 1].above = s->above;
	} else {
		o->first = s->above;
	}
	s->over = 1;
	while (o->n && o->slice[o->n - 1].over) {
		o->n--;
	}
}

void xch_open_free(struct xch_open_slices *o)
{
	free(o->slice);
	tkm_table_free(&o->by_text);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets of other programs are computed, not stored: time is divided into windows, and the seed and the window's
 * number determine its packets. So the queue's state at a time does not depend on the order of the calls. */
#include "config.h"
#include "lab/compare/queue_sim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "calib/analysis/analysis.h"

struct passage {
	int64_t from, to;
};

enum { PER_WINDOW = 64, KEPT = 1 << 15 };

struct cal_queue {
	int64_t service_ps, window_ps;
	double gap_s, load;
	uint64_t seed;
	int back; /* windows after which the beginning is forgotten */
	/* the last window that was asked for */
	int64_t window;
	double work; /* seconds of work at its start */
	/* and where in it: after the last packet before the last time that was asked for */
	uint64_t packet;      /* number of the next */
	double t, next, left; /* seconds since the start: of that packet and of the next; work at t */
	/* messages, in the order of their times */
	struct passage *own;
	size_t n, room;
};

struct cal_queue *cal_queue_new(double service_s, double load, uint64_t seed)
{
	struct cal_queue *q = calloc(1, sizeof(*q));

	if (!q) {
		return NULL;
	}
	q->service_ps = llrint(service_s * 1e12);
	q->load = load;
	q->seed = seed;
	q->window = INT64_MAX; /* none */
	if (load > 0 && service_s > 0) {
		q->gap_s = service_s / load;
		q->window_ps = llrint(PER_WINDOW * q->gap_s * 1e12);
		/* ten times the time constant with which such a queue forgets, service / (1 - sqrt(load))^2 */
		q->back = (int)ceil(10 * service_s / (pow(1 - sqrt(load), 2) * PER_WINDOW * q->gap_s)) + 1;
	}
	return q;
}

void cal_queue_free(struct cal_queue *q)
{
	if (q) {
		free(q->own);
	}
	free(q);
}

/* Seconds from one packet to the next. Their number in a window is Poisson's because these are exponential. */
static double gap(const struct cal_queue *q)
{
	return -q->gap_s * log1p(-cal_random_fixed(q->seed, (uint64_t)q->window, q->packet));
}

static void begin_window(struct cal_queue *q, int64_t window, double work)
{
	q->window = window;
	q->work = q->left = work;
	q->packet = 0;
	q->t = 0;
	q->next = gap(q);
}

/* Work that is left `upto_s` after the start of the window. */
static double work_at(struct cal_queue *q, double upto_s)
{
	if (upto_s < q->t) {
		begin_window(q, q->window, q->work);
	}
	while (q->next < upto_s) {
		q->left = fmax(0, q->left - (q->next - q->t)) + (double)q->service_ps * 1e-12;
		q->t = q->next;
		q->packet++;
		q->next = q->t + gap(q);
	}
	return fmax(0, q->left - (upto_s - q->t));
}

int64_t cal_queue_others(struct cal_queue *q, int64_t at)
{
	int64_t window;

	if (!(q->load > 0) || q->window_ps == 0) {
		return 0;
	}
	window = at / q->window_ps;
	if (q->window > window || q->window + q->back < window) {
		begin_window(q, window - q->back, 0);
	}
	while (q->window < window) {
		begin_window(q, q->window + 1, work_at(q, (double)q->window_ps * 1e-12));
	}
	return llrint(work_at(q, (double)(at - window * q->window_ps) * 1e-12) * 1e12);
}

/* The first message that ends after t. */
static size_t first_after(const struct cal_queue *q, int64_t t)
{
	size_t low = 0, high = q->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (q->own[middle].to <= t) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

int cal_queue_pass(struct cal_queue *q, int64_t at, int64_t *done)
{
	int64_t from = at + cal_queue_others(q, at);
	size_t i;

	if (q->n == q->room) {
		if (2 * q->room > KEPT) { /* what is long past delays no message */
			q->n /= 2;
			memmove(q->own, q->own + q->n, q->n * sizeof(*q->own));
		} else if (TKM_GROW(q->own, q->room, q->n + 1) < 0) {
			return -1;
		}
	}
	for (i = first_after(q, from); i < q->n && q->own[i].from < from + q->service_ps; i++) {
		from = q->own[i].to;
	}
	memmove(q->own + i + 1, q->own + i, (q->n - i) * sizeof(*q->own));
	q->own[i] = (struct passage){ from, from + q->service_ps };
	q->n++;
	*done = from + q->service_ps;
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the clock domains of a run; see calib/session/domain.h. */
#include "config.h"
#include "calib/session/domain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rootfs.h"
#include "timers/quality/prove.h"

enum { KEY = 448 }; /* holds all that describe_kernel() puts together */

/* What a process tells about itself. The texts below follow, each with its terminating zero. */
struct card {
	int32_t rank, units;
	int32_t asked; /* 1: within_s is an answer */
	int32_t unused;
	double within_s;
};

/* A card where it arrives: equal `clocks` mean the same kernel clocks, equal `machine` the same processors. */
struct seen {
	struct card card;
	const char *clocks, *machine, *timer;
};

static int by_clocks(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;
	int c = strcmp(x->clocks, y->clocks);

	return c ? c : x->card.rank - y->card.rank;
}

static int by_machine(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;
	int c = strcmp(x->machine, y->machine);

	return c ? c : x->card.rank - y->card.rank;
}

/* Equal neighbours after sorting belong together; the first has the lowest rank. A rank that reads another timer than
 * its leader does not have the leader's clock. */
static void group(struct seen *seen, int n, struct cal_place *place)
{
	int i, k;

	qsort(seen, (size_t)n, sizeof(*seen), by_clocks);
	for (i = 0; i < n; i = k) {
		for (k = i; k < n && strcmp(seen[k].clocks, seen[i].clocks) == 0; k++) {
			struct cal_place *p = &place[seen[k].card.rank];

			p->leader = seen[i].card.rank;
			p->index = k - i;
			p->unproven = !seen[i].card.asked;
			p->within_s = strcmp(seen[k].timer, seen[i].timer) ? NAN : seen[i].card.within_s;
		}
		for (; i < k; i++) {
			place[seen[i].card.rank].on_node = place[seen[k - 1].card.rank].index + 1;
		}
	}
	qsort(seen, (size_t)n, sizeof(*seen), by_machine);
	for (i = 0; i < n; i = k) {
		for (k = i; k < n && strcmp(seen[k].machine, seen[i].machine) == 0; k++) {
			place[seen[k].card.rank].machine = seen[i].card.rank;
			place[seen[k].card.rank].units = seen[i].card.units;
		}
	}
}

/* Returns the text at *at, which moves after it, or NULL. A blob has a zero after it. */
static const char *text_at(const struct cal_blobs *all, int i, size_t *at)
{
	const char *text = all->data[i] + *at;

	if (*at >= all->length[i]) {
		return NULL;
	}
	*at += strlen(text) + 1;
	return text;
}

static int decode_reports(const struct cal_blobs *all, struct cal_place *place, struct tkm_err *err)
{
	struct seen *seen = calloc((size_t)all->n, sizeof(*seen));
	int i, rc = seen ? 0 : tkm_fail(err, TKM_ERR_NOMEM, "out of memory for %d ranks", all->n);

	for (i = 0; i < all->n && rc == 0; i++) {
		size_t at = sizeof(seen[i].card);

		if (all->length[i] > at) {
			memcpy(&seen[i].card, all->data[i], at);
			seen[i].clocks = text_at(all, i, &at);
			seen[i].machine = text_at(all, i, &at);
			seen[i].timer = text_at(all, i, &at);
		}
		if (!seen[i].timer || seen[i].card.rank != i) {
			rc = tkm_fail(err, TKM_ERR_DATA, "rank %d is not of this program", i);
		}
	}
	if (rc == 0) {
		group(seen, all->n, place);
	}
	free(seen);
	return rc;
}

/* What this process's kernel says: the clocks, and the machine's boot id. Where that is unknown, no other rank is known to
 * have these clocks. */
static long describe_kernel(int rank, char clocks[KEY], char machine[KEY])
{
	char boot[64] = "", source[64] = "", offsets[128] = "", ns[64] = "", host[128] = "";
	int root = tkm_root_open("/");
	ssize_t n;

	gethostname(host, sizeof(host) - 1);
	tkm_root_line(root, "/proc/sys/kernel/random/boot_id", boot, sizeof(boot));
	tkm_root_line(root, "/sys/devices/system/clocksource/clocksource0/current_clocksource", source, sizeof(source));
	/* two time namespaces with the same offsets show the same times */
	n = tkm_root_read(root, "/proc/self/timens_offsets", offsets, sizeof(offsets));
	if (n <= 0) {
		n = readlinkat(root, "proc/self/ns/time", ns, sizeof(ns) - 1);
		ns[n > 0 ? n : 0] = '\0';
	}
	close(root);
	if (!boot[0]) {
		snprintf(offsets, sizeof(offsets), "rank %d", rank);
	}
	/* the name, because machines that were copied while they ran have the same boot id */
	snprintf(clocks, KEY, "%s/%s/%s/%s%s", host, boot, source, offsets, ns);
	snprintf(machine, KEY, "%s", boot[0] ? boot : host);
	return sysconf(_SC_NPROCESSORS_ONLN);
}

/* The cards go to rank 0, and what follows from them to all. */
static int exchange_cards(struct cal_link *l, const struct card *mine, const char *clocks, const char *machine,
	const char *timer, struct cal_place *place, struct tkm_err *err)
{
	const char *text[] = { clocks, machine, timer };
	size_t size = sizeof(*mine), i;
	struct cal_blobs all;
	char *data;
	int rc;

	for (i = 0; i < 3; i++) {
		size += strlen(text[i]) + 1;
	}
	data = malloc(size);
	if (!data) {
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for %zu bytes", size);
	}
	memcpy(data, mine, sizeof(*mine));
	for (size = sizeof(*mine), i = 0; i < 3; i++) {
		memcpy(data + size, text[i], strlen(text[i]) + 1);
		size += strlen(text[i]) + 1;
	}
	memset(place, 0, (size_t)l->size * sizeof(*place));
	rc = cal_link_gather(l, data, size, &all, err);
	free(data);
	if (rc == 0 && l->rank <= 0) {
		rc = decode_reports(&all, place, err);
	}
	cal_blobs_free(&all);
	return rc < 0 ? rc : cal_link_bcast(l, place, (size_t)l->size * sizeof(*place), err);
}

static double prove_here(struct tmr_timer *t, double tick_s, double budget_s)
{
	struct tmr_proof proof;
	struct tkm_err why;

	if (t->scope == TMR_SCOPE_NODE || t->scope == TMR_SCOPE_CLUSTER) {
		return 0;
	}
	if (t->scope != TMR_SCOPE_CORE || tmr_prove_one_clock(t, tick_s, budget_s, &proof, &why) < 0 ||
		!proof.one_clock) {
		return NAN;
	}
	return proof.within_s;
}

/* t: NULL for the places alone. late: leaders that were not the first of their node, and were not asked. */
static int run_card_round(struct cal_link *l, struct tmr_timer *t, double tick_s, double budget_s, int proves,
	struct cal_place *place, struct tkm_err *err)
{
	struct card mine = { .rank = l->rank < 0 ? 0 : l->rank, .asked = !t || proves, .within_s = NAN };
	char clocks[KEY], machine[KEY];
	enum cal_wait before = l->wait;
	int rc;
	long units;

	/* while a counter is proven, waiting ranks sleep at once, so that the proof has the cores to itself */
	l->wait = !t || t->scope != TMR_SCOPE_CORE || proves ? CAL_WAIT_YIELD : CAL_WAIT_SLEEP;
	units = describe_kernel(mine.rank, clocks, machine);
	mine.units = units > 0 ? (int32_t)units : 1;
	if (t && proves) {
		mine.within_s = prove_here(t, tick_s, budget_s);
	}
	rc = exchange_cards(l, &mine, clocks, machine, t ? t->name : "", place, err);
	l->wait = before;
	return rc;
}

int cal_places_here(struct cal_link *l, struct cal_place *place, struct tkm_err *err)
{
	return run_card_round(l, NULL, NAN, 0, 0, place, err);
}

int cal_domains_find(struct cal_link *l, struct tmr_timer *t, double effective_tick_s, double budget_s,
	struct cal_place *place, struct tkm_err *err)
{
	int me = l->rank < 0 ? 0 : l->rank, unproven = 0, i;

	if (run_card_round(l, t, effective_tick_s, budget_s, t->scope != TMR_SCOPE_CORE || me == l->first_near, place,
		    err) < 0) {
		return -1;
	}
	for (i = 0; i < l->size; i++) {
		unproven |= place[i].unproven;
	}
	/* on a node with several domains, not all leaders are its first rank */
	return unproven ? run_card_round(l, t, effective_tick_s, budget_s, place[me].leader == me, place, err) : 0;
}

void cal_places_choose(const struct cal_place *place, int n, int synced_host, int cluster, unsigned char *exchanges,
	struct cal_rank *r)
{
	const struct cal_place *me = &place[r->rank];
	int i;

	for (i = 0; i < n; i++) {
		int host = synced_host >= 0 ? synced_host : !isnan(place[i].within_s);

		exchanges[i] = i != 0 && !cluster && !(host && place[i].leader != i);
	}
	r->sync = r->rank == 0 || exchanges[r->rank] ? CAL_OWN : CAL_SHARED;
	r->leader = cluster ? 0 : me->leader;
	if (r->sync == CAL_SHARED) {
		/* a rank that reads the leader's own clock still knows it only to within the lag of a reading */
		r->shared_within_s = fmax(cluster ? 0 : me->within_s, r->effective_tick_s);
	}
}

int cal_places_plan(const struct cal_place *place, int n, const unsigned char *exchanges, enum cal_shape shape,
	struct cal_plan *plan, struct tkm_err *err)
{
	int members = 1, i, rc;
	int *list = calloc(3 * (size_t)n, sizeof(*list)), *node = list + n, *units = node + n;

	if (!list) {
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for %d ranks", n);
	}
	for (i = 0; i < n; i++) {
		node[i] = place[i].machine;
		units[i] = place[i].units;
		if (i > 0 && exchanges[i]) {
			list[members++] = i;
		}
	}
	rc = cal_plan_make(plan, shape, list, members, node, units, err);
	free(list);
	return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "calib/domain.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rootfs.h"
#include "timers/prove.h"

enum { KEY = 400 };

struct card {
	char clocks[KEY], machine[KEY];
	int32_t rank, units;
};

static int by_clocks(const void *a, const void *b)
{
	const struct card *x = *(const struct card *const *)a, *y = *(const struct card *const *)b;
	int c = strcmp(x->clocks, y->clocks);

	return c ? c : x->rank - y->rank;
}

static int by_machine(const void *a, const void *b)
{
	const struct card *x = *(const struct card *const *)a, *y = *(const struct card *const *)b;
	int c = strcmp(x->machine, y->machine);

	return c ? c : x->rank - y->rank;
}

/* Equal neighbours after sorting belong together; the first has the lowest rank. */
static void group(const struct card **card, int n, struct cal_place *place)
{
	int i, k;

	qsort(card, (size_t)n, sizeof(*card), by_clocks);
	for (i = 0; i < n; i = k) {
		for (k = i; k < n && strcmp(card[k]->clocks, card[i]->clocks) == 0; k++) {
			place[card[k]->rank].leader = card[i]->rank;
			place[card[k]->rank].index = k - i;
		}
		for (; i < k; i++) {
			place[card[i]->rank].on_node = place[card[k - 1]->rank].index + 1;
		}
	}
	qsort(card, (size_t)n, sizeof(*card), by_machine);
	for (i = 0; i < n; i = k) {
		for (k = i; k < n && strcmp(card[k]->machine, card[i]->machine) == 0; k++) {
			place[card[k]->rank].machine = card[i]->rank;
			place[card[k]->rank].units = card[i]->units;
		}
	}
}

static int sort_out(const struct cal_blobs *all, struct cal_place *place, struct tkm_err *err)
{
	const struct card **card = calloc((size_t)all->n, sizeof(*card));
	int i, rc = 0;

	for (i = 0; card && i < all->n; i++) {
		card[i] = (const struct card *)(const void *)all->data[i];
		if (all->length[i] != sizeof(**card) || card[i]->rank != i) {
			rc = tkm_fail(err, TKM_ERR_DATA, "rank %d is not of this program", i);
		}
	}
	if (!card) {
		rc = tkm_fail(err, TKM_ERR_NOMEM, "out of memory for %d ranks", all->n);
	} else if (rc == 0) {
		group(card, all->n, place);
	}
	free(card);
	return rc;
}

int cal_places_find(struct cal_link *l, const char *clocks, const char *machine, int units, struct cal_place *place,
	struct tkm_err *err)
{
	struct card mine;
	struct cal_blobs all;
	int rc, i, before = l->hurry;

	memset(&mine, 0, sizeof(mine));
	mine.rank = l->rank < 0 ? 0 : l->rank;
	mine.units = units;
	snprintf(mine.clocks, sizeof(mine.clocks), "%s", clocks);
	snprintf(mine.machine, sizeof(mine.machine), "%s", machine);
	memset(place, 0, (size_t)l->size * sizeof(*place));
	l->hurry = 1;
	rc = cal_link_gather(l, &mine, sizeof(mine), &all, err);
	if (rc == 0 && l->rank == 0) {
		rc = sort_out(&all, place, err);
	}
	cal_blobs_free(&all);
	if (rc == 0) {
		rc = cal_link_bcast(l, place, (size_t)l->size * sizeof(*place), err);
	}
	for (i = 0; i < l->size; i++) {
		place[i].within_s = NAN;
	}
	l->hurry = before;
	return rc;
}

int cal_places_here(struct cal_link *l, struct cal_place *place, struct tkm_err *err)
{
	char clocks[KEY], boot[64] = "", source[64] = "", offsets[128] = "", ns[64] = "", host[128] = "";
	int root = tkm_root_open("/");
	long units = sysconf(_SC_NPROCESSORS_ONLN);
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
	/* the name, because machines that were copied while they ran have the same boot id */
	snprintf(clocks, sizeof(clocks), "%s/%s/%s/%s%s", host, boot, source, offsets, ns);
	return cal_places_find(l, clocks, boot[0] ? boot : host, units > 0 ? (int)units : 1, place, err);
}

static double prove_here(struct tmr_timer *t, double tick_s, double budget_s)
{
	struct tmr_proof proof;
	struct tkm_err why;

	if (t->scope == TMR_SCOPE_NODE || t->scope == TMR_SCOPE_CLUSTER) {
		return 0;
	}
	if (t->scope != TMR_SCOPE_CORE || tmr_prove_one_clock(t, tick_s, budget_s, &proof, &why) < 0 || !proof.one_clock) {
		return NAN;
	}
	return proof.within_s;
}

int cal_domain_prove(struct cal_link *l, struct tmr_timer *t, double effective_tick_s, double budget_s,
	struct cal_place *place, struct tkm_err *err)
{
	int me = l->rank < 0 ? 0 : l->rank, leads = place[me].leader == me, i, rc, before = l->hurry;
	struct fact {
		double within_s;
		char timer[sizeof(t->name)];
	} mine, *all = calloc((size_t)l->size, sizeof(*all));
	struct cal_blobs blobs;

	if (!all) {
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for %d ranks", l->size);
	}
	memset(&mine, 0, sizeof(mine));
	snprintf(mine.timer, sizeof(mine.timer), "%s", t->name);
	mine.within_s = leads ? prove_here(t, effective_tick_s, budget_s) : NAN;
	/* who waits sleeps at once: the proof has the cores to itself */
	l->hurry = leads ? 1 : -1;
	rc = cal_link_gather(l, &mine, sizeof(mine), &blobs, err);
	for (i = 0; rc == 0 && i < blobs.n; i++) {
		memcpy(&all[i], blobs.data[i], sizeof(all[i]));
	}
	cal_blobs_free(&blobs);
	if (rc == 0) {
		rc = cal_link_bcast(l, all, (size_t)l->size * sizeof(*all), err);
	}
	l->hurry = before;
	for (i = 0; i < l->size && rc == 0; i++) {
		/* who reads another timer does not have its leader's clock */
		place[i].within_s = strcmp(all[i].timer, all[place[i].leader].timer) ? NAN : all[place[i].leader].within_s;
	}
	free(all);
	return rc;
}

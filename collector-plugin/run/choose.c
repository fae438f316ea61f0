/* SPDX-License-Identifier: BSD-3-Clause */
/* Applies PROCESS and CLUSTER to this process. */
#include "config.h"
#include "collector-plugin/run/choose.h"

#include "collector-plugin/core/collect.h"
#include "collector-plugin/core/hooks.h"
#include "collector-plugin/core/collector.h"
#include "collector-plugin/host/say.h"
#include "collector-plugin/raw/writer.h"
#include "collector-plugin/settings/choose.h"

void vt_choose_wrong(const struct vt_setting_other *o, const char *why)
{
	vt_say(vt_collector.pub.rank > 0 ? 2 : 1, "WARNING",
		"%s %s (%s): %s; this rule is ignored; the other rules apply", o->name, o->text, o->where, why);
}

static void rules(const char *option, long long number, long long last, int *state)
{
	const struct vt_setting_other *o;
	struct tkm_err err;
	int i;

	/* wrong rules were left out when they were read */
	for (i = 0; (o = vt_settings_other_nth(&vt_collector.settings, option, i)) != NULL; i++) {
		vt_choose(o->text, number, last, state, &err);
	}
}

static void needs_mpi(const struct vt_collector *c, const char *option, const char *why)
{
	const struct vt_setting_other *o;
	int i;

	for (i = 0; (o = vt_settings_other_nth(&c->settings, option, i)) != NULL; i++) {
		vt_choose_wrong(o, why);
	}
}

static void name_groups(const struct vt_collector *c)
{
	needs_mpi(c, "GROUP", "the program does not call MPI_Init, so it has no groups of processes");
}

int vt_choose_process(long long rank, long long last_rank, long long host, long long last_host)
{
	int state = 0;

	rules("PROCESS", rank, last_rank, &state);
	rules("CLUSTER", host, last_host, &state);
	return state;
}

/* Only MPI knows which host is the first one. Without MPI, CLUSTER has no meaning for several processes. */
static int choose_alone(const struct vt_collector *c)
{
	int rank = c->pub.rank, ranks = c->pub.ranks, state = 0;

	rules("PROCESS", rank > 0 ? rank : 0, ranks > 1 ? ranks - 1 : 0, &state);
	if (ranks <= 1) {
		rules("CLUSTER", 0, 0, &state);
	}
	return state;
}

static void discard(const struct vt_collector *c)
{
	vt_raw_info(c->pub.raw, VT_RAW_DISCARDED,
		"PROCESS or CLUSTER says no or discard, so only counters of the node are here");
}

void vt_choose_alone(const struct vt_collector *c)
{
	int state = choose_alone(c);

	vt_process_state(state);
	if (state == 2 && vt_hooks.load) {
		discard(c);
	}
	if (vt_hooks.load) {
		name_groups(c);
	}
}

void vt_choose_at_end(const struct vt_collector *c)
{
	if (!vt_hooks.no_mpi) {
		return;
	}
	if (choose_alone(c) == 2) {
		discard(c);
	}
	if (c->pub.ranks > 1) {
		needs_mpi(c, "CLUSTER", "the program did not call MPI_Init, which numbers the hosts");
	}
	name_groups(c);
}

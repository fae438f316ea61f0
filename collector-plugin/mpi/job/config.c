/* SPDX-License-Identifier: BSD-3-Clause */
/* Options that depend on the other ranks: PROCESS and CLUSTER (Intel Trace Collector guide, sections 2.5.3 and
 * 3.2.3), GROUP. Every rank evaluates them itself, from the names of all hosts, which every rank knows. */
#include "config.h"
#include "collector-plugin/mpi/job/job.h"

#include <ctype.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/fnv.h"
#include "base/grow.h"
#include "base/table.h"
#include "base/text/text.h"
#include "include/VT.h"
#include "collector-plugin/api/private.h"
#include "collector-plugin/core/collect.h"
#include "collector-plugin/core/collect.h"
#include "collector-plugin/core/hooks.h"
#include "collector-plugin/host/program/address.h"
#include "collector-plugin/host/say.h"
#include "collector-plugin/raw/writer.h"
#include "collector-plugin/run/choose.h"
#include "collector-plugin/run/run.h"
#include "collector-plugin/settings/choose.h"
#include "collector-plugin/settings/settings.h"

/* ---- hosts ---- */

static const char *name_of_host(const struct vt_job *j, int rank)
{
	return j->host_name + (size_t)j->host[rank] * VT_HOST_NAME;
}

/* The lowest rank of each host sends the name of it to all. counts: two for each rank, 0 until now. bad: this rank cannot. */
static int gather_names(struct vt_job *j, const char mine[VT_HOST_NAME], int *counts, int bad)
{
	int *at = counts + j->ranks, hosts = 0, me, i;

	PMPI_Comm_rank(MPI_COMM_WORLD, &me);
	for (i = 0; i < j->ranks && !bad; i++) {
		at[i] = hosts * VT_HOST_NAME;
		if (j->host[i] == hosts) {
			counts[i] = VT_HOST_NAME;
			hosts++;
		}
	}
	j->host_name = calloc((size_t)hosts, VT_HOST_NAME);
	bad = bad || !j->host_name;
	PMPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	if (!bad) {
		PMPI_Allgatherv(mine, counts[me], MPI_CHAR, j->host_name, counts, at, MPI_CHAR, MPI_COMM_WORLD);
	}
	return bad;
}

int vt_job_hosts(struct vt_job *j, struct tkm_err *err)
{
	char mine[VT_HOST_NAME] = "", processor[MPI_MAX_PROCESSOR_NAME + 1] = "";
	int n = 0, size, me, bad, *counts;
	uint64_t hash, *all;

	PMPI_Comm_size(MPI_COMM_WORLD, &size);
	PMPI_Comm_rank(MPI_COMM_WORLD, &me);
	j->host = calloc((size_t)size, sizeof(*j->host));
	j->process = me == 0 ? calloc((size_t)size, sizeof(*j->process)) : NULL;
	all = calloc((size_t)size, sizeof(*all));
	counts = calloc((size_t)size, 2 * sizeof(*counts));
	/* all ranks take part in the calls below, also a rank without memory: the others would wait for it */
	bad = !j->host || (me == 0 && !j->process) || !all || !counts;
	PMPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	if (!bad) {
		PMPI_Get_processor_name(processor, &n);
		snprintf(mine, sizeof(mine), "%.*s", VT_HOST_NAME - 1, processor);
		/* 64 bits of it: a job has too few hosts for two of one hash */
		hash = tkm_fnv(TKM_FNV_START, mine, strlen(mine));
		PMPI_Allgather(&hash, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, MPI_COMM_WORLD);
		j->ranks = size;
		/* hosts are numbered in the order of their lowest ranks */
		bad = tkm_table_number_keys(all, sizeof(*all), (size_t)size, j->host) < 0;
		bad = gather_names(j, mine, counts, bad);
	}
	free(all);
	free(counts);
	return bad ? tkm_fail(err, TKM_ERR_NOMEM, "out of memory for %d ranks", size) : 0;
}

/* Joins the sets of all ranks: root has the whole in *set, the others none. By all of them together. */
static void join_cpus(int root, struct tkm_cpus *set)
{
	unsigned char mine[sizeof(cpu_set_t)], all[sizeof(mine)];
	unsigned long bytes = set->bytes, most = 0, at, n;
	struct tkm_cpus joined = { .set = NULL };

	PMPI_Allreduce(&bytes, &most, 1, MPI_UNSIGNED_LONG, MPI_MAX, MPI_COMM_WORLD); /* hosts may have other kernels */
	if (tkm_cpus_make(&joined, most ? most : 1) < 0) {
		joined.bytes = 0;
	}
	for (at = 0; at < most; at += sizeof(mine)) {
		n = at >= bytes ? 0 : bytes - at < sizeof(mine) ? bytes - at : sizeof(mine);
		memset(mine, 0, sizeof(mine));
		memset(all, 0, sizeof(all));
		if (n > 0) {
			memcpy(mine, (unsigned char *)set->set + at, n);
		}
		PMPI_Reduce(mine, all, (int)sizeof(mine), MPI_BYTE, MPI_BOR, root, MPI_COMM_WORLD);
		n = at >= joined.bytes ? 0 : joined.bytes - at < sizeof(all) ? joined.bytes - at : sizeof(all);
		if (n > 0) {
			memcpy((unsigned char *)joined.set + at, all, n);
		}
	}
	tkm_cpus_free(set);
	*set = joined;
}

/* Collects the CPUs of all ranks on the writer's host. The writer itself is usually bound to a few CPUs, and the
 * other ranks do not need theirs while it writes the trace. */
void vt_job_cpus(struct vt_job *j)
{
	static struct tkm_cpus all;

	if (j->host && j->host[j->rank] == j->host[j->writer]) {
		tkm_cpus_own(&all);
	}
	join_cpus(j->writer, &all);
	if (j->rank == j->writer && tkm_cpus_count(&all) > 1) {
		j->collect->cpus = &all;
	}
}

/* ---- the protocol ---- */

/* next[i]: the next rank on the host of rank i; -1: there is none. last: room for as many. */
static void chain_ranks(const struct vt_job *j, int *next, int *last)
{
	int i;

	for (i = 0; i < j->ranks; i++) {
		last[i] = next[i] = -1;
	}
	for (i = 0; i < j->ranks; i++) {
		if (last[j->host[i]] >= 0) {
			next[last[j->host[i]]] = i;
		}
		last[j->host[i]] = i;
	}
}

/* Lines of the protocol: one for each node, then one for each process, as in the Intel Trace Collector guide, section
 * 3.2.2. */
static char *protocol_lines(const struct vt_job *j, const struct vt_process *all)
{
	char *text = NULL;
	size_t length;
	FILE *f = open_memstream(&text, &length);
	int *next = malloc((size_t)j->ranks * sizeof(*next)), *last = malloc((size_t)j->ranks * sizeof(*last)), i, k;

	if (!f || !next || !last) {
		free(next);
		free(last);
		if (f) {
			tkm_text_end(f, &text);
			free(text);
		}
		return NULL;
	}
	chain_ranks(j, next, last);
	fprintf(f, "INFO NUMPROCS %d\n", j->ranks);
	for (i = 0, k = 0; i < j->ranks; i++) {
		int rank = i;

		/* hosts are numbered by their lowest ranks */
		if (j->host[i] != k) {
			continue;
		}
		k++;
		fprintf(f, "INFO CLUSTERDEF %s", name_of_host(j, i));
		for (; rank >= 0; rank = next[rank]) {
			fprintf(f, " %d:%d", rank, all[rank].pid);
		}
		fputc('\n', f);
	}
	free(next);
	free(last);
	for (i = 0; i < j->ranks; i++) {
		fprintf(f, "INFO PROCESS %d \"%s\" \"%s\" %d\n", i, name_of_host(j, i), all[i].ip, all[i].pid);
	}
	return tkm_text_end(f, &text) < 0 ? NULL : text;
}

/* Lines with the options of the job that were not given. Options without a value here are measured, or name nothing. */
static char *default_lines(void)
{
	struct cal_job_options o = cal_job_defaults();
	char skip[24], messages[24], duration[40], *text = NULL;
	const struct {
		const char *name, *value;
	} options[] = { { "CLUSTER", NULL }, { "GROUP", NULL }, { "LEARN-DRIFT", "off" }, { "LEARN-FROM", NULL },
		{ "MAX-DRIFT", NULL }, { "MAX-WANDER", NULL }, { "PROCESS", NULL }, { "SYNC-MAX-DURATION", duration },
		{ "SYNC-MAX-MESSAGES", messages }, { "SYNC-PERIOD", NULL }, { "SYNCED-CLUSTER", NULL },
		{ "SYNCED-HOST", NULL }, { "TIMER-SKIP", skip }, { "UNIFY-COUNTERS", "on" }, { "UNIFY-GROUPS", "on" } };
	size_t i, length;
	FILE *f = open_memstream(&text, &length);

	if (!f) {
		return NULL;
	}
	snprintf(skip, sizeof(skip), "%d", o.skip);
	snprintf(messages, sizeof(messages), "%lld", o.max_messages);
	snprintf(duration, sizeof(duration), "%.9gs", o.max_duration_s);
	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		if (!vt_collect_option(options[i].name)) {
			fprintf(f, "# default\n%s%s%s%s\n", options[i].value ? "" : "# ", options[i].name,
				options[i].value ? " " : "", options[i].value ? options[i].value : "");
		}
	}
	return tkm_text_end(f, &text) < 0 ? NULL : text;
}

void vt_job_protocol(struct vt_job *j)
{
	struct vt_process mine = { .pid = (int32_t)getpid() };

	vt_own_addresses(mine.ip, sizeof(mine.ip));
	PMPI_Gather(&mine, (int)sizeof(mine), MPI_BYTE, j->process, (int)sizeof(mine), MPI_BYTE, 0, MPI_COMM_WORLD);
	if (j->collect->rank == 0) {
		j->collect->job_lines = protocol_lines(j, j->process);
		free(j->process);
		j->process = NULL;
		j->collect->default_lines = default_lines();
	}
}

/* ---- groups ---- */

/* A member of a group, given by name: an earlier group (of the configuration or of the program), a host, or all.
 * Returns how many ids it stands for. */
static int named_member(const struct vt_job *j, const char *name, int *id)
{
	int i, n = 0, all = strcasecmp(name, "All_Processes") == 0, group = vt_group_named(name);

	if (group) {
		id[0] = group;
		return 1;
	}
	for (i = 0; i < j->ranks; i++) {
		if (all || strcasecmp(name_of_host(j, i), name) == 0) {
			VT_getprocid(i, &id[n++]);
		}
	}
	return n;
}

static int triplet_member(const struct vt_job *j, const char *text, int *id)
{
	struct tkm_triplet t;
	int i, n = 0;

	if (tkm_parse_triplet(text, strlen(text), &t) < 0) {
		return 0;
	}
	for (i = 0; i < j->ranks; i++) {
		if (i >= t.first && i <= t.last && (i - t.first) % t.step == 0) {
			VT_getprocid(i, &id[n++]);
		}
	}
	return n;
}

/* Defines a group from the text "name member[, member ...]", where a member is a triplet or a name. Returns 0, or -1:
 * `wrong` is the member that is not valid. */
static int define_job_group(const struct vt_job *j, const char *text, char *wrong, size_t size)
{
	int *id = NULL, n = 0, m = 1, handle;
	size_t room = 0;
	char name[256];

	vt_choose_field(&text, name, sizeof(name), 0);
	while (m > 0 && vt_choose_field(&text, wrong, size, 0) > 0) {
		if (TKM_GROW(id, room, (size_t)(n + j->ranks)) < 0) {
			m = 0;
			break;
		}
		m = isdigit((unsigned char)wrong[0]) && strspn(wrong, "0123456789:Nn") == strlen(wrong)
			? triplet_member(j, wrong, id + n)
			: named_member(j, wrong, id + n);
		n += m;
	}
	if (m == 0 || n == 0 || VT_groupdef(name, n, id, &handle) != VT_OK) {
		m = 0;
	}
	free(id);
	return m > 0 ? 0 : -1;
}

void vt_job_groups(const struct vt_job *j, int last)
{
	static char *done; /* one for each GROUP option */
	const struct vt_setting_other *o;
	char wrong[256], why[400];
	int i, n = 0;

	while (vt_settings_other_nth(vt_collect_settings(), "GROUP", n)) {
		n++;
	}
	done = done ? done : calloc((size_t)n + 1, 1);
	for (i = 0; done && i < n; i++) {
		o = vt_settings_other_nth(vt_collect_settings(), "GROUP", i);
		wrong[0] = '\0';
		if (!done[i] && define_job_group(j, o->text, wrong, sizeof(wrong)) == 0) {
			done[i] = 1;
		} else if (!done[i] && last) {
			snprintf(why, sizeof(why),
				"'%s' is no rank of this job, triplet START[:STOP[:STEP]], host, or group defined "
				"before it; "
				"write a name and such members",
				wrong);
			vt_choose_wrong(o, why);
		}
	}
}

/* VT_CONFIG_RANK as set on rank 0: "the process that reads and parses the configuration file" (Intel Trace Collector
 * guide, section 2.4.1). */
static int config_reader(const struct vt_job *j, int size)
{
	const char *text = secure_getenv("VT_CONFIG_RANK");
	long long n = 0;
	int rank;

	if (j->rank == 0 && text && *text && (tkm_parse_int(text, 0, size - 1, &n) < 0)) {
		vt_say(1, "WARNING", "VT_CONFIG_RANK %s: want a rank from 0 to %d; rank 0's configuration counts", text,
			size - 1);
		n = 0;
	}
	rank = (int)n;
	PMPI_Bcast(&rank, 1, MPI_INT, 0, MPI_COMM_WORLD);
	return rank;
}

/* Takes the configuration of the rank `reader` if it differs from our own. */
static int take_config(
	const struct vt_job *j, int reader, const char *text, size_t size, const char *path, struct tkm_err *err)
{
	const char *mine, *from;
	char name[400];
	size_t n;
	int rc;

	mine = vt_collect_config(&n, &from);
	if (mine && n == size && memcmp(mine, text, size) == 0) {
		return 0;
	}
	snprintf(name, sizeof(name), "%.300s of rank %d", path, reader);
	rc = vt_collect_reconfigure(text, size, name, err);
	if (rc == 1) {
		vt_say(1, "WARNING",
			"%s: too late for its options here, because calls of this rank were recorded before MPI_Init "
			"(of VT_, or of class SYSTEM)",
			name);
		return 0;
	}
	if (rc == 0) {
		vt_say(j->rank == 0 ? 1 : 2, "INFO",
			"the options are those of %s, from here on; what was recorded before MPI_Init is left out",
			name);
	}
	return rc;
}

int vt_job_distribute(const struct vt_job *j, int size, struct tkm_err *err)
{
	int reader = config_reader(j, size), mine = j->rank == reader, bad, rc;
	const char *own, *from;
	size_t own_size;
	long long n;
	char path[400] = "", *text = NULL;

	own = vt_collect_config(&own_size, &from);
	n = mine && own ? (long long)own_size : -1;
	if (mine) {
		snprintf(path, sizeof(path), "%s", from);
	}
	PMPI_Bcast(&n, 1, MPI_LONG_LONG, reader, MPI_COMM_WORLD);
	if (n < 0) {
		if (mine && secure_getenv("VT_CONFIG_RANK")) {
			vt_say(1, "WARNING",
				"VT_CONFIG_RANK %d: that rank has no configuration file%s%s, so each rank keeps what "
				"it has",
				reader, path[0] ? ", there is no " : ": VT_CONFIG is not set there", path);
		}
		return 0;
	}
	text = malloc((size_t)n + 1);
	bad = !text;
	PMPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	if (bad) {
		free(text);
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for a configuration of %lld bytes", n);
	}
	if (mine) {
		memcpy(text, own, (size_t)n);
	}
	PMPI_Bcast(path, (int)sizeof(path), MPI_CHAR, reader, MPI_COMM_WORLD);
	PMPI_Bcast(text, (int)n, MPI_CHAR, reader, MPI_COMM_WORLD);
	rc = mine ? 0 : take_config(j, reader, text, (size_t)n, path, err);
	free(text);
	return rc;
}

/* Sets the writer by LOGFILE-RANK, as set on rank 0, and the number of this launch, by who rank 0 is and when it began. */
static void choose_writer(struct vt_job *j)
{
	struct vt_raw_head *head = vt_raw_head(j->collect->raw);
	uint64_t launch = tkm_fnv(tkm_fnv(TKM_FNV_START, &head->id, sizeof(head->id)), &head->start_realtime_ns,
		sizeof(head->start_realtime_ns));
	long long of_first[] = { vt_collect_settings()->logfile_rank, (long long)launch }, rank;

	PMPI_Bcast(of_first, 2, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
	atomic_store(&head->launch, (uint64_t)of_first[1]);
	rank = of_first[0];
	if (rank >= j->ranks) {
		if (j->rank == 0) {
			vt_say(1, "WARNING", "LOGFILE-RANK %lld: there are %d ranks, so rank 0 writes the trace", rank,
				j->ranks);
		}
		rank = 0;
	}
	j->writer = (int)rank;
}

void vt_job_configure(struct vt_job *j)
{
	int me = j->collect->rank, hosts = 0, here = 0, state, i;
	char text[VT_HOST_NAME + 200];

	for (i = 0; i < j->ranks; i++) {
		hosts = j->host[i] > hosts ? j->host[i] : hosts;
		here += j->host[i] == j->host[me];
	}
	/* not every launcher tells its sampler process */
	atomic_store(&vt_raw_head(j->collect->raw)->local_ranks, here);
	choose_writer(j);
	state = vt_choose_process(me, j->ranks - 1, j->host[me], hosts);
	vt_process_state(state);
	if (state == 2) {
		/* this also discards what was recorded before MPI gave this process its rank */
		snprintf(text, sizeof(text),
			"rank %d on %s: PROCESS or CLUSTER says no or discard, so only counters of its node are here",
			me, name_of_host(j, me));
		vt_raw_info(j->collect->raw, VT_RAW_DISCARDED, text);
	}
	vt_job_groups(j, 0);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The main part of a merge: opens the raw files, prepares their clocks, and begins and ends the trace. */
#include "config.h"
#include "collector-plugin/merge/definitions/lines.h"
#include "collector-plugin/merge/merge.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/known.h"
#include "base/text/text.h"
#include "calib/map/run.h"
#include "collector-plugin/merge/definitions/communicators.h"
#include "collector-plugin/merge/definitions/objects.h"
#include "collector-plugin/merge/definitions/bounds.h"
#include "collector-plugin/merge/common/private.h"
#include "collector-plugin/merge/definitions/statistics.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/reader.h"

int vt_merge_is_raw(const char *path)
{
	char magic[8];
	int fd = open(path, O_RDONLY | O_CLOEXEC), is;

	if (fd < 0) {
		return 0;
	}
	is = read(fd, magic, sizeof(magic)) == (ssize_t)sizeof(magic) && !memcmp(magic, VT_RAW_MAGIC, sizeof(magic));
	close(fd);
	return is;
}

/* ---- the files ---- */

static int by_start(const void *a, const void *b)
{
	const struct vt_merge_file *x = a, *y = b;

	if (x->head->rank != y->head->rank) {
		return x->head->rank < y->head->rank ? -1 : 1;
	}
	if (x->head->start_realtime_ns != y->head->start_realtime_ns) {
		return x->head->start_realtime_ns < y->head->start_realtime_ns ? -1 : 1;
	}
	return x->head->pid < y->head->pid ? -1 : x->head->pid > y->head->pid;
}

/* Did process a go on as program b, by exec? */
static int same_process(const struct vt_raw_head *a, const struct vt_raw_head *b)
{
	return vt_raw_may_go_on(a) && a->pid == b->pid && a->born == b->born && a->born &&
		tkm_known_equal(a->boot, b->boot) && tkm_known_equal(a->host, b->host);
}

/* The latest file before the i-th of the process that went on as that program; NULL: there is none. latest: 1 + the number of the
 * latest file of each process id. */
static struct vt_merge_file *program_before(struct vt_merge *m, size_t i, struct tkm_table *latest, int *no_memory)
{
	const struct vt_raw_head *h = m->file[i].head;
	const uint64_t key[2] = { h->pid, h->born };
	size_t *last = tkm_table_put(latest, key, sizeof(key), sizeof(*last)), k;

	if (!last) {
		*no_memory = 1;
		return NULL;
	}
	k = *last;
	*last = i + 1;
	/* processes of several nodes may have one id */
	m->file[i].same_id = (uint32_t)k;
	while (k && (m->file[k - 1].went_on || !same_process(m->file[k - 1].head, h))) {
		k = m->file[k - 1].same_id;
	}
	return k ? &m->file[k - 1] : NULL;
}

/* Numbers the processes: by rank if every process has a rank of its own, else in the order of starting. */
static int number_merged_processes(struct vt_merge *m)
{
	struct tkm_table latest = { 0 };
	uint32_t next = 0;
	int ranked = 1, no_memory = 0;
	size_t i;

	qsort(m->file, m->n, sizeof(*m->file), by_start);
	for (i = 0; i < m->n; i++) {
		ranked &= m->file[i].head->rank >= 0 && m->file[i].head->rank < VT_MERGE_PROCESSES &&
			(i == 0 || m->file[i].head->rank != m->file[i - 1].head->rank ||
				same_process(m->file[i - 1].head, m->file[i].head));
	}
	for (i = 0; i < m->n && !no_memory; i++) {
		struct vt_merge_file *before = program_before(m, i, &latest, &no_memory);

		m->file[i].process = ranked ? (uint32_t)m->file[i].head->rank : before ? before->process : next++;
		if (before) {
			before->went_on = 1;
			before->later = (uint32_t)i;
		}
	}
	tkm_table_free(&latest);
	return no_memory ? tkm_fail(m->err, TKM_ERR_NOMEM, "merge: out of memory for %zu processes", m->n) : 0;
}

static int find_merged_nodes(struct vt_merge *m)
{
	struct tkm_table known = { 0 };
	char name[sizeof(m->file->head->host) + sizeof(m->file->head->boot) + 20];
	uint32_t *number;
	size_t i;

	m->node = calloc(m->n, sizeof(*m->node));
	for (i = 0; m->node && i < m->n; i++) {
		const struct vt_raw_head *h = m->file[i].head;
		/* what could not be read may be of any node */
		int is_known = tkm_known_equal(h->host, h->host) && tkm_known_equal(h->boot, h->boot);
		int n = snprintf(name, sizeof(name), "%s\1%s\1%.0zu", h->host, h->boot, is_known ? 0 : i + 1);

		number = tkm_table_put(&known, name, (size_t)n, sizeof(*number));
		if (!number) {
			break;
		}
		if (!*number) {
			m->node[m->n_nodes++] = (struct vt_merge_node){ .host = h->host };
			*number = (uint32_t)m->n_nodes;
		}
		m->file[i].node = *number - 1;
	}
	tkm_table_free(&known);
	return m->node && i == m->n ? 0
				    : tkm_fail(m->err, TKM_ERR_NOMEM, "merge: out of memory for %zu processes", m->n);
}

struct opening {
	struct vt_merge *m;
	const struct vt_merge_input *in;
	struct tkm_err *error; /* [files]: one error for each file */
};

/* Checks the sum of every block, which is the longest part of a merge except for the writing. */
static void open_raw_input(void *ctx, size_t i)
{
	struct opening *o = ctx;
	struct vt_merge_file *f = &o->m->file[i];
	const struct cal_run *run = o->m->o->run;

	f->raw = vt_raw_open(o->in[i].path, &o->error[i]);
	if (f->raw) {
		f->head = vt_raw_file_head(f->raw);
		f->map = o->in[i].map;
	}
	if (f->raw && run && (f->head->rank < 0 || (size_t)f->head->rank >= run->ranks)) {
		tkm_fail(&o->error[i], TKM_ERR_DATA, "%s: rank %d is not in %s, which has %zu ranks", o->in[i].path,
			f->head->rank, o->m->o->clk, run->ranks);
	} else if (f->raw && run) {
		f->map = &run->rank[f->head->rank].map;
	}
}

static int open_raw_inputs(struct vt_merge *m, const struct vt_merge_input *in)
{
	struct opening open = { m, in, NULL };
	size_t i;
	int rc = 0;

	if (m->n > VT_MERGE_PROCESSES) {
		return tkm_fail(m->err, TKM_ERR_ARG, "merge: %zu raw files; a trace has at most %d processes", m->n,
			VT_MERGE_PROCESSES);
	}
	m->file = calloc(m->n, sizeof(*m->file));
	if (!m->file) {
		return tkm_fail(m->err, TKM_ERR_NOMEM, "merge: out of memory for %zu files", m->n);
	}
	open.error = calloc(m->n, sizeof(*open.error));
	if (!open.error) {
		return tkm_fail(m->err, TKM_ERR_NOMEM, "merge: out of memory for %zu files", m->n);
	}
	vt_merge_each(m, m->n, open_raw_input, &open);
	for (i = 0; i < m->n && rc == 0; i++) {
		if (!m->file[i].raw || open.error[i].code != TKM_OK) {
			*m->err = open.error[i];
			rc = -1;
		}
	}
	free(open.error);
	if (rc < 0) {
		return rc;
	}
	return number_merged_processes(m) < 0 ? -1 : find_merged_nodes(m);
}

/* ---- time ---- */

/* Do ticks of this timer mean the same in all processes of a node? */
static int shared_timer(const char *name)
{
	return strncmp(name, "sim:", 4) && strcmp(name, "MPI_Wtime");
}

/* The time of day minus CLOCK_MONOTONIC on each node, from the first file of the node that has both. */
static void find_days(struct vt_merge *m)
{
	size_t i;

	for (i = 0; i < m->n; i++) {
		struct vt_merge_node *node = &m->node[m->file[i].node];

		if (m->file[i].clocks && !node->has_day) {
			node->has_day = 1;
			node->day_ns = (long double)m->file[i].first.realtime_ns - m->file[i].first.monotonic_ns;
		}
	}
}

/* Makes a line from the file's ticks to nanoseconds of its node's CLOCK_MONOTONIC, shifted so that the times of day
 * of the nodes agree. A damaged file may say any time, and a long double has room for the sum of several. */
static int own_map(struct vt_merge *m, struct vt_merge_file *f)
{
	double per_ns = 1e-9 / m->period_s, slope = 1e9 / f->head->hz;
	long double tick = f->head->start_tick, ns = f->head->start_realtime_ns - m->node[f->node].day_ns;

	if (f->clocks) {
		tick = f->first.tick;
		ns = f->first.monotonic_ns;
		if (f->last.tick - tick > f->head->hz && f->last.monotonic_ns > ns) {
			slope = (double)(f->last.monotonic_ns - ns) / (double)(f->last.tick - tick);
		}
	}
	if (!strcmp(f->head->timer, "clock_monotonic") && f->head->hz == 1e9) {
		ns = tick;
		slope = 1;
	}
	ns += m->node[f->node].day_ns - m->node[0].day_ns;
	m->unaligned |= f->node > 0;
	if (cal_map_line(&f->own, ltick(ticks_away((int64_t)tick, 0)), gtick(ticks_away(0, (double)ns * per_ns)),
		    slope * per_ns, m->err) < 0) {
		return -1;
	}
	f->map = &f->own;
	return 0;
}

/* Where the map of all files of a node that read this timer is kept, NULL so far. Files that read the same clock share one line; else
 * they would differ by the noise of their readings. */
static int find_shared_map(
	struct vt_merge *m, struct tkm_table *shared, const struct vt_merge_file *f, const struct cal_map ***map)
{
	char key[sizeof(f->head->timer) + 20];
	int n = snprintf(key, sizeof(key), "%u %s", f->node, f->head->timer);

	*map = NULL; /* others cannot read this clock */
	if (!shared_timer(f->head->timer)) {
		return 0;
	}
	*map = tkm_table_put(shared, key, (size_t)n, sizeof(struct cal_map *));
	return *map ? 0 : tkm_fail(m->err, TKM_ERR_NOMEM, "merge: out of memory for %zu processes", m->n);
}

static int find_map(struct vt_merge *m, struct vt_merge_file *f, int given, struct tkm_table *shared)
{
	const struct cal_map **map;

	if (find_shared_map(m, shared, f, &map) < 0) {
		return -1;
	}
	f->map = !f->map && map ? *map : f->map;
	if (!f->map && given) {
		return tkm_fail(m->err, TKM_ERR_DATA, "%s: no clock correction for its rank %d, though others have one",
			vt_raw_file_path(f->raw), f->head->rank);
	}
	if (!f->map && own_map(m, f) < 0) {
		return -1;
	}
	if (map && !*map) {
		*map = f->map;
	}
	return 0;
}

static int find_maps(struct vt_merge *m, int given)
{
	struct tkm_table shared = { 0 };
	int rc = 0;
	size_t i;

	find_days(m);
	/* those that are given first: the first of a clock counts for all that have none */
	for (i = 0; i < m->n && rc == 0; i++) {
		rc = m->file[i].map ? find_map(m, &m->file[i], given, &shared) : 0;
	}
	for (i = 0; i < m->n && rc == 0; i++) {
		rc = find_map(m, &m->file[i], given, &shared);
	}
	tkm_table_free(&shared);
	return rc;
}

static int align(struct vt_merge *m)
{
	double shortest = INFINITY;
	int64_t start = INT64_MAX;
	int given = 0, whole_ns = 1;
	size_t i;

	for (i = 0; i < m->n; i++) {
		given |= m->file[i].map != NULL;
		shortest = fmin(shortest, 1 / m->file[i].head->hz);
		whole_ns &= m->file[i].head->hz == 1e9;
	}
	m->period_s = given ? (m->o->period_s > 0 ? m->o->period_s : 1e-9)
		: whole_ns  ? 1e-9
			    : cal_global_period(shortest);
	if (find_maps(m, given) < 0) {
		return -1;
	}
	for (i = 0; i < m->n; i++) {
		struct vt_merge_file *f = &m->file[i];

		struct cal_walk first, last;

		/* walk from before all steps of the file's clock to after them */
		cal_walk_begin(&first, f->map);
		last = first;
		last.part = last.last_part;
		f->start = cal_walk_next(&first, ltick(f->head->start_tick), NULL).v;
		f->end = cal_walk_next(&last, ltick(f->head->end_tick), NULL).v;
		start = f->start < start ? f->start : start;
	}
	m->origin = given && start > 0 ? 0 : start;
	for (i = 0; i < m->n; i++) {
		m->file[i].start -= m->origin;
		m->file[i].end -= m->origin;
	}
	return 0;
}

/* ---- infos about the trace ---- */

static void note_missing(struct vt_merge *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void note_missing(struct vt_merge *m, const char *fmt, ...)
{
	char line[1500];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	vt_merge_info(m, "missing", "%s", line);
	if (m->o->say) {
		m->o->say(m->o->ctx, line);
	}
}

/* By its own account; it might not close its file, for it may make no system calls or read no clock. */
static int ended_by_itself(const struct vt_raw_head *h)
{
	uint32_t how = h->ending & (VT_RAW_ENDED_STATUS - 1);

	return how == VT_RAW_ENDED_EXIT || how == VT_RAW_ENDED_AT_ONCE;
}

static void say_losses(struct vt_merge *m, const struct vt_merge_file *f)
{
	const struct vt_raw_damage *d = vt_raw_file_damage(f->raw);
	const struct vt_raw_head *h = f->head;
	char late[80] = "";
	double at;

	if (f->late) {
		snprintf(late, sizeof(late), "; the statistics have %llu calls of these", (unsigned long long)f->late);
	}
	m->out->lost += h->lost;
	m->out->overwritten += h->overwritten;
	m->out->damaged += d->blocks;
	if (h->state == VT_RAW_RECORDING && !f->went_on) {
		m->out->killed++;
		note_missing(m, "process %u (%s, pid %u): %s: its part of the trace stops there", f->process,
			h->program, h->pid, ended_by_itself(h) ? "ended while it could record no more" : "was killed");
	}
	if (h->stop) {
		at = (double)(cal_map_at(f->map, ltick(h->stop_tick)).v - m->origin) * m->period_s;
		note_missing(m, "process %u: no place for records from %.6f s on: %s; %llu records are missing%s",
			f->process, at,
			h->stop == EFBIG             ? "the raw file reached FLUSH-LIMIT or the limit on file sizes"
				: h->stop == ENOBUFS ? "MEM-MAXBLOCKS were full and AUTOFLUSH is off"
						     : strerror((int)h->stop),
			(unsigned long long)h->lost, late);
	} else if (h->lost) {
		note_missing(m,
			"process %u: %llu records are missing: of signal handlers that came in the middle of another record, "
			"jumped out of one, or came at the very end of a thread, or of states more than 65536 deep",
			f->process, (unsigned long long)h->lost);
	}
	if (h->overwritten) {
		note_missing(m, "process %u: %llu blocks were overwritten by newer ones (MEM-OVERWRITE)", f->process,
			(unsigned long long)h->overwritten);
	}
	if (d->blocks || (d->missing && d->missing != h->overwritten)) {
		note_missing(m, "%s: %llu blocks are damaged and were left out, %llu are missing",
			vt_raw_file_path(f->raw), (unsigned long long)d->blocks, (unsigned long long)d->missing);
	}
}

static void say_lines(struct vt_merge *m)
{
	const char *why;

	if (m->stacks && !vt_lines_there(&why)) {
		note_missing(m, "%s: %llu call stacks have addresses instead of source lines", why,
			(unsigned long long)m->stacks);
	} else if (m->stacks && m->without_line == m->in_stacks) {
		note_missing(m, "no source lines were found for %llu call stacks: compile the program with -g",
			(unsigned long long)m->stacks);
	}
}

static void say_nmcmd(struct vt_merge *m)
{
	const struct vt_merge_object *first = NULL;
	unsigned n = 0;
	size_t i, k;

	for (i = 0; i < m->n; i++) {
		for (k = 0; k < m->file[i].n_objects; k++) {
			if (m->file[i].object[k].nmcmd_failed) {
				first = first ? first : &m->file[i].object[k];
				n++;
			}
		}
	}
	if (n) {
		note_missing(m,
			"NMCMD %.300s failed for %s%s: names of functions are from the symbol tables; the command must "
			"print "
			"what nm -P prints",
			m->o->nmcmd, first->path, n > 1 ? " and others" : "");
	}
}

static void say_repairs(struct vt_merge *m)
{
	const struct vt_merge_repairs *r = &m->repairs;

	m->out->moved = r->moved;
	if (r->moved) {
		vt_merge_info(m, "repairs",
			"%llu stamps that went back in their thread were moved up to the one before them, by %.3g s at "
			"most, within the bound of their correction",
			(unsigned long long)r->moved, (double)r->largest * m->period_s);
	}
	if (r->closed) {
		vt_merge_info(m, "repairs",
			"%llu states were open where the records of their threads end, and were closed there",
			(unsigned long long)r->closed);
	}
	if (r->late) {
		vt_merge_info(m, "repairs",
			"%llu states seem to last until the next record that had space, because the record of their "
			"end is missing",
			(unsigned long long)r->late);
	}
	if (r->unmatched) {
		note_missing(
			m, "%llu ends of states without a beginning were left out", (unsigned long long)r->unmatched);
	}
	if (r->undefined) {
		note_missing(m, "%llu states have no definition", (unsigned long long)r->undefined);
	}
	if (r->left) {
		note_missing(m,
			"%llu stamps go back in their thread, by %.3g s at most, which is beyond the bound of their "
			"correction: a clock was set back, or a signal handler recorded in the middle of a call",
			(unsigned long long)r->left, tkm_round_up((double)r->farthest * m->period_s, 3, 'g'));
	}
}

/* When the first process started, by its clock of day. In UTC, because this runs in the program, too, and a time zone is a
 * file that libc would read. */
static void say_start(struct vt_merge *m)
{
	time_t at = m->n ? (time_t)(m->file[0].head->start_realtime_ns / 1000000000) : 0;
	struct tm day;
	char text[60];
	size_t k;

	for (k = 1; k < m->n; k++) {
		time_t other = (time_t)(m->file[k].head->start_realtime_ns / 1000000000);

		at = other < at ? other : at;
	}
	if (at > 0 && gmtime_r(&at, &day) && strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &day)) {
		vt_merge_info(m, "run", "started %s", text);
	}
}

static int describe_merge(struct vt_merge *m)
{
	const char *const *i;
	size_t k;

	vt_merge_info(m, "program", PACKAGE_STRING " collector");
	say_start(m);
	for (k = 0; k < m->n; k++) {
		const struct vt_raw_head *h = m->file[k].head;

		vt_merge_info(m, "clock", "process %u: host %s, timer %s, %.17g Hz, boot %s", m->file[k].process,
			h->host, h->timer, h->hz, h->boot);
		vt_merge_info(
			m, "process", "process %u: %s, pid %u, job %s", m->file[k].process, h->program, h->pid, h->job);
		say_losses(m, &m->file[k]);
	}
	if (m->unaligned) {
		note_missing(m,
			"clock correction: %zu nodes were put on one time axis by their clocks of day; the error of "
			"that "
			"is unknown",
			m->n_nodes);
	}
	vt_merge_bounds(m);
	vt_merge_write_statistics(m);
	if (m->o->summary) {
		vt_merge_say_summary(m);
	}
	say_lines(m);
	say_nmcmd(m);
	say_repairs(m);
	for (i = m->o->info; i && i[0] && i[1]; i += 2) {
		vt_merge_info(m, i[0], "%s", i[1]);
	}
	return stf_writer_error(m->w)->code == STF_OK ? 0 : vt_merge_stf_error(m, stf_writer_error(m->w));
}

/* ---- beginning and end ---- */

/* Gives the node of each process to the writers. A rank without a file is on no node. */
static int share_by_node(struct vt_merge *m)
{
	int by_node = m->o->by_node < 0 ? m->n_nodes > 1 : m->o->by_node;
	uint32_t n = 0, i;
	size_t k;

	for (k = 0; k < m->n; k++) {
		n = m->file[k].process + 1 > n ? m->file[k].process + 1 : n;
	}
	/* the files of a single process are divided by its threads */
	if (!by_node || n < 2) {
		return 0;
	}
	m->node_of = malloc(n * sizeof(*m->node_of));
	if (!m->node_of) {
		return tkm_fail(m->err, TKM_ERR_NOMEM, "merge: out of memory for %u processes", n);
	}
	for (i = 0; i < n; i++) {
		m->node_of[i] = (uint32_t)m->n_nodes;
	}
	for (k = 0; k < m->n; k++) {
		m->node_of[m->file[k].process] = m->file[k].node;
	}
	m->n_node_of = n;
	return 0;
}

/* Records of a node are stored with the lowest process on it. */
static int find_homes(struct vt_merge *m)
{
	uint32_t *home;
	size_t i;

	m->n_homes = VT_MERGE_FIRST_NODE + (uint32_t)m->n_nodes;
	m->group_home = malloc(m->n_homes * sizeof(*m->group_home));
	if (!m->group_home) {
		return tkm_fail(m->err, TKM_ERR_NOMEM, "merge: out of memory for %zu nodes", m->n_nodes);
	}
	memset(m->group_home, 0xff, m->n_homes * sizeof(*m->group_home));
	for (i = 0; i < m->n; i++) {
		home = &m->group_home[VT_MERGE_FIRST_NODE + m->file[i].node];
		*home = m->file[i].process < *home ? m->file[i].process : *home;
	}
	return 0;
}

static int begin_trace(struct vt_merge *m)
{
	struct stf_err e;

	if (share_by_node(m) < 0 || find_homes(m) < 0) {
		return -1;
	}
	m->w = vt_merge_writer(m, 0, &e);
	return m->w ? 0 : vt_merge_stf_error(m, &e);
}

static int end_trace(struct vt_merge *m)
{
	struct stf_writer *w = m->w;
	int64_t end = (int64_t)m->last;
	struct stf_err e;
	size_t i;

	for (i = 0; i < m->n; i++) {
		end = m->file[i].end > end ? m->file[i].end : end;
	}
	m->w = NULL;
	m->out->duration_s = (double)end * m->period_s;
	return stf_writer_finish(w, 0, (uint64_t)end, &e) < 0 ? vt_merge_stf_error(m, &e) : 0;
}

static void free_file(struct vt_merge_file *f)
{
	uint32_t i;

	for (i = 0; i < f->n_threads; i++) {
		free(f->thread[i].name);
	}
	for (i = 0; i < f->n_places; i++) {
		free(f->place[i].name);
	}
	vt_merge_ids_free(f);
	vt_merge_objects_free(f);
	free(f->thread);
	free(f->place);
	cal_map_free(&f->own);
	vt_raw_file_close(f->raw);
}

static void free_merge(struct vt_merge *m)
{
	size_t i;

	for (i = 0; m->file && i < m->n; i++) {
		free_file(&m->file[i]);
	}
	vt_merge_communicators_free(m);
	free(m->file);
	free(m->node);
	free(m->node_of);
	free(m->group_home);
	free(m->row);
	tkm_table_free(&m->row_names);
	free(m->threads);
	tkm_table_free(&m->classes);
	tkm_table_free(&m->counters);
	tkm_table_free(&m->functions);
	tkm_table_free(&m->groups);
	tkm_table_free(&m->infos);
	tkm_table_free(&m->files);
	tkm_table_free(&m->scls);
	tkm_table_free(&m->scopes);
	tkm_table_free(&m->paths);
	stf_writer_abort(m->w);
}

/* A trace that cannot be compressed is better than none. */
static void check_compression(struct vt_merge_options *o)
{
	if (o->compress && !stf_can_compress()) {
		o->compress = 0;
		if (o->say) {
			o->say(o->ctx, "the trace is not compressed (COMPRESS-TRACE): this build has no zstd");
		}
	}
}

int vt_merge(const struct vt_merge_input *in, size_t n, const struct vt_merge_options *given,
	struct vt_merge_result *out, struct tkm_err *err)
{
	struct vt_merge_options own = *given, *o = &own;
	struct vt_merge_result result = { 0 };
	struct vt_merge m = { .o = o, .n = n, .out = &result, .err = err };
	size_t i;
	int rc = -1;

	if (n == 0) {
		return tkm_fail(err, TKM_ERR_ARG, "merge: no raw file");
	}
	check_compression(o);
	if (open_raw_inputs(&m, in) == 0) {
		vt_merge_sweep(&m);
		rc = 0;
	}
	if (rc == 0 && vt_merge_read_definitions(&m) == 0 && align(&m) == 0 && begin_trace(&m) == 0 &&
		vt_merge_write_definitions(&m) == 0 && vt_merge_data(&m) == 0 && describe_merge(&m) == 0) {
		rc = end_trace(&m);
	} else {
		rc = -1;
	}
	free_merge(&m);
	for (i = 0; rc == 0 && o->delete_raw && i < n; i++) {
		if (unlink(in[i].path) < 0 && errno != ENOENT) {
			rc = tkm_fail_errno(
				err, TKM_ERR_IO, errno, "the trace is complete, but cannot remove %s", in[i].path);
		}
	}
	if (out) {
		*out = result;
	}
	return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A merge by several hosts, each of which writes the data files of its own processes. The caller sends each host a
 * text with the unified definitions and the clocks, and each host sends back a text about what it wrote. The
 * processes that exchange these texts belong to one job and run the same library. Nevertheless each number is checked
 * when it is read. */
#include "config.h"
#include "collector-plugin/merge/hosts.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/text/text.h"
#include "collector-plugin/merge/common/private.h"
#include "collector-plugin/raw/reader.h"

static const char magic[8] = { 'T', 'K', 'M', 'J', 'O', 'B', '1', '\n' };

/* ---- writing and reading ---- */

/* The texts have one description each, by which they are written and read. */
struct wire {
	FILE *out;           /* writes; NULL: reads */
	const char *p, *end; /* what is still to be read */
	int bad;             /* it is damaged, or there is no memory for it */
};

static void pass_bytes(struct wire *w, void *p, size_t n)
{
	if (w->out) {
		fwrite(p, 1, n, w->out);
	} else if (w->bad || (size_t)(w->end - w->p) < n) {
		w->bad = 1;
		memset(p, 0, n);
	} else {
		memcpy(p, w->p, n);
		w->p += n;
	}
}
#define PASS(w, value) pass_bytes(w, &(value), sizeof(value))

/* An array that is read is allocated, with a zero after it. NULL: it is empty, or w->bad. Returns the number of items. */
static size_t pass_items(struct wire *w, void **array, size_t n, size_t size)
{
	uint64_t count = n;

	PASS(w, count);
	if (!w->out) {
		w->bad |= count > (uint64_t)(w->end - w->p) / size;
		*array = w->bad || !count ? NULL : calloc(1, (size_t)count * size + 1);
		w->bad |= !*array && count;
	}
	if (w->bad || !count) {
		return 0;
	}
	pass_bytes(w, *array, (size_t)count * size);
	return (size_t)count;
}
#define PASS_ARRAY(w, array, n) \
	do { \
		void *items_ = (void *)(uintptr_t)(array); \
\
		(n) = (__typeof__(n))pass_items(w, &items_, n, sizeof(*(array))); \
		(array) = items_; \
	} while (0)

static void pass_text(struct wire *w, char **text)
{
	size_t n = w->out && *text ? strlen(*text) : 0;

	PASS_ARRAY(w, *text, n);
}

static void pass_magic(struct wire *w)
{
	char head[sizeof(magic)];

	memcpy(head, magic, sizeof(magic));
	PASS(w, head);
	w->bad |= memcmp(head, magic, sizeof(head)) != 0;
}

/* ---- the text for a host ---- */

static void pass_map(struct wire *w, struct cal_map *given)
{
	struct cal_map m = *given;

	PASS(w, m);
	PASS_ARRAY(w, m.piece, m.pieces);
	PASS_ARRAY(w, m.node, m.nodes);
	PASS_ARRAY(w, m.part, m.parts);
	PASS_ARRAY(w, m.step, m.steps);
	PASS_ARRAY(w, m.pairs.pair, m.pairs.n);
	PASS_ARRAY(w, m.pairs.branch, m.pairs.branches);
	if (!w->out) {
		m.pairs.room = m.pairs.n;
		w->bad |= m.pieces == 0;
		*given = m;
	}
}

/* The path of the file on the host that it belongs to. */
static const char *path_there(const struct vt_merge_file *f)
{
	return f->there ? f->there : vt_raw_file_path(f->raw);
}

/* given: where a map is stored that is not the file's own. */
static void pass_file(struct wire *w, struct vt_merge_file *file, char **path, struct cal_map *given)
{
	int own = file->map == &file->own, kind, high;
	struct vt_merge_ids *ids;

	pass_text(w, path);
	PASS(w, file->process);
	PASS(w, file->set);
	PASS(w, file->node);
	PASS(w, file->node_set);
	PASS(w, file->end);
	PASS(w, file->of_groups);
	PASS(w, file->discarded);
	PASS(w, own);
	if (!w->out) {
		file->map = own ? &file->own : given;
	}
	pass_map(w, own ? &file->own : given);
	for (kind = 0; (ids = vt_merge_ids_of(file, kind)) != NULL; kind++) {
		for (high = 0; high < 2; high++) {
			PASS_ARRAY(w, ids->to[high], ids->n[high]);
		}
	}
}

/* All but the files. set: those that the host writes. */
static void pass_frame(struct wire *w, struct vt_merge *m, struct vt_merge_options *o, uint32_t **set, size_t *sets)
{
	char *trace = (char *)(uintptr_t)o->trace;

	pass_magic(w);
	pass_text(w, &trace);
	o->trace = trace;
	PASS(w, o->single);
	PASS(w, o->force);
	PASS(w, o->compress);
	PASS(w, o->procs_per_file);
	PASS(w, m->period_s);
	PASS(w, m->origin);
	PASS_ARRAY(w, m->node_of, m->n_node_of);
	PASS_ARRAY(w, m->group_home, m->n_homes);
	PASS_ARRAY(w, m->threads, m->n_processes);
	PASS_ARRAY(w, *set, *sets);
}

/* Does the file have records for the sets of that host? */
static int is_for(const struct vt_merge_sharing *s, const struct vt_merge_file *f, uint32_t host)
{
	size_t i;

	for (i = 0; i < s->n && !(s->host[i] == host && vt_merge_serves(f, s->set[i])); i++) {
	}
	return i < s->n;
}

/* Returns NULL if the host has no sets, or there is no memory. */
static char *make_host_job(const struct vt_merge_sharing *s, uint32_t host, size_t *size)
{
	struct vt_merge_options o = *s->m->o;
	struct vt_merge *m = s->m;
	uint32_t *set = calloc(s->n, sizeof(*set));
	char *text = NULL, *path;
	size_t i, sets = 0, files = 0;
	struct wire w = { .bad = 0 };

	for (i = 0; set && i < s->n; i++) {
		if (s->host[i] == host) {
			set[sets++] = s->set[i];
		}
	}
	w.out = sets ? open_memstream(&text, size) : NULL;
	if (!w.out) {
		free(set);
		return NULL;
	}
	pass_frame(&w, m, &o, &set, &sets);
	free(set);
	for (i = 0; i < m->n; i++) {
		files += (size_t)is_for(s, &m->file[i], host);
	}
	PASS(&w, files);
	for (i = 0; i < m->n; i++) {
		if (is_for(s, &m->file[i], host)) {
			path = (char *)(uintptr_t)path_there(&m->file[i]);
			pass_file(&w, &m->file[i], &path, (struct cal_map *)(uintptr_t)m->file[i].map);
		}
	}
	return tkm_text_end(w.out, &text) < 0 ? NULL : text;
}

/* ---- what a host answers ---- */

static void pass_part(struct wire *w, uint32_t *set, struct vt_merge_part *p, char **text)
{
	PASS(w, *set);
	PASS(w, p->samples);
	PASS(w, p->changes);
	PASS(w, p->lost);
	PASS(w, p->last);
	PASS(w, p->repairs);
	pass_text(w, text);
}

static void pass_damage(struct wire *w, char **path, struct vt_raw_damage *d)
{
	pass_text(w, path);
	PASS(w, *d);
}

/* ---- on the other host ---- */

struct remote_job {
	struct vt_merge m;
	struct vt_merge_options o;
	struct vt_merge_result result;
	struct vt_merge_sharing s;
	struct cal_map *map; /* [files]: one map for each file */
	char **path;         /* [files] */
	struct tkm_err *error;
	struct tkm_err err;
};

static int fail_to_read_job(struct remote_job *t)
{
	return tkm_fail(&t->err, TKM_ERR_DATA,
		"merge: the job text of the writing rank cannot be read, or there is no memory for it");
}

/* Checks the sum of every block, which takes a large part of the time. */
static void open_job_file(void *ctx, size_t i)
{
	struct remote_job *t = ctx;
	struct vt_merge_file *file = &t->m.file[i];

	file->raw = vt_raw_open(t->path[i], &t->error[i]);
	file->head = file->raw ? vt_raw_file_head(file->raw) : NULL;
}

static int read_job(struct remote_job *t, struct wire *w)
{
	size_t i, n = 0;

	pass_frame(w, &t->m, &t->o, &t->s.set, &t->s.n);
	PASS(w, n);
	if (w->bad || !t->o.trace || n > (size_t)(w->end - w->p) / 8) {
		return fail_to_read_job(t);
	}
	t->s.part = calloc(t->s.n + 1, sizeof(*t->s.part));
	t->s.text = calloc(t->s.n + 1, sizeof(*t->s.text));
	t->m.file = calloc(n + 1, sizeof(*t->m.file));
	t->map = calloc(n + 1, sizeof(*t->map));
	t->path = calloc(n + 1, sizeof(*t->path));
	t->error = calloc(n + 1, sizeof(*t->error));
	if (!t->s.part || !t->s.text || !t->m.file || !t->map || !t->path || !t->error) {
		return tkm_fail(&t->err, TKM_ERR_NOMEM, "merge: out of memory for %zu files", n);
	}
	t->m.n = n;
	for (i = 0; i < n; i++) {
		pass_file(w, &t->m.file[i], &t->path[i], &t->map[i]);
		if (w->bad || !t->path[i]) {
			return fail_to_read_job(t);
		}
	}
	vt_merge_each(&t->m, n, open_job_file, t);
	for (i = 0; i < n; i++) {
		if (!t->m.file[i].raw) {
			t->err = t->error[i];
			return -1;
		}
	}
	return 0;
}

static char *make_result(struct remote_job *t, int good, size_t *size)
{
	size_t i, sets = good ? t->s.n : 0, files = good ? t->m.n : 0;
	char *text = NULL, *why = t->err.text, *path;
	struct wire w = { .out = open_memstream(&text, size) };

	if (!w.out) {
		return NULL;
	}
	pass_magic(&w);
	PASS(&w, good);
	pass_text(&w, &why);
	PASS(&w, sets);
	for (i = 0; i < sets; i++) {
		pass_part(&w, &t->s.set[i], &t->s.part[i], &t->s.text[i]);
	}
	PASS(&w, files);
	for (i = 0; i < files; i++) {
		struct vt_raw_damage damage = *vt_raw_file_damage(t->m.file[i].raw);

		path = (char *)(uintptr_t)vt_raw_file_path(t->m.file[i].raw);
		pass_damage(&w, &path, &damage);
	}
	return tkm_text_end(w.out, &text) < 0 ? NULL : text;
}

static int merge_remote_part(struct remote_job *t, const char *job, size_t size)
{
	struct wire w = { .p = job, .end = job + size };
	size_t i;

	if (read_job(t, &w) < 0) {
		return -1;
	}
	vt_merge_each(&t->m, t->s.n, vt_merge_one_part, &t->s);
	for (i = 0; i < t->s.n && atomic_load(&t->s.failed); i++) {
		if (t->s.part[i].error.code != STF_OK) {
			return vt_merge_stf_error(&t->m, &t->s.part[i].error);
		}
	}
	return atomic_load(&t->s.failed)
		? tkm_fail(&t->err, TKM_ERR_DATA, "merge: records of groups that their file does not announce")
		: 0;
}

static void free_remote_job(struct remote_job *t, int good)
{
	size_t i;

	for (i = 0; i < t->m.n; i++) {
		vt_merge_ids_free(&t->m.file[i]);
		cal_map_free(&t->m.file[i].own);
		cal_map_free(&t->map[i]);
		free(t->path[i]);
		vt_raw_file_close(t->m.file[i].raw);
	}
	for (i = 0; t->s.text && i < t->s.n; i++) {
		if (!good && t->s.text[i]) {
			stf_part_discard(t->s.text[i]);
		}
		free(t->s.text[i]);
	}
	free(t->m.file);
	free(t->map);
	free(t->path);
	free(t->error);
	free(t->m.node_of);
	free(t->m.group_home);
	free(t->m.threads);
	free(t->s.set);
	free(t->s.part);
	free(t->s.text);
	free((void *)(uintptr_t)t->o.trace);
}

char *vt_merge_for_host(const char *job, size_t size, const struct tkm_cpus *cpus, size_t *result_size, size_t *files)
{
	struct remote_job t = { .o = { .cpus = cpus } };
	char *text;
	int rc;

	t.m.o = &t.o;
	t.m.out = &t.result;
	t.m.err = &t.err;
	t.s.m = &t.m;
	rc = merge_remote_part(&t, job, size);
	*files = t.m.n;
	text = make_result(&t, rc == 0, result_size);
	free_remote_job(&t, rc == 0 && text);
	return text;
}

/* ---- on the caller's host ---- */

struct local_job {
	struct vt_merge_sharing *s;
	uint32_t *own;
	size_t n_own;
};

static void own_part(void *ctx, size_t i)
{
	struct local_job *h = ctx;

	vt_merge_one_part(h->s, h->own[i]);
}

static void own_parts(void *arg)
{
	struct local_job *h = arg;

	vt_merge_each(h->s->m, h->n_own, own_part, h);
}

/* Gives each set to the host whose processes are the only ones with records for it. The caller writes sets that
 * several hosts have records for. */
static void choose_hosts(struct vt_merge_sharing *s)
{
	const struct vt_merge *m = s->m;
	size_t i, k;

	for (i = 0; i < s->n; i++) {
		/* messages can be matched only where all of them are */
		uint32_t host = m->n_communicators ? 0 : UINT32_MAX;

		for (k = 0; k < m->n; k++) {
			if (vt_merge_serves(&m->file[k], s->set[i])) {
				host = host == UINT32_MAX || host == m->file[k].host ? m->file[k].host : 0;
			}
		}
		s->host[i] = host == UINT32_MAX || host >= m->o->hosts->n ? 0 : host;
	}
}

/* Checks the files that are read here because they have records for the caller's own sets. */
static int check_own(struct vt_merge_sharing *s)
{
	struct vt_merge *m = s->m;
	size_t i, k;

	for (k = 0; k < m->n; k++) {
		for (i = 0; i < s->n && s->set[i] != m->file[k].set; i++) {
		}
		if (is_for(s, &m->file[k], 0) && m->file[k].there) {
			*m->o->hosts->whole = 1;
			return tkm_fail(m->err, TKM_ERR_UNAVAIL, "%s: its records are needed on another host",
				m->file[k].there);
		}
		if (is_for(s, &m->file[k], 0) && vt_raw_check_data(m->file[k].raw, m->err) < 0) {
			return -1;
		}
		/* the damage of this file is then known here */
		m->file[k].host = i < s->n ? s->host[i] : 0;
	}
	return 0;
}

/* Returns 0, or -1: the text is damaged. */
static int take_part(struct vt_merge_sharing *s, struct wire *w, uint32_t host)
{
	struct vt_merge_part p = { .m = s->m };
	char *text = NULL;
	size_t i;

	pass_part(w, &p.set, &p, &text);
	for (i = 0; i < s->n && (s->set[i] != p.set || s->host[i] != host || s->text[i]); i++) {
	}
	if (w->bad || i == s->n) {
		free(text);
		return -1;
	}
	s->part[i] = p;
	s->text[i] = text;
	return text ? 0 : -1;
}

static int take_result(struct vt_merge_sharing *s, uint32_t host, const char *text, size_t size)
{
	struct vt_merge *m = s->m;
	struct wire w = { .p = text, .end = text + size };
	char *why = NULL, *path = NULL;
	struct vt_raw_damage damage;
	size_t i, k, sets = 0, files = 0;
	int good = 0;

	pass_magic(&w);
	PASS(&w, good);
	pass_text(&w, &why);
	if (w.bad || !good) {
		tkm_fail(m->err, TKM_ERR_IO, "host %u: %.300s", host, why ? why : "its result cannot be read");
		free(why);
		return -1;
	}
	free(why);
	PASS(&w, sets);
	for (i = 0; i < sets; i++) {
		if (take_part(s, &w, host) < 0) {
			return tkm_fail(m->err, TKM_ERR_DATA, "host %u: its result cannot be read", host);
		}
	}
	PASS(&w, files);
	for (i = 0; i < files && !w.bad; i++) {
		pass_damage(&w, &path, &damage);
		for (k = 0; path && k < m->n; k++) {
			if (m->file[k].host == host && !strcmp(path, path_there(&m->file[k]))) {
				m->file[k].damage = damage;
			}
		}
		free(path);
	}
	return 0;
}

static int check_all_arrived(struct vt_merge_sharing *s)
{
	size_t i;

	for (i = 0; i < s->n; i++) {
		if (!s->text[i] && s->part[i].error.code == STF_OK && !s->part[i].stray) {
			return tkm_fail(
				s->m->err, TKM_ERR_IO, "merge: nothing came from a host for its files of the trace");
		}
	}
	return 0;
}

int vt_merge_by_hosts(struct vt_merge_sharing *s)
{
	const struct vt_merge_hosts *hosts = s->m->o->hosts;
	size_t n = hosts->n, h, i, *size = calloc(2 * n, sizeof(*size));
	char **text = calloc(2 * n, sizeof(*text));
	struct local_job job = { s, calloc(s->n, sizeof(*job.own)), 0 };
	int rc = size && text && job.own ? 0
					 : tkm_fail(s->m->err, TKM_ERR_NOMEM, "merge: out of memory for %zu hosts", n);

	choose_hosts(s);
	rc = rc < 0 ? rc : check_own(s);
	for (h = 1; rc == 0 && h < n; h++) {
		text[h] = make_host_job(s, (uint32_t)h, &size[h]);
	}
	for (i = 0; rc == 0 && i < s->n; i++) {
		if (s->host[i] == 0) {
			job.own[job.n_own++] = (uint32_t)i;
		}
	}
	if (rc == 0) {
		rc = hosts->exchange(hosts->ctx, text, size, text + n, size + n, own_parts, &job, s->m->err);
	}
	/* all results that arrived, also if some host failed: the files that they name must be removed */
	for (h = 1; text && size && h < n; h++) {
		if (text[n + h] && take_result(s, (uint32_t)h, text[n + h], size[n + h]) < 0) {
			rc = -1;
		}
	}
	rc = rc < 0 ? rc : check_all_arrived(s);
	for (h = 0; text && h < 2 * n; h++) {
		free(text[h]);
	}
	free(text);
	free(size);
	free(job.own);
	return rc;
}

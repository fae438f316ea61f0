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

static const char magic[8] = "TKMJOB1\n";

/* ---- writing and reading ---- */

static void put_job_bytes(FILE *f, const void *p, size_t n)
{
	fwrite(p, 1, n, f);
}

static void put_int(FILE *f, uint64_t v)
{
	put_job_bytes(f, &v, sizeof(v));
}

static void put_job_array(FILE *f, const void *p, size_t n, size_t size)
{
	put_int(f, n);
	if (n) {
		put_job_bytes(f, p, n * size);
	}
}

struct cursor {
	const char *p, *end;
	int bad;
};

static void get_job_bytes(struct cursor *f, void *to, size_t n)
{
	if (f->bad || (size_t)(f->end - f->p) < n) {
		f->bad = 1;
		memset(to, 0, n);
		return;
	}
	memcpy(to, f->p, n);
	f->p += n;
}

static uint64_t get_job_int(struct cursor *f)
{
	uint64_t v = 0;

	get_job_bytes(f, &v, sizeof(v));
	return v;
}

/* Returns an allocated array with a zero after it. NULL: the array is empty, or the text is damaged (f->bad). */
static void *get_array(struct cursor *f, size_t *n, size_t size)
{
	uint64_t count = get_job_int(f);
	char *p = NULL;

	*n = 0;
	if (f->bad || count > (uint64_t)(f->end - f->p) / size) {
		f->bad = 1;
		return NULL;
	}
	if (count) {
		p = calloc(1, (size_t)count * size + 1);
		f->bad |= !p;
	}
	if (p) {
		get_job_bytes(f, p, (size_t)count * size);
		*n = (size_t)count;
	}
	return p;
}

/* ---- the clock map ---- */

static void put_map(FILE *f, const struct cal_map *m)
{
	put_job_bytes(f, m, sizeof(*m));
	put_job_array(f, m->piece, m->pieces, sizeof(*m->piece));
	put_job_array(f, m->node, m->nodes, sizeof(*m->node));
	put_job_array(f, m->part, m->parts, sizeof(*m->part));
	put_job_array(f, m->step, m->steps, sizeof(*m->step));
	put_job_array(f, m->pairs.pair, m->pairs.n, sizeof(*m->pairs.pair));
	put_job_array(f, m->pairs.branch, m->pairs.branches, sizeof(*m->pairs.branch));
}

static void get_map(struct cursor *f, struct cal_map *m)
{
	get_job_bytes(f, m, sizeof(*m));
	m->piece = get_array(f, &m->pieces, sizeof(*m->piece));
	m->node = get_array(f, &m->nodes, sizeof(*m->node));
	m->part = get_array(f, &m->parts, sizeof(*m->part));
	m->step = get_array(f, &m->steps, sizeof(*m->step));
	m->pairs.pair = get_array(f, &m->pairs.n, sizeof(*m->pairs.pair));
	m->pairs.branch = get_array(f, &m->pairs.branches, sizeof(*m->pairs.branch));
	m->pairs.room = m->pairs.n;
	f->bad |= m->pieces == 0;
}

/* ---- files ---- */

static struct vt_merge_ids *ids_of(struct vt_merge_file *f, int kind)
{
	struct vt_merge_ids *ids[] = { &f->classes, &f->counters, &f->functions, &f->scls, &f->scopes, &f->groups,
		&f->places, &f->paths };

	return kind < (int)(sizeof(ids) / sizeof(ids[0])) ? ids[kind] : NULL;
}

/* The path of the file on the host that it belongs to. */
static const char *path_there(const struct vt_merge_file *f)
{
	return f->there ? f->there : vt_raw_file_path(f->raw);
}

/* the integers of a file: process, set, node, node_set, end, of_groups, discarded, own map */
enum { FILE_INTEGERS = 8 };

static void put_raw_file(FILE *f, struct vt_merge_file *file)
{
	const char *path = path_there(file);
	struct vt_merge_ids *ids;
	int kind, high;

	put_job_array(f, path, strlen(path), 1);
	put_int(f, file->process);
	put_int(f, file->set);
	put_int(f, file->node);
	put_int(f, file->node_set);
	put_int(f, (uint64_t)file->end);
	put_int(f, file->of_groups);
	put_int(f, (uint64_t)file->discarded);
	put_int(f, file->map == &file->own);
	put_map(f, file->map);
	for (kind = 0; (ids = ids_of(file, kind)) != NULL; kind++) {
		for (high = 0; high < 2; high++) {
			put_job_array(f, ids->to[high], ids->n[high], sizeof(*ids->to[high]));
		}
	}
}

/* Returns 0, or -1: the file cannot be opened, or the text is damaged. */
static int get_file(struct cursor *f, struct vt_merge_file *file, struct cal_map *given, struct tkm_err *err)
{
	struct vt_merge_ids *ids;
	int kind, high;
	char *path;
	size_t n;

	path = get_array(f, &n, 1);
	file->process = (uint32_t)get_job_int(f);
	file->set = (uint32_t)get_job_int(f);
	file->node = (uint32_t)get_job_int(f);
	file->node_set = (uint32_t)get_job_int(f);
	file->end = (int64_t)get_job_int(f);
	file->of_groups = (unsigned)get_job_int(f);
	file->discarded = (int)get_job_int(f);
	file->map = get_job_int(f) ? &file->own : given;
	get_map(f, file->map == given ? given : &file->own);
	for (kind = 0; (ids = ids_of(file, kind)) != NULL; kind++) {
		for (high = 0; high < 2; high++) {
			ids->to[high] = get_array(f, &n, sizeof(*ids->to[high]));
			ids->n[high] = (uint32_t)n;
		}
	}
	if (f->bad || !path) {
		free(path);
		return tkm_fail(err, TKM_ERR_DATA,
			"merge: the job text of the writing rank cannot be read, or there is no memory for it");
	}
	file->raw = vt_raw_open(path, err);
	file->head = file->raw ? vt_raw_file_head(file->raw) : NULL;
	free(path);
	return file->raw ? 0 : -1;
}

/* ---- the text for a host ---- */

/* Does the file have records for the sets of that host? */
static int is_for(const struct vt_merge_sharing *s, const struct vt_merge_file *f, uint32_t host)
{
	size_t i;

	for (i = 0; i < s->n && !(s->host[i] == host && vt_merge_serves(f, s->set[i])); i++) {
	}
	return i < s->n;
}

static char *make_host_job(const struct vt_merge_sharing *s, uint32_t host, size_t *size)
{
	struct vt_merge *m = s->m;
	char *text = NULL;
	FILE *f = open_memstream(&text, size);
	size_t i, sets = 0, files = 0, k;

	for (i = 0; i < s->n; i++) {
		sets += s->host[i] == host;
	}
	if (!f || sets == 0) {
		if (f) {
			fclose(f);
			free(text);
		}
		return NULL;
	}
	put_job_bytes(f, magic, sizeof(magic));
	put_job_array(f, m->o->trace, strlen(m->o->trace), 1);
	put_int(f, (uint64_t)m->o->single);
	put_int(f, (uint64_t)m->o->force);
	put_int(f, (uint64_t)m->o->compress);
	put_int(f, m->o->procs_per_file);
	put_job_bytes(f, &m->period_s, sizeof(m->period_s));
	put_job_bytes(f, &m->origin, sizeof(m->origin));
	put_job_array(f, m->node_of, m->n_node_of, sizeof(*m->node_of));
	put_job_array(f, m->group_home, m->n_homes, sizeof(*m->group_home));
	put_job_array(f, m->threads, m->n_processes, sizeof(*m->threads));
	put_int(f, sets);
	for (i = 0; i < s->n; i++) {
		if (s->host[i] == host) {
			put_int(f, s->set[i]);
		}
	}
	for (k = 0; k < m->n; k++) {
		files += (size_t)is_for(s, &m->file[k], host);
	}
	put_int(f, files);
	for (k = 0; k < m->n; k++) {
		if (is_for(s, &m->file[k], host)) {
			put_raw_file(f, &m->file[k]);
		}
	}
	if (tkm_text_end(f, &text) < 0) {
		return NULL;
	}
	return text;
}

/* ---- on the other host ---- */

struct remote_job {
	struct vt_merge m;
	struct vt_merge_options o;
	struct vt_merge_result result;
	struct vt_merge_sharing s;
	struct cal_map *map; /* [files]: one map for each file */
	char *trace;
	struct tkm_err err;
};

static int read_frame(struct remote_job *t, struct cursor *f)
{
	char head[sizeof(magic)];
	size_t n, i;

	get_job_bytes(f, head, sizeof(head));
	f->bad |= memcmp(head, magic, sizeof(head)) != 0;
	t->trace = get_array(f, &n, 1);
	t->o.trace = t->trace;
	t->o.single = (int)get_job_int(f);
	t->o.force = (int)get_job_int(f);
	t->o.compress = (int)get_job_int(f);
	t->o.procs_per_file = (uint32_t)get_job_int(f);
	get_job_bytes(f, &t->m.period_s, sizeof(t->m.period_s));
	get_job_bytes(f, &t->m.origin, sizeof(t->m.origin));
	t->m.node_of = get_array(f, &n, sizeof(*t->m.node_of));
	t->m.n_node_of = (uint32_t)n;
	t->m.group_home = get_array(f, &n, sizeof(*t->m.group_home));
	t->m.n_homes = (uint32_t)n;
	t->m.threads = get_array(f, &n, sizeof(*t->m.threads));
	t->m.n_processes = (uint32_t)n;
	t->s.n = (size_t)get_job_int(f);
	if (f->bad || !t->trace || t->s.n > (size_t)(f->end - f->p) / 8) {
		return tkm_fail(&t->err, TKM_ERR_DATA, "merge: the job text of the writing rank cannot be read");
	}
	t->s.set = calloc(t->s.n + 1, sizeof(*t->s.set));
	t->s.part = calloc(t->s.n + 1, sizeof(*t->s.part));
	t->s.text = calloc(t->s.n + 1, sizeof(*t->s.text));
	if (!t->s.set || !t->s.part || !t->s.text) {
		return tkm_fail(&t->err, TKM_ERR_NOMEM, "merge: out of memory");
	}
	for (i = 0; i < t->s.n; i++) {
		t->s.set[i] = (uint32_t)get_job_int(f);
	}
	return 0;
}

struct opening {
	struct remote_job *t;
	struct tkm_err *error;
	struct cursor *at; /* where each file's text begins */
};

/* Skips the text of a file, to find where the next one begins. */
static void skip_array(struct cursor *f, size_t size)
{
	uint64_t n = get_job_int(f);

	if (f->bad || n > (uint64_t)(f->end - f->p) / size) {
		f->bad = 1;
		return;
	}
	f->p += n * size;
}

static void skip_file(struct cursor *f)
{
	struct vt_merge_file file;
	struct cal_map m;
	int i;

	skip_array(f, 1);
	for (i = 0; i < FILE_INTEGERS; i++) {
		get_job_int(f);
	}
	get_job_bytes(f, &m, sizeof(m));
	skip_array(f, sizeof(*m.piece));
	skip_array(f, sizeof(*m.node));
	skip_array(f, sizeof(*m.part));
	skip_array(f, sizeof(*m.step));
	skip_array(f, sizeof(*m.pairs.pair));
	skip_array(f, sizeof(*m.pairs.branch));
	for (i = 0; ids_of(&file, i); i++) {
		skip_array(f, sizeof(*file.places.to[0]));
		skip_array(f, sizeof(*file.places.to[1]));
	}
}

/* Checks the sum of every block, which takes a large part of the time. */
static void open_job_file(void *ctx, size_t i)
{
	struct opening *o = ctx;

	get_file(&o->at[i], &o->t->m.file[i], &o->t->map[i], &o->error[i]);
}

static int open_job_files(struct remote_job *t, struct cursor *f)
{
	struct opening o = { t, NULL, NULL };
	size_t i, n = (size_t)get_job_int(f);
	int rc = 0;

	if (f->bad || n > (size_t)(f->end - f->p) / 8) {
		return tkm_fail(&t->err, TKM_ERR_DATA, "merge: the job text of the writing rank cannot be read");
	}
	t->m.file = calloc(n + 1, sizeof(*t->m.file));
	t->map = calloc(n + 1, sizeof(*t->map));
	o.error = calloc(n + 1, sizeof(*o.error));
	o.at = calloc(n + 1, sizeof(*o.at));
	if (t->m.file && t->map && o.error && o.at) {
		t->m.n = n;
		for (i = 0; i < n; i++) {
			o.at[i] = *f;
			skip_file(f);
		}
		vt_merge_each(&t->m, n, open_job_file, &o);
		for (i = 0; i < n && rc == 0; i++) {
			if (!t->m.file[i].raw) {
				t->err = o.error[i];
				rc = -1;
			}
		}
	} else {
		rc = tkm_fail(&t->err, TKM_ERR_NOMEM, "merge: out of memory for %zu files", n);
	}
	free(o.error);
	free(o.at);
	return rc;
}

static void put_result(const struct remote_job *t, FILE *f, int good)
{
	size_t i;

	put_job_bytes(f, magic, sizeof(magic));
	put_int(f, (uint64_t)good);
	put_job_array(f, t->err.text, strlen(t->err.text), 1);
	put_int(f, good ? t->s.n : 0);
	for (i = 0; good && i < t->s.n; i++) {
		const struct vt_merge_part *p = &t->s.part[i];

		put_int(f, t->s.set[i]);
		put_int(f, p->samples);
		put_int(f, p->changes);
		put_int(f, p->lost);
		put_int(f, p->last);
		put_job_bytes(f, &p->repairs, sizeof(p->repairs));
		put_job_array(f, t->s.text[i], strlen(t->s.text[i]), 1);
	}
	put_int(f, good ? t->m.n : 0);
	for (i = 0; good && i < t->m.n; i++) {
		const char *path = vt_raw_file_path(t->m.file[i].raw);

		put_job_array(f, path, strlen(path), 1);
		put_job_bytes(f, vt_raw_file_damage(t->m.file[i].raw), sizeof(struct vt_raw_damage));
	}
}

static int merge_remote_part(struct remote_job *t, const char *job, size_t size)
{
	struct cursor f = { job, job + size, 0 };
	size_t i;

	if (read_frame(t, &f) < 0 || open_job_files(t, &f) < 0) {
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
	struct vt_merge_ids *ids;
	size_t i;
	int kind;

	for (i = 0; i < t->m.n; i++) {
		for (kind = 0; (ids = ids_of(&t->m.file[i], kind)) != NULL; kind++) {
			free(ids->to[0]);
			free(ids->to[1]);
		}
		cal_map_free(&t->m.file[i].own);
		cal_map_free(&t->map[i]);
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
	free(t->m.node_of);
	free(t->m.group_home);
	free(t->m.threads);
	free(t->s.set);
	free(t->s.part);
	free(t->s.text);
	free(t->trace);
}

char *vt_merge_for_host(
	const char *job, size_t size, const void *cpus, size_t cpus_size, size_t *result_size, size_t *files)
{
	struct remote_job t = { .o = { .cpus = cpus, .cpus_size = cpus_size } };
	char *text = NULL;
	FILE *f;
	int rc;

	t.m.o = &t.o;
	t.m.out = &t.result;
	t.m.err = &t.err;
	t.s.m = &t.m;
	rc = merge_remote_part(&t, job, size);
	*files = t.m.n;
	f = open_memstream(&text, result_size);
	if (f) {
		put_result(&t, f, rc == 0);
		if (tkm_text_end(f, &text) < 0) {
			text = NULL;
		}
	}
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

static int take_part(struct vt_merge_sharing *s, struct cursor *f, uint32_t host)
{
	uint32_t set = (uint32_t)get_job_int(f);
	struct vt_merge_part *p;
	size_t i, n;

	for (i = 0; i < s->n && (s->set[i] != set || s->host[i] != host || s->text[i]); i++) {
	}
	if (f->bad || i == s->n) {
		return -1;
	}
	p = &s->part[i];
	*p = (struct vt_merge_part){ .m = s->m, .set = set };
	p->samples = get_job_int(f);
	p->changes = get_job_int(f);
	p->lost = get_job_int(f);
	p->last = get_job_int(f);
	get_job_bytes(f, &p->repairs, sizeof(p->repairs));
	s->text[i] = get_array(f, &n, 1);
	return f->bad || !s->text[i] ? -1 : 0;
}

static int take_result(struct vt_merge_sharing *s, uint32_t host, const char *text, size_t size)
{
	struct vt_merge *m = s->m;
	struct cursor f = { text, text + size, 0 };
	char head[sizeof(magic)], *why, *path;
	struct vt_raw_damage damage;
	uint64_t i, good;
	size_t k, n;

	get_job_bytes(&f, head, sizeof(head));
	good = get_job_int(&f);
	why = get_array(&f, &n, 1);
	if (f.bad || memcmp(head, magic, sizeof(head)) || !good) {
		tkm_fail(m->err, TKM_ERR_IO, "host %u: %.300s", host, why ? why : "its result cannot be read");
		free(why);
		return -1;
	}
	free(why);
	for (i = get_job_int(&f); i > 0; i--) {
		if (take_part(s, &f, host) < 0) {
			return tkm_fail(m->err, TKM_ERR_DATA, "host %u: its result cannot be read", host);
		}
	}
	for (i = get_job_int(&f); i > 0 && !f.bad; i--) {
		path = get_array(&f, &n, 1);
		get_job_bytes(&f, &damage, sizeof(damage));
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

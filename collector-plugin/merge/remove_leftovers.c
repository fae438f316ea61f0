/* SPDX-License-Identifier: BSD-3-Clause */
/* Removes the files that an earlier, killed merge of the same raw files left: files of the trace under their
 * temporary names, which contain the id of a process that has a raw file, and copies of raw files from other hosts.
 * Nothing is lost, because the raw files have all that these files contain. */
#include "config.h"
#include "collector-plugin/merge/common/private.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/process.h"
#include "collector-plugin/raw/reader.h"

struct sweep {
	const struct vt_merge *m;
	unsigned char *settled; /* [files]: the file's process does not write a trace any more */
};

static const char *base_of_trace(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Is the process gone, or of another machine or container? A process that lives here may be writing this very trace. */
static int is_settled(const struct sweep *s, const struct vt_merge_file *f)
{
	return s->m->o->settled || vt_raw_life_of_file(vt_raw_file_path(f->raw), f->head) != VT_RAW_LIVES;
}

static int is_gone(const struct vt_raw_head *h, const struct vt_raw_id *id, long pid)
{
	return pid == (long)id->pid && vt_raw_life(h, id) != VT_RAW_LIVES;
}

/* Was `pid` the process of this raw file, or one that makes traces of it if the process was killed, and that is gone? */
static int is_writer_of(const struct vt_raw_head *h, long pid)
{
	return pid == (long)h->pid || is_gone(h, &h->sampler_id, pid) || is_gone(h, &h->merger_id, pid);
}

/* Is the entry NAME.SUFFIX.tmp-PID-N, of a trace NAME that these raw files belong to? */
static int of_trace(const struct sweep *s, const char *entry)
{
	const char *at = strstr(entry, ".tmp-"), *name;
	long pid, n;
	int end = -1;
	size_t i;

	if (!at || sscanf(at, ".tmp-%ld-%ld%n", &pid, &n, &end) != 2 || end < 0 || at[end]) {
		return 0;
	}
	for (i = 0; i < s->m->n; i++) {
		name = base_of_trace(s->m->file[i].head->trace);
		if (is_writer_of(s->m->file[i].head, pid) && s->settled[i] && *name &&
			!strncmp(entry, name, strlen(name)) && entry[strlen(name)] == '.') {
			return 1;
		}
	}
	return 0;
}

/* Is the entry a copy .VT-flush-....raw.rankN of one of these raw files? */
static int of_raw(const struct sweep *s, const char *entry)
{
	const char *at = strstr(entry, ".rank"), *name;
	int n, end = -1;
	size_t i;

	if (!at || sscanf(at, ".rank%d%n", &n, &end) != 1 || end < 0 || at[end]) {
		return 0;
	}
	for (i = 0; i < s->m->n; i++) {
		name = base_of_trace(vt_raw_file_path(s->m->file[i].raw));
		if (s->settled[i] && strlen(name) == (size_t)(at - entry) && !strncmp(entry, name, strlen(name))) {
			return 1;
		}
	}
	return 0;
}

/* Is the file with this name one of those that are to be merged? */
static int is_input(const struct sweep *s, const char *path)
{
	size_t i;

	for (i = 0; i < s->m->n && strcmp(vt_raw_file_path(s->m->file[i].raw), path) != 0; i++) {
	}
	return i < s->m->n;
}

/* Removes leftovers in the folder of that file. */
static void remove_leftovers(const struct sweep *s, const char *path)
{
	size_t length = (size_t)(base_of_trace(path) - path);
	char *folder = strndup(length ? path : ".", length ? length : 1), name[4400];
	struct dirent *e;
	DIR *d = folder ? opendir(folder) : NULL;

	while (d && (e = readdir(d))) {
		if ((!of_trace(s, e->d_name) && !of_raw(s, e->d_name)) || length + strlen(e->d_name) >= sizeof(name)) {
			continue;
		}
		snprintf(name, sizeof(name), "%s%s", length ? folder : "", e->d_name);
		if (!is_input(s, name)) {
			unlink(name);
		}
	}
	if (d) {
		closedir(d);
	}
	free(folder);
}

static int same_folder(const char *a, const char *b)
{
	size_t n = (size_t)(base_of_trace(a) - a);

	return n == (size_t)(base_of_trace(b) - b) && !strncmp(a, b, n);
}

/* Looks in the folders of the trace and of the raw files, and in no folder that is only named in a file. */
void vt_merge_sweep(const struct vt_merge *m)
{
	struct sweep s = { .m = m };
	const char *path;
	size_t i, k;

	s.settled = calloc(m->n, 1);
	if (!s.settled) {
		return;
	}
	for (i = 0; i < m->n; i++) {
		s.settled[i] = (unsigned char)is_settled(&s, &m->file[i]);
	}
	remove_leftovers(&s, m->o->trace);
	for (i = 0; i < m->n; i++) {
		path = vt_raw_file_path(m->file[i].raw);
		/* usually all raw files are in one folder */
		for (k = 0; k < i && !same_folder(vt_raw_file_path(m->file[k].raw), path); k++) {
		}
		if (k == i && !same_folder(m->o->trace, path)) {
			remove_leftovers(&s, path);
		}
	}
	free(s.settled);
}

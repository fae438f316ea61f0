/* SPDX-License-Identifier: BSD-3-Clause */
/* What a merge of the same raw files left that was killed: files of the trace under their temporary names, with the number of a
 * process of which there is a raw file, and copies of raw files that came from other hosts. The raw files have all that is in them. */
#include "config.h"
#include "collector-plugin/merge/private.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/rootfs.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/process.h"
#include "collector-plugin/raw/reader.h"

struct sweep {
	const struct vt_merge *m;
	char boot[64];
	unsigned char *settled; /* of each file: its process is at nothing any more */
};

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* A process that lives may be writing this very trace. */
static int is_settled(const struct sweep *s, const struct vt_raw_head *h)
{
	return s->m->o->settled || strcmp(s->boot, h->boot) != 0 || !h->born || vt_raw_born(h->pid) != h->born;
}

/* The process itself or the sampler process, which merges where the process was killed and was not there to do so: then it is no
 * more, or another one has its number. */
static int is_sampler_of(const struct vt_raw_head *h, long pid)
{
	long sampler = h->sampler;
	char name[40], comm[32] = "";
	int root;

	if (pid == (long)h->pid || sampler <= 0 || pid != sampler) {
		return pid == (long)h->pid;
	}
	root = tkm_root_open("/");
	snprintf(name, sizeof(name), "/proc/%ld/comm", sampler);
	if (root < 0 || tkm_root_read(root, name, comm, sizeof(comm)) <= 0) {
		comm[0] = '\0';
	}
	if (root >= 0) {
		close(root);
	}
	return !strstr(comm, "vtsampler");
}

/* NAME.SUFFIX.tmp-PID-N of a trace NAME that these files were to have? */
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
		name = base_of(s->m->file[i].head->trace);
		if (is_sampler_of(s->m->file[i].head, pid) && s->settled[i] && *name &&
			!strncmp(entry, name, strlen(name)) && entry[strlen(name)] == '.') {
			return 1;
		}
	}
	return 0;
}

/* VT-flush-....dat.rankN beside the file of that name? */
static int of_raw(const struct sweep *s, const char *entry)
{
	const char *at = strstr(entry, ".rank"), *name;
	int n, end = -1;
	size_t i;

	if (!at || sscanf(at, ".rank%d%n", &n, &end) != 1 || end < 0 || at[end]) {
		return 0;
	}
	for (i = 0; i < s->m->n; i++) {
		name = base_of(vt_raw_file_path(s->m->file[i].raw));
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

/* The folder of that file. */
static void remove_leftovers(const struct sweep *s, const char *path)
{
	size_t length = (size_t)(base_of(path) - path);
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
	size_t n = (size_t)(base_of(a) - a);

	return n == (size_t)(base_of(b) - b) && !strncmp(a, b, n);
}

/* Looks where the trace is to be and where the raw files are, nowhere that a file only says. */
void vt_merge_sweep(const struct vt_merge *m)
{
	struct sweep s = { .m = m };
	const char *path;
	size_t i, k;

	s.settled = calloc(m->n, 1);
	if (!s.settled) {
		return;
	}
	vt_raw_boot(s.boot, sizeof(s.boot));
	for (i = 0; i < m->n; i++) {
		s.settled[i] = (unsigned char)is_settled(&s, m->file[i].head);
	}
	remove_leftovers(&s, m->o->trace);
	for (i = 0; i < m->n; i++) {
		path = vt_raw_file_path(m->file[i].raw);
		/* as a rule they are all in one */
		for (k = 0; k < i && !same_folder(vt_raw_file_path(m->file[k].raw), path); k++) {
		}
		if (k == i && !same_folder(m->o->trace, path)) {
			remove_leftovers(&s, path);
		}
	}
	free(s.settled);
}

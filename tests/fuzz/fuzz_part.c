/* SPDX-License-Identifier: BSD-3-Clause */
/* One part of a good trace with every record, replaced by anything: FUZZ_PART is layer (the lines of the base file),
 * index (the records after them), declarations, data, anchors or frames (data stored compressed). The first byte of an
 * input chooses the byte order (1), whether references are checked (64) and, between these, the component, which is read
 * alone or (128) with the others. What is good before it is read once only, which makes most of the speed. */
#include "tests/fuzz/read_trace.h"
#include "stf/read/reader.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>

#define STR_(x) #x
#define STR(x) STR_(x)
#define FUZZ_NAME STR(FUZZ_PART)
#include "tests/fuzz/fuzz.h"

enum { MAX_PARTS = 24 };
struct part {
	char suffix[32];
	uint8_t *p;
	size_t n;
};
struct golden {
	struct part part[MAX_PARTS]; /* part[0] is the base */
	int n;
};

static int by_suffix(const void *a, const void *b)
{
	return strcmp(((const struct part *)a)->suffix, ((const struct part *)b)->suffix);
}

static void load_part(struct golden *g, const char *path, const char *suffix)
{
	struct part *p = &g->part[g->n++];
	FILE *f = fopen(path, "rb");

	if (!f || g->n > MAX_PARTS) {
		abort();
	}
	fseek(f, 0, SEEK_END);
	p->n = (size_t)ftell(f);
	rewind(f);
	p->p = malloc(p->n + 1);
	if (!p->p || fread(p->p, 1, p->n, f) != p->n) {
		abort();
	}
	fclose(f);
	snprintf(p->suffix, sizeof(p->suffix), "%.31s", suffix);
}

static void load(struct golden *g, const char *name)
{
	const char *top = getenv("top_srcdir");
	char folder[600], path[1000];
	struct dirent *e;
	DIR *d;

	snprintf(folder, sizeof(folder), "%.500s/tests/golden", top ? top : ".");
	d = opendir(folder);
	while (d && (e = readdir(d))) {
		if (!strncmp(e->d_name, name, strlen(name))) {
			snprintf(path, sizeof(path), "%s/%.255s", folder, e->d_name);
			load_part(g, path, e->d_name + strlen(name));
		}
	}
	if (!d || !g->n) {
		fprintf(stderr, "no %s in %s: is top_srcdir set?\n", name, folder);
		exit(2);
	}
	closedir(d);
	/* the base, with the empty suffix, comes first */
	qsort(g->part, (size_t)g->n, sizeof(g->part[0]), by_suffix);
}

static int fits(const char *suffix)
{
	size_t n = strlen(suffix);
	int anchors = n > 4 && !strcmp(suffix + n - 4, ".anc"), declarations = !strcmp(suffix, ".dcl");

	switch (FUZZ_NAME[0]) {
	case 'l': /* layer */
	case 'i': /* index */
		return n == 0;
	case 'd': /* declarations, data */
		return FUZZ_NAME[1] == 'e' ? declarations : n && !anchors && !declarations;
	case 'a': /* anchors */
		return anchors;
	default: /* frames */
		return n && !anchors && !declarations;
	}
}

/* ---- the golden trace as files, of which one is new for each input ---- */

static char scratch[40];
static struct open_golden {
	struct stf_reader *r[2]; /* plain, and checking references */
	int replaced;            /* part whose file holds inputs */
	int fd;                  /* of that file; -1: none yet */
} opened[2] = { { .fd = -1 }, { .fd = -1 } };

static void file_name(char *path, size_t size, int which, const char *suffix, const char *ending)
{
	snprintf(path, size, "%s/%d.stf%s%s", scratch, which, suffix, ending);
}

static int new_file(const char *path, const uint8_t *p, size_t n)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || pwrite(fd, p, n, 0) != (ssize_t)n) {
		abort();
	}
	return fd;
}

static void remove_scratch(void)
{
	struct dirent *e;
	DIR *d = opendir(scratch);
	int k;

	while (d && (e = readdir(d))) {
		unlinkat(dirfd(d), e->d_name, 0);
	}
	if (d) {
		closedir(d);
	}
	rmdir(scratch);
	for (k = 0; k < 4; k++) {
		stf_reader_close(opened[k / 2].r[k % 2]);
	}
}

static void open_golden(struct open_golden *o, const struct golden *g, int which)
{
	struct stf_err err;
	char path[100];
	int i;

	if (!*scratch) {
		strcpy(scratch, "/dev/shm/fuzz-XXXXXX");
		if (!mkdtemp(scratch) && !mkdtemp(strcpy(scratch, "/tmp/fuzz-XXXXXX"))) {
			abort();
		}
		atexit(remove_scratch);
	}
	for (i = 0; i < g->n; i++) {
		file_name(path, sizeof(path), which, g->part[i].suffix, "");
		close(new_file(path, g->part[i].p, g->part[i].n));
	}
	file_name(path, sizeof(path), which, "", "");
	o->r[0] = stf_reader_open(path, STF_READ_DAMAGED, &err);
	o->r[1] = stf_reader_open(path, STF_READ_CHECK_REFS, &err);
	if (!o->r[0] || !o->r[1]) {
		abort();
	}
}

/* Makes part k the one that is an input, and the one before it good again. */
static void replace(struct open_golden *o, const struct golden *g, int which, int k)
{
	const char *ending = FUZZ_NAME[0] == 'f' ? ".zst" : "";
	char path[100];

	if (o->fd >= 0) {
		close(o->fd);
		file_name(path, sizeof(path), which, g->part[o->replaced].suffix, ending);
		unlink(path);
		file_name(path, sizeof(path), which, g->part[o->replaced].suffix, "");
		close(new_file(path, g->part[o->replaced].p, g->part[o->replaced].n));
	}
	file_name(path, sizeof(path), which, g->part[k].suffix, "");
	unlink(path);
	file_name(path, sizeof(path), which, g->part[k].suffix, ending);
	o->fd = new_file(path, NULL, 0);
	o->replaced = k;
}

/* Length of the good definition layer. */
static size_t layer_length(const struct golden *g)
{
	const uint8_t *end = memmem(g->part[0].p, g->part[0].n, "\nEND\n", 5);

	if (!end) {
		abort();
	}
	return (size_t)(end + 5 - g->part[0].p);
}

/* The input between what stays before it and after it in its file. */
static void write_input(const struct golden *g, int fd, const uint8_t *data, size_t size)
{
	size_t layer = layer_length(g), ahead = FUZZ_NAME[0] == 'i' ? layer : 0;
	size_t after = FUZZ_NAME[0] == 'l' ? g->part[0].n - layer : 0;

	if (ftruncate(fd, 0) < 0 || pwrite(fd, g->part[0].p, ahead, 0) != (ssize_t)ahead ||
		pwrite(fd, data, size, (off_t)ahead) != (ssize_t)size ||
		pwrite(fd, g->part[0].p + layer, after, (off_t)(ahead + size)) != (ssize_t)after) {
		abort();
	}
}

static void close_loaded(struct stf_reader *r)
{
	memset(&r->defs, 0, sizeof(r->defs));
	stf_reader_close(r);
}

/* Index and declarations anew. The definition layer, which would take most of the time, is taken from `good`. */
static struct stf_reader *load_again(const struct golden *g, const struct stf_reader *good, const char *path)
{
	struct stf_reader *r = calloc(1, sizeof(*r));
	struct stf_source *s;
	struct stf_err err;
	int bad;

	if (!r || stf_archive_open(&r->archive, path, &err) < 0 || !(s = stf_source_open(&r->archive, "", &err))) {
		abort();
	}
	r->flags = good->flags;
	r->defs = good->defs;
	r->index_at = layer_length(g);
	if (stf_source_seek(s, r->index_at, 0, &err) < 0) {
		abort();
	}
	s->lost_count = 0;
	bad = stf_reader_load(r, s, &err) < 0;
	stf_source_close(s);
	if (bad) {
		close_loaded(r);
		r = NULL;
	}
	return r;
}

static void forget_anchors(struct stf_reader *r)
{
	size_t i;

	for (i = 0; i < r->n_anchors; i++) {
		free(r->anchors[i].anchor);
	}
	r->n_anchors = 0;
	stf_map_free(&r->tables_at);
}

static void read_replaced(const struct golden *g, int which, int k, unsigned choice, const uint8_t *data, size_t size)
{
	struct open_golden *o = &opened[which];
	struct stf_reader *r;
	int checked = choice & 64 ? 1 : 0, alone = !(choice & 128);
	const char *suffix = g->part[k].suffix;
	char path[100];

	if (!o->r[0]) {
		open_golden(o, g, which);
	}
	if (o->fd < 0 || o->replaced != k) {
		replace(o, g, which, k);
	}
	write_input(g, o->fd, data, size);
	file_name(path, sizeof(path), which, "", "");
	switch (FUZZ_NAME[0] == 'd' ? FUZZ_NAME[1] : FUZZ_NAME[0]) {
	case 'l': /* layer */
		read_trace(path, o->r[checked]->flags, suffix, alone);
		break;
	case 'i': /* index */
	case 'e': /* declarations */
		r = load_again(g, o->r[checked], path);
		if (r) {
			read_open_trace(r, suffix, alone);
			close_loaded(r);
		}
		break;
	case 'a': /* anchors, data */
		forget_anchors(o->r[checked]);
		read_open_trace(o->r[checked], suffix, alone);
		break;
	default: /* frames */
		read_open_trace(o->r[checked], suffix, alone);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct golden golden[2];
	const struct golden *g;
	int i, k, which = -1;

	if (!golden[0].n) {
		load(&golden[0], "plain-little.stf");
		load(&golden[1], "plain-big.stf");
	}
	if (!size) {
		return 0;
	}
	g = &golden[data[0] & 1];
	for (i = 0, k = data[0] >> 1 & 31; which < 0; i = (i + 1) % g->n) {
		if (fits(g->part[i].suffix) && k-- <= 0) {
			which = i;
		}
	}
	read_replaced(g, data[0] & 1, which, data[0], data + 1, size - 1);
	return 0;
}

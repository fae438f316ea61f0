/* SPDX-License-Identifier: BSD-3-Clause */
/* One part of a good trace with every record, replaced by anything: FUZZ_PART is layer (the lines of the base file),
 * index (the records behind them), declarations, data, anchors or frames (data stored compressed). The first byte of an
 * input chooses the byte order (1), whether references are checked (64) and, between these, the component, which is read
 * alone or (128) with the others; data and frames through a reader that stays open. */
#include "tests/fuzz/read_trace.h"

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
	default:  /* frames */
		return n && !anchors && !declarations;
	}
}

/* The golden trace as a single file, one part replaced. */
static uint8_t *compose(const struct golden *g, int which, const uint8_t *data, size_t size, size_t *n)
{
	int frames = FUZZ_NAME[0] == 'f', i;
	size_t head = 16 + (size_t)g->n * 64, at = head, own;
	uint8_t *out = malloc(head + size + (1 << 20));
	char *line = (char *)out;
	const uint8_t *layer_end = memmem(g->part[0].p, g->part[0].n, "\nEND\n", 5);

	if (!out || !layer_end) {
		abort();
	}
	layer_end += 5;
	line += sprintf(line, "STFSINGLE 1.0\n");
	for (i = 0; i < g->n; i++) {
		own = at;
		if (i != which || FUZZ_NAME[0] == 'i') {
			size_t m = i == which ? (size_t)(layer_end - g->part[0].p) : g->part[i].n;

			memcpy(out + at, g->part[i].p, m);
			at += m;
		}
		if (i == which) {
			memcpy(out + at, data, size);
			at += size;
		}
		if (i == which && FUZZ_NAME[0] == 'l') {
			memcpy(out + at, layer_end, g->part[0].n - (size_t)(layer_end - g->part[0].p));
			at += g->part[0].n - (size_t)(layer_end - g->part[0].p);
		}
		line += sprintf(line, "FILE %s%s %zu %zu\n", i ? g->part[i].suffix : "base", i == which && frames ? ".zst" : "", own,
				at - own);
	}
	line += sprintf(line, "END\n");
	memset(line, 'x', (size_t)(out + head - (uint8_t *)line));
	*n = at;
	return out;
}

/* ---- data and frames: only their own file is new for each input ---- */

static char scratch[40];
static struct open_golden {
	struct stf_reader *r[2];
	int replaced; /* part whose file holds an input; 0: none */
	int fd;
} opened[2];

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

	if (o->replaced) {
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

static void read_replaced(const struct golden *g, int which, int k, unsigned choice, const uint8_t *data, size_t size)
{
	struct open_golden *o = &opened[which];

	if (!o->r[0]) {
		open_golden(o, g, which);
	}
	if (o->replaced != k) {
		replace(o, g, which, k);
	}
	if (ftruncate(o->fd, 0) < 0 || pwrite(o->fd, data, size, 0) != (ssize_t)size) {
		abort();
	}
	read_open_trace(o->r[choice & 64 ? 1 : 0], g->part[k].suffix, !(choice & 128));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct golden golden[2];
	const struct golden *g;
	uint8_t *p;
	size_t n;
	int i, k, which = -1;

	if (!golden[0].n) {
		load(&golden[0], "every-little.stf");
		load(&golden[1], "every-big.stf");
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
	if (!strcmp(FUZZ_NAME, "data") || FUZZ_NAME[0] == 'f') {
		read_replaced(g, data[0] & 1, which, data[0], data + 1, size - 1);
		return 0;
	}
	p = compose(g, which, data + 1, size - 1, &n);
	read_bytes(p, n, data[0] & 64 ? STF_READ_CHECK_REFS : STF_READ_DAMAGED, g->part[which].suffix, !(data[0] & 128));
	free(p);
	return 0;
}

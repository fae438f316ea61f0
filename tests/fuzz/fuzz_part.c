/* SPDX-License-Identifier: BSD-3-Clause */
/* One part of a good trace with every record, replaced by anything: FUZZ_PART is layer (the lines of the base file),
 * index (the records behind them), declarations, data, anchors or frames (data stored compressed). The first byte of an
 * input chooses the byte order (1), whether references are checked (64) and, between these, the component. */
#include "tests/fuzz/read_trace.h"

#include <dirent.h>
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
	p = compose(g, which, data + 1, size - 1, &n);
	read_bytes(p, n, data[0] & 64 ? STF_READ_CHECK_REFS : STF_READ_DAMAGED, g->part[which].suffix);
	free(p);
	return 0;
}

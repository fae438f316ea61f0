/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces that are cut at every byte, damaged, or lie about sizes: what is reported, with its place. Where a fault must be is found by
 * walking the whole file with the table of records alone, not by the reader. */
#include "config.h"
#include "base/bytes.h"
#include "include/stf.h"
#include "tests/lib/check.h"
#include "tests/lib/stf_dir.h"
#include "tests/lib/stf_every.h"

#include <dirent.h>

#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

enum { MAX_FAULTS = 64, MAX_PLACES = 2000, SINGLE_SAMPLES = 1500 };

enum { IDENTITY = 75, IDENTITY_SIZE = 34 }; /* trace_identity, the first record of each component */

/* ---- what the reader says ---- */

struct faults {
	struct stf_err e[MAX_FAULTS];
	int n;
};

static void keep(struct faults *f, const struct stf_err *e)
{
	if (f->n < MAX_FAULTS) {
		f->e[f->n++] = *e;
	}
}

/* Reads every component to its end or fault; the number of records. */
static int read_all(const char *path, struct faults *f)
{
	struct stf_reader *r = stf_reader_open(path, STF_READ_DAMAGED | STF_READ_CHECK_REFS, &err);
	const struct stf_record *rec, *file;
	struct stf_file_declaration d;
	struct stf_cursor *c;
	int n = 0, rc;
	size_t i;

	f->n = 0;
	if (!r) {
		keep(f, &err);
		return 0;
	}
	if (stf_reader_fault(r)->code) {
		keep(f, stf_reader_fault(r));
	}
	n += (int)stf_reader_count(r, STF_ID_stf_string);
	for (i = 0; (file = stf_reader_record(r, STF_ID_file_declaration, i)); i++) {
		stf_get_file_declaration(file, &d);
		c = stf_cursor_open(r, d.suffix, &err);
		while (c && (rc = stf_cursor_next(c, &rec, &err)) > 0) {
			n++;
		}
		if (!c || rc < 0) {
			keep(f, &err);
		}
		stf_cursor_close(c);
	}
	stf_reader_close(r);
	return n;
}

/* ---- where it must be ---- */

/* Where lines of the definition layer and then records begin; the last place is the end. */
struct places {
	size_t at[MAX_PLACES];
	int n, lines; /* so many of them are lines */
};

static unsigned width_of(enum stf_type t)
{
	switch (t) {
	case STF_U1:
	case STF_I1:
	case STF_C1:
		return 1;
	case STF_U2:
	case STF_I2:
		return 2;
	case STF_U4:
	case STF_I4:
	case STF_F4:
	case STF_WILLYID:
		return 4;
	default:
		return 8;
	}
}

/* Little-endian, laid out as the table says. */
static size_t record_size(const unsigned char *p)
{
	const struct stf_layout *l = stf_layout(*p);
	size_t n = 1, count = 0, i, k;

	if (*p == IDENTITY) {
		return IDENTITY_SIZE;
	}

	for (i = 0; i < l->n_fields; i++) {
		unsigned width = width_of(l->fields[i].type);

		if (l->fields[i].is_size) {
			for (count = 0, k = width; k-- > 0;) {
				count = count << 8 | p[n + k];
			}
		}
		n += l->fields[i].is_array ? count * width : width;
	}
	return n;
}

static void find_places(struct places *w, const char *p, size_t n, int is_base)
{
	size_t at = 0;
	int layer = is_base;

	memset(w, 0, sizeof(*w));
	while (at < n && w->n < MAX_PLACES - 1) {
		w->at[w->n++] = at;
		if (layer) {
			w->lines++;
			layer = strncmp(p + at, "END\n", 4) != 0;
			at += (size_t)(strchr(p + at, '\n') + 1 - (p + at));
		} else {
			at += record_size((const unsigned char *)p + at);
		}
	}
	CHECK(at == n, "the walk ends at %zu of %zu", at, n);
	w->at[w->n] = n;
}

/* The fault that reading must find in `file` when it has only its first k bytes; 0: there need not be one. `short_of` says that
 * the file was declared longer than it is, as in a single-file trace. */
static int expected(const struct places *w, size_t k, int short_of, struct stf_err *e)
{
	int i = 0;

	while (i < w->n && w->at[i + 1] <= k) {
		i++;
	}
	e->offset = w->at[i];
	e->record = (uint64_t)(i < w->lines ? i + 1 : i - w->lines + 1);
	snprintf(e->text, sizeof(e->text), "%s",
		i < w->lines            ? "the file ends before the END line of its definition layer"
			: w->at[i] == k ? "the file ends here, which is shorter than it was declared"
					: "the file ends inside this record");
	return i < w->lines || w->at[i] != k || short_of;
}

static void check_fault(const struct faults *f, const char *file, size_t k, const struct places *w, int short_of)
{
	const struct stf_err *found = NULL;
	struct stf_err want;
	int i, must = expected(w, k, short_of, &want);

	for (i = 0; i < f->n && !found; i++) {
		if (f->e[i].code == STF_ERR_TRUNCATED && strcmp(f->e[i].file, file) == 0) {
			found = &f->e[i];
		}
	}
	CHECK(!found == !must, "%s cut at %zu: %s", file, k, found ? found->text : "not seen");
	if (found && must) {
		CHECK(found->offset == want.offset && found->record == want.record && strstr(found->text, want.text),
			"%s cut at %zu: offset %llu, record %llu: %s; want %llu, %llu, %s", file, k,
			(unsigned long long)found->offset, (unsigned long long)found->record, found->text,
			(unsigned long long)want.offset, (unsigned long long)want.record, want.text);
	}
}

/* ---- cut ---- */

static void cut_component(const char *name, int whole)
{
	int is_base = strcmp(name, "a.stf") == 0, got, before = 0;
	struct faults f;
	struct places w;
	char path[600], *p;
	size_t n, k;

	snprintf(path, sizeof(path), "%s", in_dir(name));
	p = slurp(path, &n);
	find_places(&w, p, n, is_base);
	for (k = 0; k < n; k++) {
		spit(path, p, k);
		got = read_all(in_dir("a.stf"), &f);
		CHECK(got <= whole && got >= (is_base ? 0 : before), "%s cut at %zu: %d records of %d", name, k, got,
			whole);
		before = got;
		check_fault(&f, path, k, &w, 0);
	}
	spit(path, p, n);
	free(p);
}

/* A stored trace whose components have anchors although they are short. Returns 0 if it is not there. */
static int take_anchored(void)
{
	const char *src = getenv("top_srcdir");
	char golden[512], path[900], *p;
	struct dirent *e;
	size_t n;
	DIR *d;

	clean();
	snprintf(golden, sizeof(golden), "%s/tests/golden", src ? src : ".");
	d = opendir(golden);
	while (d && (e = readdir(d))) {
		if (strncmp(e->d_name, "anchored-little.stf", 19) == 0) {
			snprintf(path, sizeof(path), "%s/%.300s", golden, e->d_name);
			p = slurp(path, &n);
			snprintf(path, sizeof(path), "a.stf%.300s", e->d_name + 19);
			spit(in_dir(path), p, n);
			free(p);
		}
	}
	if (d) {
		closedir(d);
	}
	return access(in_dir("a.stf.msg.anc"), F_OK) == 0;
}

static void cut_all(int components)
{
	struct faults f;
	struct dirent *e;
	DIR *d;
	int whole;
	char names[32][300];
	int n = 0, i;

	whole = read_all(in_dir("a.stf"), &f);
	CHECK(f.n == 0, "%s: %s", f.e[0].file, f.e[0].text);
	d = opendir(dir);
	while (d && n < 32 && (e = readdir(d))) {
		if (e->d_name[0] == 'a') {
			snprintf(names[n++], sizeof(names[0]), "%s", e->d_name);
		}
	}
	closedir(d);
	CHECK_INT(n, components);
	for (i = 0; i < n; i++) {
		cut_component(names[i], whole);
	}
}

static void cut_at_every_byte(void)
{
	clean();
	CHECK(write_every(in_dir("a.stf"), 0, 0) == 0, "%s", err.text);
	cut_all(11);
	CHECK(take_anchored(), "no stored trace with anchors");
	cut_all(19);
}

/* ---- a single file ---- */

struct part {
	char name[16]; /* suffix, or "base" */
	size_t at, size;
	struct places w;
};

static int read_directory(char *p, struct part *part, int max)
{
	char *line = strchr(p, '\n') + 1;
	int n = 0;

	for (; n < max && sscanf(line, "FILE %15s %zu %zu\n", part[n].name, &part[n].at, &part[n].size) == 3; n++) {
		find_places(&part[n].w, p + part[n].at, part[n].size, strcmp(part[n].name, "base") == 0);
		line = strchr(line, '\n') + 1;
	}
	CHECK(strncmp(line, "END\n", 4) == 0, "directory ends at %.20s", line);
	return n;
}

/* A single-file trace whose samples have anchors. */
static int write_single(const char *path)
{
	struct stf_writer_options o = { .resolution = 1e-9, .single = STF_SINGLE_FILE };
	struct stf_writer *w = stf_writer_create(path, &o, &err);
	int rc = w ? 0 : -1, i;

	for (i = 0; i < SINGLE_SAMPLES && w; i++) {
		rc |= i < 4 ? write_one(w, STF_ID_comment, 1000 + (uint64_t)i) : 0;
		rc |= write_one(w, STF_ID_counter_value, 1000 + (uint64_t)i);
	}
	return rc || stf_writer_finish(w, 1, 0, &err) < 0 ? -1 : 0;
}

static void cut_single(void)
{
	struct part part[24], *big;
	struct faults f;
	char path[600], file[700], *p;
	size_t n, k;
	int parts, i;

	clean();
	snprintf(path, sizeof(path), "%s", in_dir("a.single.stf"));
	CHECK(write_single(path) == 0, "%s", err.text);
	p = slurp(path, &n);
	parts = read_directory(p, part, 24);
	CHECK_INT(parts, 5); /* base, .dcl, .c.0 and its anchors, .x.0 */
	for (big = part; big < part + parts - 1 && strcmp(big->name, ".c.0") != 0; big++) {
	}
	/* every byte, but of the samples, which are alike, only the first and the last 500 and every 499th */
	for (k = 0; k<n; k += k> big->at + 500 && k + 999 < big->at + big->size ? 499 : 1) {
		spit(path, p, k);
		read_all(path, &f);
		CHECK(f.n > 0 && f.e[0].code != STF_OK && f.e[0].text[0], "cut at %zu was not seen", k);
		if (k < part[0].at) {
			CHECK(strcmp(f.e[0].file, path) == 0 && f.e[0].offset <= k, "cut at %zu: %s, offset %llu", k,
				f.e[0].file, (unsigned long long)f.e[0].offset);
			continue;
		}
		for (i = 0; i < parts && part[i].at + part[i].size <= k; i++) {
		}
		/* the later parts are all missing, but that one has the place */
		snprintf(file, sizeof(file), "%s[%.15s]", path, part[i].name);
		check_fault(&f, file, k - part[i].at, &part[i].w, 1);
	}
	free(p);
}

static void any_damage_is_survived(void)
{
	static const char *const part[] = { "a.stf", "a.stf.dcl", "a.stf.msg", "a.stf.cop", "a.stf.r.0",
		"a.stf.msg.anc", "a.stf.sts", "a.stf.c.0" };
	struct faults f;
	int i, k, seen = 0;
	size_t n;
	char *p, *q;

	CHECK(take_anchored(), "no stored trace with anchors");
	for (i = 0; i < 1200; i++) {
		const char *name = in_dir(part[i % 8]);

		p = slurp(name, &n);
		q = malloc(n);
		memcpy(q, p, n);
		for (k = (int)(check_random() % 4); k >= 0; k--) {
			q[check_random() % n] = (char)(check_random() % 3 ? check_random() : 0xff);
		}
		spit(name, q, n);
		read_all(in_dir("a.stf"), &f);
		seen += f.n > 0;
		spit(name, p, n);
		free(p);
		free(q);
	}
	CHECK(seen > 300, "only %d of 1200 were noticed", seen);
}

/* size fields of 2^32-1 in a file: an error with file, offset and number, and the records before it */
static void huge_size_in_file(void)
{
	struct stf_writer_options o = { .resolution = 1e-9 };
	struct stf_writer *w;
	struct stf_comment m = { .time = 5, .size_1_1 = 4, .text = "abcd" };
	struct stf_reader *r;
	struct stf_cursor *c;
	const struct stf_record *rec;
	char *p;
	size_t n;

	clean();
	w = stf_writer_create(in_dir("a.stf"), &o, &err);
	stf_write_comment(w, &m);
	stf_write_comment(w, &m);
	CHECK_INT(stf_writer_finish(w, 0, 9, &err), 0);
	p = slurp(in_dir("a.stf.x.0"), &n);
	CHECK_INT(n, 34 + IDENTITY_SIZE);
	memset(p + IDENTITY_SIZE + 17 + 9, 0xff, 4);
	spit(in_dir("a.stf.x.0"), p, n);
	free(p);
	r = stf_reader_open(in_dir("a.stf"), 0, &err);
	c = stf_cursor_open(r, NULL, &err);
	CHECK_INT(stf_cursor_next(c, &rec, &err), 1);
	CHECK_STR(stf_value(rec, "text")->array, "abcd");
	CHECK_INT(stf_cursor_next(c, &rec, &err), -1);
	CHECK_INT(err.code, STF_ERR_TRUNCATED);
	CHECK_INT(err.offset, IDENTITY_SIZE + 17);
	CHECK_INT(err.record, 3);
	CHECK(strstr(err.file, "a.stf.x.0"), "%s", err.file);
	CHECK_INT(stf_cursor_next(c, &rec, &err), -1);
	stf_cursor_close(c);
	stf_reader_close(r);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
	RUN(cut_at_every_byte);
	RUN(cut_single);
	RUN(any_damage_is_survived);
	RUN(huge_size_in_file);
	clean();
	rmdir(dir);
	return check_end();
}

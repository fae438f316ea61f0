/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes and reads TRACE.stf.index. */
#include "config.h"
#include "report/data/index.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/newfile.h"

#ifdef HAVE_XXHASH
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { FLOOR = 64 << 10, LEVELS = 16 };

/* The structs are stored as this build has them; if their sizes differ, another build wrote the index. */
struct head {
	char magic[8];
	uint32_t order, version;
	uint32_t head_size, series_size, column_size, function_size, operation_size, span_size, processes;
	uint32_t files, levels, columns; /* of the finest level */
	uint32_t function_rows, matrix_rows, per_row, empty;
	uint64_t functions, n_series, stacks, operations, left_out, before;
	uint64_t start, width, first, last; /* of the axis, finest level */
	uint64_t unbalanced, records, values, reports, ends;
	uint64_t messages, bytes, unmatched, backward, at_least;
};

struct file {
	char suffix[208];
	uint64_t size;
	int64_t mtime_s, mtime_ns;
};

static const char magic[8] = "TMKINDX";

static struct head head_of(const struct vtr_trace *t)
{
	struct head h = { .order = 0x01020304,
		.version = 4,
		.head_size = sizeof(struct head),
		.series_size = sizeof(struct vtr_series),
		.column_size = sizeof(struct vtr_column),
		.function_size = sizeof(struct vtr_function),
		.operation_size = sizeof(struct vtr_operation),
		.span_size = sizeof(struct vtr_span),
		.processes = t->processes,
		.columns = t->axis.columns,
		.function_rows = t->function_rows,
		.matrix_rows = t->messages.rows,
		.per_row = t->messages.per_row,
		.empty = (uint32_t)t->empty,
		.functions = t->functions,
		.n_series = t->axis.n_series,
		.stacks = t->stacks,
		.operations = t->operations,
		.left_out = t->axis.left_out,
		.before = t->axis.before,
		.start = t->axis.start,
		.width = t->axis.width,
		.first = t->axis.first,
		.last = t->axis.last,
		.unbalanced = t->unbalanced,
		.records = t->records,
		.values = t->values,
		.reports = t->reports,
		.ends = t->ends,
		.messages = t->messages.n,
		.bytes = t->messages.bytes,
		.unmatched = t->messages.unmatched,
		.backward = t->messages.backward,
		.at_least = t->messages.at_least };
	uint32_t n;

	memcpy(h.magic, magic, sizeof(magic));
	for (h.levels = 1, n = h.columns; n > VTR_COLUMNS && n % 4 == 0 && h.levels < LEVELS; n /= 2) {
		h.levels++;
	}
	return h;
}

static char *index_name(const struct vtr_trace *t)
{
	size_t n = strlen(t->path);
	char *name = malloc(n + 7);

	if (name) {
		memcpy(name, t->path, n);
		memcpy(name + n, ".index", 7);
	}
	return name;
}

/* ---- the files that the index belongs to ---- */

static int look_at(const char *trace, const char *suffix, struct file *f)
{
	char path[4400];
	struct stat st;

	memset(f, 0, sizeof(*f));
	snprintf(f->suffix, sizeof(f->suffix), "%s", suffix);
	snprintf(path, sizeof(path), "%s%s", trace, suffix);
	if (stat(path, &st) < 0) {
		return -1;
	}
	f->size = (uint64_t)st.st_size;
	f->mtime_s = st.st_mtim.tv_sec;
	f->mtime_ns = st.st_mtim.tv_nsec;
	return 0;
}

/* Lists the base file, then each component that is a file of its own. *n: how many; the caller frees them. NULL: no
 * memory. */
static struct file *look_at_files(const struct vtr_trace *t, size_t *n)
{
	size_t count = stf_reader_count(t->reader, STF_ID_file_declaration), i;
	struct file *all = calloc(count + 1, sizeof(*all));

	*n = 0;
	if (!all || look_at(t->path, "", &all[(*n)++]) < 0) {
		return all;
	}
	for (i = 0; i < count; i++) {
		const struct stf_record *r = stf_reader_record(t->reader, STF_ID_file_declaration, i);
		struct stf_file_declaration d;

		if (r && stf_get_file_declaration(r, &d) == 0 && d.suffix &&
			look_at(t->path, d.suffix, &all[*n]) == 0) {
			++*n;
		}
	}
	return all;
}

uint64_t vtr_index_room(const struct vtr_trace *t)
{
	struct file *all;
	uint64_t bytes = 0;
	size_t n, i;

	all = look_at_files(t, &n);
	for (i = 0; all && i < n; i++) {
		bytes += all[i].size;
	}
	free(all);
	/* the coarser levels together are as large as the finest level, and the rest may be, too */
	bytes = bytes / 100;
	return bytes > FLOOR ? bytes : FLOOR;
}

/* A stream of sections, each followed by its checksum: first everything except curves, then the levels. */
struct stream {
	FILE *f;
	XXH3_state_t *sum;
	int bad;
};

static int stream_begin(struct stream *s, FILE *f)
{
	s->f = f;
	s->bad = 0;
	s->sum = XXH3_createState();
	if (s->sum) {
		XXH3_64bits_reset(s->sum);
	}
	return s->sum ? 0 : -1;
}

static void stream_end(struct stream *s)
{
	XXH3_freeState(s->sum);
}

/* ---- writing ---- */

static void put_indexed(struct stream *s, const void *p, size_t size, size_t n)
{
	XXH3_64bits_update(s->sum, p, size * n);
	s->bad |= fwrite(p, size, n, s->f) != n;
}

static void put_sum(struct stream *s)
{
	uint64_t sum = XXH3_64bits_digest(s->sum);

	s->bad |= fwrite(&sum, sizeof(sum), 1, s->f) != 1;
	XXH3_64bits_reset(s->sum);
}

/* Writes the coarsest level first, so that a reader that needs few columns reads little. */
static void put_levels(struct stream *s, const struct vtr_axis *a, uint32_t levels)
{
	uint32_t l, k, n;
	size_t i;

	for (l = levels; l-- > 0;) {
		n = 1u << l;
		for (i = 0; i < a->n_series; i++) {
			for (k = 0; k < a->columns; k += n) {
				struct vtr_column c = vtr_column_join(&a->series[i], k, n);

				put_indexed(s, &c, sizeof(c), 1);
			}
		}
		put_sum(s);
	}
}

static void put_all(struct stream *s, const struct vtr_trace *t, const struct head *h, const struct file *files)
{
	size_t cells = (size_t)h->matrix_rows * h->matrix_rows, i;

	put_indexed(s, h, sizeof(*h), 1);
	put_indexed(s, files, sizeof(*files), h->files);
	put_indexed(s, t->function, sizeof(*t->function), t->functions * t->function_rows);
	put_indexed(s, t->span, sizeof(*t->span), h->processes);
	put_indexed(s, t->messages.count, sizeof(uint64_t), cells);
	put_indexed(s, t->messages.size, sizeof(uint64_t), cells);
	put_indexed(s, t->operation, sizeof(*t->operation), t->operations);
	for (i = 0; i < t->axis.n_series; i++) {
		struct vtr_series one = t->axis.series[i];

		one.column = NULL;
		put_indexed(s, &one, sizeof(one), 1);
	}
	put_sum(s);
	put_levels(s, &t->axis, h->levels);
}

int vtr_index_write(const struct vtr_trace *t, struct tkm_err *err)
{
	struct head h = head_of(t);
	struct tkm_newfile out;
	struct stream s;
	struct file *files;
	char *name = index_name(t);
	size_t n;
	int rc = 0;

	files = look_at_files(t, &n);
	if (!name || !files) {
		rc = tkm_fail(err, TKM_ERR_NOMEM, "out of memory");
	}
	h.files = (uint32_t)n;
	rc = rc < 0 ? rc : tkm_newfile_begin(&out, name, 1, err);
	if (rc == 0 && stream_begin(&s, out.f) < 0) {
		tkm_newfile_abort(&out);
		rc = tkm_fail(err, TKM_ERR_NOMEM, "out of memory");
	}
	if (rc == 0) {
		put_all(&s, t, &h, files);
		stream_end(&s);
		rc = tkm_newfile_commit(&out, err);
	}
	free(files);
	free(name);
	return rc;
}

/* ---- reading ---- */

static int get_indexed(struct stream *s, void *to, size_t size, size_t n)
{
	if (fread(to, size, n, s->f) != n) {
		return -1;
	}
	XXH3_64bits_update(s->sum, to, size * n);
	return 0;
}

static int get_sum(struct stream *s)
{
	uint64_t sum = XXH3_64bits_digest(s->sum), stored;

	XXH3_64bits_reset(s->sum);
	return fread(&stored, sizeof(stored), 1, s->f) == 1 && stored == sum ? 0 : -1;
}

/* Is the index of this build and of these definitions? */
static int is_index_ours(const struct vtr_trace *t, const struct head *h)
{
	struct head want = head_of(t);

	return !memcmp(h->magic, magic, sizeof(magic)) && h->order == want.order && h->version == want.version &&
		h->head_size == want.head_size && h->series_size == want.series_size &&
		h->column_size == want.column_size && h->function_size == want.function_size &&
		h->operation_size == want.operation_size && h->span_size == want.span_size &&
		h->processes == t->processes && h->functions == t->functions && h->function_rows == t->function_rows &&
		h->matrix_rows == t->messages.rows && h->per_row == t->messages.per_row && h->levels >= 1 &&
		h->levels <= LEVELS && h->width && h->columns >> (h->levels - 1) > 0 &&
		h->columns % (1u << (h->levels - 1)) == 0 &&
		h->operations <= sizeof(t->operation) / sizeof(t->operation[0]) && h->n_series <= 1 << 24 &&
		h->columns <= 1 << 24 && h->stacks <= 1 << 24 && h->files <= 1 << 24 &&
		(h->first > h->last || (h->last >= h->start && (h->last - h->start) / h->width < h->columns));
}

/* Are the files the same as when the index was written? */
static int files_are_the_same(struct stream *s, const struct vtr_trace *t, const struct head *h)
{
	struct file *now, then;
	size_t n, i;
	int same;

	now = look_at_files(t, &n);
	same = now && n == h->files;
	for (i = 0; same && i < n; i++) {
		same = get_indexed(s, &then, sizeof(then), 1) == 0 && !memcmp(&then, &now[i], sizeof(then));
	}
	free(now);
	return same;
}

static int get_series(struct stream *s, struct vtr_trace *t, const struct head *h)
{
	size_t i;

	free(t->axis.series);
	t->axis.series = calloc(h->n_series + 1, sizeof(*t->axis.series));
	t->stack = calloc(h->stacks + 1, sizeof(*t->stack));
	if (!t->axis.series || !t->stack) {
		return -1;
	}
	t->stacks = h->stacks;
	for (i = 0; i < h->n_series; i++) {
		struct vtr_series *one = &t->axis.series[i];

		if (get_indexed(s, one, sizeof(*one), 1) < 0) {
			return -1;
		}
		one->column = NULL;
		t->axis.n_series++;
		if (one->counter >= t->counters) {
			return -1;
		}
	}
	return 0;
}

/* The coarsest level with at least `columns` columns, or the finest level. */
static int get_level(struct stream *s, struct vtr_trace *t, const struct head *h, uint32_t columns)
{
	uint32_t l = h->levels - 1, n = h->columns >> l;
	uint64_t skip = 0;
	size_t i;

	for (; l > 0 && n < columns; l--, n *= 2) {
		skip += (uint64_t)n * h->n_series * sizeof(struct vtr_column) + sizeof(uint64_t);
	}
	if (fseeko(s->f, (off_t)skip, SEEK_CUR) < 0) {
		return -1;
	}
	t->axis.columns = n;
	t->axis.width = h->width << l;
	for (i = 0; i < h->n_series; i++) {
		struct vtr_series *one = &t->axis.series[i];

		one->column = malloc(n * sizeof(*one->column));
		if (!one->column || get_indexed(s, one->column, sizeof(*one->column), n) < 0) {
			return -1;
		}
	}
	return get_sum(s);
}

static void take_index_head(struct vtr_trace *t, const struct head *h)
{
	t->operations = h->operations;
	t->axis.left_out = h->left_out;
	t->axis.before = h->before;
	t->axis.start = h->start;
	t->axis.first = h->first;
	t->axis.last = h->last;
	t->unbalanced = h->unbalanced;
	t->records = h->records;
	t->values = h->values;
	t->reports = h->reports;
	t->ends = h->ends;
	t->empty = (int)h->empty;
	t->messages.n = h->messages;
	t->messages.bytes = h->bytes;
	t->messages.unmatched = h->unmatched;
	t->messages.backward = h->backward;
	t->messages.at_least = h->at_least;
}

static const char *get_all(struct stream *s, struct vtr_trace *t, uint32_t columns)
{
	struct head h;
	size_t cells;

	if (get_indexed(s, &h, sizeof(h), 1) < 0 || !is_index_ours(t, &h)) {
		return "is none of this version";
	}
	if (!files_are_the_same(s, t, &h)) {
		return "belongs to another state of the trace's files";
	}
	cells = (size_t)h.matrix_rows * h.matrix_rows;
	if (get_indexed(s, t->function, sizeof(*t->function), h.functions * h.function_rows) < 0 ||
		get_indexed(s, t->span, sizeof(*t->span), h.processes) < 0 ||
		get_indexed(s, t->messages.count, sizeof(uint64_t), cells) < 0 ||
		get_indexed(s, t->messages.size, sizeof(uint64_t), cells) < 0 ||
		get_indexed(s, t->operation, sizeof(*t->operation), h.operations) < 0 || get_series(s, t, &h) < 0 ||
		get_sum(s) < 0 || get_level(s, t, &h, columns) < 0) {
		return "is damaged";
	}
	take_index_head(t, &h);
	return NULL;
}

int vtr_index_read(struct vtr_trace *t, uint32_t columns, struct tkm_err *err)
{
	char *name = index_name(t);
	FILE *f = name ? fopen(name, "re") : NULL;
	const char *why = NULL;
	struct stream s;

	if (!f) {
		why = name && errno == ENOENT ? NULL : name ? strerror(errno) : "out of memory";
		free(name);
		return why ? tkm_fail(err, TKM_ERR_IO, "the index cannot be read: %s", why) : 0;
	}
	if (stream_begin(&s, f) == 0) {
		why = get_all(&s, t, columns);
		stream_end(&s);
	} else {
		why = "needs more memory than there is";
	}
	fclose(f);
	if (why) {
		tkm_fail(err, TKM_ERR_FORMAT, "%s %s, so the records were read; --index makes a new one", name, why);
	}
	free(name);
	return why ? -1 : 1;
}

#else

uint64_t vtr_index_room(const struct vtr_trace *t)
{
	(void)t;
	return 0;
}

int vtr_index_write(const struct vtr_trace *t, struct tkm_err *err)
{
	(void)t;
	return tkm_fail(err, TKM_ERR_UNAVAIL, "no index: this build has no xxhash");
}

int vtr_index_read(struct vtr_trace *t, uint32_t columns, struct tkm_err *err)
{
	(void)t;
	(void)columns;
	(void)err;
	return 0;
}
#endif

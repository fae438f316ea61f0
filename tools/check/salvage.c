/* SPDX-License-Identifier: BSD-3-Clause */
/* Recovers a trace without a usable base file, from the components that its writer left. */
#include "config.h"
#include "tools/check/salvage.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/grow.h"

enum { MAX_COMPONENTS = 100000 };

/* One file: T.stf[SUFFIX][.tmp-PID-N]. */
struct part {
	char *path, *suffix;
	long pid; /* 0: it has its final name */
	struct timespec when;
};

struct parts {
	struct part *p;
	size_t n;
};

static void free_parts(struct parts *l)
{
	while (l->n) {
		free(l->p[--l->n].path);
		free(l->p[l->n].suffix);
	}
	free(l->p);
	l->p = NULL;
}

/* Splits the text after the base file's name. Returns -1 if it is not the name of a component. */
static int split_suffix(const char *rest, size_t *suffix, long *pid)
{
	const char *t = strstr(rest, ".tmp-");
	int n = 0, end = 0;

	*pid = 0;
	*suffix = t ? (size_t)(t - rest) : strlen(rest);
	if (t && (sscanf(t, ".tmp-%ld-%d%n", pid, &n, &end) != 2 || t[end] || *pid <= 0)) {
		return -1; /* this includes files that a replacing writer has set aside */
	}
	return (*suffix == 0 || rest[0] == '.') && !strpbrk(rest, " \t\n") && *suffix < 200 ? 0 : -1;
}

static int add_salvaged_part(struct parts *l, const char *folder, const char *file, size_t name)
{
	struct part part = { NULL, NULL, 0, { 0, 0 } }, *p;
	struct stat st;
	size_t suffix;
	int usable, rc;

	if (split_suffix(file + name, &suffix, &part.pid) < 0 || l->n == MAX_COMPONENTS) {
		return 0;
	}
	if (asprintf(&part.path, "%s/%s", folder, file) < 0) {
		return -1;
	}
	part.suffix = strndup(file + name, suffix);
	usable = stat(part.path, &st) == 0 && S_ISREG(st.st_mode);
	p = part.suffix && usable ? TKM_APPEND(l->p, l->n) : NULL;
	if (!p) {
		rc = part.suffix && !usable ? 0 : -1;
		free(part.path);
		free(part.suffix);
		return rc;
	}
	part.when = st.st_mtim;
	*p = part;
	return 0;
}

/* Lists all files whose names begin with that of the base file `path`. */
static int list_salvaged_parts(struct parts *l, const char *path)
{
	char *copy = strdup(path), *again = strdup(path), *real = NULL;
	const char *folder = copy ? dirname(copy) : NULL, *name = again ? basename(again) : NULL;
	DIR *d = folder ? opendir(folder) : NULL;
	struct dirent *e;
	int rc = d && name ? 0 : -1;

	/* absolute, because the links must work from another directory */
	real = rc == 0 ? realpath(folder, NULL) : NULL;
	while (rc == 0 && real && (e = readdir(d))) {
		if (!strncmp(e->d_name, name, strlen(name))) {
			rc = add_salvaged_part(l, real, e->d_name, strlen(name));
		}
	}
	if (d) {
		closedir(d);
	}
	free(real);
	free(copy);
	free(again);
	return rc;
}

/* The writer whose base file is the newest; without base files, the writer whose other file is. */
static long last_writer(const struct parts *l)
{
	const struct part *best = NULL;
	size_t i;

	for (i = 0; i < l->n; i++) {
		const struct part *p = &l->p[i];

		if (p->pid &&
			(!best || (!*p->suffix && *best->suffix) ||
				(!*p->suffix == !*best->suffix &&
					(p->when.tv_sec > best->when.tv_sec ||
						(p->when.tv_sec == best->when.tv_sec &&
							p->when.tv_nsec > best->when.tv_nsec))))) {
			best = p;
		}
	}
	return best ? best->pid : 0;
}

char *stt_salvage_left(const char *path)
{
	struct parts l = { NULL, 0 };
	char *found = NULL;
	size_t i;

	for (i = list_salvaged_parts(&l, path) < 0 ? l.n : 0; i < l.n && !found; i++) {
		if (l.p[i].pid && !*l.p[i].suffix) {
			found = strdup(l.p[i].path);
		}
	}
	free_parts(&l);
	return found;
}

/* ---- the base file ---- */

static const char *type_name(enum stf_type t)
{
	static const char *const name[] = { "U1", "U2", "U4", "U8", "I1", "I2", "I4", "I8", "F4", "F8", "C1", "O8",
		"willy_id" };

	return name[t];
}

/* Our own definition of every record, which Tickmark writers use. */
static void print_own_layer(FILE *f)
{
	unsigned id, i, pass;

	for (pass = 0; pass < 2; pass++) {
		for (id = 1; id < STF_ID_END; id++) {
			const struct stf_layout *l = stf_layout(id);

			if (!l || (id == STF_ID_willy_id) != (pass == 0)) {
				continue; /* nested records precede the records that contain them */
			}
			fprintf(f, "RECORD %u %s", id, l->cls);
			for (i = 0; i < l->n_fields; i++) {
				fprintf(f, l->fields[i].is_array ? " <%s:%s>" : " %s:%s", type_name(l->fields[i].type),
					l->fields[i].name);
			}
			fputc('\n', f);
		}
	}
	fputs("RECORD 75 trace_identity U4:order U8:high U8:low F8:resolution U4:eventbits U1:checksums\nEND\n", f);
}

/* The definitions that a damaged base file still has, else ours. -1: no memory. */
static int print_layer(FILE *f, const struct stt_trace *old, int big)
{
	char *text = old && old->r ? stf_reader_definitions(old->r) : NULL;

	if (old && old->r && !text) {
		return -1;
	}
	fprintf(f, "STF 1.0 %s\n", big ? "BIG" : "LITTLE");
	if (text) {
		fputs(strchr(text, '\n') + 1, f);
	} else {
		print_own_layer(f);
	}
	free(text);
	return 0;
}

static void put4(FILE *f, uint32_t v, int big)
{
	uint8_t b[4];

	tkm_put32(b, v, big);
	fwrite(b, 1, sizeof(b), f);
}

/* What must be known before a component can be read. */
struct clock {
	int big;           /* -1: unknown */
	double resolution; /* 0: unknown */
	uint32_t eventbits;
	int identified; /* `identity` is that of the declarations */
	struct stf_identity identity;
};

static void put8(FILE *f, uint64_t v, int big)
{
	uint8_t b[8];

	tkm_put64(b, v, big);
	fwrite(b, 1, sizeof(b), f);
}

/* Described in doc/stf-format.md section 3. The last byte says that this base file has no checksum. */
static void put_identity(FILE *f, const struct clock *clock)
{
	uint64_t bits;

	fputc(75, f);
	put4(f, 0x01020304, clock->big);
	put8(f, clock->identity.id[0], clock->big);
	put8(f, clock->identity.id[1], clock->big);
	memcpy(&bits, &clock->identity.resolution, sizeof(bits));
	put8(f, bits, clock->big);
	put4(f, clock->identity.eventbits, clock->big);
	fputc(0, f);
}

static void print_index(
	FILE *f, const struct stt_trace *old, const struct part *const *part, size_t n, const struct clock *clock)
{
	int big = clock->big;
	uint64_t bits;
	size_t i, len;
	int number = 0;

	if (clock->identified) {
		put_identity(f, clock);
	}
	memcpy(&bits, &clock->resolution, sizeof(bits));
	fputc(STF_ID_clock_resolution, f);
	put8(f, bits, big);
	put4(f, clock->eventbits, big);
	if (old && old->n_processes) {
		fputc(STF_ID_process_declaration, f);
		put4(f, old->n_processes, big);
		for (i = 0; i < old->n_processes; i++) {
			put4(f, old->threads[i], big);
		}
	}
	for (i = 0; i < n; i++) {
		len = strlen(part[i]->suffix);
		len -= len > 4 && !strcmp(part[i]->suffix + len - 4, ".zst") ? 4 : 0;
		fputc(STF_ID_file_declaration, f);
		put4(f, (uint32_t)++number, big);
		fputc(!strncmp(part[i]->suffix, ".dcl", 4)             ? STF_DECL_FILE
				: !strncmp(part[i]->suffix, ".sts", 4) ? STF_STATS_FILE
								       : STF_DATA_FILE,
			f);
		put4(f, (uint32_t)len, big);
		fwrite(part[i]->suffix, 1, len, f);
	}
}

static int link_parts(struct stt_salvage *s, const struct stt_options *o, const struct part *const *part, size_t n)
{
	char *name;
	size_t i;
	int rc = 0;

	for (i = 0; i < n && rc == 0; i++) {
		if (asprintf(&name, "%s%s", s->base, part[i]->suffix) < 0) {
			return -1;
		}
		rc = symlink(part[i]->path, name);
		if (rc < 0) {
			stt_fault(o, "cannot make a link in %s: %s", s->directory, strerror(errno));
		}
		free(name);
	}
	return rc;
}

static int write_salvaged_base(struct stt_salvage *s, const struct stt_options *o, const struct stt_trace *old,
	const struct part *const *part, size_t n, const struct clock *clock)
{
	FILE *f = fopen(s->base, "wxe");
	int ok = f != NULL;

	if (f) {
		ok = print_layer(f, old, clock->big) == 0;
		print_index(f, old, part, n, clock);
		ok = ok && !ferror(f);
		ok = fclose(f) == 0 && ok;
	}
	if (!ok) {
		stt_fault(o, "cannot write %s: %s", s->base, strerror(errno));
	}
	return ok ? 0 : -1;
}

/* ---- selecting the components of one trace ---- */

static int is_component(const struct part *p)
{
	static const char *const kind[] = { ".dcl", ".sts", ".msg", ".cop", ".f.", ".s.", ".i.", ".c.", ".r.", ".x." };
	size_t i, n = strlen(p->suffix);

	if (strstr(p->suffix, ".anc")) {
		return 0; /* the new trace gets its own */
	}
	for (i = 0; i < sizeof(kind) / sizeof(kind[0]); i++) {
		if (!strncmp(p->suffix, kind[i], strlen(kind[i])) && n < 40) {
			return 1;
		}
	}
	return 0;
}

static int is_component_declared(const struct stt_trace *t, const char *suffix)
{
	const struct stf_record *rec;
	const char *name;
	size_t i, n;

	for (i = 0; (rec = stf_reader_record(t->r, STF_ID_file_declaration, i)); i++) {
		name = stf_value(rec, "suffix")->array;
		n = strlen(name);
		if (!strncmp(suffix, name, n) && (!suffix[n] || !strcmp(suffix + n, ".zst"))) {
			return 1;
		}
	}
	return 0;
}

size_t stt_salvage_undeclared(const struct stt_options *o, const struct stt_trace *t)
{
	struct parts l = { NULL, 0 };
	size_t i, n = 0;

	if (list_salvaged_parts(&l, t->path) < 0) {
		stt_fault(o, "%s: cannot look for components that it does not declare", t->path);
		free_parts(&l);
	}
	for (i = 0; i < l.n; i++) {
		if (!l.p[i].pid && is_component(&l.p[i]) && !is_component_declared(t, l.p[i].suffix)) {
			stt_fault(o, "%s%s: no file declaration of the index names it", t->path, l.p[i].suffix);
			n++;
		}
	}
	free_parts(&l);
	return n;
}

static int by_part_suffix(const void *a, const void *b)
{
	return strcmp((*(const struct part *const *)a)->suffix, (*(const struct part *const *)b)->suffix);
}

/* For each component, chooses the file of the writer, or else the one that has its final name. */
static size_t choose_parts(const struct parts *l, long pid, const struct part **part)
{
	size_t i, k, n = 0;

	for (i = 0; i < l->n; i++) {
		const struct part *p = &l->p[i];

		if (!is_component(p) || (p->pid && p->pid != pid)) {
			continue;
		}
		for (k = 0; k < n && strcmp(part[k]->suffix, p->suffix); k++) {
		}
		if (k == n) {
			part[n++] = p;
		} else if (p->pid) {
			part[k] = p;
		}
	}
	qsort(part, n, sizeof(*part), by_part_suffix);
	return n;
}

/* A component whose identity differs from that of the declarations belongs to another trace. It is reported and
 * not used. */
static size_t keep_one_trace(
	struct stt_salvage *s, const struct stt_options *o, const struct part **part, size_t n, struct clock *clock)
{
	struct stf_identity own, other;
	struct stf_err e;
	size_t i, k, kept = 0;

	for (i = 0; i < n && strcmp(part[i]->suffix, ".dcl"); i++) {
	}
	for (k = 0; k < n; k++) {
		/* the declarations first, then any component */
		if (stf_component_identity(part[(i + k) % n]->path, &own, &e) > 0) {
			clock->identified = 1;
			clock->identity = own;
			clock->big = own.big_endian;
			clock->resolution = own.resolution;
			clock->eventbits = own.eventbits;
			break;
		}
	}
	for (i = 0; i < n; i++) {
		if (clock->identified && stf_component_identity(part[i]->path, &other, &e) > 0 &&
			memcmp(own.id, other.id, sizeof(own.id)) != 0) {
			stt_fault(
				o, "%s: belongs to another trace than the declarations and is left out", part[i]->path);
			s->left_out++;
			continue;
		}
		part[kept++] = part[i];
	}
	return kept;
}

/* Byte order and resolution are never guessed. They come from the components, from the user, or from a base file
 * that is not damaged. */
static int find_salvaged_clock(
	struct stt_salvage *s, const struct stt_options *o, const struct stt_trace *old, struct clock *clock)
{
	int good = old && old->r && stf_reader_fault(old->r)->code != STF_ERR_CHECKSUM;

	if (clock->big < 0 && old && old->r) {
		clock->big = stf_reader_is_big_endian(old->r);
	}
	if (!(clock->resolution > 0) && good && old->resolution > 0) {
		clock->resolution = old->resolution;
		clock->eventbits = old->eventbits;
	}
	clock->big = o->byte_order >= 0 ? o->byte_order : clock->big;
	clock->resolution = o->resolution > 0 ? o->resolution : clock->resolution;
	s->resolution = clock->resolution;
	if (clock->big < 0) {
		stt_fault(o,
			"%s: the base file is lost and with it the byte order; give it with --byte-order little or big",
			o->input);
		return -1;
	}
	if (!(clock->resolution > 0)) {
		stt_fault(o,
			"%s: the base file is lost or damaged and with it the clock's resolution; give it with "
			"--resolution, such as "
			"--resolution 1ns",
			o->input);
		return -1;
	}
	return 0;
}

static int make_trace(struct stt_salvage *s, const struct stt_options *o, const struct stt_trace *old,
	const struct part **part, size_t n)
{
	struct clock clock = { .big = -1 };
	const char *where = getenv("TMPDIR");

	if (asprintf(&s->directory, "%s/stftool-XXXXXX", where && *where ? where : "/tmp") < 0) {
		s->directory = NULL;
		return -1;
	}
	if (!mkdtemp(s->directory)) {
		stt_fault(o, "cannot make a directory in %s: %s", where && *where ? where : "/tmp", strerror(errno));
		free(s->directory);
		s->directory = NULL;
		return -1;
	}
	if (asprintf(&s->base, "%s/t.stf", s->directory) < 0) {
		s->base = NULL;
		return -1;
	}
	n = keep_one_trace(s, o, part, n, &clock);
	s->components = n;
	return find_salvaged_clock(s, o, old, &clock) < 0 || link_parts(s, o, part, n) < 0 ||
			write_salvaged_base(s, o, old, part, n, &clock) < 0
		? -1
		: 0;
}

int stt_salvage(struct stt_salvage *s, const struct stt_options *o, const struct stt_trace *old)
{
	struct parts l = { NULL, 0 };
	const struct part **part = NULL;
	char *path = strdup(o->input), *t = path ? strstr(path, ".tmp-") : NULL;
	struct stt_options quiet = *o;
	struct stt_trace base;
	long pid = 0;
	size_t n = 0, i;
	int rc = -1, opened = 0;

	memset(s, 0, sizeof(*s));
	if (t) {
		pid = strtol(t + 5, NULL, 10);
		*t = '\0';
	}
	if (path && list_salvaged_parts(&l, path) == 0 && l.n) {
		part = calloc(l.n, sizeof(*part));
		pid = pid ? pid : last_writer(&l);
		n = part ? choose_parts(&l, pid, part) : 0;
	}
	for (i = 0; i < l.n && pid && !old; i++) {
		if (l.p[i].pid == pid && !*l.p[i].suffix) {
			/* either only the part that a writer writes first, or all of it */
			quiet.input = l.p[i].path;
			opened = stt_trace_open(&base, &quiet, STF_READ_DAMAGED) == 0;
			break;
		}
	}
	if (n) {
		s->unfinished = pid != 0;
		rc = make_trace(s, o, opened ? &base : old, part, n);
		stt_say(o, 1, "%s: %zu components lie there%s%s", o->input, n,
			pid ? " of a writer that did not end" : "",
			pid && kill((pid_t)pid, 0) == 0 ? "; a process of its number is running: is it done?" : "");
	}
	if (opened) {
		stt_trace_close(&base);
	}
	free(part);
	free(path);
	free_parts(&l);
	return rc;
}

void stt_salvage_free(struct stt_salvage *s)
{
	DIR *d = s->directory ? opendir(s->directory) : NULL;
	struct dirent *e;

	while (d && (e = readdir(d))) {
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..")) {
			unlinkat(dirfd(d), e->d_name, 0);
		}
	}
	if (d) {
		closedir(d);
		rmdir(s->directory);
	}
	free(s->directory);
	free(s->base);
}

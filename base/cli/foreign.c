/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "base/cli/foreign.h"

#include <fcntl.h>
#include <fts.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEAD = 4096, MOST_LEVELS = 6, MOST_SEEN = 20000 }; /* LTTng's are at most five levels below */

/* The first bytes of a file. */
struct head {
	unsigned char b[HEAD + 1];
	size_t n;
};

static const char only_corrected[] = "it is not read, but clkapply corrects it";
static const char by_zlib[] = "it is damaged, or this build has no zlib (configure --with-zlib)";
static const char convert[] = "make a trace of it by stftool %s --convert NAME.stf";

struct foreign {
	const char *suffix; /* NULL: any */
	const char *magic;  /* at the beginning; NULL: any, then is() says */
	size_t length;
	int (*is)(const struct head *h);
	const char *what, *read, *correct; /* may have a %s for the path */
};

static int has_text(const struct head *h, const char *text)
{
	return memmem(h->b, h->n, text, strlen(text)) != NULL;
}

static int is_json(const struct head *h)
{
	size_t i = h->n >= 3 && !memcmp(h->b, "\357\273\277", 3) ? 3 : 0;

	while (i < h->n && strchr(" \t\r\n", h->b[i])) {
		i++;
	}
	return i < h->n && (h->b[i] == '{' || h->b[i] == '[');
}

static int is_rocprofv3(const struct head *h)
{
	return is_json(h) && has_text(h, "\"rocprofiler-sdk-tool\"");
}

static int is_speedscope(const struct head *h)
{
	return is_json(h) && has_text(h, "speedscope");
}

static int has_trace_events(const struct head *h)
{
	return is_json(h) &&
		(has_text(h, "\"traceEvents\"") || has_text(h, "\"ph\"") || has_text(h, "\"schemaVersion\""));
}

/* A packet, and behind it the next one, if that is in the head. */
static int is_perfetto(const struct head *h)
{
	size_t i = 1, length = 0, k = 0, shift = 0;

	if (h->n < 3 || h->b[0] != 10) {
		return 0;
	}
	do {
		length |= (size_t)(h->b[i] & 127) << shift;
		shift += 7;
	} while (i < h->n && h->b[i++] >= 128 && shift < 35);
	if (length > 0 && length < h->n - i) {
		return h->b[i + length] == 10;
	}
	while (k < h->n && (h->b[k] >= ' ' || (h->b[k] >= '\t' && h->b[k] <= '\r'))) {
		k++;
	}
	return length > 1 && (k < h->n || h->n == i + length); /* it is no text that begins with an empty line */
}

/* The first row that fits counts. */
static const struct foreign kinds[] = {
	{ NULL, "STF 1.0 ", 8, NULL, "an STF trace", NULL, "its stamps are corrected already" },
	{ NULL, "TICKMARK-CLK ", 13, NULL, "a correction file", "name the trace instead", "name the trace behind it" },
	{ NULL, "SQLite format 3", 16, NULL, "a database of SQLite",
		"it is not read, but clkapply corrects a report that Nsight Systems has exported",
		"if it is a report of Nsight Systems, its name must end in .sqlite" },
	{ ".nsys-rep", NULL, 0, NULL, "a report of Nsight Systems",
		"it is not read; nsys export --type sqlite makes a database of it, which clkapply corrects",
		"export it first: nsys export --type sqlite" },
	{ NULL, "\037\213", 2, NULL, "a file that gzip has compressed", "unpack it by gunzip",
		"the name of a compressed trace ends in .json.gz, .pftrace.gz or .perfetto-trace.gz" },
	{ NULL, "PAR1", 4, NULL, "a table in Parquet", "that format is written, not read",
		"tables are corrected as CSV" },
	{ NULL, "PK\003\004", 4, NULL, "a zip", "unpack it", "unpack it" },
	{ NULL, "\301\037\374\301", 4, NULL, "a file of a CTF trace", "name the folder that it is in",
		"name the folder that it is in" },
	{ NULL, "\003BOTF2", 6, NULL, "the anchor file of an OTF2 archive", convert, "its name must end in .otf2" },
	{ NULL, "\003LOTF2", 6, NULL, "the anchor file of an OTF2 archive", convert, "its name must end in .otf2" },
	{ NULL, NULL, 0, is_rocprofv3, "a file of rocprofv3", only_corrected,
		"its name must end in .json or .json.gz" },
	{ NULL, NULL, 0, is_speedscope, "a profile in speedscope's JSON", "that format is not read",
		"it has no stamps of a clock" },
	{ NULL, NULL, 0, has_trace_events, "a file of trace events in JSON", by_zlib,
		"its name must end in .json or .json.gz" },
	{ NULL, NULL, 0, is_perfetto, "a trace of Perfetto", by_zlib,
		"its name must end in .pftrace or .perfetto-trace" },
	{ NULL, NULL, 0, is_json, "a file in JSON", "of JSON only trace events are read",
		"of JSON, trace events and rocprofv3's are corrected" },
};

static int has_suffix(const char *path, const char *suffix)
{
	size_t n = strlen(path), k = strlen(suffix);

	return n > k && !strcasecmp(path + n - k, suffix);
}

static const struct foreign *foreign_kind(const char *path, const struct head *h)
{
	const struct foreign *f;

	for (f = kinds; f < kinds + sizeof(kinds) / sizeof(kinds[0]); f++) {
		if ((!f->suffix || has_suffix(path, f->suffix)) &&
			(!f->magic || (h->n >= f->length && !memcmp(h->b, f->magic, f->length))) &&
			(!f->is || f->is(h))) {
			return f;
		}
	}
	return NULL;
}

size_t tkm_traces_below(const char *path, char *text, size_t size)
{
	char *const roots[] = { (char *)(uintptr_t)path, NULL };
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	size_t n = 0, seen = 0;
	FTSENT *e;

	*text = '\0';
	while (tree && seen++ < MOST_SEEN && (e = fts_read(tree))) {
		if (e->fts_level > MOST_LEVELS) {
			fts_set(tree, e, FTS_SKIP);
		}
		if (e->fts_info == FTS_F && !strcmp(e->fts_name, "metadata") && n < size) {
			n += (size_t)snprintf(text + n, size - n, "%s%.*s", n ? ", " : "",
				(int)e->fts_pathlen - (int)strlen("/metadata"), e->fts_path);
		}
	}
	if (tree) {
		fts_close(tree);
	}
	return n;
}

/* A folder of a trace, or of several. */
static void name_folder(const char *path, enum tkm_foreign_use use, char *text, size_t size)
{
	char name[4400];

	snprintf(name, sizeof(name), "%.4300s/traces.otf2", path);
	if (access(name, F_OK) == 0) {
		snprintf(text, size,
			use == TKM_FOREIGN_READ
				? "%s is the folder of an OTF2 archive: make a trace of it by stftool %s --convert NAME.stf"
				: "%s is the folder of an OTF2 archive: name %s/traces.otf2",
			path, path);
		return;
	}
	snprintf(name, sizeof(name), "%.4300s/metadata", path);
	if (access(name, F_OK) == 0 && use == TKM_FOREIGN_READ) {
		snprintf(text, size,
			"%s has metadata that does not begin as that of CTF: say --input-format CTF if it is that",
			path);
	} else if (use == TKM_FOREIGN_READ && tkm_traces_below(path, name, sizeof(name))) {
		snprintf(text, size, "%s is a folder of CTF traces: read each of %s", path, name);
	} else if (use == TKM_FOREIGN_READ) {
		snprintf(text, size, "%s is a folder without a trace of CTF or OTF2: name a file, as in %s/NAME.stf",
			path, path);
	}
}

const char *tkm_foreign(const char *path, enum tkm_foreign_use use, char *text, size_t size)
{
	struct head h;
	struct stat st;
	const struct foreign *f;
	char advice[4600];
	int fd;
	ssize_t n;

	*text = '\0';
	if (stat(path, &st) < 0) {
		return text;
	}
	if (!S_ISREG(st.st_mode)) {
		if (S_ISDIR(st.st_mode)) {
			name_folder(path, use, text, size);
		}
		return text;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd >= 0 ? read(fd, h.b, HEAD) : 0;
	if (fd >= 0) {
		close(fd);
	}
	h.n = n > 0 ? (size_t)n : 0;
	f = h.n ? foreign_kind(path, &h) : NULL;
	if (f && (use == TKM_FOREIGN_CORRECT ? f->correct : f->read)) {
		const char *way = use == TKM_FOREIGN_CORRECT ? f->correct : f->read;

		snprintf(advice, sizeof(advice), way == convert ? convert : "%s", way == convert ? path : way);
		snprintf(text, size, "%s is %s: %s", path, f->what, advice);
	}
	return text;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks the chunks and records of an OTF2 file before the library reads it. The library does not notice that a file
 * ends early: it reads on in old contents of its memory, in some cases for ever. It also believes the number of
 * elements that a record states, however short the record is.
 *
 * A file consists of chunks of the same size; the last one may be shorter. A chunk has a header of 18 bytes, then
 * records, then zeros where the records end. The last chunk ends with two marks instead. A record begins with a byte
 * for its kind and a byte for the number of bytes that follow; 255 means that the next 8 bytes have this number. */
#include "config.h"
#include "exchange/otf2/otf2_in.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

/* The fields of a kind of record, one letter each:
 *   i l   a byte with a number of bytes, at most 4 or 8, then these bytes; 255: no bytes follow
 *   b d   1 or 8 bytes
 *   s     text with a zero byte
 *   v     a value of the type that the byte before it states
 *   m     a table of ids
 *   ( )   a byte, then what is between them as often as the byte states
 *   [ )   a number of at most 8 bytes, then what is between them as often as it states
 *   ?     what follows is missing in older versions of the format
 * Kinds that are not listed are skipped. */
/* clang-format off */
static const char *const event_fields[UINT8_MAX + 1] = {
	[6] = "[ibv)",                                                                         /* attributes of the next event */
	[10] = "d", "b", "i", "i",                                                             /* BufferFlush to Leave */
	[14] = "iiil", "iiill", "l", "l", "iiil", "iiill", "l", "l",                           /* MpiSend to MpiRequestCancelled */
	[23] = "biill",                                                                        /* MpiCollectiveEnd */
	[24] = "i", "", "ii", "ii", "l", "l", "l",                                             /* OmpFork to OmpTaskComplete */
	[31] = "i(bl)",                                                                        /* Metric */
	[32] = "ii", "il", "il",                                                               /* ParameterString, Int, UnsignedInt */
	[35] = "i", "i", "", "biiill", "iii", "iilb", "iilb", "iilb", "iil", "iib",            /* RmaWinCreate to RmaSync */
	[45] = "i", "iill", "iill", "iiblll", "il", "il", "il", "il",                          /* RmaWaitChange to RmaOpCompleteRemote */
	[53] = "bi", "b", "i", "i", "bii", "bii", "iii", "iii", "iii", "il", "il", "il", "il", /* ThreadFork to ThreadEnd */
	[66] = "ii", "i", "iii",                                                               /* CallingContextEnter to Sample */
	[69] = "ibii", "i", "iii", "ilbl", "ii", "bi",                                         /* IoCreateHandle to IoDeleteFile */
	[75] = "ibill", "il", "il", "ill", "il", "ib", "ib", "ib",                             /* IoOperationBegin to IoTryLock */
	[83] = "i[i)", "l",                                                                    /* ProgramBegin, ProgramEnd */
	[85] = "l", "biilll", "i", "i",                                                        /* NonBlockingCollectiveRequest to CommDestroy */
};

/* In event files: kinds whose only field takes the place of the number of bytes. */
static const unsigned char single_field[UINT8_MAX + 1] = {
	[12] = 1, [13] = 1, [16] = 1, [17] = 1, [20] = 1, [21] = 1, [24] = 1, [28] = 1, [29] = 1, [30] = 1,
};

static const char *const definition_fields[UINT8_MAX + 1] = {
	[10] = "is", "iib?i", "iiii", "iibi?i", "libli", /* String to Location */
	[15] = "iiibiii?ibbi", "iiiii", "iii",           /* Region to Callpath */
	[18] = "iib[l)?bbi", "iiibbbbli",                /* Group, MetricMember */
	[20] = "i(i)b?b", "iilbl", "iiii?i",             /* MetricClass, MetricInstance, Comm */
	[23] = "iib", "iii?i", "il",                     /* Parameter, RmaWin, MetricClassRecorder */
	[26] = "iii?bv", "ib", "iii?bv", "lii?bv",       /* SystemTreeNodeProperty to LocationProperty */
	[30] = "iiib", "iii(i)", "ii(i)",                /* CartDimension, CartTopology, CartCoordinate */
	[33] = "iii", "iiii", "iibv", "iibbll",          /* SourceCodeLocation to InterruptGenerator */
	[37] = "iibv", "iii", "iii", "iiibiii", "ibi",   /* IoFileProperty to IoPreCreatedHandleState */
	[42] = "iibv", "iiiiii",                         /* CallpathParameter, InterComm */
};
/* clang-format on */

/* The kinds below 10 differ between the definitions of the archive and those of a location. */
static const char *const archive_fields[10] = {
	[5] = "lll?l",
	"bib",
	"bbbv",
	"biibi(bbv)", /* ClockProperties, Paradigm, ParadigmProperty, IoParadigm */
};

static const char *const location_fields[10] = {
	[5] = "bm", /* MappingTable */
	[OTF2_CLOCK_OFFSET] = "dld",
};

static const char *fields_of(enum xch_otf2_file file, unsigned char kind)
{
	if (file == OTF2_EVENT_FILE) {
		return event_fields[kind];
	}
	return kind >= 10                          ? definition_fields[kind]
		: file == OTF2_ARCHIVE_DEFINITIONS ? archive_fields[kind]
						   : location_fields[kind];
}

/* What is left of one record. */
struct fields {
	const unsigned char *p, *end;
	int big;
};

/* Skips a number of at most `most` bytes. */
static inline int skip_number(struct fields *f, unsigned most)
{
	size_t left = (size_t)(f->end - f->p);
	unsigned n;

	if (left == 0) {
		return -1;
	}
	n = *f->p == UINT8_MAX ? 0 : *f->p;
	f->p += 1 + n;
	return n <= most && n < left ? 0 : -1;
}

static inline int skip_bytes(struct fields *f, size_t n)
{
	if (n > (size_t)(f->end - f->p)) {
		return -1;
	}
	f->p += n;
	return 0;
}

/* Reads a number; one that is too long becomes UINT64_MAX. */
static uint64_t get_number(struct fields *f)
{
	const unsigned char *p = f->p;

	return skip_number(f, 8) < 0 || *p == UINT8_MAX ? UINT64_MAX : tkm_get_number(p + 1, *p, f->big);
}

static int skip_value(struct fields *f, OTF2_Type type)
{
	switch (type) {
	case OTF2_TYPE_UINT8:
	case OTF2_TYPE_INT8:
		return skip_bytes(f, 1);
	case OTF2_TYPE_UINT16:
	case OTF2_TYPE_INT16:
		return skip_bytes(f, 2);
	case OTF2_TYPE_FLOAT:
		return skip_bytes(f, 4);
	case OTF2_TYPE_DOUBLE:
		return skip_bytes(f, 8);
	case OTF2_TYPE_UINT64:
	case OTF2_TYPE_INT64:
	case OTF2_TYPE_LOCATION:
		return skip_number(f, 8);
	default: /* a number or a reference */
		return skip_number(f, 4);
	}
}

/* A table of ids: their number, a byte, then the numbers, or pairs of numbers. */
static int skip_id_map(struct fields *f)
{
	uint64_t n = get_number(f);

	if (f->p >= f->end || n > (size_t)(f->end - f->p)) {
		return -1;
	}
	for (n *= *f->p++ == OTF2_ID_MAP_DENSE ? 1 : 2; n > 0; n--) {
		if (skip_number(f, 8) < 0) {
			return -1;
		}
	}
	return 0;
}

/* Checks that the record has room for the fields s. */
static int check_fields(struct fields *f, const char *s)
{
	const char *list = NULL;
	const unsigned char *zero;
	uint64_t times = 0;
	int rc = 0;

	for (; *s && rc == 0; s++) {
		switch (*s) {
		case 'i':
			rc = skip_number(f, 4);
			break;
		case 'l':
			rc = skip_number(f, 8);
			break;
		case 'b':
			rc = skip_bytes(f, 1);
			break;
		case 'd':
			rc = skip_bytes(f, 8);
			break;
		case 's':
			zero = memchr(f->p, 0, (size_t)(f->end - f->p));
			rc = zero ? 0 : -1;
			f->p = zero ? zero + 1 : f->p;
			break;
		case 'v':
			rc = skip_value(f, f->p[-1]);
			break;
		case 'm':
			rc = skip_id_map(f);
			break;
		case '(':
		case '[':
			times = *s == '[' ? get_number(f) : f->p < f->end ? *f->p++ : UINT64_MAX;
			rc = times <= (size_t)(f->end - f->p) ? 0 : -1; /* an element has a byte or more */
			list = s;
			s = times ? s : strchr(s, ')');
			break;
		case ')':
			s = --times ? list : s;
			break;
		default: /* '?' */
			if (f->p == f->end) {
				return 0;
			}
		}
	}
	return rc;
}

ssize_t xch_otf2_record_size(
	const unsigned char *b, size_t p, size_t n, int big, enum xch_otf2_file file, const char **what)
{
	int single = file == OTF2_EVENT_FILE && single_field[b[p]];
	struct fields f = { .big = big };
	size_t at = p + 2;
	const char *s;
	uint64_t k;

	*what = "the file ends within a record";
	if (b[p] <= OTF2_ENDS_FILE) {
		return 0;
	}
	if (file == OTF2_EVENT_FILE && b[p] == OTF2_STAMP) {
		return n - p > 9 ? 9 : -1;
	}
	if (at > n) {
		return -1;
	}
	k = single && b[p + 1] == UINT8_MAX ? 0 : b[p + 1];
	if (k == UINT8_MAX) {
		if (n - at < 8) {
			return -1;
		}
		k = tkm_get64(b + at, big);
		at += 8;
	}
	if (k >= n - at) { /* at least a mark follows */
		*what = "a record is longer than the rest of its chunk";
		return -1;
	}
	s = fields_of(file, b[p]);
	f.p = b + (single ? p + 1 : at);
	f.end = b + at + k;
	if (s && check_fields(&f, s) < 0) {
		*what = "a record is shorter than its fields";
		return -1;
	}
	return (ssize_t)(at + k - p);
}

/* ---- a whole file ---- */

struct walk {
	const struct xch_otf2_in *o;
	const char *path;
	enum xch_otf2_file file;
	uint64_t at;     /* offset of the chunk */
	uint64_t events; /* number of them so far */
	uint64_t *kinds; /* the same by kind; NULL: not wanted */
	/* the record to be found: the n-th of this kind, 0: of any */
	unsigned char kind;
	uint64_t n, found;
};

static int broken(const struct walk *w, size_t offset, const char *what)
{
	return tkm_fail(w->o->err, TKM_ERR_FORMAT, "%s: offset %" PRIu64 ": %s", w->path, w->at + offset, what);
}

/* Checks the end of the records at p. */
static int check_end(const struct walk *w, const unsigned char *b, size_t p, size_t n, int last)
{
	if (b[p] == OTF2_ENDS_FILE && last && n - p == 2 && b[p + 1] == OTF2_ENDS_BUFFER) {
		return 0;
	}
	if (b[p] == OTF2_ENDS_FILE && n - p >= 2) {
		return broken(w, p, "the file has more bytes after its end");
	}
	if (b[p] == OTF2_ENDS_BUFFER || last) {
		return broken(w, b[p] == OTF2_ENDS_FILE ? n : p, "the end of the file is missing");
	}
	for (; p < n; p++) {
		if (b[p] != 0) {
			return broken(w, p, "a chunk has more bytes after its end");
		}
	}
	return 0;
}

static int check_chunk(struct walk *w, const unsigned char *b, size_t n, int last)
{
	const char *what;
	ssize_t size = 0;
	size_t p;

	if (n <= OTF2_CHUNK_HEADER || b[0] != OTF2_BEGINS_CHUNK || b[1] != (w->o->big ? '#' : 'B')) {
		return broken(w, 0, "no chunk begins here");
	}
	for (p = OTF2_CHUNK_HEADER; p < n; p += (size_t)size) {
		size = xch_otf2_record_size(b, p, n, w->o->big, w->file, &what);
		if (size <= 0) {
			return size < 0 ? broken(w, p, what) : check_end(w, b, p, n, last);
		}
		w->events += b[p] >= OTF2_FIRST_EVENT;
		if (w->kinds) {
			w->kinds[b[p]]++;
		}
		if ((!w->kind || b[p] == w->kind) && w->n-- == 0) {
			w->found = w->at + p;
		}
	}
	return broken(w, p, "the end of the file is missing");
}

static int check_chunks(struct walk *w, FILE *f, unsigned char *b, size_t chunk)
{
	size_t n;
	int c;

	do {
		n = fread(b, 1, chunk, f);
		c = n == chunk ? getc(f) : EOF;
		if (ferror(f)) {
			return tkm_fail_errno(w->o->err, TKM_ERR_IO, errno, "cannot read %s", w->path);
		}
		if (check_chunk(w, b, n, c == EOF) < 0) {
			return -1;
		}
		ungetc(c, f);
		w->at += n;
	} while (c != EOF);
	return 0;
}

/* The path of a file of the archive, or NULL. The caller frees it. */
static char *path_of(const struct xch_otf2_in *o, const char *suffix)
{
	size_t n = strlen(o->in->path), k = strlen(".otf2");
	char *path;

	n -= n > k && !strcmp(o->in->path + n - k, ".otf2") ? k : 0;
	return asprintf(&path, "%.*s%s", (int)n, o->in->path, suffix) < 0 ? NULL : path;
}

/* Walks through the file w->file. Returns 0, OTF2_NO_FILE or -1. */
static int walk(struct walk *w, const char *suffix)
{
	size_t chunk = w->o->chunk[w->file != OTF2_EVENT_FILE];
	char *path = path_of(w->o, suffix);
	FILE *f = path ? fopen(path, "re") : NULL;
	unsigned char *b = f ? malloc(chunk) : NULL;
	int rc = OTF2_NO_FILE;

	w->path = path;
	if (!path || (f && !b)) {
		rc = xch_fail_memory(w->o->err, w->o->in->path);
	} else if (f) {
		rc = check_chunks(w, f, b, chunk);
	}
	if (f) {
		fclose(f);
	}
	free(b);
	free(path);
	return rc;
}

int xch_otf2_check_file(struct xch_otf2_in *o, const char *suffix, enum xch_otf2_file file)
{
	struct walk w = { .o = o, .file = file, .n = UINT64_MAX, .kinds = file == OTF2_EVENT_FILE ? o->kinds : NULL };
	int rc = walk(&w, suffix);

	o->checked = w.at;
	o->events = w.events;
	return rc;
}

uint64_t xch_otf2_record_at(
	const struct xch_otf2_in *o, const char *suffix, enum xch_otf2_file file, unsigned char kind, uint64_t n)
{
	struct walk w = { .o = o, .file = file, .kind = kind, .n = n };

	return walk(&w, suffix) == 0 && w.found ? w.found : w.at;
}

int xch_otf2_damaged(const struct xch_otf2_in *o, const char *suffix, uint64_t offset, const char *fmt, ...)
{
	char *path = path_of(o, suffix), what[400];
	va_list ap;
	int rc;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	rc = tkm_fail(o->err, TKM_ERR_FORMAT, "%s: offset %" PRIu64 ": %s", path ? path : o->in->path, offset, what);
	free(path);
	return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads OTF 1.12 with the OTF library. It reads the definitions twice, first for the period of the stamps, and
 * then the events in the order of time. Key-value pairs of our name space restore the values for which OTF has no
 * field. Pairs of other name spaces become comments. */
#include "config.h"
#include "exchange/otf/otf_reading.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

enum {
	OPEN_FILES = 100,
	TEXT = 4096,
	ALL_BUFFERS = 64 << 20, /* for all streams together */
	MIN_BUFFER = 1 << 15,
	MAX_BUFFER = 1 << 20 /* the size that the library uses by default */
};

static const char *const suffixes[] = { "def", "events" }; /* of the files of a stream */

/* ---- key-value pairs of other name spaces ---- */

static int show_value(char *to, size_t size, const OTF_KeyValuePair *p)
{
	switch (p->type) {
	case OTF_CHAR:
		return snprintf(to, size, "%c", p->value.otf_char);
	case OTF_INT8:
		return snprintf(to, size, "%" PRId8, p->value.otf_int8);
	case OTF_UINT8:
		return snprintf(to, size, "%" PRIu8, p->value.otf_uint8);
	case OTF_INT16:
		return snprintf(to, size, "%" PRId16, p->value.otf_int16);
	case OTF_UINT16:
		return snprintf(to, size, "%" PRIu16, p->value.otf_uint16);
	case OTF_INT32:
		return snprintf(to, size, "%" PRId32, p->value.otf_int32);
	case OTF_UINT32:
		return snprintf(to, size, "%" PRIu32, p->value.otf_uint32);
	case OTF_INT64:
		return snprintf(to, size, "%" PRId64, p->value.otf_int64);
	case OTF_UINT64:
		return snprintf(to, size, "%" PRIu64, p->value.otf_uint64);
	case OTF_FLOAT:
		return snprintf(to, size, "%.9g", (double)p->value.otf_float);
	case OTF_DOUBLE:
		return snprintf(to, size, "%.17g", p->value.otf_double);
	default:
		return snprintf(to, size, "?");
	}
}

/* Prints bytes as text if they are text, else as hexadecimal digits. */
static int show_bytes(struct xch_otf_reading *r, char *to, size_t size, OTF_KeyValueList *l, uint32_t key)
{
	uint32_t n, i;
	unsigned char *p = (unsigned char *)xch_otf_bytes(r, l, key, &n);
	int k = 0, text = 1;

	for (i = 0; i < n; i++) {
		text = text && p[i] >= ' ' && p[i] != 127;
	}
	if (text) {
		k = snprintf(to, size, "%.*s", (int)n, (char *)p);
	}
	for (i = 0; !text && i < n && (size_t)k + 3 < size; i++) {
		k += snprintf(to + k, size - (size_t)k, "%02x", p[i]);
	}
	free(p);
	return p ? k : -1;
}

/* Writes pairs of other name spaces as a comment with the time of the event. */
static int other_pairs(struct xch_otf_reading *r, uint64_t time, uint32_t willy, OTF_KeyValueList *l)
{
	uint32_t count = l ? OTF_KeyValueList_getCount(l) : 0, i, key;
	OTF_KeyValuePair *p;
	char text[TEXT];
	size_t n = 0;
	int k;

	for (i = 0; i < count && n < sizeof(text); i++) {
		if (OTF_KeyValueList_getPairByIndex(l, i, &p) != 0) {
			break;
		}
		key = p->key;
		if (key >= XOT_MAX_KEYS || !r->key[key]) {
			continue;
		}
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%.200s=", n ? " " : "", r->key[key]);
		if (n < sizeof(text)) {
			k = p->type == OTF_BYTE_ARRAY ? show_bytes(r, text + n, sizeof(text) - n, l, key)
						      : show_value(text + n, sizeof(text) - n, p);
			if (k < 0) {
				return -1;
			}
			n += (size_t)k;
		}
	}
	n = n < sizeof(text) ? n : sizeof(text) - 1;
	return n ? xch_build_comment(r->b, time, willy, text, n) : 0;
}

/* ---- events ---- */

/* Begins each event: finds its thread, and handles pairs of other name spaces. */
static int begin_event(struct xch_otf_reading *r, uint64_t time, uint32_t process, OTF_KeyValueList *l, uint32_t *willy)
{
	return xch_otf_willy_of(r, process, willy) < 0 || other_pairs(r, time, *willy, l) < 0 ? -1 : 0;
}

static int on_enter(
	void *user, uint64_t time, uint32_t function, uint32_t process, uint32_t source, OTF_KeyValueList *l)
{
	struct xch_otf_reading *r = user;
	struct stf_enter_function e = { .time = time };
	const uint32_t *f = xch_otf_list_find(&r->function, function);

	(void)source;
	if (begin_event(r, time, process, l, &e.willy) < 0) {
		return xch_otf_told(r, -1);
	}
	if (function && !f) {
		return xch_otf_told(r, xch_otf_bad(r, "function %" PRIu32 " is not defined", function));
	}
	e.function = f ? *f : 0;
	return xch_otf_told(r, xch_build_written(r->b, stf_write_enter_function(r->in->w, &e)));
}

static int on_leave(
	void *user, uint64_t time, uint32_t function, uint32_t process, uint32_t source, OTF_KeyValueList *l)
{
	struct xch_otf_reading *r = user;
	struct stf_leave_function e = { .time = time };

	(void)source, (void)function;
	return xch_otf_told(r,
		begin_event(r, time, process, l, &e.willy) < 0
			? -1
			: xch_build_written(r->b, stf_write_leave_function(r->in->w, &e)));
}

static int half(struct xch_otf_reading *r, struct xch_half *h, uint32_t self, uint32_t other, uint32_t group,
	OTF_KeyValueList *l)
{
	uint32_t a, b, function;
	const uint32_t *f;

	if (begin_event(r, h->time, self, l, &a) < 0 || xch_otf_willy_of(r, other, &b) < 0 ||
		xch_otf_communicator(r, group, &h->communicator) < 0) {
		return -1;
	}
	h->from = h->receive ? b : a;
	h->to = h->receive ? a : b;
	h->id = xch_otf_our_u64(r, l, XOT_MESSAGE, 0);
	function = xch_otf_our_u32(r, l, XOT_FUNCTION, 0);
	f = function ? xch_otf_list_find(&r->function, function) : NULL;
	h->function = f ? *f : 0;
	return xch_build_half(r->b, h);
}

static int on_send(void *user, uint64_t time, uint32_t sender, uint32_t receiver, uint32_t group, uint32_t tag,
	uint32_t length, uint32_t source, OTF_KeyValueList *l)
{
	struct xch_half h = { .time = time, .tag = tag, .size = length };

	(void)source;
	return xch_otf_told(user, half(user, &h, sender, receiver, group, l));
}

static int on_receive(void *user, uint64_t time, uint32_t receiver, uint32_t sender, uint32_t group, uint32_t tag,
	uint32_t length, uint32_t source, OTF_KeyValueList *l)
{
	struct xch_half h = { .time = time, .tag = tag, .size = length, .receive = 1 };

	(void)source;
	return xch_otf_told(user, half(user, &h, receiver, sender, group, l));
}

static int on_value(void *user, uint64_t time, uint32_t process, uint32_t counter, uint64_t value, OTF_KeyValueList *l)
{
	struct xch_otf_reading *r = user;
	const struct xch_otf_counter *c = xch_otf_list_find(&r->counter, counter);
	uint32_t willy;
	double d;

	if (!c) {
		return xch_otf_told(r, xch_otf_bad(r, "counter %" PRIu32 " is not defined", counter));
	}
	if (c->narrow == 1) {
		d = (double)OTF_Counter2Float(value);
		memcpy(&value, &d, sizeof(value));
	} else if (c->narrow) {
		value = c->narrow == 4 ? c->is_signed ? (uint64_t)(int32_t)value : (uint32_t)value
			: c->is_signed ? (uint64_t)(int16_t)value
				       : (uint16_t)value;
	}
	return xch_otf_told(r,
		begin_event(r, time, process, l, &willy) < 0 ? -1 : xch_build_value(r->b, time, willy, c->id, value));
}

/* Finds which member it is. Where the trace numbers operations only per process, also finds which operation of
 * the communicator it is. */
static int place_member(
	struct xch_otf_reading *r, struct xch_otf_group *g, struct xch_build_member *m, OTF_KeyValueList *l)
{
	uint32_t i;

	if (xch_otf_has(r, l, XOT_MEMBERS)) {
		m->members = xch_otf_our_u32(r, l, XOT_MEMBERS, 1);
		m->rank = xch_otf_our_u32(r, l, XOT_RANK, 0);
		return 0;
	}
	m->members = g ? g->n : 1;
	for (i = 0; g && i < g->n && g->willies[i] != m->willy; i++) {
		;
	}
	if (!g || i == g->n) {
		return xch_otf_bad(r, "a collective operation of a process that is no member of its group");
	}
	if (!g->operations && !(g->operations = calloc((size_t)g->n + 1, sizeof(*g->operations)))) {
		return xch_fail_memory(r->err, r->in->path);
	}
	m->rank = i;
	m->id = ++g->operations[i];
	return 0;
}

static int on_coll_begin(void *user, uint64_t time, uint32_t process, uint32_t operation, uint64_t id, uint32_t group,
	uint32_t root, uint64_t sent, uint64_t received, uint32_t source, OTF_KeyValueList *l)
{
	struct xch_otf_reading *r = user;
	const struct xch_otf_operation *o = xch_otf_list_find(&r->operation, operation);
	struct xch_otf_process_of *p = xch_otf_list_find(&r->process, process);
	struct xch_build_member m = { .time = time, .id = id, .sent = sent, .received = received };
	struct xch_otf_open *q;

	(void)source;
	if (begin_event(r, time, process, l, &m.willy) < 0 || xch_otf_communicator(r, group, &m.communicator) < 0 ||
		(root && xch_otf_willy_of(r, root, &m.root) < 0) ||
		place_member(r, xch_otf_list_find(&r->group, group), &m, l) < 0) {
		return xch_otf_told(r, -1);
	}
	if (!o) {
		return xch_otf_told(r, xch_otf_bad(r, "collective operation %" PRIu32 " is not defined", operation));
	}
	m.operation = o->id;
	m.what = o->type;
	q = TKM_APPEND(p->open, p->n_open);
	if (!q) {
		return xch_otf_told(r, xch_fail_memory(r->err, r->in->path));
	}
	*q = (struct xch_otf_open){ id, m };
	return xch_otf_told(r, xch_build_member(r->b, &m));
}

static int on_coll_end(void *user, uint64_t time, uint32_t process, uint64_t id, OTF_KeyValueList *l)
{
	struct xch_otf_reading *r = user;
	struct xch_otf_process_of *p = xch_otf_list_find(&r->process, process);
	struct xch_build_member m;
	uint32_t i;

	if (begin_event(r, time, process, l, &i) < 0) {
		return xch_otf_told(r, -1);
	}
	for (i = 0; i < p->n_open && p->open[i].matching != id; i++) {
		;
	}
	if (i == p->n_open) {
		return xch_otf_told(r, xch_otf_bad(r, "a collective operation ends that did not begin"));
	}
	m = p->open[i].m;
	p->open[i] = p->open[--p->n_open];
	m.time = time;
	m.end = 1;
	return xch_otf_told(r, xch_build_member(r->b, &m));
}

static int on_comment(void *user, uint64_t time, uint32_t process, const char *comment, OTF_KeyValueList *l)
{
	struct xch_otf_reading *r = user;
	uint32_t willy;

	return xch_otf_told(r,
		begin_event(r, time, process, l, &willy) < 0 || xch_otf_text(r, comment) < 0
			? -1
			: xch_build_comment(r->b, time, willy, comment, strlen(comment)));
}

static int on_no_op(void *user, uint64_t time, uint32_t process, OTF_KeyValueList *l)
{
	struct xch_otf_reading *r = user;
	struct stf_opaque_data o = { .time = time };
	struct stf_enter_scope enter = { .time = time };
	struct stf_leave_scope leave = { .time = time };
	uint32_t willy, n, k;
	char *p, *cls;
	int rc = 0;

	if (begin_event(r, time, process, l, &willy) < 0) {
		return xch_otf_told(r, -1);
	}
	if (xch_otf_has(r, l, XOT_COMMENT)) {
		p = xch_otf_our_bytes(r, l, XOT_COMMENT, &n);
		rc = p ? xch_build_comment(r->b, time, willy, p, n) : -1;
		free(p);
	} else if (xch_otf_has(r, l, XOT_OPAQUE)) {
		p = xch_otf_our_bytes(r, l, XOT_OPAQUE, &n);
		o.willy = willy;
		o.data = (const uint8_t *)p;
		o.size_1_1 = n;
		rc = p ? xch_build_written(r->b, stf_write_opaque_data(r->in->w, &o)) : -1;
		free(p);
	} else if (xch_otf_has(r, l, XOT_SCOPE_BEGIN) || xch_otf_has(r, l, XOT_SCOPE_END)) {
		p = xch_otf_our_bytes(r, l, XOT_SCOPE, &n);
		cls = xch_otf_our_bytes(r, l, XOT_CLASS, &n);
		k = xch_build_scope(r->b, cls ? cls : "", p ? p : "");
		free(p);
		free(cls);
		enter.willy = leave.willy = willy;
		enter.scope = leave.scope = k;
		enter.seqnr = xch_otf_our_u32(r, l, XOT_SCOPE_BEGIN, 0);
		leave.seqnr = xch_otf_our_u32(r, l, XOT_SCOPE_END, 0);
		rc = !k ? -1
			: xch_build_written(r->b,
				  xch_otf_has(r, l, XOT_SCOPE_BEGIN) ? stf_write_enter_scope(r->in->w, &enter)
								     : stf_write_leave_scope(r->in->w, &leave));
	}
	return xch_otf_told(r, rc);
}

static uint32_t file_of(struct xch_otf_reading *r, uint32_t id)
{
	const uint32_t *f = xch_otf_list_find(&r->file, id);

	return f ? *f : 0;
}

static int on_io_begin(void *user, uint64_t time, uint32_t process, uint64_t id, uint32_t source, OTF_KeyValueList *l)
{
	struct xch_otf_reading *r = user;
	struct stf_file_io_begin b = { .time = time,
		.type = (uint8_t)xch_otf_our_u32(r, l, XOT_IO_TYPE, 0),
		.file = file_of(r, xch_otf_our_u32(r, l, XOT_IO_FILE, 0)),
		.bytes = xch_otf_our_u32(r, l, XOT_IO_BYTES, 0) };

	(void)id, (void)source;
	return xch_otf_told(r,
		begin_event(r, time, process, l, &b.willy) < 0
			? -1
			: xch_build_written(r->b, stf_write_file_io_begin(r->in->w, &b)));
}

static int on_io_end(void *user, uint64_t time, uint32_t process, uint32_t file, uint64_t id, uint64_t handle,
	uint32_t operation, uint64_t bytes, uint32_t source, OTF_KeyValueList *l)
{
	struct xch_otf_reading *r = user;
	struct stf_file_io_end e = { .time = time,
		.type = (uint8_t)xch_otf_our_u32(r, l, XOT_IO_TYPE, (operation & OTF_FILEOP_BITS) == OTF_FILEOP_READ),
		.file = file_of(r, file),
		.bytes = (uint32_t)bytes };

	(void)id, (void)source, (void)handle;
	return xch_otf_told(r,
		begin_event(r, time, process, l, &e.willy) < 0
			? -1
			: xch_build_written(r->b, stf_write_file_io_end(r->in->w, &e)));
}

/* ---- the trace ---- */

static const struct xch_otf_handler events[] = {
	{ OTF_ENTER_RECORD, CALL(on_enter) },
	{ OTF_LEAVE_RECORD, CALL(on_leave) },
	{ OTF_SEND_RECORD, CALL(on_send) },
	{ OTF_RECEIVE_RECORD, CALL(on_receive) },
	{ OTF_COUNTER_RECORD, CALL(on_value) },
	{ OTF_BEGINCOLLOP_RECORD, CALL(on_coll_begin) },
	{ OTF_ENDCOLLOP_RECORD, CALL(on_coll_end) },
	{ OTF_EVENTCOMMENT_RECORD, CALL(on_comment) },
	{ OTF_NOOP_RECORD, CALL(on_no_op) },
	{ OTF_BEGINFILEOP_RECORD, CALL(on_io_begin) },
	{ OTF_ENDFILEOP_RECORD, CALL(on_io_end) },
	{ 0, NULL },
};

/* Does a file of the trace have a line that ends like this, and where does the line begin? */
static int find_line(const char *path, const char *line, uint64_t *offset)
{
	FILE *f = fopen(path, "re");
	size_t n = strlen(line), size = 0;
	char *text = NULL;
	ssize_t k;
	int found = 0;

	*offset = 0;
	while (f && !found && (k = getline(&text, &size, f)) > 0) {
		k -= text[k - 1] == '\n';
		found = n && (size_t)k >= n && !memcmp(text + k - n, line, n);
		*offset += found ? 0 : (uint64_t)k + 1;
	}
	free(text);
	if (f) {
		fclose(f);
	}
	return found;
}

/* The library reports the text that it could not read, but not its place. So this looks for the same text in the
 * trace's files. */
static int no_record(struct xch_otf_reading *r, const char *record, const char *why)
{
	char path[4400];
	uint64_t offset;
	uint32_t i, k;

	for (i = 0; i <= XOT_STREAMS && *record; i++) {
		for (k = 0; k < 2; k++) {
			xch_otf_stream_path(r, i, suffixes[k], path, sizeof(path));
			if (find_line(path, record, &offset)) {
				return tkm_fail(
					r->err, TKM_ERR_FORMAT, "%s: offset %" PRIu64 ": %s", path, offset, why);
			}
		}
	}
	return xch_otf_bad(r, "%s", why);
}

static int cannot_read(struct xch_otf_reading *r)
{
	const char *why = *xch_otf_complaint() ? xch_otf_complaint() : "the OTF library cannot read it";
	const char *record = !strncmp(why, "Parse error", 11) ? strstr(why, ":  ") : NULL;

	return no_record(r, record ? record + 3 : "", why);
}

static int on_unknown(void *user, uint64_t time, uint32_t process, const char *record)
{
	struct xch_otf_reading *r = user;
	char line[200];
	size_t n = record ? strcspn(record, "\r\n") : 0;

	(void)time, (void)process;
	snprintf(line, sizeof(line), "%.*s", n < sizeof(line) ? (int)n : 0, record ? record : "");
	return xch_otf_told(r, no_record(r, line, "a record of no known kind"));
}

static OTF_HandlerArray *handlers(struct xch_otf_reading *r, int of_events, int first_pass)
{
	OTF_HandlerArray *h = OTF_HandlerArray_open();
	const struct xch_otf_handler *k = of_events ? events : xch_otf_definitions;
	size_t i;

	if (h) {
		OTF_HandlerArray_setHandler(h, CALL(on_unknown), OTF_UNKNOWN_RECORD);
		OTF_HandlerArray_setFirstHandlerArg(h, r, OTF_UNKNOWN_RECORD);
	}
	/* the first pass reads the keys and the period only */
	for (i = 0; h && k[i].call && !(first_pass && i == 2); i++) {
		OTF_HandlerArray_setHandler(h, k[i].call, k[i].record);
		OTF_HandlerArray_setFirstHandlerArg(h, r, k[i].record);
	}
	return h;
}

/* ---- what the library would report without a place ---- */

static int damaged(const struct xch_otf_reading *r, const char *path, uint64_t offset, const char *what)
{
	return tkm_fail(r->err, TKM_ERR_FORMAT, "%s: offset %" PRIu64 ": %s", path, offset, what);
}

/* Is it a line of the master file: the number of a stream, a colon, and its processes with commas between? Sets *stream. */
static int is_master_line(const char *s, uint32_t *stream)
{
	char *end;

	*stream = (uint32_t)strtoul(s, &end, 16);
	if (end == s || *end++ != ':') {
		return 0;
	}
	return end[strspn(end, "0123456789abcdefABCDEF, \r")] == '\n';
}

/* Each file of a stream has to end with a line's end. */
static int check_stream(const struct xch_otf_reading *r, uint32_t stream)
{
	char path[4400];
	int rc = 0, c, i;
	FILE *f;

	for (i = 0; i < 2 && rc == 0; i++) {
		xch_otf_stream_path(r, stream, suffixes[i], path, sizeof(path));
		f = fopen(path, "re");
		c = f && fseek(f, -1, SEEK_END) == 0 ? getc(f) : '\n';
		if (c != '\n') {
			rc = damaged(r, path, (uint64_t)ftell(f), "the file ends within a line");
		}
		if (f) {
			fclose(f);
		}
	}
	return rc;
}

/* Checks the master file and the ends of the streams' files. Where the master file is damaged, the library also leaves it open. */
static int check_files(const struct xch_otf_reading *r)
{
	FILE *f = fopen(r->in->path, "re");
	uint64_t offset = 0;
	char *text = NULL;
	size_t size = 0;
	uint32_t stream;
	int rc = 0;
	ssize_t k;

	if (!f) {
		return tkm_fail_errno(r->err, TKM_ERR_IO, errno, "cannot read %s", r->in->path);
	}
	while (rc == 0 && (k = getline(&text, &size, f)) > 0) {
		if (!is_master_line(text, &stream)) {
			rc = damaged(r, r->in->path, offset, "no line of a stream and its processes");
		} else {
			rc = check_stream(r, stream);
		}
		offset += (uint64_t)k;
	}
	free(text);
	fclose(f);
	return rc == 0 ? check_stream(r, 0) : rc;
}

/* Runs one pass with a reader of its own. */
static int read_once(struct xch_otf_reading *r, int of_events, int first_pass)
{
	OTF_FileManager *m = OTF_FileManager_open(OPEN_FILES);
	OTF_Reader *o = m ? OTF_Reader_open(r->in->path, m) : NULL;
	OTF_HandlerArray *h = handlers(r, of_events, first_pass);
	uint64_t n = OTF_READ_ERROR, streams = o ? OTF_MasterControl_getCount(OTF_Reader_getMasterControl(o)) : 0, size;
	int rc = -1;

	r->reader = o;
	r->in_events = of_events;
	if (o && h) {
		size = ALL_BUFFERS / (streams + 1);
		size = size < MIN_BUFFER ? MIN_BUFFER : size > MAX_BUFFER ? MAX_BUFFER : size;
		OTF_Reader_setBufferSizes(o, (uint32_t)size);
		n = of_events ? OTF_Reader_readEvents(o, h) : OTF_Reader_readDefinitions(o, h);
	}
	if (r->failed) {
		rc = -1;
	} else if (!o || n == OTF_READ_ERROR || *xch_otf_complaint()) {
		rc = cannot_read(r);
	} else {
		rc = 0;
	}
	if (h) {
		OTF_HandlerArray_close(h);
	}
	r->reader = NULL;
	if (o) {
		OTF_Reader_close(o);
	}
	if (m) {
		OTF_FileManager_close(m);
	}
	return rc;
}

static void list_free(struct xch_otf_list *l)
{
	xch_map_free(&l->map);
	free(l->v);
}

static void reading_free(struct xch_otf_reading *r)
{
	size_t i;

	for (i = 0; i < r->group.n; i++) {
		free(((struct xch_otf_group *)(void *)r->group.v)[i].name);
		free(((struct xch_otf_group *)(void *)r->group.v)[i].willies);
		free(((struct xch_otf_group *)(void *)r->group.v)[i].operations);
	}
	for (i = 0; i < r->process.n; i++) {
		free(((struct xch_otf_process_of *)(void *)r->process.v)[i].open);
	}
	for (i = 0; i < r->class_of.n; i++) {
		free(((char **)(void *)r->class_of.v)[i]);
	}
	for (i = 0; i < r->keys; i++) {
		free(r->key[i]);
	}
	list_free(&r->process);
	list_free(&r->counter);
	list_free(&r->group);
	list_free(&r->operation);
	list_free(&r->function);
	list_free(&r->file);
	list_free(&r->class_of);
	xch_build_free(r->b);
	free(r);
}

int xch_otf_read(struct xch_input *in, struct tkm_err *err)
{
	struct xch_otf_reading *r = calloc(1, sizeof(*r));
	int rc;

	if (!r) {
		return xch_fail_memory(err, in->path);
	}
	r->in = in;
	r->err = err;
	r->process.size = sizeof(struct xch_otf_process_of);
	r->counter.size = sizeof(struct xch_otf_counter);
	r->group.size = sizeof(struct xch_otf_group);
	r->operation.size = sizeof(struct xch_otf_operation);
	r->function.size = r->file.size = sizeof(uint32_t);
	r->class_of.size = sizeof(char *);
	xch_otf_complaint_clear();
	rc = check_files(r) < 0 ? -1 : read_once(r, 0, 1);
	if (rc == 0 && !r->ticks) {
		rc = xch_otf_bad(r, "the definitions do not say the timer's resolution");
	}
	rc = rc == 0 ? xch_input_begin(in, r->resolution, r->eventbits, err) : rc;
	if (rc == 0) {
		r->b = xch_build_new(in, err);
		rc = r->b && read_once(r, 0, 0) == 0 && read_once(r, 1, 0) == 0 ? xch_build_end(r->b) : -1;
	}
	reading_free(r);
	return rc;
}

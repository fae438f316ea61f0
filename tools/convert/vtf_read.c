/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads ASCII VTF and writes STF. */
#include "config.h"
#include "tools/vtf/vtf.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/convert/convert.h"
#include "tools/vtf/vtf_collop.h"
#include "tools/vtf/vtf_line.h"
#include "tools/vtf/vtf_pairs.h"

struct reader {
	const struct stt_options *o;
	const char *path, *to;
	enum stt_format format;
	FILE *f;
	struct stf_writer *w; /* opened at the first line that is not part of the head */
	double resolution;
	uint64_t eventbits, start, end;
	int has_duration;
	uint32_t *threads;
	uint64_t n_processes;
	char **names; /* CPUNAMES */
	size_t n_names;
	struct vtf_pairs pairs;
	struct vtf_collops collops;
	struct vtf_line line;
};

static int refuse_line(struct reader *r, const char *why)
{
	snprintf(r->line.why, sizeof(r->line.why), "%.*s", (int)sizeof(r->line.why) - 1, why);
	return -1;
}

/* ---- the head ---- */

static int read_processes(struct reader *r)
{
	uint64_t v;
	size_t i;

	if (r->threads) {
		return refuse_line(r, "a second NCPUS");
	}
	r->threads = calloc(r->line.n, sizeof(*r->threads));
	if (!r->threads) {
		return refuse_line(r, "out of memory");
	}
	for (i = 1; i < r->line.n; i++) {
		if (vtf_uint(&r->line, &r->line.word[i], 0x8000, &v) < 0) {
			return -1;
		}
		r->threads[r->n_processes++] = (uint32_t)v;
	}
	return 0;
}

static int read_names(struct reader *r)
{
	size_t i;

	if (r->names) {
		return refuse_line(r, "a second CPUNAMES");
	}
	r->names = calloc(r->line.n, sizeof(*r->names));
	for (i = 1; r->names && i < r->line.n; i++) {
		if (!r->line.word[i].quoted) {
			return refuse_line(r, "a name without quotes");
		}
		r->names[r->n_names] = strdup(r->line.word[i].s);
		if (!r->names[r->n_names]) {
			return refuse_line(r, "out of memory");
		}
		r->n_names++;
	}
	return r->names ? 0 : refuse_line(r, "out of memory");
}

/* Returns 1: the line was part of the head. */
static int read_head(struct reader *r)
{
	const char *head = r->line.word[0].s;
	int rc;

	if (!strcmp(head, "C")) {
		return 1;
	}
	if (!strcmp(head, "CLKPERIOD") && r->line.n == 2) {
		rc = vtf_real(&r->line, &r->line.word[1], &r->resolution);
		rc = rc == 0 && !(r->resolution > 0) ? refuse_line(r, "CLKPERIOD must be above 0") : rc;
	} else if (!strcmp(head, "EVENTBITS") && r->line.n == 2) {
		rc = vtf_uint(&r->line, &r->line.word[1], 63, &r->eventbits);
	} else if (!strcmp(head, "DURATION") && r->line.n == 3) {
		rc = vtf_uint(&r->line, &r->line.word[1], UINT64_MAX, &r->start);
		rc = rc == 0 ? vtf_uint(&r->line, &r->line.word[2], UINT64_MAX, &r->end) : rc;
		r->has_duration = 1;
		return rc < 0 ? -1 : 1;
	} else if (!strcmp(head, "NCPUS")) {
		rc = read_processes(r);
	} else if (!strcmp(head, "CPUNAMES")) {
		rc = read_names(r);
	} else {
		return 0;
	}
	return rc < 0 ? -1 : r->w ? refuse_line(r, "this line must come before all declarations and events") : 1;
}

static int from_writer(struct reader *r)
{
	return refuse_line(r, stf_writer_error(r->w)->text);
}

static int begin(struct reader *r)
{
	struct stf_writer_options opt = { .resolution = r->resolution, .eventbits = (uint32_t)r->eventbits };
	struct stf_err e;
	size_t n = 0;
	uint32_t i, k;

	if (!(r->resolution > 0)) {
		return refuse_line(r, "no CLKPERIOD before the first declaration or event");
	}
	r->w = stt_create(r->o, r->to, r->format, &opt, &e);
	if (!r->w) {
		snprintf(r->line.why, sizeof(r->line.why), "%.120s%s%.70s", e.file, e.file[0] ? ": " : "", e.text);
		return -1;
	}
	if (r->threads && stf_writer_processes(r->w, r->threads, (uint32_t)r->n_processes) < 0) {
		return from_writer(r);
	}
	for (i = 0; i < r->n_processes; i++) {
		for (k = 0; k < r->threads[i] && n < r->n_names; k++, n++) {
			if (stf_writer_willy_name(r->w, STF_WILLY(i, k), r->names[n]) < 0) {
				return from_writer(r);
			}
		}
	}
	return n < r->n_names ? refuse_line(r, "CPUNAMES has more names than NCPUS has threads") : 0;
}

/* ---- events ---- */

static int read_samples(struct reader *r, uint64_t time)
{
	struct vtf_line *l = &r->line;
	struct stf_counter_value c = { .time = time };
	uint64_t values[255], v;
	uint32_t ids[255];
	unsigned type;
	size_t i;

	if (l->n < 4 || strcmp(l->word[2].s, "CPU") || vtf_cpu(l, &l->word[3], &c.willy) < 0) {
		return refuse_line(r, "expected t SAMP CPU c DEF d UINT|INT|FLOAT 8 v ...");
	}
	for (i = 4; i < l->n; i += 5) {
		if (l->n - i < 5 || strcmp(l->word[i].s, "DEF") || strcmp(l->word[i + 3].s, "8") || c.size_1_2 == 255) {
			return refuse_line(r, "expected DEF d UINT|INT|FLOAT 8 v, at most 255 times");
		}
		type = !strcmp(l->word[i + 2].s, "UINT") || !strcmp(l->word[i + 2].s, "OPAQUE") ? STF_COUNTER_U8
			: !strcmp(l->word[i + 2].s, "INT")                                      ? STF_COUNTER_I8
			: !strcmp(l->word[i + 2].s, "FLOAT")                                    ? STF_COUNTER_F8
												: 0;
		if (!type) {
			return refuse_line(r, "a sample is UINT, INT, FLOAT or OPAQUE");
		}
		if (vtf_uint(l, &l->word[i + 1], UINT32_MAX, &v) < 0 ||
			vtf_counter(l, &l->word[i + 4], type, &values[c.size_1_2]) < 0) {
			return -1;
		}
		ids[c.size_1_2++] = (uint32_t)v;
	}
	c.values = values;
	c.counters = ids;
	return stf_write_counter_value(r->w, &c) < 0 ? from_writer(r) : 0;
}

static int read_half(struct reader *r, uint64_t time, int receive)
{
	static const struct {
		const char *key;
		size_t offset[2]; /* in the struct: of a send, of a receive */
		int cpu;
		/* clang-format off */
	} keys[] = {
#define AT(send, receive_) { offsetof(struct stf_one_to_one_communication_4, send), offsetof(struct stf_one_to_one_communication_4, receive_) }
		{ "CPU", AT(sender, receiver), 1 },
		{ "TO", AT(receiver, receiver), 1 },
		{ "FROM", AT(sender, sender), 1 },
		{ "COMM", AT(communicator, communicator), 0 },
		{ "TAG", AT(tag, tag), 0 },
		{ "LEN", AT(size, size), 0 },
		{ "FUNCTION", AT(sender_function, receiver_function), 0 },
		{ "SCL", AT(sender_scl, receiver_scl), 0 },
		{ "CHECK", AT(sender_checksum, receiver_checksum), 0 },
#undef AT
	};
	/* clang-format on */
	struct vtf_half h = { .time = time, .receive = receive };
	struct vtf_line *l = &r->line;
	uint64_t v;
	uint32_t u;
	size_t i, k;

	for (i = 2; i < l->n; i += 2) {
		for (k = 0; k < sizeof(keys) / sizeof(keys[0]) && strcmp(l->word[i].s, keys[k].key); k++) {
		}
		if (i + 1 == l->n) {
			return refuse_line(r, "a keyword without a value at the end of the line");
		}
		if (!strcmp(l->word[i].s, "PAIR")) {
			if (vtf_uint(l, &l->word[i + 1], UINT64_MAX, &h.pair) < 0) {
				return -1;
			}
			h.has_pair = 1;
			continue;
		}
		if (k == sizeof(keys) / sizeof(keys[0])) {
			return refuse_line(r,
				receive ? "RECVMSG has CPU, FROM, COMM, TAG, LEN, FUNCTION, SCL, CHECK, PAIR"
					: "SENDMSG has CPU, TO, COMM, TAG, LEN, FUNCTION, SCL, CHECK, PAIR");
		}
		if (keys[k].cpu ? vtf_cpu(l, &l->word[i + 1], &u) < 0
				: vtf_uint(l, &l->word[i + 1], UINT32_MAX, &v) < 0) {
			return -1;
		}
		u = keys[k].cpu ? u : (uint32_t)v;
		memcpy((char *)&h.m + keys[k].offset[receive], &u, sizeof(u));
		h.incarnation = keys[k].key[0] == 'S' ? h.incarnation | 1 : keys[k].key[1] == 'H' ? 3 : h.incarnation;
	}
	return vtf_pairs_add(&r->pairs, &h, r->w, l->why, sizeof(l->why));
}

static int read_event(struct reader *r)
{
	struct vtf_line *l = &r->line;
	uint64_t time;
	const char *head;
	unsigned id;

	if (vtf_uint(l, &l->word[0], UINT64_MAX, &time) < 0) {
		return -1;
	}
	if (l->n < 2) {
		return refuse_line(r, "a time stamp without an event");
	}
	head = l->word[1].s;
	if (!strcmp(head, "SAMP")) {
		return read_samples(r, time);
	}
	if (!strcmp(head, "SENDMSG") || !strcmp(head, "RECVMSG")) {
		return read_half(r, time, *head == 'R');
	}
	if (!strcmp(head, "GLOBALOP")) {
		return vtf_collops_line(&r->collops, l, time, r->w);
	}
	id = vtf_class(head);
	if (!id || stf_layout(id)->kind > STF_KIND_OTHER) {
		snprintf(l->why, sizeof(l->why), "unknown event '%.60s'", head);
		return -1;
	}
	if (vtf_line_record(l, id, 2, r->w) < 0) {
		return -1;
	}
	l->record.time = time;
	l->values[0].u = time; /* every event's first field */
	return stf_write_record(r->w, &l->record) < 0 ? from_writer(r) : 0;
}

static int read_declaration(struct reader *r)
{
	struct vtf_line *l = &r->line;
	unsigned id = l->word[0].quoted ? 0 : vtf_class(l->word[0].s);

	if (!id || stf_layout(id)->kind <= STF_KIND_OTHER) {
		snprintf(l->why, sizeof(l->why), "unknown keyword '%.60s'", l->word[0].s);
		return -1;
	}
	if (vtf_line_record(l, id, 1, r->w) < 0) {
		return -1;
	}
	if (id == STF_ID_communicator_definition && vtf_collops_communicator(&r->collops, &l->record) < 0) {
		return refuse_line(r, "out of memory");
	}
	return stf_write_record(r->w, &l->record) < 0 ? from_writer(r) : 0;
}

static int read_line(struct reader *r, char *text, size_t n)
{
	int rc;

	if (n >= 1 && text[0] == 'C' && (n == 1 || strchr(" \t\r\n", text[1]))) {
		return 0; /* any text may follow */
	}
	if (vtf_line_split(&r->line, text, n) < 0) {
		return -1;
	}
	if (r->line.n == 0) {
		return 0;
	}
	rc = read_head(r);
	if (rc != 0) {
		return rc < 0 ? -1 : 0;
	}
	if (!r->w && begin(r) < 0) {
		return -1;
	}
	return r->line.word[0].s[0] >= '0' && r->line.word[0].s[0] <= '9' ? read_event(r) : read_declaration(r);
}

static int read_lines(struct reader *r)
{
	char *text = NULL;
	size_t cap = 0;
	uint64_t at = 0, number = 0, size;
	struct stat st;
	ssize_t n;
	int rc = 0;

	/* the length of a pipe is unknown */
	size = fstat(fileno(r->f), &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
	while (rc == 0 && (n = getline(&text, &cap, r->f)) >= 0) {
		number++;
		rc = read_line(r, text, (size_t)n);
		if (rc < 0) {
			stt_fault(r->o, "%s: offset %" PRIu64 ", record %" PRIu64 ": %s", r->path, at, number,
				r->line.why);
		}
		vtf_line_clear(&r->line);
		at += (uint64_t)n;
		stt_progress_part(r->o, at, size);
	}
	stt_progress_part(r->o, 1, 1);
	free(text);
	if (rc == 0 && ferror(r->f)) {
		rc = -1;
		stt_fault(r->o, "%s: offset %" PRIu64 ": cannot read: %s", r->path, at, strerror(errno));
	}
	if (rc == 0 &&
		((!r->w && begin(r) < 0) || vtf_pairs_end(&r->pairs, r->w, r->line.why, sizeof(r->line.why)) < 0 ||
			vtf_collops_end(&r->collops, r->w, r->line.why, sizeof(r->line.why)) < 0)) {
		rc = stt_fault(r->o, "%s: offset %" PRIu64 ": %s", r->path, at, r->line.why);
	}
	return rc;
}

int vtf_to_stf(const struct stt_options *o, const char *from, const char *to, enum stt_format format)
{
	struct reader r = { .o = o, .path = from, .to = to, .format = format };
	struct stf_err e;
	int rc;

	r.f = fopen(from, "re");
	if (!r.f) {
		return stt_fault(o, "%s: cannot read: %s", from, strerror(errno));
	}
	rc = read_lines(&r);
	fclose(r.f);
	if (rc != 0) {
		stf_writer_abort(r.w);
		rc = STT_FAULT;
	} else if (stf_writer_finish(r.w, r.has_duration ? r.start : 1, r.has_duration ? r.end : 0, &e) < 0) {
		rc = stt_stf_fault(o, &e);
	}
	vtf_pairs_free(&r.pairs);
	vtf_collops_free(&r.collops);
	vtf_line_end(&r.line);
	while (r.n_names) {
		free(r.names[--r.n_names]);
	}
	free(r.names);
	free(r.threads);
	return rc;
}

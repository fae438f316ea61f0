/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a trace of the text that `stftool --dump` prints (doc/vtf-ascii.md), in which tests write their traces:
 *
 *     text_stf TEXT TRACE.stf [PROCESSES_PER_FILE]
 *
 * It reads what tests write: no GLOBALOP lines (--matched-vtf has COLL lines instead), and messages only with PAIR. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/vtf/vtf.h"

struct word {
	char *text;
	size_t n;
	int quoted;
};

/* The two lines of one message. */
struct message {
	struct stf_one_to_one_communication_4 m;
	uint64_t received;
	int has_send, has_receive, incarnation;
};

static struct stf_writer_options options;
static struct stf_writer *writer;
static const char *input, *output;
static unsigned long line_number;

static struct word *word;
static size_t n_words, word_capacity;
static void *array[64]; /* of the record that is being read */
static size_t n_arrays;
static uint32_t *threads;
static size_t n_processes;
static char **names;
static size_t n_names;
static struct message *message; /* by PAIR, which counts from 1 */
static size_t n_messages;
static uint64_t first_time = 1, last_time;

static void stop(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

static void stop(const char *format, ...)
{
	va_list ap;

	fprintf(stderr, "text_stf: %s: line %lu: ", input, line_number);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

static void *memory_of(void *old, size_t n, size_t size)
{
	void *p = realloc(old, n * size + 1);

	if (!p) {
		stop("out of memory");
	}
	return p;
}

static void written(int rc)
{
	if (rc < 0) {
		stop("%s", stf_writer_error(writer)->text);
	}
}

/* ---- words ---- */

static char *unquote(char *p, struct word *w)
{
	char *to = p, digits[3] = "";

	*w = (struct word){ .text = p, .quoted = 1 };
	for (; *p && *p != '"'; p++) {
		if (*p != '\\') {
			*to++ = *p;
		} else if (p[1] == 'x' && p[2] && p[3]) {
			memcpy(digits, p + 2, 2);
			*to++ = (char)strtoul(digits, NULL, 16);
			p += 3;
		} else {
			*to++ = *++p;
		}
	}
	if (*p != '"') {
		stop("a text without its closing quote");
	}
	w->n = (size_t)(to - w->text);
	*to = '\0';
	return p + 1;
}

static void split_line(char *p)
{
	n_words = 0;
	for (;;) {
		p += strspn(p, " \t\r\n");
		if (!*p) {
			return;
		}
		if (n_words == word_capacity) {
			word_capacity = 2 * word_capacity + 64;
			word = memory_of(word, word_capacity, sizeof(*word));
		}
		if (*p == '"') {
			p = unquote(p + 1, &word[n_words++]);
			continue;
		}
		word[n_words] = (struct word){ p, strcspn(p, " \t\r\n"), 0 };
		p += word[n_words++].n;
		if (*p) {
			*p++ = '\0';
		}
	}
}

static int word_is(size_t i, const char *text)
{
	return i < n_words && !word[i].quoted && !strcmp(word[i].text, text);
}

static const struct word *word_at(size_t i)
{
	if (i >= n_words) {
		stop("the line ends too early");
	}
	return &word[i];
}

/* ---- numbers ---- */

static uint64_t real_at(size_t i)
{
	const char *text = word_at(i)->text;
	char *end;
	double d = strtod(text, &end);
	uint64_t u;

	if (!*text || *end || word[i].quoted) {
		stop("'%s' is no number", text);
	}
	memcpy(&u, &d, sizeof(u));
	return u;
}

static uint64_t number_at(size_t i)
{
	const char *text = word_at(i)->text;
	uint64_t u;
	char *end;

	errno = 0;
	u = *text == '-' ? (uint64_t)strtoll(text, &end, 10) : strtoull(text, &end, 10);
	if (!*text || *end || errno || word[i].quoted) {
		stop("'%s' is no whole number of 64 bits", text);
	}
	return u;
}

static uint64_t counter_at(size_t i, unsigned type)
{
	return (type & 15) == STF_COUNTER_F8 ? real_at(i) : number_at(i);
}

static uint32_t cpu_at(size_t i)
{
	return (uint32_t)(number_at(i) - 1);
}

static uint64_t text_at(size_t i)
{
	uint32_t id;

	if (!word_at(i)->quoted) {
		return number_at(i);
	}
	id = stf_writer_string(writer, word[i].text);
	written(id ? 0 : -1);
	return id;
}

static uint64_t scalar_at(size_t i, const struct stf_field *f)
{
	if (f->ref_class == STF_ID_stf_string) {
		return text_at(i);
	}
	if (word_is(i, "-")) {
		return UINT64_MAX; /* a START that is unknown */
	}
	if (word_is(i, "NORECV") || word_is(i, "NOSEND")) {
		return (uint64_t)(word[i].text[2] == 'R' ? STF_RECEIVE_UNKNOWN : STF_SEND_UNKNOWN);
	}
	switch (f->type) {
	case STF_WILLYID:
		return cpu_at(i);
	case STF_F4:
	case STF_F8:
		return real_at(i);
	default:
		return number_at(i);
	}
}

/* ---- records ---- */

static void *new_array(size_t n)
{
	void *p = memory_of(NULL, n, 8);

	memset(p, 0, n * 8);
	if (n_arrays == sizeof(array) / sizeof(array[0])) {
		stop("too many arrays");
	}
	array[n_arrays++] = p;
	return p;
}

static void read_array(const struct stf_field *f, size_t *at, struct stf_value *v)
{
	uint64_t n, u;
	uint32_t i;

	if (f->type == STF_C1) {
		v->count = (uint32_t)word_at(*at)->n;
		v->array = memcpy(new_array(v->count), word[*at].text, v->count);
		++*at;
		return;
	}
	n = number_at((*at)++);
	if (n > n_words - *at) {
		stop("%" PRIu64 " elements, but %zu words are left", n, n_words - *at);
	}
	v->count = (uint32_t)n;
	v->array = new_array(n);
	for (i = 0; i < n; i++) {
		u = scalar_at((*at)++, f);
		if (f->type == STF_U1) {
			((uint8_t *)v->array)[i] = (uint8_t)u;
		} else if (f->type == STF_U4 || f->type == STF_I4 || f->type == STF_WILLYID) {
			((uint32_t *)v->array)[i] = (uint32_t)u;
		} else {
			((uint64_t *)v->array)[i] = u;
		}
	}
}

static void read_field(
	const struct stf_layout *l, const struct stt_vtf_part *part, size_t *at, struct stf_value *values)
{
	const struct stf_field *f = &l->fields[part->field];
	struct stf_value *v = &values[part->field];
	size_t i;

	if (f->is_array) {
		read_array(f, at, v);
	} else if (l->class_id == STF_ID_group_definition && !strcmp(f->name, "id")) {
		v->u = cpu_at((*at)++) & 0x7fffffff;
	} else if (f->type == STF_O8) {
		for (i = *at; i > 0 && !word_is(i, "TYPE"); i--) {
		}
		v->u = counter_at((*at)++, i ? (unsigned)number_at(i + 1) : 0);
	} else {
		v->u = scalar_at((*at)++, f);
	}
}

/* Returns 0 if this incarnation lacks one of the keys. */
static int read_as(const struct stf_layout *l, size_t at, struct stf_value *values)
{
	const struct stt_vtf_form *form = stt_vtf_form(l->id);
	int i = 0;

	for (; i < form->n && !form->part[i].key[0]; i++) {
		read_field(l, &form->part[i], &at, values);
	}
	while (at < n_words) {
		for (i = 0; i < form->n && (form->part[i].field < 0 || !word_is(at, form->part[i].key)); i++) {
		}
		if (i == form->n) {
			return 0;
		}
		at++;
		read_field(l, &form->part[i], &at, values);
	}
	return 1;
}

/* Sets the sizes of arrays; an array that the line lacks has zeros. */
static void set_sizes(const struct stf_layout *l, struct stf_value *values)
{
	unsigned i, k;

	for (i = 0; i < l->n_fields; i++) {
		for (k = 1; k <= l->fields[i].is_size; k++) {
			if (k > 1 && !values[i + k].array) {
				values[i + k].count = values[i + 1].count;
				values[i + k].array = new_array(values[i + 1].count);
			}
			values[i].u = values[i + 1].count;
		}
	}
}

/* A line with a form of its own, whose fields begin at word `at`. */
static void read_record(const char *head, size_t at)
{
	struct stf_value values[64];
	unsigned id;

	for (id = 1; id < STF_ID_END; id++) {
		const struct stt_vtf_form *form = stt_vtf_form(id);
		struct stf_record record = { .layout = stf_layout(id), .values = values };

		memset(values, 0, sizeof(values));
		if (!form || strcmp(form->head, head) || !read_as(record.layout, at, values)) {
			continue;
		}
		set_sizes(record.layout, values);
		if (at == 2) {
			record.time = values[0].u = number_at(0);
		}
		written(stf_write_record(writer, &record));
		while (n_arrays) {
			free(array[--n_arrays]);
		}
		return;
	}
	stop("'%s' is unknown, or one of its keys is", head);
}

static void read_sample(void)
{
	uint64_t values[255];
	uint32_t ids[255];
	struct stf_counter_value c = { .time = number_at(0), .willy = cpu_at(3), .values = values, .counters = ids };
	size_t i;

	for (i = 4; i < n_words && c.size_1_2 < 255; i += 5) {
		if (!word_is(i, "DEF") || !word_is(i + 3, "8")) {
			stop("expected DEF d UINT|INT|FLOAT 8 v");
		}
		ids[c.size_1_2] = (uint32_t)number_at(i + 1);
		values[c.size_1_2++] = counter_at(i + 4, word_is(i + 2, "FLOAT") ? STF_COUNTER_F8 : STF_COUNTER_U8);
	}
	written(stf_write_counter_value(writer, &c));
}

static struct message *message_of(uint64_t pair)
{
	size_t n = n_messages;

	if (pair == 0 || pair > 100000000) {
		stop("a message needs PAIR, from 1");
	}
	if (pair > n) {
		n_messages = 2 * pair;
		message = memory_of(message, n_messages, sizeof(*message));
		memset(message + n, 0, (n_messages - n) * sizeof(*message));
	}
	return &message[pair - 1];
}

static void read_message(int receive)
{
	struct message *to = message_of(number_at(n_words - 1));
	struct stf_one_to_one_communication_4 *m = &to->m;
	size_t i;

	if (receive) {
		to->received = number_at(0);
		to->has_receive = 1;
	} else {
		m->time = number_at(0);
		to->has_send = 1;
	}
	for (i = 2; i < n_words; i += 2) {
		if (word_is(i, "CPU")) {
			*(receive ? &m->receiver : &m->sender) = cpu_at(i + 1);
		} else if (word_is(i, "TO") || word_is(i, "FROM")) {
			*(receive ? &m->sender : &m->receiver) = cpu_at(i + 1);
		} else if (word_is(i, "COMM")) {
			m->communicator = (uint32_t)number_at(i + 1);
		} else if (word_is(i, "TAG")) {
			m->tag = (uint32_t)number_at(i + 1);
		} else if (word_is(i, "LEN")) {
			m->size = (uint32_t)number_at(i + 1);
		} else if (word_is(i, "FUNCTION")) {
			*(receive ? &m->receiver_function : &m->sender_function) = (uint32_t)number_at(i + 1);
		} else if (word_is(i, "SCL")) {
			*(receive ? &m->receiver_scl : &m->sender_scl) = (uint32_t)number_at(i + 1);
			to->incarnation |= 1;
		} else if (word_is(i, "CHECK")) {
			*(receive ? &m->receiver_checksum : &m->sender_checksum) = (uint32_t)number_at(i + 1);
			to->incarnation |= 2;
		} else if (!word_is(i, "PAIR")) {
			stop("a message has no '%s'", word[i].text);
		}
	}
}

static void write_message(const struct message *from)
{
	struct stf_one_to_one_communication_4 m = from->m;
	struct stf_one_to_one_communication_1 scl;
	struct stf_one_to_one_communication plain;

	m.time = from->has_send ? m.time : from->received;
	m.receive_time = !from->has_receive ? STF_RECEIVE_UNKNOWN
		: !from->has_send           ? STF_SEND_UNKNOWN
					    : (int64_t)(from->received - m.time);
	scl = (struct stf_one_to_one_communication_1){ m.time, m.sender, m.receive_time, m.receiver, m.communicator,
		m.size, m.tag, m.sender_scl, m.receiver_scl, m.sender_function, m.receiver_function };
	plain = (struct stf_one_to_one_communication){ m.time, m.sender, m.receive_time, m.receiver, m.communicator,
		m.size, m.tag, m.sender_function, m.receiver_function };
	written(from->incarnation & 2       ? stf_write_one_to_one_communication_4(writer, &m)
			: from->incarnation ? stf_write_one_to_one_communication_1(writer, &scl)
					    : stf_write_one_to_one_communication(writer, &plain));
}

/* ---- the file ---- */

static void open_writer(void)
{
	struct stf_err e;
	size_t i, n = 0;
	uint32_t k;

	writer = stf_writer_create(output, &options, &e);
	if (!writer) {
		stop("%s: %s", e.file, e.text);
	}
	if (threads) {
		written(stf_writer_processes(writer, threads, (uint32_t)n_processes));
	}
	for (i = 0; i < n_processes; i++) {
		for (k = 0; k < threads[i] && n < n_names; k++) {
			written(stf_writer_willy_name(writer, STF_WILLY(i, k), names[n++]));
		}
	}
}

/* Returns 0 if the line is none of the head. */
static int read_head(void)
{
	double resolution;
	uint64_t u;
	size_t i;

	if (word_is(0, "CLKPERIOD")) {
		u = real_at(1);
		memcpy(&resolution, &u, sizeof(u));
		options.resolution = resolution;
	} else if (word_is(0, "EVENTBITS")) {
		options.eventbits = (uint32_t)number_at(1);
	} else if (word_is(0, "DURATION")) {
		first_time = number_at(1);
		last_time = number_at(2);
	} else if (word_is(0, "NCPUS")) {
		threads = memory_of(NULL, n_words, sizeof(*threads));
		for (i = 1; i < n_words; i++) {
			threads[n_processes++] = (uint32_t)number_at(i);
		}
	} else if (word_is(0, "CPUNAMES")) {
		names = memory_of(NULL, n_words, sizeof(*names));
		for (i = 1; i < n_words; i++) {
			names[n_names++] = strdup(word[i].text);
		}
	} else {
		return 0;
	}
	return 1;
}

static void read_line(char *text)
{
	split_line(text);
	if (n_words == 0 || word_is(0, "C") || read_head()) {
		return;
	}
	if (!writer) {
		open_writer();
	}
	if (*word[0].text < '0' || *word[0].text > '9') {
		read_record(word[0].text, 1);
	} else if (word_is(1, "SAMP")) {
		read_sample();
	} else if (word_is(1, "SENDMSG") || word_is(1, "RECVMSG")) {
		read_message(*word[1].text == 'R');
	} else {
		read_record(word_at(1)->text, 2);
	}
}

int main(int argc, char **argv)
{
	char *text = NULL;
	size_t capacity = 0, i;
	struct stf_err e;
	FILE *f;

	if (argc < 3) {
		fprintf(stderr, "usage: text_stf TEXT TRACE.stf [PROCESSES_PER_FILE]\n");
		return 2;
	}
	input = argv[1];
	output = argv[2];
	options.procs_per_file = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 0;
	options.force = 1;
	f = fopen(input, "re");
	if (!f) {
		stop("%s", strerror(errno));
	}
	while (getline(&text, &capacity, f) >= 0) {
		line_number++;
		if (text[0] != 'C' || text[1] != ' ') {
			read_line(text);
		}
	}
	fclose(f);
	free(text);
	if (!writer) {
		open_writer();
	}
	for (i = 0; i < n_messages; i++) {
		if (message[i].has_send || message[i].has_receive) {
			write_message(&message[i]);
		}
	}
	if (stf_writer_finish(writer, first_time, last_time, &e) < 0) {
		stop("%s: %s", e.file, e.text);
	}
	return 0;
}

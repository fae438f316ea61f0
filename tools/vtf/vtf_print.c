/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints a trace as ASCII VTF: the head, the declarations, the statistics, the events by time. */
#include "config.h"
#include "tools/vtf/vtf.h"
#include "tools/vtf/vtf_collop.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/heap.h"

/* A collective operation that still has lines to be printed. */
struct operation {
	struct stt_vtf_collop c;
	uint64_t number; /* from 1, in the order of the trace */
	uint32_t left;   /* lines that are not yet printed */
};

/* The second half of a message, or a member's line of a collective operation, which waits for its time. */
struct half {
	uint64_t time, number; /* number: of the message, from 1, in the order of the trace */
	struct stf_one_to_one_communication_4 m;
	unsigned id;          /* of the incarnation */
	struct operation *op; /* NULL: a message */
	uint32_t member;
};

struct printer {
	const struct stt_trace *t;
	const struct stt_options *o;
	const struct stt_request *req;
	FILE *f;
	struct half *heap; /* earliest first */
	size_t n, cap;
	uint64_t messages, operations;
};

/* ---- values ---- */

static void print_cpu(struct printer *p, uint32_t willy)
{
	const char *group = stt_group_name(p->t, willy);
	char buf[64];

	if (!p->o->expand) {
		fprintf(p->f, "%" PRIu64, (uint64_t)willy + 1);
	} else if (group) {
		stt_quote(p->f, group, strlen(group));
	} else {
		fputs(stt_willy_name(p->t, willy, buf, sizeof(buf)), p->f);
	}
}

static void print_vtf_text(struct printer *p, const char *text)
{
	stt_quote(p->f, text, strlen(text));
}

static void print_reference(struct printer *p, unsigned class_id, uint32_t id)
{
	char buf[1024];
	const char *name = NULL;

	if (class_id == STF_ID_stf_string) {
		name = stf_reader_string(p->t->r, id);
	} else if (p->o->expand) {
		name = stt_full_name(p->t, class_id, id, buf, sizeof(buf));
	}
	if (name) {
		print_vtf_text(p, name);
	} else {
		fprintf(p->f, "%" PRIu32, id);
	}
}

static void print_real(struct printer *p, uint64_t bits)
{
	struct stf_value v = { .u = bits };
	char buf[32];

	fputs(stt_real(stf_value_double(&v), buf), p->f);
}

static uint64_t value_element(const struct stf_value *v, enum stf_type type, uint32_t i)
{
	switch (type) {
	case STF_U1:
	case STF_C1:
		return ((const uint8_t *)v->array)[i];
	case STF_U2:
		return ((const uint16_t *)v->array)[i];
	case STF_I1:
		return (uint64_t)(int64_t)((const int8_t *)v->array)[i];
	case STF_I2:
		return (uint64_t)(int64_t)((const int16_t *)v->array)[i];
	case STF_I4:
		return (uint64_t)(int64_t)((const int32_t *)v->array)[i];
	case STF_U4:
	case STF_WILLYID:
		return ((const uint32_t *)v->array)[i];
	default:
		return ((const uint64_t *)v->array)[i];
	}
}

static void print_scalar(struct printer *p, const struct stf_field *f, uint64_t u)
{
	if (f->type == STF_WILLYID) {
		print_cpu(p, (uint32_t)u);
	} else if (f->ref_class) {
		print_reference(p, f->ref_class, (uint32_t)u);
	} else if (f->type == STF_F4 || f->type == STF_F8) {
		print_real(p, u);
	} else if (f->type >= STF_I1 && f->type <= STF_I8) {
		fprintf(p->f, "%" PRId64, (int64_t)u);
	} else if (u == UINT64_MAX && f->is_array && !strcmp(f->name, "start_time")) {
		fputc('-', p->f); /* the start of this thread's part is unknown */
	} else {
		fprintf(p->f, "%" PRIu64, u);
	}
}

/* Prints a value of a counter of that type, with the keyword and the width before it. */
static void print_counter(struct printer *p, unsigned type, uint64_t u, int bare)
{
	static const char *const word[] = { "OPAQUE", "INT", "FLOAT", "UINT" };
	unsigned kind = (type & 15) <= STF_COUNTER_U8 ? type & 15 : 0;

	if (!bare) {
		fprintf(p->f, "%s 8 ", word[kind]);
	}
	if (kind == STF_COUNTER_F8) {
		print_real(p, u);
	} else if (kind == STF_COUNTER_I8) {
		fprintf(p->f, "%" PRId64, (int64_t)u);
	} else {
		fprintf(p->f, "%" PRIu64, u);
	}
}

static unsigned counter_type(const struct printer *p, uint32_t id)
{
	const struct stf_record *d = stf_reader_find(p->t->r, STF_ID_counter_definition, id);
	const struct stf_value *v = d ? stf_value(d, "type") : NULL;

	return v ? (unsigned)v->u : 0;
}

/* ---- records by their form ---- */

static int is_plain(const char *s)
{
	const char *c;

	for (c = s; *c; c++) {
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:-", *c)) {
			return 0;
		}
	}
	return s[strspn(s, "0123456789")] != '\0';
}

/* In xstftool a declaration begins with its name, without quotes if it has no blank and does not look like a number. */
static int print_declared_name(struct printer *p, const struct stf_record *rec)
{
	char buf[1024];
	const char *name = stt_full_name(p->t, rec->layout->class_id, (uint32_t)rec->values[0].u, buf, sizeof(buf));

	if (!name) {
		return 0;
	}
	fputc(' ', p->f);
	if (is_plain(name)) {
		fputs(name, p->f);
	} else {
		print_vtf_text(p, name);
	}
	return 1;
}

static void print_part(struct printer *p, const struct stf_record *rec, const struct stt_vtf_part *part)
{
	const struct stf_field *f = &rec->layout->fields[part->field];
	const struct stf_value *v = &rec->values[part->field];
	uint32_t i;

	if (part->key[0]) {
		fprintf(p->f, " %s", part->key);
	}
	fputc(' ', p->f);
	if (!f->is_array && rec->layout->class_id == STF_ID_group_definition && !strcmp(f->name, "id")) {
		print_cpu(p, STF_GROUP(v->u));
	} else if (!f->is_array && f->type == STF_O8) {
		print_counter(p, (unsigned)stf_value(rec, "type")->u, v->u, 1);
	} else if (!f->is_array) {
		print_scalar(p, f, v->u);
	} else if (f->type == STF_C1) {
		stt_quote(p->f, v->array, v->count);
	} else {
		fprintf(p->f, "%" PRIu32, v->count);
		for (i = 0; i < v->count; i++) {
			fputc(' ', p->f);
			print_scalar(p, f, value_element(v, f->type, i));
		}
	}
}

static void print_vtf_record(struct printer *p, const struct stf_record *rec, const struct stt_vtf_form *form)
{
	int i = 0;

	fputs(form->head, p->f);
	if (p->o->expand && form->n > 1 && !form->part[0].key[0] && !form->part[1].key[0] &&
		print_declared_name(p, rec)) {
		i = 2;
	}
	for (; i < form->n; i++) {
		if (form->part[i].field >= 0) {
			print_part(p, rec, &form->part[i]);
		}
	}
	fputc('\n', p->f);
}

static void print_samples(struct printer *p, const struct stf_record *rec)
{
	struct stf_counter_value c;
	uint32_t i;

	stf_get_counter_value(rec, &c);
	for (i = 0; i < c.size_1_2 || i == 0; i++) {
		/* old readers know only one counter per line */
		if (i == 0 || !p->o->extended_vtf) {
			fprintf(p->f, "%s%" PRIu64 " SAMP CPU ", i ? "\n" : "", rec->time);
			print_cpu(p, c.willy);
		}
		if (i < c.size_1_2) {
			fputs(" DEF ", p->f);
			print_reference(p, STF_ID_counter_definition, c.counters[i]);
			fputc(' ', p->f);
			print_counter(p, counter_type(p, c.counters[i]), c.values[i], 0);
		}
	}
	fputc('\n', p->f);
}

/* ---- messages ---- */

static void print_half(struct printer *p, const struct half *h, int receive)
{
	const struct stf_one_to_one_communication_4 *m = &h->m;
	const struct stf_layout *l = stf_layout(h->id);
	int has_scl = !strcmp(l->fields[7].name, "sender_scl"), has_sums = h->id == STF_ID_one_to_one_communication_4;

	fprintf(p->f, "%" PRIu64 " %s CPU ", h->time, receive ? "RECVMSG" : "SENDMSG");
	print_cpu(p, receive ? m->receiver : m->sender);
	fputs(receive ? " FROM " : " TO ", p->f);
	print_cpu(p, receive ? m->sender : m->receiver);
	fputs(" COMM ", p->f);
	print_reference(p, STF_ID_communicator_definition, m->communicator);
	fprintf(p->f, " TAG %" PRIu32 " LEN %" PRIu32, m->tag, m->size);
	fputs(" FUNCTION ", p->f);
	print_reference(p, STF_ID_function_definition, receive ? m->receiver_function : m->sender_function);
	if (has_scl) {
		fputs(" SCL ", p->f);
		print_reference(p, STF_ID_scl_definition, receive ? m->receiver_scl : m->sender_scl);
	}
	if (has_sums) {
		fprintf(p->f, " CHECK %" PRIu32, receive ? m->receiver_checksum : m->sender_checksum);
	}
	if (p->o->extended_vtf) {
		fprintf(p->f, " PAIR %" PRIu64, h->number);
	}
	fputc('\n', p->f);
}

static int half_is_earlier(const void *of, const struct half *a, const struct half *b)
{
	(void)of;
	if (a->time != b->time || !a->op != !b->op) {
		return a->time != b->time ? a->time < b->time : !a->op;
	}
	return a->number != b->number ? a->number < b->number : a->member < b->member;
}

TKM_HEAP(half_heap, struct half, half_is_earlier);

static int push_half(struct printer *p, const struct half *h)
{
	if (TKM_GROW(p->heap, p->cap, p->n + 1) < 0) {
		return -1;
	}
	half_heap_add(NULL, p->heap, p->n++, *h);
	return 0;
}

static void pop_half(struct printer *p)
{
	p->heap[0] = p->heap[--p->n];
	half_heap_sift(NULL, p->heap, p->n, 0);
}

static void print_share(struct printer *p, const struct half *h)
{
	const struct stt_vtf_collop *c = &h->op->c;
	const struct stt_vtf_share *s = &c->share[h->member];

	fprintf(p->f, "%" PRIu64 " GLOBALOP CPU ", h->time);
	print_cpu(p, s->willy);
	fputs(" OP ", p->f);
	print_reference(p, STF_ID_collective_operation_definition, c->type);
	fputs(" COMM ", p->f);
	print_reference(p, STF_ID_communicator_definition, c->communicator);
	if (c->has_root) {
		fputs(" ROOT ", p->f);
		print_cpu(p, c->root);
	}
	if (c->class_id != STF_ID_all_communication) {
		fprintf(p->f, " SENT %" PRIu32 " RECVD %" PRIu32, s->sent, s->recvd);
	}
	fprintf(p->f, " TIME %" PRIu64, s->delta);
	if (c->has_scl) {
		fputs(" SCL ", p->f);
		print_reference(p, STF_ID_scl_definition, s->scl);
	}
	if (p->o->extended_vtf) {
		fprintf(p->f, " PAIR %" PRIu64 " KIND %s MEMBER %" PRIu32 " OF %" PRIu32 " START ", h->op->number,
			stt_vtf_collop_kind(c->class_id), h->member + 1, c->n);
		if (s->start == UINT64_MAX) {
			fputc('-', p->f);
		} else {
			fprintf(p->f, "%" PRIu64, s->start);
		}
	}
	fputc('\n', p->f);
}

static void free_share(struct half *h)
{
	if (h->op && --h->op->left == 0) {
		free(h->op->c.share);
		free(h->op);
	}
}

/* Prints the lines that are due before `time`. */
static void print_due(struct printer *p, uint64_t time, int all)
{
	while (p->n && (all || p->heap[0].time < time)) {
		if (p->heap[0].op) {
			print_share(p, &p->heap[0]);
			free_share(&p->heap[0]);
		} else {
			print_half(p, &p->heap[0], 1);
		}
		pop_half(p);
	}
}

/* Prints one line for each member, at the time when the member began. Returns 0: the operation cannot be split. */
static int print_collop(struct printer *p, const struct stf_record *rec)
{
	struct operation *op = calloc(1, sizeof(*op));
	struct half h = { .op = op };
	uint64_t start;
	int rc = op ? stt_vtf_collop_split(p->t->r, rec, &op->c) : -1;

	if (rc <= 0) {
		free(op);
		return rc;
	}
	op->number = h.number = ++p->operations;
	op->left = op->c.n;
	for (h.member = 0; h.member < op->c.n && rc > 0; h.member++) {
		start = op->c.share[h.member].start;
		h.time = op->c.time + (start == UINT64_MAX ? 0 : start);
		rc = push_half(p, &h) < 0 ? -1 : 1;
	}
	if (rc < 0) {
		/* the waiting lines free it; without such lines it must be freed here */
		op->left = h.member;
		free_share(&h);
	}
	return rc;
}

/* Prints one line with everything, or two lines, each at its place in time. */
static int print_message(struct printer *p, const struct stf_record *rec)
{
	struct half h = { .time = rec->time, .number = ++p->messages, .id = rec->layout->id };
	int64_t d;

	stf_get_one_to_one_communication_4(rec, &h.m);
	d = h.m.receive_time;
	if (d != STF_SEND_UNKNOWN) {
		print_half(p, &h, 0);
	}
	if (d == STF_RECEIVE_UNKNOWN) {
		return 0;
	}
	if (d == STF_SEND_UNKNOWN || d == 0) {
		print_half(p, &h, 1);
		return 0;
	}
	/* by its stamps, received before it was sent: the line comes late, but with its true time */
	h.time += (uint64_t)d;
	if (d < 0) {
		print_half(p, &h, 1);
		return 0;
	}
	return push_half(p, &h);
}

static void print_matched(struct printer *p, const struct stf_record *rec, const struct stt_vtf_form *form)
{
	struct stf_one_to_one_communication_4 m;
	int i;

	stf_get_one_to_one_communication_4(rec, &m);
	fprintf(p->f, "%" PRIu64 " %s", rec->time, form->head);
	for (i = 0; i < form->n; i++) {
		if (form->part[i].field < 0) {
			continue;
		}
		if (!strcmp(form->part[i].key, "TIME") &&
			(m.receive_time == STF_RECEIVE_UNKNOWN || m.receive_time == STF_SEND_UNKNOWN)) {
			fputs(m.receive_time == STF_SEND_UNKNOWN ? " TIME NOSEND" : " TIME NORECV", p->f);
		} else {
			print_part(p, rec, &form->part[i]);
		}
	}
	fputc('\n', p->f);
}

/* ---- the parts of the trace ---- */

static int names_of_all_threads(const struct printer *p)
{
	uint64_t total = 0;
	struct stf_willy_info w;
	uint32_t i, k;

	for (i = 0; i < p->t->n_processes; i++) {
		total += p->t->threads[i];
	}
	if (!total || total != stf_reader_count(p->t->r, STF_ID_willy_name)) {
		return 0;
	}
	for (i = 0; i < p->t->n_processes; i++) {
		for (k = 0; k < p->t->threads[i]; k++) {
			if (k > 0x7fff || stf_reader_willy(p->t->r, STF_WILLY(i, k), &w) < 0 || !w.name) {
				return 0;
			}
		}
	}
	return 1;
}

static void print_processes(struct printer *p)
{
	struct stf_willy_info w;
	uint32_t i, k;

	if (p->t->n_processes) {
		fputs("NCPUS", p->f);
		for (i = 0; i < p->t->n_processes; i++) {
			fprintf(p->f, " %" PRIu32, p->t->threads[i]);
		}
		fputc('\n', p->f);
	}
	if (names_of_all_threads(p)) {
		fputs("CPUNAMES", p->f);
		for (i = 0; i < p->t->n_processes; i++) {
			for (k = 0; k < p->t->threads[i]; k++) {
				stf_reader_willy(p->t->r, STF_WILLY(i, k), &w);
				fputc(' ', p->f);
				print_vtf_text(p, w.name);
			}
		}
		fputc('\n', p->f);
	}
}

/* Is the record a statement about how this trace is stored, or the class of such statements? */
static int is_about_files(const struct printer *p, const struct stf_record *rec)
{
	return (rec->layout->id == STF_ID_info || rec->layout->id == STF_ID_class_definition) &&
		stt_is_about_files(p->t, (uint32_t)rec->values[0].u);
}

static void print_table(struct printer *p, unsigned class_id)
{
	const struct stf_record *rec;
	size_t i;

	for (i = 0; (rec = stf_reader_record(p->t->r, class_id, i)); i++) {
		const struct stt_vtf_form *form = stt_vtf_form(rec->layout->id);

		if ((!form->extended || p->o->extended_vtf) && !is_about_files(p, rec)) {
			print_vtf_record(p, rec, form);
		}
	}
}

static void print_vtf_head(struct printer *p)
{
	uint64_t start, end;
	char buf[32];
	const unsigned char *c;

	fprintf(p->f, STT_VTF_MARK " %s\n", PACKAGE_VERSION);
	if (p->t->resolution > 0) {
		fprintf(p->f, "CLKPERIOD %s\nEVENTBITS %" PRIu32 "\n", stt_real(p->t->resolution, buf),
			p->t->eventbits);
	}
	print_processes(p);
	if (stf_reader_duration(p->t->r, &start, &end) == 0) {
		fprintf(p->f, "DURATION %" PRIu64 " %" PRIu64 "\n", start, end);
	}
	for (c = stt_vtf_declarations; *c; c++) {
		print_table(p, *c);
	}
	if (!names_of_all_threads(p)) {
		print_table(p, STF_ID_willy_name);
	}
	print_table(p, STF_ID_info);
}

/* Statistics are printed before the events, so that an incomplete text includes them. */
static int print_statistics(struct printer *p)
{
	const struct stf_record *rec, *file;
	struct stf_err e;
	struct stf_cursor *c;
	size_t i;
	int rc = 0;

	for (i = 0; (file = stf_reader_record(p->t->r, STF_ID_file_declaration, i)) && rc >= 0; i++) {
		if (stf_value(file, "filetype")->u != STF_STATS_FILE) {
			continue;
		}
		c = stf_cursor_open(p->t->r, stf_value(file, "suffix")->array, &e);
		while ((rc = c ? stf_cursor_next(c, &rec, &e) : -1) > 0) {
			const struct stt_vtf_form *form = stt_vtf_form(rec->layout->id);

			if (form && rec->layout->kind == STF_KIND_STATS) {
				print_vtf_record(p, rec, form);
			}
		}
		stf_cursor_close(c);
	}
	return rc < 0 ? stt_cursor_fault(p->o, &e) : STT_OK;
}

static int print_event(struct printer *p, const struct stf_record *rec)
{
	const struct stt_vtf_form *form = stt_vtf_form(rec->layout->id);
	int rc = 0;

	print_due(p, rec->time, 0);
	if (!form || (form->extended && !p->o->extended_vtf) || !stt_request_wants(p->req, p->t, rec)) {
		return 0;
	}
	if (rec->layout->id == STF_ID_counter_value) {
		print_samples(p, rec);
	} else if (rec->layout->class_id == STF_ID_one_to_one_communication) {
		if (!p->o->matched_vtf) {
			return print_message(p, rec);
		}
		print_matched(p, rec, form);
	} else {
		if (!p->o->matched_vtf && stt_vtf_collop_kind(rec->layout->class_id)) {
			rc = print_collop(p, rec);
		}
		if (rc == 0) {
			fprintf(p->f, "%" PRIu64 " ", rec->time);
			print_vtf_record(p, rec, form);
		}
	}
	return rc < 0 ? -1 : 0;
}

static int print_events(struct printer *p)
{
	const struct stf_record *rec;
	struct stf_err e;
	struct stf_cursor *c = stt_request_cursor(p->req, p->t, &e);
	int rc = -1;

	if (c) {
		while ((rc = stf_cursor_next(c, &rec, &e)) > 0 && !ferror(p->f)) {
			stt_progress(p->o, p->t, rec->time, 0);
			if (print_event(p, rec) < 0) {
				stf_cursor_close(c);
				return stt_fault(p->o, "%s: out of memory for what is under way", p->t->path);
			}
		}
		stf_cursor_close(c);
		stt_progress(p->o, p->t, 0, 1);
	}
	print_due(p, 0, 1);
	return rc < 0 ? stt_cursor_fault(p->o, &e) : STT_OK;
}

int stt_vtf_print(const struct stt_trace *t, const struct stt_options *o, const struct stt_request *req, FILE *f)
{
	struct printer p = { .t = t, .o = o, .req = req, .f = f };
	int rc = STT_OK, fault;
	char text[700];
	size_t i;

	print_vtf_head(&p);
	if (o->extended_vtf && !(req && req->n)) {
		rc = print_statistics(&p);
	}
	fault = print_events(&p);
	while (p.n) {
		free_share(&p.heap[--p.n]);
	}
	free(p.heap);
	for (i = 0; stt_damage_text(t, i, text, sizeof(text)); i++) {
		fprintf(f, "C damaged: %s\n", text);
	}
	rc |= stt_damage(o, t);
	return fault ? fault : rc;
}

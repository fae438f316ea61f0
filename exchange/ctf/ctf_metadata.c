/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the metadata of CTF 1.8, in TSDL. Names are labels of enumerations, so that an event stores only a
 * number. */
#include "config.h"
#include "exchange/ctf/ctf_private.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

uint64_t xch_ctf_frequency(const struct xch_trace *t)
{
	uint64_t a = t->div * 1000000000;

	return t->div && a % t->mul == 0 ? a / t->mul : 1000000000;
}

uint64_t xch_ctf_stamp(const struct xch_trace *t, uint64_t time)
{
	return t->div && t->div * 1000000000 % t->mul == 0 ? time : (uint64_t)xch_ns(t, time);
}

/* Writes a text as the content of a string literal. */
static void quoted(FILE *f, const char *text)
{
	putc('"', f);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\') {
			fprintf(f, "\\%c", *text);
		} else if ((unsigned char)*text < ' ' || *text == 127) {
			fprintf(f, "\\%03o", (unsigned char)*text);
		} else {
			putc(*text, f);
		}
	}
	putc('"', f);
}

static void with_class(FILE *f, const struct xch_named *n)
{
	char name[4200];

	snprintf(name, sizeof(name), "%.2000s%s%.2000s", n->cls, *n->cls ? ":" : "", n->name);
	quoted(f, name);
}

/* Writes an enumeration type for a list of names: value 0 is none, other values are 1 + index. */
static void names(FILE *f, const char *type, const struct xch_list *l)
{
	size_t i;

	fprintf(f, "enum %s : uint32_t {\n\t\"\" = 0", type);
	for (i = 0; i < l->n; i++) {
		fputs(",\n\t", f);
		with_class(f, &l->v[i]);
		fprintf(f, " = %" PRIu32, l->v[i].index + 1);
	}
	fputs("\n};\n\n", f);
}

static void places(FILE *f, const struct xch_trace *t)
{
	char name[700];
	size_t i;

	fprintf(f, "/* who recorded something: process:thread, host and name */\nenum place : uint32_t {\n");
	for (i = 0; i < t->n_places; i++) {
		const struct xch_place *p = &t->place[i];
		const char *host = p->host ? p->host : "", *own = p->name ? p->name : "";

		if (p->is_group) {
			snprintf(name, sizeof(name), "group %" PRIu32 " %.300s", p->willy & 0x7fffffffu, own);
		} else {
			snprintf(name, sizeof(name), "%" PRIu32 ":%" PRIu32 "%s%.300s%s%.300s", p->process, p->thread,
				*host ? " " : "", host, *own ? " " : "", own);
		}
		fputs("\t", f);
		quoted(f, name);
		fprintf(f, " = %" PRIu32 ",\n", p->index);
	}
	fprintf(f, "\t\"none\" = %" PRIu32 "\n};\n\n", UINT32_MAX);
	fputs("enum communicator : uint32_t {\n\t\"\" = 0", f);
	for (i = 0; i < t->n_communicators; i++) {
		fputs(",\n\t", f);
		quoted(f, t->communicator[i].name ? t->communicator[i].name : "");
		fprintf(f, " = %" PRIu32, t->communicator[i].id);
	}
	fputs("\n};\n\n", f);
}

/* Writes the environment: how the trace was made, and the units of the counters. */
static void environment(FILE *f, const struct xch_trace *t)
{
	const char *cls, *text;
	unsigned n = 0;
	size_t i = 0;

	fprintf(f,
		"env {\n\ttracer_name = \"tickmark\";\n\ttime_stamp_unit_s = \"%.17g\";\n"
		"\tbytes_at_least = %" PRIu32 "; /* a size of that many bytes is at least that */\n",
		t->resolution, STF_BYTES_AT_LEAST);
	while (xch_next_info(t, &i, &cls, &text)) {
		fprintf(f, "\tinfo_%u_class = ", n);
		quoted(f, cls);
		fprintf(f, ";\n\tinfo_%u = ", n++);
		quoted(f, text);
		fputs(";\n", f);
	}
	for (i = 0; i < t->n_counters; i++) {
		fprintf(f, "\tcounter_%zu_name = ", i);
		quoted(f, t->counter[i].name);
		fprintf(f, ";\n\tcounter_%zu_unit = ", i);
		quoted(f, t->counter[i].unit);
		fputs(";\n", f);
	}
	fputs("};\n\n", f);
}

static void clock_of(FILE *f, const struct xch_trace *t)
{
	double cycles = ceil(t->worst_bound * (double)xch_ctf_frequency(t));

	fprintf(f,
		"clock {\n\tname = \"tickmark\";\n\tdescription = \"corrected time axis of the trace\";\n"
		"\tfreq = %" PRIu64 ";\n",
		xch_ctf_frequency(t));
	if (!isnan(cycles) && cycles < 9e18) {
		fprintf(f, "\tprecision = %.0f; /* cycles: the largest bound of the trace */\n", cycles);
	}
	fputs("\toffset_s = 0;\n\toffset = 0;\n\tabsolute = FALSE;\n};\n\n"
	      "typealias integer { size = 64; align = 8; signed = false; map = clock.tickmark.value; } := stamp_t;\n\n",
		f);
}

static void one_event(FILE *f, unsigned id, const char *name, const char *fields)
{
	fprintf(f, "event {\n\tid = %u;\n\tname = ", id);
	quoted(f, name);
	fprintf(f, ";\n\tstream_id = 0;\n\tfields := struct {\n%s\t};\n};\n\n", fields);
}

static void events(FILE *f, const struct xch_trace *t)
{
	static const char message[] =
		"\t\tuint64_t message;\n\t\tenum place other;\n\t\tenum communicator communicator;\n"
		"\t\tuint32_t tag;\n\t\tuint32_t size;\n\t\tenum function function;\n";
	static const char collective[] =
		"\t\tuint64_t instance;\n\t\tenum collective operation;\n"
		"\t\tenum communicator communicator;\n\t\tuint32_t members;\n\t\tenum place root;\n"
		"\t\tuint64_t sent;\n\t\tuint64_t received;\n";
	static const char io[] = "\t\tuint32_t operation;\n\t\tenum file file;\n\t\tuint32_t bytes;\n";
	static const char scope[] = "\t\tenum scope scope;\n\t\tuint32_t number;\n", text[] = "\t\tstring text;\n";
	/* in the order of the kinds */
	static const char *const fields[] = { message, message, collective, collective, io, io, scope, scope, text,
		text };
	size_t i;

	one_event(f, CTF_ENTRY, "function_entry", "\t\tenum function function;\n");
	one_event(f, CTF_EXIT, "function_exit", "\t\tenum function function;\n");
	for (i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		one_event(f, CTF_SEND + (unsigned)i, xch_kind_word(XCH_SEND + (enum xch_kind)i), fields[i]);
	}
	for (i = 0; i < t->n_counters; i++) {
		one_event(f, CTF_COUNTER + (unsigned)i, t->counter[i].name,
			t->counter[i].type == STF_COUNTER_F8           ? "\t\tdouble value;\n"
				: t->counter[i].type == STF_COUNTER_U8 ? "\t\tuint64_t value;\n"
								       : "\t\tint64_t value;\n");
	}
}

void xch_ctf_metadata(FILE *f, const struct xch_trace *t)
{
	fputs("/* CTF 1.8 */\n\n"
	      "typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n"
	      "typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
	      "typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
	      "typealias integer { size = 64; align = 8; signed = true; } := int64_t;\n"
	      "typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; } := double;\n\n"
	      "trace {\n\tmajor = 1;\n\tminor = 8;\n\tbyte_order = le;\n\tpacket.header := struct {\n"
	      "\t\tuint32_t magic;\n\t\tuint32_t stream_id;\n\t\tuint64_t stream_instance_id;\n\t};\n};\n\n",
		f);
	environment(f, t);
	clock_of(f, t);
	places(f, t);
	names(f, "function", &t->names[XCH_FUNCTIONS]);
	names(f, "scope", &t->names[XCH_SCOPES]);
	names(f, "collective", &t->names[XCH_OPERATIONS]);
	names(f, "file", &t->names[XCH_FILES]);
	if (t->names[XCH_SOURCES].n) {
		names(f, "location", &t->names[XCH_SOURCES]);
	}
	fputs("stream {\n\tid = 0;\n\tpacket.context := struct {\n\t\tstamp_t timestamp_begin;\n\t\tstamp_t "
	      "timestamp_end;\n"
	      "\t\tuint64_t content_size;\n\t\tuint64_t packet_size;\n\t\tuint64_t packet_seq_num;\n"
	      "\t\tuint64_t events_discarded;\n\t\tenum place place;\n\t};\n"
	      "\tevent.header := struct {\n\t\tuint16_t id;\n\t\tstamp_t timestamp;\n\t};\n"
	      "\t/* by how many nanoseconds the stamp may be wrong; -1: unknown */\n"
	      "\tevent.context := struct {\n\t\tint64_t bound_ns;\n",
		f);
	fputs(t->names[XCH_SOURCES].n ? "\t\tenum location location;\n\t};\n};\n\n" : "\t};\n};\n\n", f);
	events(f, t);
}

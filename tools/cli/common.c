/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors, output and names, for all files of stftool. */
#include "config.h"
#include "tools/cli/stftool.h"

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- messages ---- */

static void print_program_line(const struct stt_options *o, const char *fmt, va_list ap)
{
	char text[1024];

	vsnprintf(text, sizeof(text), fmt, ap);
	fflush(stdout);
	fprintf(stderr, "%s: %s\n", o->program, tkm_plain(text));
}

int stt_fault(const struct stt_options *o, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_program_line(o, fmt, ap);
	va_end(ap);
	return STT_FAULT;
}

int stt_usage(const struct stt_options *o, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_program_line(o, fmt, ap);
	va_end(ap);
	return STT_USAGE;
}

void stt_say(const struct stt_options *o, int level, const char *fmt, ...)
{
	va_list ap;

	if (o->verbose >= level) {
		va_start(ap, fmt);
		print_program_line(o, fmt, ap);
		va_end(ap);
	}
}

int stt_stf_fault(const struct stt_options *o, const struct stf_err *e)
{
	char place[80] = "", real[sizeof(e->file)];
	const char *file = e->file;
	ssize_t n;

	if (o->scratch && !strncmp(file, o->scratch, strlen(o->scratch))) {
		/* the user knows the file to which the link points */
		n = readlink(file, real, sizeof(real) - 1);
		real[n > 0 ? n : 0] = '\0';
		file = n > 0 ? real : "the index made for it";
	}
	if (e->record) {
		snprintf(place, sizeof(place), "offset %" PRIu64 ", record %" PRIu64 ": ", e->offset, e->record);
	} else if (e->offset || e->code == STF_ERR_FORMAT || e->code == STF_ERR_TRUNCATED) {
		snprintf(place, sizeof(place), "offset %" PRIu64 ": ", e->offset);
	}
	return stt_fault(o, "%s%s%s%s", file, file[0] ? ": " : "", place, e->text);
}

static int printing; /* the output goes to standard output */

void stt_progress_part(const struct stt_options *o, uint64_t part, uint64_t whole)
{
	static unsigned calls, shown;
	static time_t began;
	unsigned percent, i;

	if (part >= whole) {
		if (shown) {
			fprintf(stderr, "\r%60s\r", "");
		}
		shown = 0;
		return;
	}
	if ((++calls & 0x3f) != 0) {
		return;
	}
	began = began ? began : time(NULL);
	/* on the same terminal it would disturb the text */
	if (o->verbose < 1 || !isatty(STDERR_FILENO) || (printing && isatty(STDOUT_FILENO)) || time(NULL) - began < 1) {
		return;
	}
	percent = (unsigned)(100.0 * ((double)part / (double)whole));
	if (percent >= shown) {
		fputs("\r[", stderr);
		for (i = 0; i < 50; i++) {
			fputc(i < percent / 2 ? '#' : ' ', stderr);
		}
		fprintf(stderr, "] %3u%%", percent);
		fflush(stderr);
		shown = percent + 1;
	}
}

void stt_progress(const struct stt_options *o, const struct stt_trace *t, uint64_t now, int done)
{
	static unsigned calls;
	uint64_t start, end;

	if (done) {
		stt_progress_part(o, 1, 1);
	} else if ((++calls & 0xf) == 0 && stf_reader_duration(t->r, &start, &end) == 0 && end > start &&
		now >= start && now < end) {
		stt_progress_part(o, now - start, end - start);
	}
}

/* ---- output ---- */

int stt_out_begin(struct stt_out *out, const char *name, const struct stt_options *o)
{
	struct tkm_err e;
	struct stat st;

	memset(out, 0, sizeof(*out));
	out->name = name;
	if (!strcmp(name, "-")) {
		out->f = stdout;
		printing = 1;
		return 0;
	}
	if (!o->force && lstat(name, &st) == 0) {
		stt_fault(o, "%s exists; --force replaces it", name);
		return -1;
	}
	if (tkm_newfile_begin(&out->file, name, o->force, &e) < 0) {
		stt_fault(o, "%s", e.text);
		return -1;
	}
	out->f = out->file.f;
	return 0;
}

int stt_is_input(const struct stt_options *o, const char *to)
{
	char *a = o->n_inputs > 0 ? realpath(o->inputs[0], NULL) : NULL, *b = realpath(to, NULL);
	size_t n = b ? strlen(b) : 0;
	int is = a && b && !strncmp(a, b, n) && (a[n] == '/' || !a[n]);

	free(a);
	free(b);
	return is;
}

int stt_out_end(struct stt_out *out, const struct stt_options *o)
{
	struct tkm_err e;

	if (out->f == stdout) {
		if (fflush(stdout) != 0 || ferror(stdout)) {
			stt_fault(o, "cannot write to standard output: %s", strerror(errno));
			return -1;
		}
		return 0;
	}
	if (tkm_newfile_commit(&out->file, &e) < 0) {
		stt_fault(o, "%s", e.text);
		return -1;
	}
	return 0;
}

void stt_out_abort(struct stt_out *out)
{
	if (out->f != stdout) {
		tkm_newfile_abort(&out->file);
	}
}

void stt_quote(FILE *f, const char *text, size_t n)
{
	size_t i;

	fputc('"', f);
	for (i = 0; i < n; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == '"' || c == '\\') {
			fputc('\\', f);
			fputc(c, f);
		} else if (c < ' ' || c == 0x7f) {
			fprintf(f, "\\x%02x", c);
		} else {
			fputc(c, f);
		}
	}
	fputc('"', f);
}

const char *stt_real(double v, char *buf)
{
	/* 15 digits always read back unchanged, except for numbers too small to have that many */
	int digits = fabs(v) < DBL_MIN ? 1 : 15, n = 1;

	for (; n > 0 && digits <= 17; digits++) {
		n = snprintf(buf, 32, "%.*g", digits, v);
		if (strtod(buf, NULL) == v) {
			break;
		}
	}
	return buf;
}

/* ---- names ---- */

long long stt_thread_number(const struct stt_trace *t, uint32_t willy)
{
	uint32_t process = stf_willy_process(willy);

	if (stf_willy_is_group(willy) || process >= t->n_processes || stf_willy_thread(willy) >= t->threads[process]) {
		return -1;
	}
	return (long long)(t->first[process] + stf_willy_thread(willy));
}

int stt_is_about_files(const struct stt_trace *t, uint32_t info_class)
{
	const char *name = stf_reader_name(t->r, STF_ID_class_definition, info_class);

	return name && (!strcmp(name, "integrity") || !strcmp(name, "late"));
}

const char *stt_group_name(const struct stt_trace *t, uint32_t willy)
{
	struct stf_willy_info w;
	const char *name = NULL;

	if (stf_willy_is_group(willy)) {
		name = stf_reader_name(t->r, STF_ID_group_definition, willy & 0x7fffffff);
		if (!name && stf_reader_willy(t->r, willy, &w) == 0) {
			name = w.name;
		}
	}
	return name;
}

const char *stt_willy_name(const struct stt_trace *t, uint32_t willy, char *buf, size_t size)
{
	const char *name = stt_group_name(t, willy);

	if (name) {
		return name;
	}
	if (stf_willy_is_group(willy)) {
		snprintf(buf, size, "group:%" PRIu32, willy & 0x7fffffff);
	} else {
		snprintf(buf, size, "%" PRIu32 ":%" PRIu32, stf_willy_thread(willy), stf_willy_process(willy));
	}
	return buf;
}

static const char *source_location(const struct stt_trace *t, uint32_t id, char *buf, size_t size)
{
	const struct stf_record *r = stf_reader_find(t->r, STF_ID_scl_definition, id);
	struct stf_scl_definition d;
	const char *file;

	if (!r || stf_get_scl_definition(r, &d) < 0 || !d.size_1_4) {
		return NULL;
	}
	file = stf_reader_name(t->r, STF_ID_file_definition, d.file[0]);
	if (!file) {
		return NULL;
	}
	snprintf(buf, size, "%s:%" PRIu32, file, d.line[0]);
	return buf;
}

const char *stt_full_name(const struct stt_trace *t, unsigned class_id, uint32_t id, char *buf, size_t size)
{
	const struct stf_record *r;
	const struct stf_value *v;
	const char *name, *cls;

	if (class_id == STF_ID_scl_definition) {
		return source_location(t, id, buf, size);
	}
	name = stf_reader_name(t->r, class_id, id);
	r = name ? stf_reader_find(t->r, class_id, id) : NULL;
	v = r ? stf_value(r, "classid") : NULL;
	cls = v && v->u ? stf_reader_name(t->r, STF_ID_class_definition, (uint32_t)v->u) : NULL;
	if (!name || !cls) {
		return name;
	}
	snprintf(buf, size, "%s:%s", cls, name);
	return buf;
}

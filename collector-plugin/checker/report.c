/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports: which are wanted, how often, and where they go. */
#include "config.h"
#include "collector-plugin/checker/checker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector-plugin/host/say.h"

enum { WARNING = 1, ERROR, FATAL };

static struct {
	long long errors, reports, suppression;
	int printed[VT_MC_CLASSES], recorded[VT_MC_CLASSES];
	int n_reports;
	int json, read;
} limits = { .json = -1 };

static void read_limits(void)
{
	const char *json = vt_mc_option("CHECK-JSON");

	if (limits.read) {
		return;
	}
	limits.read = 1;
	limits.errors = vt_mc_limit("CHECK-MAX-ERRORS", 1);
	limits.reports = vt_mc_limit("CHECK-MAX-REPORTS", 0);
	limits.suppression = vt_mc_limit("CHECK-SUPPRESSION-LIMIT", 10);
	if (json && *json) {
		limits.json = open(json, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
		if (limits.json < 0) {
			vt_mc_say("CHECK-JSON: cannot write %s: %s; reports go to standard error only", json,
				strerror(errno));
		}
	}
}

/* ---- one report ---- */

/* For debuggers: a breakpoint here stops after each report. Its name is that of the guide, section 2.13.5. */
__attribute__((visibility("default"), noinline)) void MessageCheckingBreakpoint(
	const char *errortype, int reportnumber, const char *message);
void MessageCheckingBreakpoint(const char *errortype, int reportnumber, const char *message)
{
	__asm__ volatile("" : : "r"(errortype), "r"(reportnumber), "r"(message) : "memory");
}

/* Puts the tag before each line of the text. */
static void print_tagged(int level, const char *text)
{
	char out[9000];
	size_t n = 0, length;

	for (; *text && n < sizeof(out) - 1100; text += length + (text[length] == '\n')) {
		length = strcspn(text, "\n");
		n += (size_t)snprintf(out + n, sizeof(out) - n, "[%d] %s: %.*s\n", vt_mc_rank,
			level == WARNING ? "WARNING" : "ERROR", (int)(length < 1000 ? length : 1000), text);
	}
	if (vt_mc_verbose() > 0) {
		vt_say_lines(out);
	}
}

static void add_json_text(char *out, size_t size, const char *text)
{
	size_t n = strlen(out);

	for (; *text && n + 8 < size; text++) {
		if (*text == '\n') {
			n += (size_t)snprintf(out + n, size - n, "\\n");
		} else if (*text == '"' || *text == '\\') {
			n += (size_t)snprintf(out + n, size - n, "\\%c", *text);
		} else if ((unsigned char)*text >= 32) {
			out[n++] = *text;
			out[n] = '\0';
		}
	}
}

static void print_json(enum vt_mc_class c, const char *text)
{
	static const char *const levels[] = { "", "warning", "error", "fatal error" };
	char out[9000];
	size_t n;

	if (limits.json < 0) {
		return;
	}
	snprintf(out, sizeof(out), "{\"rank\":%d,\"type\":\"%s\",\"level\":\"%s\",\"report\":\"", vt_mc_rank,
		vt_mc_class_of[c].name, levels[vt_mc_class_of[c].level]);
	add_json_text(out, sizeof(out) - 4, text);
	n = strlen(out);
	n += (size_t)snprintf(out + n, sizeof(out) - n, "\"}\n");
	if (write(limits.json, out, n) < 0) {
		limits.json = -1;
	}
}

static uint64_t hash_text(const char *text)
{
	uint64_t h = 1469598103934665603u;

	/* numbers and addresses, which differ from rank to rank, are left out */
	for (; *text; text++) {
		if (!strncmp(text, "0x", 2)) {
			text += 1 + strspn(text + 2, "0123456789abcdef");
		} else if (!(*text >= '0' && *text <= '9')) {
			h = (h ^ (unsigned char)*text) * 1099511628211u;
		}
	}
	return h ? h : 1;
}

/* Has another rank printed the same? Then only the rank is noted. */
static int is_known(enum vt_mc_class c, uint64_t hash)
{
	struct vt_mc_seen *s = NULL;
	int i, known = 0;

	if (!vt_mc_shared) {
		return 0;
	}
	vt_mc_shared_lock();
	for (i = 0; i < VT_MC_SEEN && vt_mc_shared->seen[i].hash && vt_mc_shared->seen[i].hash != hash; i++) {
	}
	s = i < VT_MC_SEEN ? &vt_mc_shared->seen[i] : NULL;
	if (s && s->hash) {
		known = s->first != vt_mc_rank;
	} else if (s) {
		s->hash = hash;
		s->class = c;
		s->first = vt_mc_rank;
	}
	if (s) {
		vt_mc_set_bit(s->ranks, vt_mc_rank);
	}
	vt_mc_shared_unlock();
	return known;
}

static void count_report(enum vt_mc_class c)
{
	struct vt_mc_rank *r = vt_mc_shared ? &vt_mc_shared->rank[vt_mc_rank] : NULL;

	limits.n_reports++;
	vt_mc_errors += vt_mc_class_of[c].level > WARNING;
	if (r) {
		r->count[c]++;
		r->errors += vt_mc_class_of[c].level > WARNING;
		r->warnings += vt_mc_class_of[c].level == WARNING;
	}
}

/* The limits of the guide, section 3.3.1. */
static void stop_at_limit(enum vt_mc_class c)
{
	/* after MPI_Finalize no other rank can be told, and the process ends with a status that is not 0 */
	if (vt_mc_over) {
		return;
	}
	if (vt_mc_class_of[c].level == FATAL) {
		vt_mc_stop(NULL, 0);
	}
	if (limits.errors > 0 && vt_mc_errors >= limits.errors) {
		vt_mc_stop("check-max-errors", limits.errors);
	}
	if (limits.reports > 0 && limits.n_reports >= limits.reports) {
		vt_mc_stop("check-max-reports", limits.reports);
	}
}

/* text: what follows the head. Returns 0 if it is suppressed. */
static int make_report(enum vt_mc_class c, const char *text)
{
	static const char *const levels[] = { "", "warning", "error", "fatal error" };
	char all[8000];

	if (vt_mc_suppress(c, text + strcspn(text, "\n") + (strchr(text, '\n') != NULL))) {
		return 0;
	}
	read_limits();
	count_report(c);
	if (limits.suppression <= 0 || limits.recorded[c]++ < limits.suppression) {
		vt_mc_trace_report(c, levels[vt_mc_class_of[c].level], text);
	}
	if (!is_known(c, hash_text(text) ^ (uint64_t)c) &&
		(limits.suppression <= 0 || limits.printed[c] < limits.suppression)) {
		limits.printed[c]++;
		snprintf(all, sizeof(all), "%s: %s\n%s", vt_mc_class_of[c].name, levels[vt_mc_class_of[c].level], text);
		print_tagged(vt_mc_class_of[c].level, all);
		print_json(c, text);
		MessageCheckingBreakpoint(vt_mc_class_of[c].name, limits.n_reports, text);
		if (limits.printed[c] == limits.suppression) {
			print_tagged(WARNING,
				"   further reports of this class and process are not printed (CHECK-SUPPRESSION-LIMIT)");
		}
	}
	stop_at_limit(c);
	return 1;
}

static size_t add_place(char *text, size_t size, const struct vt_mc_place *place)
{
	char frames[2000];

	vt_mc_print_frames(place, "\n         ", frames, sizeof(frames));
	return (size_t)snprintf(text, size, "   %s\n", frames);
}

int vt_mc_report(
	enum vt_mc_class c, const struct vt_mc_call *k, const struct vt_mc_involved *other, const char *fmt, ...)
{
	char text[6000], call[700];
	struct vt_mc_place here;
	size_t n;
	va_list ap;

	if (!vt_mc_on(c)) {
		return 0;
	}
	n = (size_t)snprintf(text, sizeof(text), "   ");
	va_start(ap, fmt);
	n += (size_t)vsnprintf(text + n, 1500, fmt, ap);
	va_end(ap);
	n = n > 1600 ? 1600 : n;
	n += (size_t)snprintf(text + n, sizeof(text) - n, "\n");
	if (k) {
		vt_mc_here(&here, k);
		n += (size_t)snprintf(text + n, sizeof(text) - n, "   %s", vt_mc_print_call(k, call, sizeof(call)));
		n += add_place(text + n, sizeof(text) - n, &here);
	}
	if (other && other->place && other->place->n && n < sizeof(text)) {
		n += (size_t)snprintf(text + n, sizeof(text) - n, "   %s %s", other->what,
			other->place->f ? other->place->f->text : "");
		add_place(text + n, sizeof(text) - n, other->place);
	}
	return make_report(c, text);
}

void vt_mc_report_lines(enum vt_mc_class c, const char *lines, const char *fmt, ...)
{
	char text[7500];
	size_t n;
	va_list ap;

	if (!vt_mc_on(c)) {
		return;
	}
	n = (size_t)snprintf(text, sizeof(text), "   ");
	va_start(ap, fmt);
	n += (size_t)vsnprintf(text + n, 1000, fmt, ap);
	va_end(ap);
	n = n > 1000 ? 1000 : n;
	snprintf(text + n, sizeof(text) - n, "\n%s", lines);
	make_report(c, text);
}

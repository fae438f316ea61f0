/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the results of the checks for people, and in the formats of monitoring programs. */
#include "config.h"
#include "check/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/quote.h"
#include "base/text/text.h"

/* On a node that timertest never ran on, all checks of the cluster have the same reason, which the first one tells. */
static int is_told(const struct chk_report *r, const struct chk_stored *s, size_t i)
{
	size_t k;

	for (k = 0; k < i && !s->have; k++) {
		if (r->result[k].status == CHK_UNKNOWN && r->result[i].status == CHK_UNKNOWN &&
			!strcmp(r->result[k].text, r->result[i].text)) {
			return 1;
		}
	}
	return 0;
}

/* The checks with the reason of the i-th: "sync.offset_max", or "sync.offset_max to result.age". */
static const char *names_of(const struct chk_report *r, const struct chk_stored *s, size_t i, char *buf, size_t size)
{
	size_t k, n = 0, last = i;

	for (k = i; k < chk_count; k++) {
		if (k == i || (is_told(r, s, k) && !strcmp(r->result[k].text, r->result[i].text))) {
			last = k;
			n++;
		}
	}
	snprintf(buf, size, n > 1 ? "%s to %s" : "%s", chk_table[i].name, chk_table[last].name);
	return buf;
}

static void summary(FILE *f, const struct chk_report *r, const struct chk_stored *s)
{
	char value[32], names[100];
	size_t i, n[5] = { 0 };
	int shown = 0;
	enum chk_status worst = chk_overall(r);

	for (i = 0; i < chk_count; i++) {
		n[r->result[i].status]++;
	}
	fprintf(f, "%s - %zu checks ok", chk_status_name(worst), n[CHK_OK] + n[CHK_ABSENT]);
	for (i = 1; i <= CHK_UNKNOWN; i++) {
		static const char *const what[] = { "", "warning", "critical", "not known" };

		if (n[i]) {
			fprintf(f, ", %zu %s", n[i], what[i]);
		}
	}
	for (i = 0; i < chk_count && worst != CHK_OK; i++) {
		if (r->result[i].status == worst && !is_told(r, s, i) && shown++ < 3) {
			fprintf(f, "%s %s", shown == 1 ? ":" : ";", names_of(r, s, i, names, sizeof(names)));
			if (worst != CHK_UNKNOWN && chk_table[i].unit != CHK_COUNT) {
				fprintf(f, " %s",
					chk_print_value(value, sizeof(value), chk_table[i].unit, r->result[i].value));
			}
			fprintf(f, " (%s)", r->result[i].text);
		}
	}
}

static const char *limit_text(char *buf, size_t size, const struct chk_check *c, const struct chk_limit *l)
{
	char a[32], b[32];

	chk_print_value(a, sizeof(a), c->unit, l->warning);
	chk_print_value(b, sizeof(b), c->unit, l->critical);
	snprintf(buf, size, "%s%s%s%s%s", isfinite(l->warning) ? "warning above " : "", isfinite(l->warning) ? a : "",
		isfinite(l->warning) && isfinite(l->critical) ? ", " : "",
		isfinite(l->critical) ? "critical above " : "", isfinite(l->critical) ? b : "");
	return buf;
}

static void print_human(FILE *f, const struct chk_report *r, const struct chk_stored *s)
{
	static const char *const word[] = { "ok", "WARNING", "CRITICAL", "not known", "-" };
	size_t i;

	fprintf(f, "host: %s, limits: %s\n", r->host, r->profile);
	for (i = 0; i < chk_count; i++) {
		const struct chk_check *c = &chk_table[i];
		const struct chk_result *x = &r->result[i];
		char value[80] = "", limits[100], names[100];
		size_t n;

		if (is_told(r, s, i)) {
			continue;
		}
		if (x->status < CHK_UNKNOWN && c->unit != CHK_COUNT) {
			chk_print_value(value, sizeof(value), c->unit, isnan(x->measured) ? x->value : x->measured);
			if (isfinite(x->uncertainty)) {
				n = strlen(value);
				snprintf(value + n, sizeof(value) - n, " +- ");
				chk_print_value(value + n + 4, sizeof(value) - n - 4, c->unit, x->uncertainty);
			}
		}
		fprintf(f, "%-9s  %-23s  %s%s%s\n", word[x->status], names_of(r, s, i, names, sizeof(names)), value,
			value[0] ? ": " : "", x->text);
		if (x->status == CHK_WARNING || x->status == CHK_CRITICAL) {
			fprintf(f, "%-9s  %-23s  limits: %s\n", "", "",
				limit_text(limits, sizeof(limits), c, &r->limit[i]));
			fprintf(f, "%-9s  %-23s  why it matters: %s\n%-9s  %-23s  what to do: %s\n", "", "", c->why, "",
				"", c->what);
		}
	}
	fprintf(f, "timertest --check: ");
	summary(f, r, s);
	fprintf(f, "\n");
}

/* A number of JSON; unknown and infinite ones are null. */
static void json_number(FILE *f, double v)
{
	if (isfinite(v)) {
		fprintf(f, "%.9g", v);
	} else {
		fprintf(f, "null");
	}
}

static void json(FILE *f, const struct chk_report *r, const struct chk_stored *s)
{
	static const char *const unit[] = { "s", "ppm", "" };
	size_t i;

	fprintf(f, "{\"schema\":\"timertest-check/1\",\"program\":");
	tkm_quote_json(f, PACKAGE_STRING);
	fprintf(f, ",\"host\":");
	tkm_quote_json(f, r->host);
	fprintf(f, ",\"profile\":");
	tkm_quote_json(f, r->profile);
	fprintf(f, ",\"time_unix_s\":%.0f,\"duration_s\":%.3f,\"result\":", r->time_s, r->duration_s);
	if (s->have) {
		tkm_quote_json(f, s->path);
	} else {
		fprintf(f, "null");
	}
	fprintf(f, ",\"status\":\"%s\",\"exit_status\":%d,\"checks\":[", chk_status_name(chk_overall(r)),
		(int)chk_overall(r));
	for (i = 0; i < chk_count; i++) {
		fprintf(f, "%s\n{\"name\":\"%s\",\"status\":\"%s\",\"value\":", i ? "," : "", chk_table[i].name,
			chk_status_name(r->result[i].status));
		json_number(f, r->result[i].value);
		fprintf(f, ",\"measured\":");
		json_number(f, r->result[i].measured);
		fprintf(f, ",\"uncertainty\":");
		json_number(f, r->result[i].uncertainty);
		fprintf(f, ",\"unit\":\"%s\",\"warning\":", unit[chk_table[i].unit]);
		json_number(f, r->limit[i].warning);
		fprintf(f, ",\"critical\":");
		json_number(f, r->limit[i].critical);
		fprintf(f, ",\"text\":");
		tkm_quote_json(f, r->result[i].text);
		fprintf(f, ",\"why\":");
		tkm_quote_json(f, chk_table[i].why);
		fprintf(f, ",\"what_to_do\":");
		tkm_quote_json(f, chk_table[i].what);
		fprintf(f, "}");
	}
	fprintf(f, "\n]}\n");
}

/* Performance data allow no exponents, and no time unit below microseconds; '|' divides the line. */
static void nagios_number(FILE *f, double v)
{
	if (isfinite(v)) {
		fprintf(f, "%.6f", v);
	}
}

static void nagios(FILE *f, const struct chk_report *r, const struct chk_stored *s)
{
	char *line = NULL, *p;
	size_t size, i;
	FILE *t = open_memstream(&line, &size);

	if (!t) {
		return;
	}
	summary(t, r, s);
	if (tkm_text_end(t, &line) < 0) {
		return;
	}
	for (p = line; *p; p++) {
		*p = *p == '|' || (unsigned char)*p < 0x20 ? ' ' : *p;
	}
	fprintf(f, "TIMERTEST %s |", line);
	free(line);
	for (i = 0; i < chk_count; i++) {
		double scale = chk_table[i].unit == CHK_SECONDS ? 1e6 : 1;

		if (isfinite(r->result[i].value) && r->result[i].status < CHK_UNKNOWN) {
			fprintf(f, " '%s'=", chk_table[i].name);
			nagios_number(f, scale * r->result[i].value);
			fprintf(f, "%s;", chk_table[i].unit == CHK_SECONDS ? "us" : "");
			nagios_number(f, scale * r->limit[i].warning);
			fprintf(f, ";");
			nagios_number(f, scale * r->limit[i].critical);
			fprintf(f, ";0");
		}
	}
	fprintf(f, "\n");
}

static void prometheus_uncertain(FILE *f, const struct chk_report *r)
{
	static const char *const unit[] = { "seconds", "ratio" };
	size_t i;
	int u, k;

	for (u = 0; u < 4; u++) {
		fprintf(f, "# HELP timertest_check_%s_%s %s\n# TYPE timertest_check_%s_%s gauge\n",
			u & 1 ? "uncertainty" : "measured", unit[u / 2],
			u & 1 ? "Of what a check has measured."
			      : "What was measured, before its uncertainty was taken off.",
			u & 1 ? "uncertainty" : "measured", unit[u / 2]);
		for (i = 0; i < chk_count; i++) {
			double v = u & 1 ? r->result[i].uncertainty : r->result[i].measured;

			k = u / 2;
			if ((int)chk_table[i].unit == k && isfinite(v)) {
				fprintf(f, "timertest_check_%s_%s{check=\"%s\"} %.9g\n",
					u & 1 ? "uncertainty" : "measured", unit[k], chk_table[i].name,
					v * (k == CHK_PPM ? 1e-6 : 1));
			}
		}
	}
}

/* No time stamps: the textfile collector refuses them. */
static void prometheus(FILE *f, const struct chk_report *r, const struct chk_stored *s)
{
	static const char *const unit[] = { "seconds", "ratio", "found" };
	size_t i;
	int u;

	fprintf(f,
		"# HELP timertest_check_status 0 ok, 1 warning, 2 critical, 3 not known.\n# TYPE "
		"timertest_check_status gauge\n");
	for (i = 0; i < chk_count; i++) {
		if (r->result[i].status <= CHK_UNKNOWN) {
			fprintf(f, "timertest_check_status{check=\"%s\"} %d\n", chk_table[i].name,
				(int)r->result[i].status);
		}
	}
	for (u = 0; u < 3; u++) {
		fprintf(f,
			"# HELP timertest_check_value_%s What a check has measured.\n# TYPE timertest_check_value_%s "
			"gauge\n",
			unit[u], unit[u]);
		for (i = 0; i < chk_count; i++) {
			if ((int)chk_table[i].unit == u && isfinite(r->result[i].value)) {
				fprintf(f, "timertest_check_value_%s{check=\"%s\"} %.9g\n", unit[u], chk_table[i].name,
					r->result[i].value * (u == CHK_PPM ? 1e-6 : 1));
			}
		}
	}
	prometheus_uncertain(f, r);
	fprintf(f,
		"# HELP timertest_status The worst status of all checks.\n# TYPE timertest_status "
		"gauge\ntimertest_status %d\n",
		(int)chk_overall(r));
	fprintf(f,
		"# HELP timertest_last_run_timestamp_seconds When the checks ended.\n"
		"# TYPE timertest_last_run_timestamp_seconds gauge\ntimertest_last_run_timestamp_seconds %.0f\n",
		r->time_s);
	if (s->have && isfinite(s->started_s)) {
		fprintf(f,
			"# HELP timertest_result_timestamp_seconds When the stored result of timertest began.\n"
			"# TYPE timertest_result_timestamp_seconds gauge\ntimertest_result_timestamp_seconds %.0f\n",
			s->started_s);
	}
}

static const struct {
	const char *name;
	void (*write)(FILE *f, const struct chk_report *r, const struct chk_stored *s);
} formats[] = {
	{ "human", print_human },
	{ "json", json },
	{ "nagios", nagios },
	{ "prometheus", prometheus },
};

int chk_find_format(const char *name, struct tkm_err *err)
{
	size_t i;

	for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (!strcmp(formats[i].name, name)) {
			return (int)i;
		}
	}
	if (!strcmp(name, "mpisync")) {
		return tkm_fail(
			err, TKM_ERR_ARG, "--format mpisync: clkapply FILE.clk --format mpisync prints these lines");
	}
	return tkm_fail(err, TKM_ERR_ARG,
		"--format '%s': human, json, nagios and prometheus are known; a filter makes other formats of json, as "
		"contrib/timertest-junit.py does",
		name);
}

void chk_write(FILE *f, int format, const struct chk_report *r, const struct chk_stored *s)
{
	formats[format].write(f, r, s);
}

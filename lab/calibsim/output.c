/* SPDX-License-Identifier: BSD-3-Clause */
/* The output files of calibsim: data files whose first line names columns and units, the script that draws them, and
 * JSON, schema "calibsim/1". */
#include "config.h"
#include "lab/calibsim/calibsim.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/newfile.h"
#include "base/text/quote.h"
#include "base/text/text.h"
#include "plots/calibsim_gnuplot.h"

static void write_scale(FILE *f, const struct cs_options *o, const struct cs_row *row, int rows)
{
	int i;

	(void)o;
	fputs("# domains[1] rounds[1] pairs[1] messages[1] duration[s] hops[1] error_max[s] error_rms[s] "
	      "bound_max[s] "
	      "bound_median[s] online_error_max[s] online_bound_max[s] wrong[1]\n",
		f);
	for (i = 0; i < rows; i++) {
		const struct cs_row *r = &row[i];

		if (i == 0 || r->shape != r[-1].shape) {
			fprintf(f, "%s\"%s\"\n", i ? "\n\n" : "", cal_shape_name(r->shape));
		}
		fprintf(f, "%d %d %ld %.0f %.6e %d %.6e %.6e %.6e %.6e %.6e %.6e %ld\n", r->domains, r->rounds,
			r->exchanges, r->messages, r->session_s, r->deepest, r->after.error_max_s, r->after.error_rms_s,
			r->after.bound_max_s, r->after.bound_median_s, r->online.error_max_s, r->online.bound_max_s,
			r->after.wrong + r->online.wrong);
	}
}

/* The errors by number of exchanges, for the largest simulation of each shape. */
static void write_hops(FILE *f, const struct cs_options *o, const struct cs_row *row, int rows)
{
	int i, h, blocks = 0;

	(void)o;
	fputs("# hops[1] ranks[1] error_max[s] bound_max[s]\n", f);
	for (i = 0; i < rows; i++) {
		if (i + 1 < rows && row[i + 1].shape == row[i].shape) {
			continue;
		}
		fprintf(f, "%s\"%s of %d\"\n", blocks++ ? "\n\n" : "", cal_shape_name(row[i].shape), row[i].domains);
		for (h = 1; h < CS_HOPS; h++) {
			if (row[i].hop[h].ranks) {
				fprintf(f, "%d %ld %.6e %.6e\n", h, row[i].hop[h].ranks, row[i].hop[h].error_max_s,
					row[i].hop[h].bound_max_s);
			}
		}
	}
}

static void write_script(FILE *f, const struct cs_options *o, const struct cs_row *row, int rows)
{
	const char *slash = strrchr(o->output, '/');
	char text[1024];
	int i;

	fputs("# written by " PACKAGE_STRING " calibsim\n", f);
	snprintf(text, sizeof(text), "%.*s", slash ? (int)(slash - o->output + 1) : 0, o->output);
	fputs("cs_dir = ", f);
	tkm_quote_gnuplot(f, text);
	fputs("\ncs_base = ", f);
	tkm_quote_gnuplot(f, slash ? slash + 1 : o->output);
	snprintf(text, sizeof(text), "%lld sessions, %g s apart; %s", o->sessions, o->apart_s, o->network);
	fputs("\ncs_title = ", f);
	tkm_quote_gnuplot(f, text);
	fputs("\ncs_shapes = '", f);
	for (i = 0; i < rows; i++) {
		if (i == 0 || row[i].shape != row[i - 1].shape) {
			fprintf(f, "%s%s", i ? " " : "", cal_shape_name(row[i].shape));
		}
	}
	fputs("'\n", f);
	fputs(calibsim_gnuplot, f);
}

int cs_write_plots(const struct cs_options *o, const struct cs_row *row, int rows, struct tkm_err *err)
{
	const struct {
		const char *suffix;
		void (*write)(FILE *, const struct cs_options *, const struct cs_row *, int);
	} files[] = { { ".scale.dat", write_scale }, { ".hops.dat", write_hops }, { ".gnuplot", write_script } };
	struct tkm_newfile n;
	char path[4096];
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", o->output, files[i].suffix);
		if (tkm_newfile_begin(&n, path, o->force, err) < 0) {
			return -1;
		}
		files[i].write(n.f, o, row, rows);
		if (tkm_newfile_commit(&n, err) < 0) {
			return -1;
		}
	}
	if (!o->quiet) {
		printf("to draw it: gnuplot %s.gnuplot\n", o->output);
	}
	return 0;
}

#ifdef HAVE_JANSSON

#include <jansson.h>

int cs_have_json(void)
{
	return 1;
}

static json_t *number(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

static json_t *quality(const struct cs_quality *q)
{
	return json_pack("{s:I,s:I,s:o,s:o,s:o,s:o}", "ranks", (json_int_t)q->ranks, "wrong", (json_int_t)q->wrong,
		"error_max_s", number(q->ranks ? q->error_max_s : NAN), "error_rms_s", number(q->error_rms_s),
		"bound_max_s", number(q->bound_max_s), "bound_median_s", number(q->bound_median_s));
}

/* Largest errors of the curves, or null. */
static json_t *splines_of(const struct cs_row *r)
{
	json_t *j;
	int i;

	if (!(r->ours_max_s > 0)) {
		return json_null();
	}
	j = json_pack("{s:o}", "ours", number(r->ours_max_s));
	for (i = 0; i < CAL_SPLINES_OF_GSL; i++) {
		json_object_set_new(j, cal_spline_of_gsl_name(i), number(r->spline_max_s[i]));
	}
	return j;
}

static json_t *one_row(const struct cs_row *r)
{
	return json_pack("{s:i,s:s,s:i,s:I,s:o,s:o,s:o,s:i,s:I,s:I,s:I,s:o,s:o,s:o,s:o}", "domains", r->domains,
		"shape", cal_shape_name(r->shape), "rounds", r->rounds, "pairs", (json_int_t)r->exchanges, "messages",
		number(r->messages), "first_session_s", number(r->first_s), "session_s", number(r->session_s), "hops",
		r->deepest, "lost_pairs", (json_int_t)r->lost, "silent_ranks", (json_int_t)r->silent, "open_loops",
		(json_int_t)r->net.loops, "after", quality(&r->after), "online", quality(&r->online),
		"splines_error_max_s", splines_of(r), "cpu_s", number(r->cpu_s));
}

int cs_write_json(
	const struct cs_options *o, const struct cs_model *m, const struct cs_row *row, int rows, struct tkm_err *err)
{
	json_t *j = json_pack("{s:s,s:s,s:s,s:s,s:s?,s:o,s:o,s:I,s:o,s:o,s:o}", "schema", "calibsim/1", "program",
		PACKAGE_STRING " calibsim", "network", o->network, "clocks", o->clocks, "drift_recording", o->recording,
		"rates_change_by", number(m->wander), "rates_are_off_by", number(m->drift), "sessions",
		(json_int_t)o->sessions, "apart_s", number(o->apart_s), "remarks", json_array(), "rows", json_array());
	struct tkm_newfile n;
	char remark[200];
	int i, rc = 0;

	for (i = 0; j && cs_model_remark(o, m, i, remark, sizeof(remark)); i++) {
		json_array_append_new(json_object_get(j, "remarks"), json_string(remark));
	}
	for (i = 0; j && i < rows; i++) {
		json_array_append_new(json_object_get(j, "rows"), one_row(&row[i]));
	}
	if (!j) {
		return tkm_fail(err, TKM_ERR_NOMEM, "--json: out of memory, or an option is not UTF-8");
	}
	if (!strcmp(o->json, "-")) {
		rc = json_dumpf(j, stdout, JSON_INDENT(1)) < 0 || putchar('\n') < 0
			? tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot write to standard output")
			: 0;
	} else if (tkm_newfile_begin(&n, o->json, o->force, err) < 0) {
		rc = -1;
	} else {
		json_dumpf(j, n.f, JSON_INDENT(1));
		fputc('\n', n.f);
		rc = tkm_newfile_commit(&n, err);
	}
	json_decref(j);
	return rc;
}

#else

int cs_have_json(void)
{
	return 0;
}

int cs_write_json(
	const struct cs_options *o, const struct cs_model *m, const struct cs_row *row, int rows, struct tkm_err *err)
{
	(void)o;
	(void)m;
	(void)row;
	(void)rows;
	return tkm_fail(err, TKM_ERR_UNAVAIL, "--json: this build has no jansson");
}

#endif

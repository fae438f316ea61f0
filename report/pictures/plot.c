/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes data and script of single pictures, and runs gnuplot on them. */
#include "config.h"
#include "report/pictures/plot.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/newfile.h"
#include "base/text/quote.h"
#include "base/text/text.h"
#include "plots/curves_gnuplot.h"
#include "report/pictures/counters.h"
#include "report/html/html.h"

struct picture {
	const struct vtr_plot_options *o;
	char script[1300], data[1300], out[1300];
	const char *title, *verdict, *y_unit;
	const struct vtr_curves *c;
};

/* Makes names of files from a name: letters, digits and _ only. */
static void file_names(struct picture *p, const char *name)
{
	char safe[80];
	size_t i;

	for (i = 0; name[i] && i + 1 < sizeof(safe); i++) {
		safe[i] = strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", name[i]) ? name[i]
													     : '_';
	}
	safe[i] = '\0';
	snprintf(p->script, sizeof(p->script), "%.1000s.%s.gnuplot", p->o->base, safe);
	snprintf(p->data, sizeof(p->data), "%.1000s.%s.dat", p->o->base, safe);
	snprintf(p->out, sizeof(p->out), "%.1000s.%s.%s", p->o->base, safe, p->o->format);
}

static void plot_number(FILE *f, double v)
{
	if (isfinite(v)) {
		fprintf(f, " %.9g", v);
	} else {
		fputs(" ?", f);
	}
}

static int write_data(const struct picture *p, double x_scale, double scale, struct tkm_err *err)
{
	const struct vtr_curves *c = p->c;
	struct tkm_newfile n;
	size_t i, k;
	int j;

	if (tkm_newfile_begin(&n, p->data, p->o->force, err) < 0) {
		return -1;
	}
	fputs("# time", n.f);
	for (i = 0; i < c->lines; i++) {
		fprintf(n.f, " mean%zu low%zu high%zu", i + 1, i + 1, i + 1);
	}
	fputc('\n', n.f);
	for (k = 0; k < c->n; k++) {
		fprintf(n.f, "%.9g", c->length_s * x_scale * ((double)k + 0.5) / (double)c->n);
		for (i = 0; i < c->lines; i++) {
			for (j = 0; j < 3; j++) {
				/* a curve without a band gets one of width 0 */
				plot_number(n.f, (c->value[i][j] ? c->value[i][j][k] : c->value[i][0][k]) * scale);
			}
		}
		fputc('\n', n.f);
	}
	return tkm_newfile_commit(&n, err);
}

static void range_of(const struct vtr_curves *c, double *low, double *high)
{
	size_t i, k;
	int j;

	*low = 0;
	*high = 0;
	for (i = 0; i < c->lines; i++) {
		for (j = 0; j < 3; j++) {
			for (k = 0; c->value[i][j] && k < c->n; k++) {
				*low = fmin(*low, c->value[i][j][k]);
				*high = fmax(*high, c->value[i][j][k]);
			}
		}
	}
	*high = *high > *low ? *high + 0.04 * (*high - *low) : *low + 1;
}

static int terminal_width(void)
{
	struct winsize w;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col >= 40 ? w.ws_col : 100;
}

static void plot_setting(FILE *f, const char *name, const char *value)
{
	fprintf(f, "%s = ", name);
	tkm_quote_gnuplot(f, value);
	fputc('\n', f);
}

static int write_gnuplot_script(const struct picture *p, struct tkm_err *err)
{
	const char *to = strcmp(p->o->format, "txt") ? p->out : "";
	struct vtr_unit x = vtr_unit_for("s", p->c->length_s), y;
	struct tkm_newfile n;
	double low, high;
	char label[120];
	size_t i;

	range_of(p->c, &low, &high);
	y = vtr_unit_for(p->y_unit, fmax(fabs(low), fabs(high)));
	if (write_data(p, x.scale, y.scale, err) < 0 || tkm_newfile_begin(&n, p->script, p->o->force, err) < 0) {
		return -1;
	}
	fprintf(n.f, "# written by " PACKAGE_STRING " vtreport\n");
	plot_setting(n.f, "vr_title", p->title);
	plot_setting(n.f, "vr_verdict", p->verdict);
	plot_setting(n.f, "vr_format", p->o->format);
	plot_setting(n.f, "vr_data", p->data);
	plot_setting(n.f, "vr_out", to);
	if (p->o->from_s > 0) {
		snprintf(label, sizeof(label), "time since %.9g s after the start (%s)", p->o->from_s, x.unit);
	} else {
		snprintf(label, sizeof(label), "time since the start (%s)", x.unit);
	}
	plot_setting(n.f, "vr_x", label);
	plot_setting(n.f, "vr_y", y.unit);
	fprintf(n.f, "vr_low = %.9g\nvr_high = %.9g\nvr_columns = %d\nvr_lines = %zu\narray vr_name[%zu]\n",
		low * y.scale, high * y.scale, terminal_width(), p->c->lines, p->c->lines ? p->c->lines : 1);
	for (i = 0; i < p->c->lines; i++) {
		fprintf(n.f, "vr_name[%zu] = ", i + 1);
		tkm_quote_gnuplot(n.f, p->c->label[i]);
		fputc('\n', n.f);
	}
	fputs(curves_gnuplot, n.f);
	return tkm_newfile_commit(&n, err);
}

/* Copies what gnuplot draws into a file, because gnuplot does not notice a full disk. */
static int copy_picture(int from, FILE *to)
{
	char block[65536];
	ssize_t n;
	int any = 0;

	while ((n = read(from, block, sizeof(block))) != 0) {
		if (n < 0 && errno != EINTR) {
			break;
		}
		if (n > 0) {
			fwrite(block, 1, (size_t)n, to); /* errors are found when the file is closed */
			any = 1;
		}
	}
	return any ? 0 : -1;
}

/* to NULL: gnuplot draws on our standard output. */
static int run_gnuplot(const struct picture *p, FILE *to, struct tkm_err *err)
{
	int status, pipes[2] = { -1, -1 }, empty = 0;
	pid_t pid;

	fflush(stdout);
	pid = to && pipe(pipes) < 0 ? -1 : fork();
	if (pid == 0) {
		if (to && dup2(pipes[1], STDOUT_FILENO) < 0) {
			_exit(126);
		}
		if (to) {
			close(pipes[0]);
			close(pipes[1]);
		}
		execlp("gnuplot", "gnuplot", "-e", "vr_pipe = 1", p->script, (char *)NULL);
		_exit(127);
	}
	if (to && pipes[0] >= 0) {
		close(pipes[1]);
		empty = pid > 0 && copy_picture(pipes[0], to) < 0;
		close(pipes[0]);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0) {
		return tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot run gnuplot");
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
		return tkm_fail(err, TKM_ERR_UNAVAIL,
			"gnuplot is not installed (Debian: gnuplot-nox); without --plot no gnuplot is needed");
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status) || empty) {
		return tkm_fail(err, TKM_ERR_IO, "gnuplot %s failed", p->script);
	}
	return 0;
}

/* Draws a picture. An existing one is kept unless force is given; a file is complete or does not appear. */
static int draw_gnuplot(struct picture *p, const char *name, struct tkm_err *err)
{
	int text = !strcmp(p->o->format, "txt"), rc;
	struct tkm_newfile out = { .f = NULL };

	file_names(p, name);
	if (!text && tkm_newfile_begin(&out, p->out, p->o->force, err) < 0) {
		return -1;
	}
	rc = write_gnuplot_script(p, err);
	if (rc == 0) {
		rc = run_gnuplot(p, out.f, err);
		if (!p->o->keep) {
			unlink(p->script);
			unlink(p->data);
		}
	}
	if (!text && rc < 0) {
		tkm_newfile_abort(&out);
	} else if (!text) {
		rc = tkm_newfile_commit(&out, err);
		if (rc == 0) {
			printf("%s\n", p->out);
		}
	}
	return rc;
}

/* Draws the offset before or the bound after correction, of at most VTR_CURVES ranks: the worst ones. */
static int draw_clocks(struct picture *p, const struct vtr_clocks *c, int bound, struct tkm_err *err)
{
	struct vtr_curves v = { .n = VTR_INSTANTS, .length_s = (double)c->run.end.v * c->run.period_s };
	double *block = malloc((VTR_CURVES + 1) * 2 * VTR_INSTANTS * sizeof(double));
	size_t r;
	int rc;

	if (!block) {
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory");
	}
	for (r = 0; r < c->run.ranks && v.lines < VTR_CURVES; r++) {
		double *at = block + v.lines * 2 * VTR_INSTANTS;
		int wanted = (int)r == (bound ? c->worst_rank : c->largest_rank);

		/* the worst rank always gets a line; the others follow in their order */
		if ((int)r == c->run.master ||
			(v.lines + 1 == VTR_CURVES && !wanted && (int)r < (bound ? c->worst_rank : c->largest_rank))) {
			continue;
		}
		vtr_clock_curves(c, r, at, at + VTR_INSTANTS);
		v.value[v.lines][0] = bound ? at + VTR_INSTANTS : at;
		snprintf(v.label[v.lines++], sizeof(v.label[0]), "rank %zu", r);
	}
	p->c = &v;
	p->y_unit = "s";
	p->title = bound ? "Bound after correction" : "Offset before correction";
	rc = v.lines ? draw_gnuplot(p, bound ? "bound" : "offset", err) : 0;
	free(block);
	return rc < 0 ? -1 : v.lines > 0;
}

int vtr_plot(
	const struct vtr_trace *t, const struct vtr_clocks *c, const struct vtr_plot_options *o, struct tkm_err *err)
{
	char verdict[900], title[300];
	struct picture p = { .o = o, .verdict = verdict, .title = title };
	int n = 0, rc = 0, bound;
	size_t k;
	double v;

	vtr_clocks_verdict(c, t ? t->processes : (unsigned)c->run.ranks, verdict, sizeof(verdict));
	for (k = 0; t && rc >= 0 && k < t->counters; k++) {
		const struct vtr_counter *counter = &t->counter[k];
		struct vtr_curves curves;

		if (!counter->n_series || (o->only && !strstr(counter->name, o->only)) ||
			(!o->only && vtr_counter_is_constant(t, k, &v))) {
			continue;
		}
		if (vtr_counter_curves(t, k, &curves) < 0) {
			return tkm_fail(err, TKM_ERR_NOMEM, "out of memory");
		}
		snprintf(title, sizeof(title), "%.100s%s%.100s", counter->group, counter->group[0] ? ":" : "",
			counter->name);
		p.c = &curves;
		p.y_unit = counter->unit;
		rc = draw_gnuplot(&p, counter->name, err);
		free(curves.memory);
		n++;
	}
	for (bound = 0; bound < 2 && c->loaded && !o->only && rc >= 0; bound++) {
		rc = draw_clocks(&p, c, bound, err);
		n += rc > 0;
	}
	return rc < 0 ? -1 : n;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Charts of values at the edge of a double: of a picture with a bounded size, and with numbers only. */
#include "config.h"
#include "report/html/svg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/check.h"

/* The labels of the vertical axis have to be these, from the top down, if any are given. */
static void check_labels(const char *svg, const char *labels)
{
	const char *at = svg;
	char got[400] = "";
	size_t n = 0;

	while ((at = strstr(at, "<text class=\"s\" x=\"2\"")) && (at = strchr(at, '>')) && n + 2 < sizeof(got)) {
		n += (size_t)snprintf(
			got + n, sizeof(got) - n, "%s%.*s", n ? ", " : "", (int)strcspn(at + 1, "<"), at + 1);
		n = n < sizeof(got) ? n : sizeof(got) - 1;
	}
	CHECK_STR(got, labels);
}

static void draw_labelled_values(double a, double b, int with_zero, double from, double to, const char *labels)
{
	double v[] = { a, b, a };
	struct vtr_chart c = { .id = "c",
		.title = "edge",
		.about = "",
		.x_unit = "s",
		.y_unit = "s",
		.with_zero = with_zero,
		.from = from,
		.to = to,
		.n = 3,
		.lines = 1 };
	struct vtr_line line = { .mean = v };
	char *text = calloc(1, 100000);
	FILE *f = fmemopen(text, 99999, "w");

	c.line = &line;
	vtr_svg_chart(f, &c);
	CHECK(fclose(f) == 0 && strlen(text) < 20000, "%g and %g: %zu bytes", a, b, strlen(text));
	CHECK(!strstr(text, "nan") && !strstr(text, "inf"), "%g and %g: %s", a, b, text);
	if (labels) {
		check_labels(text, labels);
	}
	free(text);
}

static void draw_values(double a, double b, int with_zero, double from, double to)
{
	draw_labelled_values(a, b, with_zero, from, to, NULL);
}

/* One value is in the middle of what is shown, and 0 at the bottom of a unit. */
static void a_constant_has_an_axis_of_its_size(void)
{
	draw_labelled_values(0, 0, 1, 0, 1, "1 s, 0.5, 0");
	draw_labelled_values(0, 0, 0, 0, 1, "1 s, 0.5, 0");
	draw_labelled_values(5, 5, 0, 0, 1, "5.5 s, 5, 4.5");
}

static void a_chart_of_any_values_ends(void)
{
	static const double edge[] = { 0, 1, -1, 1e308, -1e308, INFINITY, -INFINITY, 9007199254740992.0,
		9007199254740994.0, 18446744073709551616.0, -9223372036854775808.0, 5e-324 };
	size_t i, k, n = sizeof(edge) / sizeof(edge[0]);

	for (i = 0; i < n; i++) {
		for (k = 0; k < n; k++) {
			draw_values(edge[i], edge[k], 0, 0, 1);
			draw_values(edge[i], edge[k], 1, 0, 1);
		}
	}
	draw_values(0, 1, 0, 9007199254740992.0, 9007199254740994.0);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(a_chart_of_any_values_ends);
	RUN(a_constant_has_an_axis_of_its_size);
	return check_end();
}

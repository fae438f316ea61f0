/* SPDX-License-Identifier: BSD-3-Clause */
/* Charts of values at the edge of a double: of a picture with a bounded size, and with numbers only. */
#include "config.h"
#include "report/html/svg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/check.h"

static void draw_values(double a, double b, int with_zero, double from, double to)
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
	free(text);
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
	return check_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Correction data that is written comes back bit for bit. */
#include "config.h"
#include "base/err.h"
#include "base/ticks.h"
#include "calib/file/clk.h"
#include "calib/map/map.h"
#include "calib/map/run.h"
#include "calib/session/link.h"
#include "lab/compare/link_sim.h"
#include "tests/lib/check.h"
#include "tests/lib/heap.h"
#include "tests/unit/calib/scenario.h"

static const char quiet[] = "delay=100ns,jitter=20ns,read=14ns";

/* ---- the file ---- */

static char *as_text(const struct cal_run *run, size_t *length)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, length);

	CHECK(cal_clk_write(f, run, "test", NULL) == 0, "write");
	fclose(f);
	return text;
}

static void comes_back(const char *clocks, const char *version, int contradicted)
{
	struct scenario sc = { "file", 3, clocks, quiet, 10, 1, 0, 0, 0, CAL_CONSTRAINED, CAL_SYNC_ITC };
	struct tkm_err err;
	struct cal_link *l = cal_link_sim(3, sc.clocks, sc.network, &err);
	struct cal_run run, back;
	char *one, *two;
	size_t n, m, i;

	CHECK(calibrate(l, &sc, &run, &err) == 0, "%s", err.text);
	snprintf(run.rank[1].host, sizeof(run.rank[1].host), "n \"1\" \\ \xc3\xb6\t");
	run.rank[1].measured_se_ppm = NAN;
	run.rank[1].measured_hz = 999999999.5;
	run.rank[1].measured_bound_ppm = 0.125;
	one = as_text(&run, &n);
	CHECK(!strncmp(one, version, strlen(version)) && !cal_clk_read(one, n, "x.clk", &back, &err), "%.20s", one);
	CHECK_STR(back.rank[1].host, run.rank[1].host);
	CHECK(back.rank[1].measured_hz == 999999999.5 && isnan(back.rank[1].measured_se_ppm) &&
			back.rank[1].measured_bound_ppm == 0.125,
		"%.17g, %g, %g", back.rank[1].measured_hz, back.rank[1].measured_se_ppm,
		back.rank[1].measured_bound_ppm);
	CHECK_INT(run.rank[2].map.max_drift > run.max_drift, contradicted);
	CHECK_NEAR(run.rank[2].map.max_drift, back.rank[2].map.max_drift, 0);
	two = as_text(&back, &m);
	CHECK(n == m && memcmp(one, two, n) == 0, "the second writing differs");
	for (i = 0; i < 1000; i++) {
		ltick_t at = ltick(1000000000 + (int64_t)(1e10 * check_uniform()));

		CHECK_INT(cal_map_at(&run.rank[2].map, at).v, cal_map_at(&back.rank[2].map, at).v);
		CHECK_NEAR(cal_map_bound(&run.rank[2].map, at), cal_map_bound(&back.rank[2].map, at), 0);
	}
	free(one);
	free(two);
	cal_run_free(&run);
	cal_run_free(&back);
	cal_link_close(l);
}

static void correction_data_comes_back_bit_for_bit(void)
{
	comes_back("drift={rank}7ppm,wobble=1ppm/10s,tick=1ns", "TICKMARK-CLK 1\n", 0);
	/* forwards, and back by more than the time between two sessions */
	comes_back("drift={rank}7ppm,step={rank}00us@2500ms,step=-{rank}s@6500ms,tick=1ns", "TICKMARK-CLK 2\n", 0);
	comes_back("drift={rank}900ppm,tick=1ns", "TICKMARK-CLK 1\n", 1);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(correction_data_comes_back_bit_for_bit);
	return check_end();
}

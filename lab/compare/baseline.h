/* SPDX-License-Identifier: BSD-3-Clause */
/* Published methods of other authors, to compare with in the same run. They are written from the papers. Ranks wait as
 * in the authors' programs (spinning in MPI); steps and numbers are the defaults of the authors' own libraries. They
 * give an offset or a line per rank, and no bound. */
#ifndef CALIB_BASELINE_H
#define CALIB_BASELINE_H

#include "calib/map/fit.h"
#include "calib/session/link.h"

enum cal_baseline {
	CAL_MIN10,  /* the master serves one rank after the other, ten ping-pongs each, and the one with the least
	             * round trip gives the offset: A. Knuepfer et al., Score-P, 2012, and before it VampirTrace and
	             * EPIK (F. Wolf, B. Mohr, 2003) */
	CAL_SKAMPI, /* one rank after the other, 100 ping-pongs; each says that the offset lies between two stamps,
	             * and the middle of what remains is taken: T. Worsch, R. Reussner, W. Augustin, On Benchmarking
	             * Collective MPI Operations, EuroPVM/MPI 2002 */
	CAL_HCA3,   /* a binomial tree of ceil(log2 p) rounds; each child learns the offset to its parent, whose clock
	             * is corrected already, at 500 instants by SKaMPI's estimate of 5 to 20 ping-pongs (it ends after 5 as
	             * soon as one takes at most 1.1 times the narrowest interval so far), and fits a line; then one more
	             * estimate gives the intercept anew: S. Hunold, A. Carpen-Amarie, Hierarchical Clock Synchronization in
	             * MPI, CLUSTER 2018, with the defaults of the authors' library (hca3, recompute 1, 500 points,
	             * SKaMPI 5 at 20) */
	CAL_JK, /* a line for every rank against the master itself, which serves all ranks at each of 1000 instants: T.
	             * Jones, G. A. Koenig, Clock synchronization in high-end computing environments, Concurrency and
	             * Computation 25(6), 2013; 1000 points without a new intercept as in the library of HCA3's authors, but
	             * with 100 ping-pongs of SKaMPI's estimate, which is better than the one that they take by default */
	CAL_BASELINES,
};

/* "min10", "skampi", "hca3", "jk" */
const char *cal_baseline_name(enum cal_baseline b);

/* 0: the authors' number. */
struct cal_baseline_options {
	int fit_points;
	int exchanges;         /* per estimate, at most */
	int without_intercept; /* 1: hca3 does not measure the intercept again, to show what that step is worth */
	const double *hz;      /* nominal ticks per second of each rank's timer */
};

/* The result for one rank. */
struct cal_baseline_rank {
	struct cal_line line; /* the master's time from the rank's own; slope_se and rms are not set */
	double at;            /* when the last estimate was, in ticks since line.local0 */
	double shortest;      /* round trip, in ticks of the rank; INFINITY: none */
	long long messages;   /* that this rank began, and their answers */
	double check_s;       /* what cal_baseline_check() found; NAN before */
};

/* Exchanges messages between rank 0 and all others for half a millisecond, so that no method is measured with cold
 * caches and sleeping cores. */
int cal_baseline_warm(struct cal_link *l, struct tkm_err *err);

/* One session of all ranks with rank 0. All processes call it. out[r] is filled for the ranks of this process: its own,
 * or in a simulation all. Returns 0 or -1. */
int cal_baseline_run(struct cal_link *l, enum cal_baseline which, const struct cal_baseline_options *opt,
	struct cal_baseline_rank *out, struct tkm_err *err);

/* The check that ReproMPI makes of its own result: rank 0 measures the remaining offset to every rank, by SKaMPI's
 * estimate again. The check has the same bias as the method. Sets check_s, in seconds, master minus rank. Returns 0 or
 * -1. */
int cal_baseline_check(
	struct cal_link *l, const struct cal_baseline_options *opt, struct cal_baseline_rank *out, struct tkm_err *err);

/* min10 at the start and at the end of a run: *last gets the line through the offsets of both, which is how its users
 * correct what lies between, and the messages of both. */
void cal_baseline_join(const struct cal_baseline_rank *first, struct cal_baseline_rank *last);

/* Changes *opt so that the method sends about `share` times as many messages as published: lines have more or fewer
 * points (hca3 at least 2, jk at least 10 but then of fewer ping-pongs), min10 more or fewer ping-pongs. skampi gets
 * fewer, but never more: it takes the offset for constant, and over a longer time the drift would spoil it. */
void cal_baseline_scale(enum cal_baseline which, double share, struct cal_baseline_options *opt);

#endif

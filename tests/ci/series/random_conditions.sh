#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The bound of the clock map against the truth in 100,000 runs under random conditions, and messages put in order in
# as many made-up runs as a minute allows. A seed of its own each day, which is printed.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/ci/lib/lib.sh
. "$here/../lib/lib.sh"
seed=${SEED:-$(date +%Y%m%d)}
configured random_conditions
step "random_conditions: make" make -j"$jobs"
step "random_conditions: tests" make -j"$jobs" tests/unit/calib/test_random_conditions \
	tests/unit/calib/map/test_causality \
	tests/unit/calib/map/test_learn tests/unit/calib/map/test_pairs
step "random_conditions: 100,000 runs, seed $seed" tests/unit/calib/test_random_conditions -n 250 -s "$seed"
grep '^# ' "$work/log"
step "random_conditions: messages in order, seed $seed" tests/unit/calib/map/test_causality -n 20 -s "$seed"
grep '^# ' "$work/log"
step "random_conditions: 100,000 runs with learned drift, seed $seed" tests/unit/calib/map/test_learn -n 100 -s "$seed"
grep '^# ' "$work/log"
step "random_conditions: 40,000 runs with steered clocks, seed $seed" tests/unit/calib/map/test_pairs -n 100 -s "$seed"
grep '^# ' "$work/log"

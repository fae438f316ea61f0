#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The bound of the clock map against the truth in 100,000 runs in any weather, and messages put in order in
# as many made-up runs as a minute allows. A seed of its own each day, which is printed.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/ci/lib.sh
. "$here/lib.sh"
seed=${SEED:-$(date +%Y%m%d)}
configured weather
step "weather: make" make -j"$jobs"
step "weather: tests" make -j"$jobs" tests/unit/test_weather tests/unit/test_causality tests/unit/test_learn tests/unit/test_pairs
step "weather: 100,000 runs, seed $seed" tests/unit/test_weather -n 250 -s "$seed"
grep '^# ' "$work/log"
step "weather: messages in order, seed $seed" tests/unit/test_causality -n 20 -s "$seed"
grep '^# ' "$work/log"
step "weather: 100,000 runs with learned drift, seed $seed" tests/unit/test_learn -n 100 -s "$seed"
grep '^# ' "$work/log"
step "weather: 40,000 runs with steered clocks, seed $seed" tests/unit/test_pairs -n 100 -s "$seed"
grep '^# ' "$work/log"

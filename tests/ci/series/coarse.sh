#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Clocks that move in steps of 10 ns to 1 ms, with and without answers of +1 within a step, under timertest and under
# jobs.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/ci/lib/lib.sh
. "$here/../lib/lib.sh"
need mpirun
configured coarse
step "coarse: make" make -j"$jobs"
step "coarse: all steps" env COARSE_ALL=1 make check TESTS=tests/vt/clocks/coarse.sh
grep -E '^(ok|not ok|# rank)' tests/vt/clocks/coarse.log

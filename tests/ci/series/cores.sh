#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The core matrix 200 times each: on one clock and on clocks that differ, idle and busy; make check takes some of the
# runs.
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/lib.sh"
configured cores CFLAGS="-O2 -g"
step "cores: make" make -j"$jobs" timertestcs
top_srcdir=$top top_builddir=. RUNS=200
export top_srcdir top_builddir RUNS
step "cores: cores.sh" sh "$top/tests/cli/timertest/cores.sh"
grep '^# ' "$work/log"

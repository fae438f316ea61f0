#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The preloaded library for longer: real programs, and SIGKILL at 200 random moments.
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/lib.sh"
configured preload
step "preload: make" make -j"$jobs"
export KILLS=200 SEED="${SEED:-1}" FOREIGN_EACH=1
step "preload: real and foreign programs, 200 kills" make check \
	TESTS="tests/preload/real.sh tests/preload/foreign.sh tests/preload/ends.sh" VERBOSE=1
export STORM_TIMES="${STORM_TIMES:-100}"
step "preload: children, threads, jumps, switched stacks in ten sets of options, $STORM_TIMES times" make check \
	TESTS=tests/preload/storm.sh VERBOSE=1

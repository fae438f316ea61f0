#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# make check under AddressSanitizer and UndefinedBehaviorSanitizer. What Open MPI and the libraries
# below it never free is named in lsan.supp; anything else that leaks fails.
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/lib.sh"
need gcc
configured asan+ubsan CC=gcc \
	CFLAGS="-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined,float-divide-by-zero \
-fno-sanitize-recover=all"
export LSAN_OPTIONS="suppressions=$top/tests/ci/lib/lsan.supp:print_suppressions=0"
export UBSAN_OPTIONS=print_stacktrace=1
step "asan+ubsan: make" make -j"$jobs"
step "asan+ubsan: make check" make check VERBOSE=1
export STORM_TIMES="${STORM_TIMES:-100}"
step "asan+ubsan: children, threads, jumps, switched stacks in ten sets of options, $STORM_TIMES times" make check \
	TESTS=tests/preload/storm.sh VERBOSE=1

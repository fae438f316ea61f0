#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Readers and writers of traces and of clock pages, and the threads that compare processing units, under ThreadSanitizer.
# shellcheck source=lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
need gcc
configured tsan CC=gcc CFLAGS="-O1 -g -fno-omit-frame-pointer -fsanitize=thread" --disable-shared --enable-static
step "tsan: make" make -j"$jobs" tests/unit/test_stf_threads tests/unit/test_raw
TSAN_OPTIONS="halt_on_error=1 exitcode=66"
export TSAN_OPTIONS
step "tsan: threads that read and write" ./tests/unit/test_stf_threads
step "tsan: threads that record" ./tests/unit/test_raw
for t in test_clock test_core_pair test_matrix test_prove test_line test_wakeup; do
	step "tsan: make $t" make -j"$jobs" "tests/unit/$t"
	step "tsan: $t" "./tests/unit/$t"
done

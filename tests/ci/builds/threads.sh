#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Readers and writers of traces and of clock pages, and the threads that compare processing units, under
# ThreadSanitizer.
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/lib.sh"
need gcc
configured tsan CC=gcc CFLAGS="-O1 -g -fno-omit-frame-pointer -fsanitize=thread" --disable-shared --enable-static
step "tsan: make" make -j"$jobs" tests/unit/stf/test_threads tests/unit/collector-plugin/raw/test_raw
TSAN_OPTIONS="halt_on_error=1 exitcode=66"
export TSAN_OPTIONS
step "tsan: threads that read and write" ./tests/unit/stf/test_threads
step "tsan: threads that record" ./tests/unit/collector-plugin/raw/test_raw
for t in test_clock test_core_pair test_matrix test_prove test_line test_wakeup; do
	step "tsan: make $t" make -j"$jobs" "tests/unit/$t"
	step "tsan: $t" "./tests/unit/$t"
done
# threads of a program that is recorded
configured "tsan, libraries" CC=gcc CFLAGS="-O1 -g -fno-omit-frame-pointer -fsanitize=thread"
step "tsan: make libraries" make -j"$jobs" libVTcs.la libVTinside.la vtrun vtsampler stftool
TSAN_OPTIONS="exitcode=66 report_thread_leaks=0 suppressions=$top/tests/ci/lib/tsan.supp"
step "tsan: counters at events of threads" env top_srcdir="$top" srcdir="$top" top_builddir="$PWD" CC=gcc \
	CFLAGS=-fsanitize=thread \
	sh "$top/tests/vt/api/events.sh"

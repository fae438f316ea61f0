#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The unit tests under valgrind: reads of what was never written, which the sanitizers cannot see.
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/lib.sh"
need valgrind
configured valgrind CFLAGS="-O1 -g -DHEAP_OF_VALGRIND"
step "valgrind: make" make -j"$jobs"
step "valgrind: make check-valgrind" make check-valgrind
grep -a 'says not ok$' "$work/log" || true

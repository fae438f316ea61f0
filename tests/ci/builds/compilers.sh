#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every file, tests and benches included, without a warning under gcc and clang; gcc at -O1 sees texts cut that it does
# not see at -O2.
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/lib.sh"
need gcc clang
for cc in gcc clang; do
	configured "$cc" CC="$cc" CFLAGS="-O2 -g" --enable-werror
	step "$cc: make" make -j"$jobs"
	step "$cc: make the tests" make -j"$jobs" check TESTS=
	step "$cc: make the benches" make -j"$jobs" benches
done
configured "gcc -O1" CC=gcc CFLAGS="-O1 -g" --enable-werror
step "gcc -O1: make" make -j"$jobs"

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Threads that are cancelled, and signal handlers that call the interface, at random points inside each entry point, VT_
# calls and
# what the library has instead of libc (points.c): nothing hangs, and the trace is valid. POINTS cancellations; 20,000
# in tests/ci/series/vt.sh. TAP.
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/lib.sh"
VT_VERBOSE=0 VT_FORCE=on
export VT_VERBOSE VT_FORCE
cd "$dir" || exit 99
# shellcheck disable=SC2086
${CC:-cc} -O1 $san -o points "$here/api/programs/points.c" -I"$include" -L"$lib" -lVTcs -Wl,-rpath,"$lib" \
	-pthread 2>"$dir/err" || {
	cat "$dir/err"
	exit 99
}
# the functions of the interface and those of preload.sym, without the Fortran names of the former
{
	awk '$1 == "function" { print $3 }' "$src/collector-plugin/api/api.list"
	cat "$src/collector-plugin/preload/preload.sym"
} >names
while read -r name; do
	grep -q "[^_A-Za-z]$name(" "$here/api/programs/points.c" || echo "$name is not called in points.c"
done <names >"$dir/diff"
expect [ "$(wc -l <names)" -gt 70 ]
expect_empty "$dir/diff"
verdict "each of $(wc -l <names) entry points is called"
for how in "cancel ${POINTS:-2000}" "signal ${SECONDS_OF_SIGNALS:-2}"; do
	# small blocks, so that the slow paths are met often
	# shellcheck disable=SC2086
	VT_MEM_BLOCKSIZE=8KB timeout -k 5 300 ./points $how >"$dir/out" 2>"$dir/err"
	status=$?
	n=$(sed -n 's/^done //p' "$dir/out")
	expect_status 0
	expect [ "${n:-0}" -ge 100 ]
	expect "$build/stftool" points.stf --verify >"$dir/verify" 2>&1
	verdict "${how% *}: ${n:-none} at random points of all entry points"
	"$build/stftool" points.stf --convert points.csv >/dev/null 2>&1
	wrong=$(awk -F, '$6 == "Application:n" { i = int($7 / 4096); n++; if ($7 != i * 4096 + i * i % 4093) print $7 }
		END { if (n < 100) print n + 0, "values" }' points.csv | head -n 3)
	[ -z "$wrong" ]
	ok "${how% *}: the values are those that were recorded" $? || echo "# $wrong"
	rm -f points.stf* points.csv points.prot .VT-flush-*
done
n=${ENDS:-24}
expect timeout 300 ./points ends "$n" >"$dir/out" 2>"$dir/err"
expect_line -x "done $n" "$dir/out"
verdict "$n times VT_initialize and VT_finalize, cancelled and interrupted: the program ends"
tries=0
while ls .VT-flush-* >/dev/null 2>&1 && [ $tries -lt 600 ]; do
	tries=$((tries + 1))
	sleep 0.1
done
done_testing

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Threads that are cancelled, and signal handlers that call the interface, at random points inside each entry point (points.c): nothing
# hangs, and the trace is valid. POINTS cancellations; 20,000 in tests/ci/vt.sh. TAP.
# shellcheck source=lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib.sh"
VT_VERBOSE=0 VT_FORCE=on
export VT_VERBOSE VT_FORCE
cd "$dir" || exit 99
# shellcheck disable=SC2086
${CC:-cc} -O1 $san -o points "$here/points.c" -I"$include" -I"$build/collector-plugin/api" -L"$lib" -lVTcs -Wl,-rpath,"$lib" -pthread 2>"$dir/err" || {
	cat "$dir/err"
	exit 99
}
for how in "cancel ${POINTS:-2000}" "signal ${SECONDS_OF_SIGNALS:-2}"; do
	# small blocks, so that the slow paths are met often
	# shellcheck disable=SC2086
	VT_MEM_BLOCKSIZE=8KB timeout 120 ./points $how >"$dir/out" 2>"$dir/err"
	status=$?
	n=$(sed -n 's/^done //p' "$dir/out")
	[ "$status" -eq 0 ] && [ "${n:-0}" -ge 100 ] && "$build/stftool" points.stf --verify >"$dir/verify" 2>&1
	ok "${how% *}: ${n:-none} at random points of ten entry points" $?
	"$build/stftool" points.stf --convert points.csv >/dev/null 2>&1
	wrong=$(awk -F, '$6 == "Application:n" { i = int($7 / 4096); n++; if ($7 != i * 4096 + i * i % 4093) print $7 }
		END { if (n < 100) print n + 0, "values" }' points.csv | head -n 3)
	[ -z "$wrong" ]
	ok "${how% *}: the values are those that were recorded" $? || echo "# $wrong"
	rm -f points.stf* points.csv points.prot VT-flush-*
done
done_testing

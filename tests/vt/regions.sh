#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Regions and functions by VT_ calls: the trace says what the program did, thread by thread. TAP.
set -u
# shellcheck source=lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib.sh"

# same NAME THREADS STEPS SEED [WRONG]: the program with those arguments, and the trace of it
same()
{
	name=$1
	shift
	rm -f "$dir"/t.*
	VT_LOGFILE_NAME=$dir/t.stf VT_VERBOSE=0 timeout 100 "$dir/regions" "$@" >"$dir/out" 2>&1 &&
		sort -s -n -k1,1 "$dir/out" >"$dir/said" &&
		"$build/stftool" "$dir/t.stf" --dump >"$dir/dump" 2>&1 &&
		awk -f "$here/regions.awk" "$dir/dump" | sort -s -n -k1,1 >"$dir/traced" &&
		[ -s "$dir/said" ] && diff "$dir/said" "$dir/traced" >"$dir/diff"
	ok "$name" $?
}

# shellcheck disable=SC2086
${CC:-cc} $san -g -I"$include" -o "$dir/regions" "$here/regions.c" -L"$lib" -lVTcs -Wl,-rpath,"$lib" -lpthread ||
	exit 99
same "the states of a thread are in the trace" 1 20000 1
same "those of four threads" 4 5000 2
same "wrong handles and wrong nesting break nothing" 3 2000 3 wrong
grep -q ' ENTER CPU .* SCL 1' "$dir/dump"
ok "source locations are there" $?
done_testing

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Call trees of programs compiled with -finstrument-functions, thread by thread the same as uftrace's of the same
# binary. In a build directory, that of this source or BUILD.
set -u
top=$(cd "$(dirname "$0")/../../.." && pwd)
build=${BUILD:-$top/build}
[ -e "$build/.libs/libVTcs.so" ] || { echo "skipped: no build directory; set BUILD"; exit 77; }
command -v uftrace >/dev/null 2>&1 || { echo "skipped: there is no uftrace here"; exit 77; }
uftrace --version 2>&1 | grep -q 'v0\.[0-9]\|v[1-9]' || { echo "skipped: uftrace does not start here"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' 0
failed=0

# lines "THREAD DEPTH NAME" into files $1.THREAD with one tree each. Constructors and destructors have two names at one
# address, of which each tool takes another.
split() # split TO
{
	awk -v to="$1" '{ n = $3; gsub(/C2E/, "C1E", n); gsub(/C2I/, "C1I", n); gsub(/D2Ev/, "D1Ev", n);
		print $2, n >(to "." $1) }'
}

same() # same NAME PROGRAM ARGUMENTS...
{
	name=$1
	shift
	rm -rf "$dir"/u "$dir"/t.* "$dir"/uftrace.* "$dir"/tickmark.*
	timeout 300 uftrace record --no-libcall --no-event -d "$dir/u" "$@" >"$dir/out" 2>&1 &&
		uftrace dump -d "$dir/u" --demangle=no 2>&1 >"$dir/dump" | head -5 >>"$dir/out"
	if grep -qi 'lost' "$dir/dump" "$dir/out"; then
		echo "skipped: $name: uftrace lost events"
		return
	fi
	awk '$3 == "[entry]" { sub(/:$/, "", $2); sub(/\([0-9a-f]*\)$/, "", $4); print $2, $6, $4 }' "$dir/dump" |
		split "$dir/uftrace"
	timeout 300 "$build/vtrun" --logfile-name "$dir/t.stf" --verbose 0 --counter '** off' -- "$@" >"$dir/out" \
		2>&1 &&
		"$build/stftool" "$dir/t.stf" --dump 2>>"$dir/out" | awk '
		$1 == "DEFFUNCTION" { s = $0; sub(/^[^"]*"/, "", s); sub(/" CLASS.*/, "", s); f[$2] = s }
		$2 == "ENTER" { print $4, depth[$4]++ + 0, f[$6] }
		$2 == "LEAVE" { depth[$4]-- }' | split "$dir/tickmark"
	for tool in uftrace tickmark; do
		for tree in "$dir/$tool".*; do
			md5sum <"$tree"
		done | sort >"$dir/sums.$tool"
	done
	calls=$(cat "$dir"/uftrace.* | wc -l)
	if [ "$calls" -gt 100 ] && cmp -s "$dir/sums.uftrace" "$dir/sums.tickmark"; then
		echo "ok: $name: $calls calls in $(wc -l <"$dir/sums.uftrace") threads"
		return
	fi
	echo "not ok: $name: $calls calls by uftrace, $(cat "$dir"/tickmark.* | wc -l) by vtrun"
	tail -3 "$dir/out"
	# a tree that the other has not
	for tree in "$dir"/tickmark.*; do
		grep -q "$(md5sum <"$tree")" "$dir/sums.uftrace" || mine=$tree
	done
	for tree in "$dir"/uftrace.*; do
		grep -q "$(md5sum <"$tree")" "$dir/sums.tickmark" || theirs=$tree
	done
	diff "$theirs" "$mine" | head
	failed=1
}

for cxx in g++ clang++; do
	if ! command -v $cxx >/dev/null 2>&1; then
		echo "skipped: there is no $cxx here"
		continue
	fi
	for how in "-O0" "-O2 -fPIE -pie" "-O2 -no-pie -fno-omit-frame-pointer"; do
		# shellcheck disable=SC2086
		$cxx $how -g -finstrument-functions -o "$dir/trees" "$top/tests/ci/series/trees.cc" -lpthread || exit 1
		same "$cxx $how" "$dir/trees"
		# clang tells nobody that an exception leaves a function. Tickmark sees it at the next call; uftrace
		# 0.13 goes on inside the functions that were left.
		[ $cxx = g++ ] || continue
		EXCEPTIONS=1
		export EXCEPTIONS
		same "$cxx $how, with exceptions" "$dir/trees"
		unset EXCEPTIONS
	done
done

# a real program: the library of traces, reading one
mkdir -p "$dir/include" && ln -sfn "$top/include" "$dir/include/stf"
for how in -O0 -O2; do
	# shellcheck disable=SC2046
	gcc $how -g -D_GNU_SOURCE -finstrument-functions -I"$build" -I"$top" -I"$top/include" -I"$dir/include" \
		-o "$dir/read" \
		"$top/doc/stf/read.c" \
		$(find "$top/stf" "$top/base" -name '*.c') $(grep -q 'define HAVE_ZSTD 1' "$build/config.h" &&
		echo -lzstd) -lm -lpthread >"$dir/out" 2>&1 ||
		{ tail -3 "$dir/out"; failed=1; continue; }
	same "gcc $how, a C program that reads a trace" "$dir/read" "$top/tests/golden/plain-little.stf"
done
exit $failed

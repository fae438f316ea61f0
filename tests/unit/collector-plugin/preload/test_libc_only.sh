#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What runs inside other people's programs links libc only: no symbol of the clock map's objects is anybody
# else's but theirs, base's and libc's. TAP.
set -u
build=${top_builddir:-.}
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
# the map, from samples to stamps, and the repair of messages
objects='map/causality map/curve map/fit map/learn map/map map/narrow map/online map/pairs map/run map/sample '\
'map/smooth map/spline map/steps tree/graph tree/net
solve/assumptions solve/solve file/clk file/write'

echo 1..5
if ! command -v nm >/dev/null || ! command -v ldd >/dev/null; then
	echo "ok 1 - objects # SKIP nm or ldd is not installed"
	echo "ok 2 - symbols # SKIP nm or ldd is not installed"
	echo "ok 3 - what is preloaded # SKIP nm or ldd is not installed"
	echo "ok 4 - its size # SKIP nm or ldd is not installed"
	echo "ok 5 - libraries # SKIP nm or ldd is not installed"
	exit 0
fi
missing=
for o in $objects; do
	# libtool keeps what goes into shared libraries apart
	nm "$build/calib/${o%/*}/.libs/${o##*/}.o" >>"$dir/all" 2>/dev/null ||
		nm "$build/calib/$o.o" >>"$dir/all" 2>/dev/null || missing="$missing $o.o"
done
[ -z "$missing" ] && echo "ok 1 - every object is there" || echo "not ok 1 - not built:$missing"

awk '$1 == "U" { print $2 }' "$dir/all" | sort -u >"$dir/wanted"
{
	awk 'NF == 3 { print $3 }' "$dir/all"
	find "$build/base" -name '*.o' -exec nm {} + 2>/dev/null |
		awk 'NF == 3 && $2 != "U" { print $3 }'
	# the C library with its mathematics, as the dynamic linker finds it
	ldd "$build/tests/unit/calib/map/test_map" | awk '$1 ~ /^lib[cm]\.so/ { print $3 }' | while read -r lib; do
		nm -D --defined-only "$lib" | awk '{ sub(/@.*/, "", $3); print $3 }'
	done
	# of the compiler and the sanitizers
	awk '
		$1 ~ /^(_GLOBAL_OFFSET_TABLE_$|__stack_chk_fail$|__asan_|__ubsan_|__sanitizer_|__(u?div|u?mod|'\
'mul)ti3$|__(fix|float))/' "$dir/wanted"
	printf '%s\n' __divti3 __udivti3 __modti3
} | sort -u >"$dir/had"
comm -23 "$dir/wanted" "$dir/had" >"$dir/foreign"
if [ -s "$dir/wanted" ] && [ ! -s "$dir/foreign" ]; then
	echo "ok 2 - their symbols are their own, base's and libc's"
else
	echo "not ok 2 - their symbols are their own, base's and libc's"
	sed 's/^/# /' "$dir/foreign"
fi

# Simulated clocks and links, injected truth, the methods of others, clock maps, the sources of counters, the merge and
# traces: none of them is in what
# is preloaded. What it calls of these is in libVTinside.so, which it loads when it needs it. So with the calls of class
# SYSTEM, and with what OpenMP's run-time libraries call.
unreachable='^(cal_|stf_|smp_(cpu|disk|net|proc|perf|papi|node|group|power|alloc)$|vt_merge_|vt_raw_open_file|'\
'tmr_sim_.*|system_(read|write|fopen)$|instead_of_GOMP_.*|on_parallel_begin$)'
nm "$build/.libs/libVTcs.so" | awk -v u="$unreachable" '$3 ~ u { print $3 }' >"$dir/preloaded"
nm "$build/.libs/libVTcs.so" "$build/.libs/libVTinside.so" "$build/.libs/libVTsystem.so" "$build/.libs/libVTomp.so" |
	awk '$1 == "U" && $2 ~ /^(cal|smp|stf|tkm|tmr|vt)_/ { print $2 " is undefined" }' >>"$dir/preloaded"
if nm "$build/.libs/libVTcs.so" | grep -q ' vt_raw_create$' && nm "$build/.libs/libVTinside.so" |
	grep -q ' smp_plan_open$' &&
	nm "$build/.libs/libVTsystem.so" | grep -q ' system_read$' && [ ! -s "$dir/preloaded" ]; then
	echo "ok 3 - libVTcs.so contains only what it can reach"
else
	echo "not ok 3 - libVTcs.so contains only what it can reach"
	sed 's/^/# /' "$dir/preloaded"
fi

# Half of the 509,276 bytes that it once had with all in it, before functions, statistics, signals and calls for files
# were recorded.
# The names of the folders that it is installed in are part of it: 1 KiB for longer ones than usual; 1 KiB for what
# keeps children without handlers and signal handlers at a thread's end from harm; 9 KiB for what a forked child is told
# again, calls left by exceptions, switched stacks, NSpid, facts for the head of a report, a process's own I/O and
# STOPFILE-NAME; 5 KiB for the states of OpenMP regions, whose calls are in libVTomp.so; 3 KiB for processes that join a
# job on several nodes and for programs of the MPI ABI; 4 KiB for VT_serverinit() and VT_clientinit(), 7 KiB for clients
# before their server, VT_attach(), and reports in the trace; 1 KiB for several rounds in one run; 3 KiB for gcc 14;
# 1 KiB for places of states that a signal handler cannot take, and for traces that the sampler process makes;
# 4 KiB for the order of a trace where a thread inside sampled, which has no merge in it any more; 1 KiB for who wrote a
# raw file, by boot, namespaces and birth; 1 KiB for a sampler process that waits for the end of a program that samples
# itself; 3 KiB for a stack of its own on which a program ends, for the lock of a raw file's writer, and for bounds
# that are rounded up; 6 KiB for raw files that are on the node, the number of a launch, what killed jobs have left, and
# calls that are open at the end.
limit=$((254638 + 51200))
# of the same sources gcc 14 makes 1 % more than gcc 12, and gcc 16 3 %
[ "$("${CC:-gcc}" -dumpversion | cut -d . -f 1)" -le 12 ] || limit=$((limit + limit / 32))
text=$(size "$build/.libs/libVTcs.so" 2>/dev/null | awk 'NR == 2 { print $1 }')
flags=$(sed -n 's/^CFLAGS = //p' "$build/Makefile")
case $(uname -m):$flags in
x86_64:'-g -O2')
	if [ "${text:-999999999}" -le "$limit" ]; then
		echo "ok 4 - libVTcs.so is small: $text bytes of text"
	else
		echo "not ok 4 - libVTcs.so is small: $text bytes of text, more than $limit"
	fi
	;;
*) echo "ok 4 - libVTcs.so is small # SKIP the limit is for x86-64 and CFLAGS=-g -O2" ;;
esac

# libm is loaded into each process that vtrun starts, and its mappings are copied by each fork. Without optimisation
# sqrt() is a call.
case $flags in
*-O2*)
	more=$(ldd "$build/.libs/libVTcs.so" | awk '{ print $1 }' |
		 grep -vE '^(linux-vdso|libc|/lib.*/ld-linux|ld-linux)' | sort -u | tr '\n' ' ')
	[ -z "$more" ] && echo "ok 5 - libVTcs.so loads no library but libc" ||
		echo "not ok 5 - libVTcs.so also loads $more"
	;;
*) echo "ok 5 - libraries # SKIP CFLAGS without -O2" ;;
esac

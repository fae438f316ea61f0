#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Searches with the fuzz targets: builds them with clang, AddressSanitizer and libFuzzer (search.mk), and lets them run.
#
#   search.sh TARGET BUILD SECONDS [libFuzzer options]
#
# TARGET is a folder of tests/fuzz/corpus, or "all": each in turn, SECONDS each. BUILD is a configured build folder;
# what is found and learnt stays in BUILD/fuzz, and so does the list of all runs, whose sum per target is printed at the
# end.
# UBSAN="-fsanitize=undefined -fno-sanitize-recover=undefined" looks for undefined behaviour too, at a third of the
# speed.
# No single allocation may be larger than LIMIT_MB (default 16; 400 for frames, whose format allows 128 KiB of content
# for 3 bytes), and no input may take longer than 10 s. Exits with 1 if anything was found.
set -eu
targets=$1 build=$(cd "$2" && pwd) seconds=$3
shift 3
top_srcdir=$(cd "$(dirname "$0")/../.." && pwd)
export top_srcdir
out=$build/fuzz
if [ "$targets" = all ]; then
	targets=$(cd "$top_srcdir/tests/fuzz/corpus" && echo *)
fi
mkdir -p "$out"
for t in $targets; do
	[ -n "${NO_BUILD:-}" ] || make -s -j2 -f "$top_srcdir/tests/fuzz/search.mk" SRC="$top_srcdir" BUILD="$build" \
		OUT="$out" UBSAN="${UBSAN:-}" "$out/fuzz_$t"
done
cd "$out"
export ASAN_OPTIONS="malloc_context_size=2:quarantine_size_mb=16:max_malloc_fill_size=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
status=0
for t in $targets; do
	# what is read after a good definition layer needs no long inputs; a raw file has blocks of 4 KiB, of which
	# tables need some
	limit=16 longest=4096 foreign=
	case $t in
	frames) limit=400 longest=1024 ;;
	index | declarations | data | anchors | sampler) longest=1024 ;;
	raw) longest=40960 ;;
	ctf) longest=8192 ;; # descriptions are long
	lttng) limit=17 ;; # a block may have 16 MiB
	# leaks of these formats' own libraries, and what they allocate for any count in a file, are not ours: with
	# glibc such memory is not touched, with ASan it is, so that a gigabyte is refused
	otf | otf2 | otf2_runs) limit=100000000 longest=8192 \
		foreign=:detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=1000 ;;
	esac
	mkdir -p "learnt/$t"
	result=clean
	ASAN_OPTIONS=$ASAN_OPTIONS$foreign "./fuzz_$t" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2000 \
		-malloc_limit_mb="${LIMIT_MB:-$limit}" \
		-artifact_prefix="found-$t-" -print_final_stats=1 -max_len=$longest "$@" "learnt/$t" \
		"$top_srcdir/tests/fuzz/corpus/$t" >"last-$t.log" 2>&1 || { result=FOUND status=1; }
	runs=$(sed -n 's/.*number_of_executed_units: *//p' "last-$t.log")
	printf '%s\t%s\t%s\n' "$t" "${runs:-0}" "$result" | tee -a runs
	[ $result = clean ] || tail -n 40 "last-$t.log"
done
awk -F '\t' '{ n[$1] += $2; sum += $2; bad[$1] += $3 == "FOUND" }
END { for (t in n) { printf "%s: %d executions in all, %d findings\n", t, n[t], bad[t] } printf "all: %d\n", sum }' runs
exit $status

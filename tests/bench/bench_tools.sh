#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The figures of stftool. Prints lines as tests/bench/bench.h does.
# usage: bench_tools.sh BUILD-DIRECTORY
set -u
build=${1:?usage: bench_tools.sh BUILD-DIRECTORY}
runs=9
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

figure() # figure NAME UNIT: median, minimum, maximum of the numbers in $dir/NAME
{
	sort -g "$dir/$1" | awk -v name="$1" -v unit="$2" '
	{ v[NR] = $1 }
	END {
		m = NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2
		printf "%s\t%.4g\t%s\t%.4g\t%.4g\t%d\n", name, m, unit, v[1], v[NR], NR
	}'
}

# 5,000,000 samples of one counter: checksums, references, order, histories of the anchors, totals
"$build/tests/cli/make_stf" many "$dir/t.stf" 5000000 || exit 1
bytes=$(cat "$dir"/t.stf* | wc -c)
TIMEFORMAT='%R %U %S'
for ((i = 0; i < runs; i++)); do
	{ time "$build/stftool" "$dir/t.stf" --verify 2>"$dir/err"; } 2>"$dir/time" || { cat "$dir/err" >&2; exit 1; }
	awk -v bytes="$bytes" -v dir="$dir" '{
		print bytes / $1 / 1e9 >dir "/stftool.verify"
		print bytes / ($2 + $3) / 1e9 >dir "/stftool.verify.cpu"
	}' "$dir/time"
	cat "$dir/stftool.verify" >>"$dir/wall"
	cat "$dir/stftool.verify.cpu" >>"$dir/cpu"
done
grep -q ' 0 faults$' "$dir/err" || { cat "$dir/err" >&2; exit 1; }
mv "$dir/wall" "$dir/stftool.verify"
mv "$dir/cpu" "$dir/stftool.verify.cpu"
figure stftool.verify GB/s
# by its processor's time: what it is where nothing else runs
figure stftool.verify.cpu GB/s

# the same samples in other formats: records per second of a processor's time, the size of a record; CSV and Parquet by turns with them
for ((i = 0; i < runs / 3; i++)); do
	for format in ctf perfetto paje parquet csv; do
		{ time "$build/stftool" "$dir/t.stf" --convert "$dir/t.$format" --force 2>"$dir/err"; } 2>"$dir/time" ||
			{ cat "$dir/err" >&2; exit 1; }
		awk '{ print 5 / ($2 + $3) }' "$dir/time" >>"$dir/convert.$format"
		[ "$i" -gt 0 ] || du -sb "$dir/t.$format" | awk '{ print $1 / 5e6 }' >"$dir/convert.$format.size"
		rm -rf "$dir/t.$format" "$dir"/t.events.parquet
	done
done
for format in ctf perfetto paje parquet csv; do
	figure "convert.$format" "M records/s of CPU"
	figure "convert.$format.size" "bytes per record"
done

# Parquet of samples that are not regular: bytes per value, values per second
"$build/tests/cli/make_stf" noisy "$dir/noisy.stf" 2000000 || exit 1
for ((i = 0; i < runs / 3; i++)); do
	{ time "$build/stftool" "$dir/noisy.stf" --convert "$dir/noisy.parquet" --force 2>"$dir/err"; } 2>"$dir/time" ||
		{ cat "$dir/err" >&2; exit 1; }
	awk '{ print 6 / ($2 + $3) }' "$dir/time" >>"$dir/convert.parquet.noisy"
done
du -sb "$dir/noisy.parquet" | awk '{ print $1 / 6e6 }' >"$dir/convert.parquet.noisy.size"
figure convert.parquet.noisy "M values/s of CPU"
figure convert.parquet.noisy.size "bytes per value"

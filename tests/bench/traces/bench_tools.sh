#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The figures of stftool. Prints lines as tests/bench/lib/bench.h does.
# usage: bench_tools.sh BUILD-DIRECTORY
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/lib.sh"
runs=9

# 5,000,000 samples of one counter: checksums, references, order, histories of the anchors, totals
"$build/tests/cli/lib/make_stf" many "$dir/t.stf" 5000000 || exit 1
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

# the same samples in other formats: records per second of a processor's time, the size of a record; CSV and Parquet by
# turns with them
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
"$build/tests/cli/lib/make_stf" noisy "$dir/noisy.stf" 2000000 || exit 1
for ((i = 0; i < runs / 3; i++)); do
	{ time "$build/stftool" "$dir/noisy.stf" --convert "$dir/noisy.parquet" --force 2>"$dir/err"; } 2>"$dir/time" ||
		{ cat "$dir/err" >&2; exit 1; }
	awk '{ print 6 / ($2 + $3) }' "$dir/time" >>"$dir/convert.parquet.noisy"
done
du -sb "$dir/noisy.parquet" | awk '{ print $1 / 6e6 }' >"$dir/convert.parquet.noisy.size"
figure convert.parquet.noisy "M values/s of CPU"
figure convert.parquet.noisy.size "bytes per value"

# OTF2 beside its own writer of as many samples, which are made outside of the time that it takes
if "$build/tests/bench/traces/bench_stf" -c -n 1000 -w "$dir/bare" >/dev/null 2>&1; then
	for ((i = 0; i < runs; i++)); do
		rm -rf "$dir/bare" "$dir/t.otf2"
		bare=$("$build/tests/bench/traces/bench_stf" -c -n 5000000 -w "$dir/bare") || exit 1
		{ time "$build/stftool" "$dir/t.stf" --convert "$dir/t.otf2" 2>"$dir/err"; } 2>"$dir/time" ||
			{ cat "$dir/err" >&2; exit 1; }
		awk -v bare="$bare" '{ print bare / ($2 + $3) }' "$dir/time" >>"$dir/convert.otf2.ratio"
	done
	figure convert.otf2.ratio "speed of OTF2's own writer"
	rm -rf "$dir/bare" "$dir/t.otf2"
fi

# 10,000 components: a file for each process
awk -v n=10000 'BEGIN {
	printf "CLKPERIOD 1e-09\nNCPUS " n
	for (i = 0; i < n; i++) printf " 1"
	print "\nDEFCLASS 1 \"P\" SELF \"P\" PARENT 0\nDEFCOUNTER 1 \"c\" CLASS 1 CPU 1 TYPE 67 DIFF 1 UNIT \"\" '\
'LOWER 0 UPPER 0"
	for (t = 0; t < 10; t++) for (i = 1; i <= n; i++) print 1000000 * t + i, "SAMP CPU", i, "DEF 1 UINT 8", t * i
}' >"$dir/files.avt"
"$build/tests/cli/lib/text_stf" "$dir/files.avt" "$dir/files.stf" 1 2>"$dir/err" || { cat "$dir/err" >&2; exit 1; }
for ((i = 0; i < runs; i++)); do
	{ time "$build/stftool" "$dir/files.stf" --verify 2>"$dir/err"; } 2>"$dir/time" ||
		{ cat "$dir/err" >&2; exit 1; }
	awk '{ print $2 + $3 }' "$dir/time" >>"$dir/stftool.verify.files"
done
figure stftool.verify.files "s of CPU, $(find "$dir" -name 'files.stf*' | wc -l) files"
rm -f "$dir"/files.*

# a window with its state: 10,000 threads that have a function open and a counter, and 2,000,000 records
awk -v n=10000 'BEGIN {
	printf "CLKPERIOD 1e-09\nNCPUS 1 " n "\n"
	print "DEFCLASS 1 \"P\" SELF \"P\" PARENT 0\nDEFFUNCTION 1 \"f\" CLASS 1\nDEFCOUNTER 1 \"c\" CLASS 1 CPU 1 '\
'TYPE 67 DIFF 1 UNIT \"\" LOWER 0 UPPER 0"
	for (i = 0; i < n; i++) print i, "ENTER CPU", 65536 * i + 1, "FUNCTION 1"
	for (t = 1; t <= 199; t++) for (i = 0; i < n; i++) printf "%.0f SAMP CPU %d DEF 1 UINT 8 %d\n", 50000000 * t '\
'+ i, 65536 * i + 1, t * i
}' >"$dir/threads.avt"
"$build/tests/cli/lib/text_stf" "$dir/threads.avt" "$dir/threads.stf" 2>"$dir/err" || { cat "$dir/err" >&2; exit 1; }
du -sbc "$dir"/threads.stf.*.anc | tail -n 1 >"$dir/size"
du -sbc "$dir"/threads.stf.[cf].0 | tail -n 1 >>"$dir/size"
awk '{ s[NR] = $1 } END { print s[1] / s[2] }' "$dir/size" >"$dir/stf.anchors.threads"
figure stf.anchors.threads "anchors over data"
for ((i = 0; i < runs; i++)); do
	{ time "$build/stftool" "$dir/threads.stf" --dump --request 5s:5.0001s >"$dir/out" 2>"$dir/err"
		} 2>"$dir/time" || { cat "$dir/err" >&2; exit 1; }
	awk '{ print 1e3 * ($2 + $3) }' "$dir/time" >>"$dir/stftool.window.threads"
done
[ "$(grep -c ' SAMP ' "$dir/out")" -gt 0 ] || { echo "the window is empty" >&2; exit 1; }
figure stftool.window.threads "ms of CPU, the whole program"
rm -f "$dir"/threads.*

# the Python module: counters as arrays
for python in python3 /usr/bin/python3; do
	"$python" -c 'import numpy' 2>/dev/null && break
done
if "$python" -c 'import numpy' 2>/dev/null && [ -e "$build/.libs/libtickmark-stf.so" ]; then
	TICKMARK_STF_LIBRARY=$build/.libs/libtickmark-stf.so PYTHONPATH=$build/python "$python" - "$dir/t.stf" "$runs" \
		>"$dir/python.read" <<'END' || exit 1
import sys, time, tickmark_stf
for _ in range(int(sys.argv[2])):
    start = time.process_time()
    with tickmark_stf.Trace(sys.argv[1]) as trace:
        n = sum(len(s.value) for s in trace.counters())
    assert n == 5000000
    print(n / (time.process_time() - start) / 1e6)
END
	figure python.read "M samples/s of CPU"
fi

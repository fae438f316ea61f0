#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What the event of an instrumented function costs a whole program, in processor time of its thread, beside uftrace on the same binary;
# its bytes in a trace; the processor time of the merge. Prints lines as tests/bench/bench.h does.
# usage: bench_functions.sh BUILD-DIRECTORY
set -u
build=$(cd "${1:?usage: bench_functions.sh BUILD-DIRECTORY}" && pwd) || exit 1
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1

figure() # figure NAME UNIT FILE
{
	sort -g "$3" | awk -v name="$1" -v unit="$2" '
		{ v[NR] = $1 }
		END { m = NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2
		      printf "%s\t%.4g\t%s\t%.4g\t%.4g\t%d\n", name, m, unit, v[1], v[NR], NR }'
}

# shellcheck disable=SC2086
${CC:-cc} -O1 -finstrument-functions "$here/bench_functions.c" -o functions || exit 1
VT_VERBOSE=0 VT_FORCE=on VT_TIMER=CPU VT_COUNTER='** off' VT_KEEP_RAW_EVENTS=on VT_FLUSH_LIMIT=4GB
export VT_VERBOSE VT_FORCE VT_TIMER VT_COUNTER VT_KEEP_RAW_EVENTS VT_FLUSH_LIMIT
for _ in 1 2 3 4 5 6 7; do
	rm -rf VT-flush* ./*.stf* uf
	"$build/vtrun" -- ./functions >out 2>err || { cat err >&2; exit 1; }
	read -r ns events <out
	echo "$ns" >>traced
	cat VT-flush* | wc -c | awk -v n="$events" '{ print $1 / n }' >>raw
	# the last line of `times` is that of the children
	(
		"$build/stftool" VT-flush*.dat --compress-trace 1 --merge merged.stf >err 2>&1
		times >time
	)
	[ -e merged.stf ] || { cat err >&2; exit 1; }
	tail -n 1 time | awk -v n="$events" '{ for (i = 1; i <= 2; i++) { split($i, t, "m"); s += 60 * t[1] + t[2] }; print n / s / 1e6 }' >>merge
	cat merged.stf* | wc -c | awk -v n="$events" '{ print $1 / n }' >>bytes
	if command -v uftrace >/dev/null && uftrace record -d uf --no-libcall ./functions >out 2>err; then
		read -r other _ <out
		echo "$other" >>uftrace
		echo "$ns $other" | awk '{ print $1 / $2 }' >>ratio
	fi
done
figure trace.function.program ns traced
figure trace.function.bytes bytes/event bytes
figure trace.function.bytes.raw bytes/event raw
figure merge.events 'M events/s of processor time' merge
if [ -e ratio ]; then
	figure trace.function.uftrace ns uftrace
	figure trace.function.uftrace.ratio 'of uftrace' ratio
else
	echo 'no uftrace here: it was not measured' >&2
fi

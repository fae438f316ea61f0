#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What the event of an instrumented function costs a whole program, in processor time of its thread, beside uftrace on
# the same binary;
# the same in memory alone, without the file; processor time of all processes and wall time until the raw data of either
# is on the disk;
# an event's bytes in a trace; the processor time of the merge; and all of it beside OTF2's writer with the same calls.
# Prints lines as tests/bench/lib/bench.h does.
# usage: bench_functions.sh BUILD-DIRECTORY
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
cd "$dir" || exit 1

# shellcheck disable=SC2086
${CC:-cc} -O1 -finstrument-functions "$here/bench_functions.c" -o functions || exit 1
# shellcheck disable=SC2086
${CC:-cc} -O1 "$here/../lib/cpu_seconds.c" -o cpu_seconds || exit 1
otf2=
# shellcheck disable=SC2046
if ${CC:-cc} -O2 -I"$here/../../.." "$here/bench_functions_otf2.c" -o otf2 \
	$(pkg-config --libs --cflags otf2 2>/dev/null || echo -lopen-trace-format2) 2>err; then
	otf2=./otf2
fi

VT_VERBOSE=0 VT_FORCE=on VT_TIMER=CPU VT_COUNTER='** off' VT_KEEP_RAW_EVENTS=on VT_FLUSH_LIMIT=4GB
export VT_VERBOSE VT_FORCE VT_TIMER VT_COUNTER VT_KEEP_RAW_EVENTS VT_FLUSH_LIMIT
# whole FILE COMMAND...: of all processes and of the wall, ns per event over those of the plain program, into FILE.cpu
# and FILE.wall
whole()
{
	to=$1
	shift
	set -- "$(./cpu_seconds ./functions)" "$(./cpu_seconds "$@" 2>err)"
	[ -n "$2" ] || { cat err >&2; exit 1; }
	echo "$1 $2 $events" | awk -v to="$to" '{ print ($4 - $1) / $7 * 1e9 >>(to ".cpu");
		print ($5 - $2) / $7 * 1e9 >>(to ".wall") }'
}

for _ in 1 2 3 4 5 6 7; do
	rm -rf .VT-flush* ./*.stf* uf
	"$build/vtrun" -- ./functions >out 2>err || { cat err >&2; exit 1; }
	read -r ns events mean <out
	echo "$ns" >>traced
	cat .VT-flush* | wc -c | awk -v n="$events" '{ print $1 / n }' >>raw
	for level in 0 1; do
		rm -f merged.stf*
		./cpu_seconds "$build/stftool" .VT-flush*.raw --compress-trace $level --verbose 0 --merge merged.stf \
			>time.$level 2>err || { cat err >&2; exit 1; }
		awk -v n="$events" '{ print n / $1 / 1e6 }' time.$level >>merge.$level
	done
	cat merged.stf* | wc -c | awk -v n="$events" '{ print $1 / n }' >>bytes
	if [ -n "$otf2" ]; then
		rm -rf of
		read -r other _ <<-END
			$($otf2 of "$events")
		END
		echo "$other" >>otf2.ns
		find of -type f -exec cat {} + | wc -c | awk -v n="$events" '{ print $1 / n }' >>otf2.bytes
		echo "$mean $other" | awk '{ print $1 / $2 }' >>otf2.disk
		for level in 0 1; do
			echo "$mean $(cat time.$level) $events $other" |
				awk '{ print ($1 + $2 / $5 * 1e9) / $6 }' >>otf2.trace.$level
		done
	fi
	VT_AUTOFLUSH=off VT_MEM_OVERWRITE=on VT_MEM_MAXBLOCKS=17 "$build/vtrun" -- ./functions >out 2>err ||
		{ cat err >&2; exit 1; }
	read -r memory _ <out
	echo "$memory" >>memory
	if command -v uftrace >/dev/null && uftrace record -d uf --no-libcall --no-event ./functions >out 2>err; then
		read -r other _ <out
		echo "$other" >>uftrace
		echo "$ns $other" | awk '{ print $1 / $2 }' >>ratio
		echo "$memory $other" | awk '{ print $1 / $2 }' >>memory.ratio
		whole whole.ours "$build/vtrun" -- ./functions
		whole whole.uftrace uftrace record -d uf --no-libcall --no-event ./functions
	fi
done
figure trace.function.program ns traced
figure trace.function.program.memory ns memory
figure trace.function.bytes bytes/event bytes
figure trace.function.bytes.raw bytes/event raw
figure merge.events 'M events/s of processor time' merge.0
figure merge.events.compressed 'M events/s of processor time' merge.1
if [ -n "$otf2" ]; then
	figure trace.function.otf2 ns otf2.ns
	figure trace.function.otf2.bytes bytes/event otf2.bytes
	figure trace.function.disk.otf2.ratio 'of OTF2, recorded into the raw file on disk' otf2.disk
	figure trace.function.trace.otf2.ratio 'of OTF2, recorded and merged to a trace' otf2.trace.0
	figure trace.function.trace.zstd.otf2.ratio 'of OTF2, recorded and merged to a compressed trace' otf2.trace.1
else
	echo 'no OTF2 here: it was not measured' >&2
fi
if [ -e ratio ]; then
	figure trace.function.uftrace ns uftrace
	figure trace.function.uftrace.ratio 'of uftrace' ratio
	figure trace.function.uftrace.memory.ratio 'of uftrace, without the file' memory.ratio
	for what in cpu wall; do
		figure trace.function.whole.$what "ns of $what of all processes" whole.ours.$what
		figure trace.function.whole.$what.uftrace "ns of $what of all processes" whole.uftrace.$what
		paste -d' ' whole.ours.$what whole.uftrace.$what | awk '{ print $1 / $2 }' >whole.$what.ratio
		figure trace.function.whole.$what.uftrace.ratio 'of uftrace' whole.$what.ratio
	done
else
	echo 'no uftrace here: it was not measured' >&2
fi

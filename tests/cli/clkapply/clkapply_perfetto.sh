#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# clkapply on Perfetto's packets, read back as trace_processor does it: each time is right, nothing else changes. TAP.
# shellcheck source=../../lib/tap.sh source-path=SCRIPTDIR disable=SC2154
. "${top_srcdir:-.}/tests/lib/tap.sh"
[ "${PYTHON3:-no}" != no ] || skip_all "no Python 3"
py=$src/tests/cli/clkapply/clkapply_perfetto.py
cd "$dir" || exit 99
"$PYTHON3" "$py" make . || exit 99
"$build/clkapply" p.clk service.pftrace --rank 1 --output x.pftrace >out 2>err
if grep -q -- '--output is for' err; then
	skip_all "built without zlib"
fi

right() # right FILE COPY OPTION...: stamps of packets are right to 2 ns, all others to 60 ns
{
	file=$1 copy=$2
	shift 2
	rm -f "$copy"
	"$build/clkapply" p.clk "$file" --output "$copy" --rank 1 "$@" >out 2>err
	expect [ $? -eq 0 ]
	expect_empty err
	expect_line "^$copy: [0-9]* stamps corrected, .*bound at most" out
	expect "$PYTHON3" "$py" judge "$file" "$copy" 2 60 >judged 2>&1
	sed 's/^/# /' judged
}

right service.pftrace copy.pftrace
expect_line '^3450 times' judged
verdict "what the service writes: clocks of the node, ftrace, lengths, fields that are unknown"
right library.perfetto-trace copy.perfetto-trace
expect_line '^8000 times' judged
verdict "what the library writes: clocks of sequences, differences, defaults, state that is cleared"
right packed.pftrace copy.pftrace
if [ -e zstd.pftrace ]; then
	"$build/clkapply" p.clk zstd.pftrace --output copy.pftrace --rank 1 --force >out 2>err
	grep -q 'configure --with-zstd' err || right zstd.pftrace copy.pftrace
fi
right both.pftrace.gz copy.pftrace.gz
expect gzip -t copy.pftrace.gz
verdict "compressed packets, and a compressed file"
right mono.pftrace copy.pftrace --timer clock_boottime
right plain.pftrace copy.pftrace --timer clock_boottime
verdict "a file whose clock is another one, and one that does not name its clock"
if command -v protoc >/dev/null; then
	"$build/clkapply" p.clk service.pftrace --output copy.pftrace --rank 1 --force >out 2>err
	expect protoc --decode_raw <copy.pftrace >decoded
	expect_line 'tickmark.bound_ns' decoded
	verdict "protoc reads the copy"
fi

refuse() # refuse STATUS PATTERN FILE OPTION...: that text, and no copy
{
	wanted=$1 pattern=$2
	shift 2
	rm -f refused.pftrace
	"$build/clkapply" p.clk "$@" --output refused.pftrace >out 2>err
	status=$?
	expect_status "$wanted"
	expect_line "$pattern" err
	expect [ ! -e refused.pftrace ]
	expect [ -z "$(ls -A | grep '^\.refused\|refused.*tmp')" ]
}

refuse 2 'service.pftrace does not say which rank' service.pftrace
refuse 2 'plain.pftrace does not say which clock it has: give --timer' plain.pftrace --rank 1
refuse 1 'no readings of clock_monotonic ' mono.pftrace --rank 1
refuse 1 'has stamps of clock 3 (clock_monotonic), which no snapshot in it ties to clock_boottime' fromboot.pftrace \
	--rank 1
refuse 1 'untied.pftrace: offset [0-9]*: a stamp of a clock of its sequence that no snapshot' untied.pftrace --rank 1
refuse 1 'machines.pftrace: offset [0-9]*: packets of several machines' machines.pftrace --rank 1
refuse 1 "log.pftrace: offset [0-9]*: messages of Android's log" log.pftrace --rank 1
refuse 1 'ftrace.pftrace: offset [0-9]*: events of the kernel.s ftrace by another clock' ftrace.pftrace --rank 1
refuse 1 'empty.pftrace has no packet with a stamp' empty.pftrace --rank 1
right service.pftrace done.pftrace
refuse 1 'done.pftrace: offset 0: the file is corrected already' done.pftrace --rank 1
"$build/tests/cli/lib/make_stf" one a.stf && "$build/stftool" a.stf --convert ours.perfetto >out 2>err
refuse 1 'ours.perfetto: offset 0: Tickmark has written this file' ours.perfetto --rank 1
verdict "what cannot be corrected is refused, with the reason"
copied() # copied REASON FILE OPTION...: on request, with unchanged stamps
{
	pattern=$1 file=$2
	shift 2
	rm -f copy.pftrace
	"$build/clkapply" p.clk "$file" --output copy.pftrace --unbounded "$@" >out 2>err
	status=$?
	expect_status 3
	expect_line "$file is copied with unchanged stamps: .*$pattern" err
	expect_line 'copy.pftrace: [0-9]* stamps copied, bound unknown' out
	size=$(wc -c <"$file")
	tail -c "$size" copy.pftrace >plain
	expect_same "$file" plain
	head -c 120 copy.pftrace | expect_line -a 'tickmark.unbounded' -
}

copied 'does not say which rank' service.pftrace
copied 'has no rank 7' library.perfetto-trace --rank 7
copied 'give --timer' plain.pftrace --rank 1
verdict "--unbounded copies a file without a clock, byte for byte, and marks it"
within() # within CORRECTION FILE PACKET OTHER OPTION...: right to so many ns, and to the bound that is stated
{
	correction=$1 file=$2 packet=$3 other=$4
	shift 4
	rm -f copy.pftrace
	expect timeout 60 "$build/clkapply" "$correction" "$file" --output copy.pftrace --rank 1 "$@" >out 2>err
	expect "$PYTHON3" "$py" judge "$file" copy.pftrace "$packet" "$other" >judged 2>&1
	sed 's/^/# /' judged
}

within p.clk months.pftrace 2 1000000000
within p.clk years.pftrace 2 1000000000
verdict "a stamp of 1, and a damaged one, months away"
within p.clk steered.pftrace 3000000 60
verdict "a clock that is steered there and back between two snapshots is within the bound"
within p.clk own.pftrace 5000000 60
verdict "a clock of a sequence's own, which runs at another rate, is within the bound"
within raw.clk kernel.pftrace 5 200000 --timer clock_monotonic_raw
verdict "times of another clock than the timer, which stay, are within the bound"
within bump.clk bump.pftrace 2 60
verdict "a correction that changes and changes back within a step"
within p.clk short.pftrace 2 60
short=$("$PYTHON3" "$py" bound copy.pftrace)
within p.clk lengths.pftrace 2 60
long=$("$PYTHON3" "$py" bound copy.pftrace)
expect [ $((long - short)) -ge 1300 ]
verdict "a length in whole microseconds widens the bound"
within p.clk zero.pftrace 2 60
verdict "a stamp of 0 without a clock keeps its clock"
within p.clk beside.pftrace 2 60
refuse 1 'twice.pftrace: offset 0: packets compressed by zlib and by zstd in one' twice.pftrace --rank 1
verdict "fields beside compressed packets stay"
size=$(wc -c <service.pftrace)
head -c $((size - 3)) service.pftrace >short.pftrace
refuse 1 'short.pftrace: offset [0-9]*: the file ends within a packet' short.pftrace --rank 1
head -c 2000 both.pftrace.gz >short.pftrace.gz
refuse 1 'short.pftrace.gz: offset [0-9]*: the compressed data end too early (byte 2000 of' short.pftrace.gz --rank 1
printf 'time,rank\n1,2\nand more than twenty bytes\n' >table.pftrace
refuse 1 'table.pftrace: offset 0: this is no packet of Perfetto' table.pftrace --rank 1
: >nothing.pftrace
refuse 1 'nothing.pftrace has no packet with a stamp' nothing.pftrace --rank 1
refuse 1 'cannot open missing.pftrace' missing.pftrace --rank 1
expect "$PYTHON3" "$py" noise . "$build/clkapply" "${NOISE_S:-5}" >judged 2>&1
sed 's/^/# /' judged
verdict "damage is refused, with its offset, and nothing is written"

"$PYTHON3" "$py" large large.pftrace "${MIB:-100}"
expect "$PYTHON3" - "$build/clkapply" <<'END' >out 2>&1
import resource, subprocess, sys
subprocess.run([sys.argv[1], "p.clk", "large.pftrace", "--rank", "1", "--output", "copy.pftrace", "--force"], check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"{used.ru_maxrss / 1024:.1f} MiB, {used.ru_utime + used.ru_stime:.2f} s of CPU for 100 MiB")
sys.exit(used.ru_maxrss > 64 << 10)
END
sed 's/^/# /' out
verdict "100 MiB in at most 64 MiB of memory"
done_testing

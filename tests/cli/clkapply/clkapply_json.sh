#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# clkapply on trace events in JSON: three generations of PyTorch's profiler, and what other programs write. TAP.
# shellcheck source=../../lib/tap.sh source-path=SCRIPTDIR disable=SC2154
. "${top_srcdir:-.}/tests/lib/tap.sh"
[ "${PYTHON3:-no}" != no ] || skip_all "no Python 3"
py=$src/tests/cli/clkapply/clkapply_json.py
cd "$dir" || exit 99
"$PYTHON3" "$py" make . || exit 99
if ! "$build/clkapply" c.clk g1.0.json --output x.json >out 2>err && grep -q 'needs zlib' err; then
	skip_all "built without zlib"
fi

right() # right FILE COPY RANK OPTION...: the copy is right to 2 ns, of which 1 is rounding
{
	file=$1 copy=$2 rank=$3
	shift 3
	rm -f "$copy"
	"$build/clkapply" c.clk "$file" --output "$copy" "$@" >out 2>err
	expect [ $? -eq 0 ]
	expect_empty err
	expect "$PYTHON3" "$py" judge "$file" "$copy" "$rank" 2 >judged 2>&1
	cat judged >>out
}

for g in 1 2 3 4; do
	right g$g.0.json copy.json 0
	right g$g.1.json copy.json 1
	expect_line '^1601 times, ' judged
	verdict "Kineto, generation $g: only times change, and each is right"
done
right g3.1.json first.json 1
right last.json copy.json 1
# the first look at its events, without their base, leaves nothing behind
grep -o '"bound_ns":[0-9]*' first.json >wanted
grep -o '"bound_ns":[0-9]*' copy.json >found
expect_same wanted found
verdict "the base comes after the events"
sed 's/$/\r/; s/, "/,\t"/g' g3.1.json >dos.json
right dos.json copy.json 1
verdict "lines that end as in DOS, and tabs"
right last.pt.trace.json.gz copy.json.gz 1
expect gzip -t copy.json.gz
verdict "a compressed file"
right single.json copy.json 1 --rank 1
right hosted.json copy.json 1
verdict "the rank by --rank, or by the name of the host"
right chrome.json copy.json 1 --timer clock_realtime --rank 1
expect_line '^30 times, ' judged
right bare.json copy.json 1 --timer clock_realtime --rank 1
right cut.json copy.json 1 --timer clock_realtime --rank 1
verdict "Chrome's format: text, exponents, all phases, samples, an array without its end"
# the least corrected stamp is before the base, so that is moved back
sed 's/"baseTimeNanoseconds": [0-9]*/"baseTimeNanoseconds": 1763689010125300000/; s/"ts": 4[0-9]*\./"ts": 0./g' \
	g3.1.json >late.json
sed -i 's/"ts": [0-9]*\.\([0-9]*\)/"ts": 0.\1/g; s/"ts":[0-9]*\.\([0-9]*\)/"ts":0.\1/g' late.json
right late.json copy.json 1
expect_line '"baseTimeNanoseconds": 1755799772125300000' copy.json
verdict "no time becomes negative: the base moves by a multiple of its step"

refuse() # refuse PATTERN FILE OPTION...: status not 0, that text, and no copy
{
	pattern=$1
	shift
	rm -f refused.json
	"$build/clkapply" c.clk "$@" --output refused.json >out 2>err
	expect [ $? -ne 0 ]
	expect_line "$pattern" err
	expect [ ! -e refused.json ]
	expect [ -z "$(ls -A | grep '^\.refused\|refused.*tmp')" ]
}

refuse 'single.json does not say which rank' single.json
refuse 'chrome.json does not say which clock it has: give --timer' chrome.json --rank 1
refuse 'has no rank 7' single.json --rank 7
refuse 'no readings of clock_boottime' g3.1.json --timer clock_boottime
right g3.1.json copy.json 1
refuse 'copy.json: offset 2: the file is corrected already' copy.json
verdict "what cannot be corrected is refused, with the reason"
copied() # copied REASON FILE OPTION...: on request, with unchanged stamps
{
	pattern=$1 file=$2
	shift 2
	rm -f copy.json
	"$build/clkapply" c.clk "$file" --output copy.json --unbounded "$@" >out 2>err
	status=$?
	expect_status 3
	expect_line "$file is copied with unchanged stamps: .*$pattern" err
	expect_line 'copy.json: [0-9]* stamps copied, .*bound unknown' out
	sed '1s/"tickmark":{"bound_ns":null,"unbounded":true,"timer":"","rank":-\{0,1\}[0-9]*},//' copy.json >plain.json
	expect_same "$file" plain.json
	expect_not cmp -s "$file" copy.json
}

copied 'does not say which rank' single.json
copied 'has no rank 7' g4.1.json --rank 7
copied 'no readings of clock_boottime' g3.1.json --timer clock_boottime
copied 'give --timer' chrome.json --rank 1
"$build/clkapply" c.clk g3.1.json --output copy.json --unbounded --force >out 2>err
expect [ $? -eq 0 ]
expect_no_line unbounded copy.json
verdict "--unbounded copies a file without a clock, byte for byte, and marks it"
size=$(wc -c <g3.1.json)
head -c $((size - 100)) g3.1.json >short.json
refuse "short.json: offset $((size - 100)): the file ends within a value" short.json
sed 's/"ph": "X"/"ph" "X"/' g3.1.json >damaged.json
refuse 'damaged.json: offset [0-9]*: a colon is expected' damaged.json
sed 's/"baseTimeNanoseconds": [0-9]*/"baseTimeNanoseconds": 17e17/' g3.1.json >damaged.json
refuse 'damaged.json: offset [0-9]*: baseTimeNanoseconds is no whole number' damaged.json
sed '0,/"dur": [0-9.]*/s//"dur": -5/' g3.1.json >damaged.json
refuse 'damaged.json: offset [0-9]*: a span of negative length' damaged.json
sed '0,/"ts": 4[0-9.]*/s//"ts": 1,5/' g3.1.json >damaged.json
refuse 'damaged.json: offset [0-9]*: ' damaged.json
(cat g3.1.json && echo '{}') >damaged.json
refuse "damaged.json: offset $size: something behind the end of the trace" damaged.json
head -c 2000 last.pt.trace.json.gz >damaged.json.gz
refuse 'damaged.json.gz: offset [0-9]*: the compressed data end too early' damaged.json.gz
head -c 12 last.pt.trace.json.gz >damaged.json.gz
refuse 'damaged.json.gz: offset 0: the compressed data end too early' damaged.json.gz
printf 'time,rank\n1,2\n' >table.json
refuse 'table.json: offset 0: it is no JSON object or array of trace events' table.json
echo '{"traceEvents": []}' >empty.json
refuse 'empty.json has no trace event with a stamp' empty.json
echo '{"systemTraceEvents": "x", "traceEvents": []}' >ftrace.json
refuse 'ftrace.json: offset 2: "systemTraceEvents" holds a text of ftrace' ftrace.json
: >empty.json
refuse 'empty.json: offset 0: ' empty.json
verdict "damage is refused, with its offset, and nothing is written"

# one event larger than all buffers, and a file larger than the memory that is allowed
"$PYTHON3" - <<'END'
long = '"' + "x\\\\" * 400000 + '"'
with open("long.json", "w", encoding="utf-8") as f:
    f.write('{"schemaVersion":1,"distributedInfo":{"rank":0},"traceEvents":[{"args":{"a":%s},"ts":1763689000123500.5,'
            '"ph":"X","dur":1},{"ts":1763689000123501,"ph":"i"}]}' % long)
END
right long.json copy.json 0
verdict "an event of a megabyte"
"$PYTHON3" "$py" large large.json 100
expect "$PYTHON3" - "$build/clkapply" <<'END' >out 2>&1
import resource, subprocess, sys
subprocess.run([sys.argv[1], "c.clk", "large.json", "--output", "copy.json", "--force"], check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"{used.ru_maxrss / 1024:.1f} MiB, {used.ru_utime + used.ru_stime:.2f} s of CPU for 100 MiB")
sys.exit(used.ru_maxrss > 64 << 10)
END
sed 's/^/# /' out
verdict "100 MiB in at most 64 MiB of memory"
done_testing

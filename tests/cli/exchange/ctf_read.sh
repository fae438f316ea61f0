#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# CTF as input: our own traces, what babeltrace2 writes, LTTng's encoding, and random types in both byte orders.
# babeltrace2 finds the same events at the same times. TAP.
# shellcheck source=../../lib/tap.sh source-path=SCRIPTDIR disable=SC2154
. "${top_srcdir:-.}/tests/lib/tap.sh"
[ "${PYTHON3:-no}" != no ] || skip_all "no Python 3"
command -v babeltrace2 >/dev/null || skip_all "no babeltrace2 here"
py=$src/tests/cli/exchange/ctf_read.py
cd "$dir" || exit 99

arrives() # arrives FOLDER [NS]: what babeltrace2 finds in FOLDER arrives, at its time or at most NS from it
{
	babeltrace2 --clock-seconds --no-delta "$1" >text 2>warnings
	expect [ $? -eq 0 ]
	rm -f o.jsonl
	"$build/stftool" "$1" --convert o.jsonl >out 2>err
	expect [ $? -eq 0 ]
	expect "$PYTHON3" -B "$py" judge text o.jsonl "${2:-0}" >judged 2>&1
	cat judged >>out
	"$build/stftool" "$1" --convert o.stf --force >out 2>saved
	"$build/stftool" o.stf --verify >out 2>verified
	expect [ $? -eq 0 ]
}

# the clock of some has 333 MHz, for which babeltrace2 computes with doubles
for seed in 1 2 3 4 5 6 7 8 9 10; do
	"$PYTHON3" -B "$py" make "r$seed" "$seed" || exit 99
	arrives "r$seed" 1
done
verdict "random types, contexts and alignments, little-endian and big-endian: babeltrace2 finds the same"

"$PYTHON3" -B "$py" lttng lttng || exit 99
arrives lttng
"$build/stftool" lttng --print-threads >out 2>err
expect_line ' 100 *100 *worker$' out
expect_line ' 100 *101 *worker$' out
expect_line 'lttng: no bound of its clock is known; not read: events with fields ([1-9]' err
"$build/stftool" lttng --print-clock >out 2>err
expect_line 'CTF: stamp 0 is 17000000011235[0-9]* ns after 1970; no bound is known' out
verdict "LTTng: short stamps that wrap, metadata in packets, threads that move from one CPU to the other"

"$PYTHON3" -B "$py" kernel kernel || exit 99
arrives kernel
"$build/stftool" kernel --print-threads >out 2>err
expect_line ' 0 *0 "CPU 1"$' out
expect_line ' 0 *6 p6$' out
"$build/stftool" kernel --dump >out 2>err
sed -n 's/^\([0-9]* [EL][A-Z]* CPU [0-9]*\).*/\1/p' out >calls
# stamp 0 is 10 ns; thread 5 is 1:0, number 2 here, and thread 6 is 1:1; the last call is that of the idle CPU 0
printf '%s\n' '10 ENTER CPU 2' '30 ENTER CPU 65538' '45 ENTER CPU 1' '46 LEAVE CPU 1' '60 LEAVE CPU 2' \
	'80 LEAVE CPU 65538' >wanted
expect_same wanted calls
"$PYTHON3" -B "$py" channels channels || exit 99
arrives channels
"$build/stftool" channels --dump >out 2>err
sed -n 's/^\([0-9]* [EL][A-Z]* CPU [0-9]*\).*/\1/p' out >calls
expect_same wanted calls
verdict "Linux's threads by sched_switch, also of other files: a system call ends on another CPU than it began"

second() # second FOLDER: the trace in CTF 2 has the same as that in CTF 1.8
{
	"$build/stftool" "$1" --convert one.jsonl --force >out 2>err
	"$build/stftool" "$1-2" --convert two.jsonl --force >out 2>err
	expect [ $? -eq 0 ]
	expect_same one.jsonl two.jsonl
}
for seed in 1 2 3 4 5 6 7 8 9 10; do
	second "r$seed"
done
second lttng
verdict "CTF 2 has the same as CTF 1.8: random types in both byte orders, LTTng's encoding"
"$PYTHON3" -B "$py" new new || exit 99
"$build/stftool" new-2 --convert two.jsonl --force >out 2>err
expect [ $? -eq 0 ]
expect_lines 200 '"type":"enter".*"function":"work"' two.jsonl
expect_lines 200 '"type":"leave".*"function":"work"' two.jsonl
expect_line '"time":0.133013433,' two.jsonl
"$build/stftool" new-2 --print-clock >out 2>err
expect_line 'CTF: stamp 0 is -2999999999 ns' out
expect_line 'process 0 0 1e-07' out
verdict "CTF 2: numbers of variable length, fields that may be missing, texts of a length, names without roles"
changed() # changed SED: the trace with that metadata
{
	rm -rf other && cp -r new-2 other
	sed "$1" new-2/metadata >other/metadata
	"$build/stftool" other --print-clock >out 2>err
	expect [ $? -eq 0 ]
}
changed 's/"accuracy"/"something"/'
expect_line 'other: no bound of its clock is known' err
changed 's/"seconds": -3/"seconds": 1700000000/'
expect_line "CTF: stamp 0 is 1700000000[0-9]* ns of the file's time" out
changed 's/"seconds": -3/"seconds": 1700000000/; s/"precision"/"origin": "unix-epoch", &/'
expect_line 'CTF: stamp 0 is 1700000000[0-9]* ns after 1970' out
verdict "CTF 2: a clock without an accuracy has no bound, one without the origin 1970 is not compared with others"

babeltrace2 lttng -o ctf -w written >out 2>err || exit 99
arrives written/node
sed 's/precision = [0-9]*;//; s/freq = 1000000000;/freq = 1000000000; precision = 1500;/' written/node/metadata >m
cp m written/node/metadata
"$build/stftool" written/node --print-clock >out 2>err
expect_line 'CTF: stamp 0 is 17000000011235[0-9]* ns after 1970; the bound is its precision' out
expect_line 'process 0 0 1.5e-06' out
expect_no_line 'no bound' err
verdict "what babeltrace2 writes; the precision of the clock is the bound"

"$PYTHON3" -B "$src/tests/cli/exchange/four_ranks.py" >four.avt &&
	"$build/tests/cli/lib/text_stf" four.avt four.stf >out 2>err || exit 99
"$build/stftool" four.stf --convert four.ctf >out 2>err
"$build/stftool" four.stf --convert four.jsonl >out 2>err
"$build/stftool" four.ctf --convert back.jsonl >out 2>err
expect [ $? -eq 0 ]
expect "$PYTHON3" -B "$py" same four.jsonl back.jsonl >judged 2>&1
cat judged >out
expect_line 'not read: begins and ends of collective operations (24)$' err
"$build/stftool" four.ctf --print-clock >out 2>err
expect_line 'process 3 0 1e-07' out
babeltrace2 four.ctf -o ctf -w again >out 2>err || exit 99
"$build/stftool" again/trace --convert again.jsonl >out 2>err
expect "$PYTHON3" -B "$py" same four.jsonl again.jsonl >judged 2>&1
cat judged >out
verdict "our own: calls, values of all types, messages with sizes and comments come back, also from babeltrace2's copy"

"$build/stftool" lttng --analyze >out 2>err
expect [ $? -eq 0 ]
"$build/stftool" lttng --dump >out 2>err
expect_line '^DEFFUNCTION [0-9]* "0x40000[0-9]" CLASS' out
"$build/vtreport" lttng >out 2>err
expect [ $? -eq 0 ]
expect_line '^lttng.html$' out
expect_line '<title>Report of lttng' lttng.html
mkdir -p session/ust && cp -r lttng r1 session/ust/
"$build/stftool" session --analyze >out 2>err
expect [ $? -eq 1 ]
expect_line 'stftool: session is a folder of CTF traces: read each of session/ust/' err
verdict "the analysis, the dump and the page take them; the traces of a session are named"

expect_no_files() # expect_no_files NAME: nothing of that name is there
{
	expect [ -z "$(find . -name "$1*")" ]
}
refused() # refused TEXT SED [SEED]: a trace whose metadata was changed so is refused with the place, and leaves nothing
{
	rm -rf bad
	cp -r "r${3:-1}" bad
	sed "$2" "r${3:-1}/metadata" >bad/metadata
	"$build/stftool" bad --convert bad.stf >out 2>err
	expect [ $? -eq 1 ]
	expect_line "stftool: bad/$1" err
	expect_no_files bad.stf
}
refused 'metadata: offset [0-9]*: an alignment that is no power of 2' 's/align = 8;/align = 7;/'
refused 'metadata: offset [0-9]*: an alignment that is no power of 2' 's/align = 8;/align = 4294967295;/'
refused 'metadata: offset [0-9]*: a number that has not 1 to 64 bits' 's/size = 32;/size = 65;/'
refused 'metadata: offset [0-9]*: a type of a name that is not described' 's/typealias.*//'
refused "metadata: offset [0-9]*: the clock's frequency is 0" 's/freq = [0-9]*/freq = 0/'
refused 'metadata: offset [0-9]*: this is no block that ends' '$s/.*/event { name = "x"; fields := struct {/'
nested() # nested OPEN CLOSE: a type of a thousand in each other
{
	set -- "$(yes "$1" | head -1000 | tr -d '\n')" "$(yes "$2" | head -1000 | tr -d '\n')"
	refused 'metadata: offset [0-9]*: too many types in each other' \
		"\$s/\$/ event { name = \"x\"; fields := struct { $1 $2 }; };/"
}
nested 'enum : ' ' '
nested 'struct { ' '} x; '
refused 'stream_0: offset 0: a packet of a stream that is not described' 's/id = 7;/id = 8;/'
refused 'stream_0: offset [0-9]*: an event without a stamp of a clock' 's/name = "c";/name = "d";/'
refused 'stream_0: offset 8: the file ends in the head of a packet' 's/u32 stream_id;/& u32 more[99999999];/'
refused2() # refused2 TEXT SED: the same for CTF 2
{
	rm -rf bad
	cp -r lttng-2 bad
	sed "$2" lttng-2/metadata >bad/metadata
	"$build/stftool" bad --convert bad.stf >out 2>err
	expect [ $? -eq 1 ]
	expect_line "stftool: bad/metadata: offset [0-9]*: $1" err
	expect_no_files bad.stf
}
refused2 'it does not begin with the preamble of CTF 2' 's/"version": 2/"version": 3/'
refused2 'an extension of CTF 2 that is not known here' 's/"version": 2/&, "extensions": {}/'
refused2 "the clock's frequency is 0" 's/"frequency": 1000000000/"frequency": 0/'
refused2 'a comma or a bracket is missing' 's/"version": 2/"version": 2 2/'
refused2 'a text without its end' '$s/.*/{"/'
refused2 'a type of a kind that is not known here' 's/static-length-blob/&s/'
refused2 'an alignment that is no power of 2 up to 65536' 's/"alignment": 8/"alignment": 7/'
refused2 'a number that has not 1 to 64 bits' 's/"length": 64/"length": 65/'
refused2 'a range that is not .LOW, HIGH.' 's/\[\[0, 30\]\]/[[0]]/'
refused2 'a length or a selector without its place' 's/"path": \["id"\]/"path": []/'
refused2 'no stream is described' '2,$d'
many=$(yes '{"type":"structure","member-classes":[{"name":"x","field-class":' | head -50 | tr -d '\n')
many="$many\"a\"$(yes '}]}' | head -50 | tr -d '\n')"
labels=$(seq 2000 | sed 's/.*/"a&":[[&,&]],/' | tr -d '\n')
alias="{\"type\":\"field-class-alias\",\"name\":\"many\",\"field-class\":{\"type\":"
alias="$alias\"variable-length-unsigned-integer\",\"mappings\":{$labels\"z\":[[0,0]]}}}"
uses=$(yes '{"name":"x","field-class":"many"},' | head -300 | tr -d '\n')
uses="{\"type\":\"event-record-class\",\"payload-field-class\":{\"type\":\"structure\",\"member-classes\":[${uses%,}]}}"
echo "2s/^./$alias$uses/" >program
refused2 'more than a million names and ranges of values' '-fprogram'
refused2 'too many types in each other' "2s/^./{\"type\":\"event-record-class\",\"payload-field-class\":$many}/"
refused2 'more than 200 brackets in each other' "\$s/.*/$(yes '[' | head -300 | tr -d '\n')/"
rm -rf bad
cp -r r1 bad
sed 's/u32 stream_id;/& u32 more[99999999];/' r1/metadata >bad/metadata
truncate -s 300M bad/stream_0
"$build/stftool" bad --convert bad.stf >out 2>err
expect_line 'stftool: bad/stream_0: offset 0: the head of a packet of more than 256 MiB' err
expect_no_files bad.stf
rm -rf bad
cp -r new-2 bad
printf '\1\5\377\377\377\377\377\377\377\377\377\177' >bad/stream
"$build/stftool" bad --convert bad.stf >out 2>err
expect_line 'stftool: bad/stream: offset 11: a number of more than 64 bits' err
expect_no_files bad.stf
verdict "damaged metadata is refused with the place, and leaves nothing"

damaged() # damaged TEXT COMMAND...: the command makes bad/stream_0 from standard input
{
	what=$1
	shift
	rm -rf bad
	cp -r r1 bad
	"$@" <r1/stream_0 >bad/stream_0
	"$build/stftool" bad --convert bad.stf >out 2>err
	expect [ $? -eq 1 ]
	expect_line "stftool: bad/stream_0: offset [0-9]*: $what" err
	expect_no_files bad.stf
}
put() # put OFFSET BYTES: changes bytes of standard input
{
	cat >changed
	printf '%b' "$2" | dd of=changed bs=1 seek="$1" conv=notrunc 2>/dev/null
	cat changed
}
damaged 'the file ends in the head of a packet' head -c 20
damaged 'a packet of no possible size' head -c 100
damaged 'no packet begins here' put 0 '\0377'
damaged 'a packet of no possible size' put 24 '\0377\0377\0377\0377'
damaged 'a packet of no possible size' put 32 '\0377\0377\0377\0377\0377\0377\0377\0377'
sparse() # sparse BYTES SIZE: a packet of so many bytes
{
	head -c 40 >changed
	printf '%b' "$2" | dd of=changed bs=1 seek=24 conv=notrunc 2>/dev/null
	printf '%b' "$2" | dd of=changed bs=1 seek=32 conv=notrunc 2>/dev/null
	truncate -s "$1" changed
	cat changed
}
damaged 'a packet of more than 256 MiB; record with smaller buffers' sparse 536870912 '\0\0\0\01\0\0\0\0'
mkdir none && cp r1/metadata none/ && "$build/stftool" none --convert bad.stf >out 2>err
expect [ $? -eq 1 ]
expect_line 'none has no event with a stamp' err
verdict "damaged packets are refused with the place, and leave nothing"

rm -rf bad o.stf*
mkdir noise && cp -r lttng r1 r2 r3 four.ctf noise/
expect "$PYTHON3" -B "$py" noise noise "$build/stftool" "${NOISE_S:-5}" >judged 2>&1
cat judged >out
verdict "noise: no crash, and no trace of what is refused"
done_testing

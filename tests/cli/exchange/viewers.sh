#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Traces of viewers as input: Chrome's JSON, PyTorch's profiles, Perfetto's packets. All slices, values, flows and
# instants arrive, by an independent reader of the same files. TAP.
# shellcheck source=../../lib/tap.sh source-path=SCRIPTDIR disable=SC2154
. "${top_srcdir:-.}/tests/lib/tap.sh"
[ "${PYTHON3:-no}" != no ] || skip_all "no Python 3"
py=$src/tests/cli/exchange/viewers.py
cd "$dir" || exit 99
"$PYTHON3" -B "$py" make . || exit 99
"$build/stftool" object.json --convert o.stf >out 2>err
if grep -q 'written, not read' err; then
	skip_all "built without zlib"
fi

arrives() # arrives FILE TRUTH: what FILE has is that of the JSON TRUTH
{
	rm -f o.jsonl
	"$build/stftool" "$1" --convert o.jsonl >out 2>err
	expect [ $? -eq 0 ]
	expect "$PYTHON3" -B "$py" judge "$2" o.jsonl >judged 2>&1
	cat judged >>out
	"$build/stftool" "$1" --convert o.stf --force >out 2>saved
	"$build/stftool" o.stf --verify >out 2>verified
	expect [ $? -eq 0 ]
}

for f in object.json array.json indented.json.gz kineto.json; do
	arrives "$f" "$f"
	expect_line "slices that overlap others are scopes ([1-9]" err
	verdict "$f: Python's reader finds the same"
done
for f in packets.pftrace packed.pftrace.gz; do
	arrives "$f" packets.json
	verdict "$f: it has what was put into it"
done

# names, and what the file says of its clock
"$build/stftool" kineto.json --print-threads >out 2>err
expect_line ' 30 *30 *training$' out
expect_line ' 30 *4 "worker é"' out
"$build/stftool" kineto.json --print-clock >out 2>err
expect_line 'Kineto: stamp 0 is 17514108360000[0-9]* ns after 1970; corrected by clkapply' out
expect_line 'process 0 0 1.5e-06' out
expect_no_line 'no bound' err
"$build/stftool" packets.pftrace --print-clock >out 2>err
expect_line 'Perfetto: stamp 0 is 1000000000[0-9]* ns of the file.s time; no bound is known' out
expect_line 'packets.pftrace: no bound of its clock is known' err
verdict "names of processes and threads, the zero of the times, the bound"
"$build/stftool" object.json --analyze >out 2>err
expect [ $? -eq 0 ]
"$build/stftool" object.json --dump >out 2>err
expect_line '^DEFFUNCTION [0-9]* "f0" CLASS' out
for f in kineto.json packed.pftrace.gz; do
	"$build/vtreport" "$f" >out 2>err
	expect [ $? -eq 0 ]
	expect_line "^${f%%.*}.html$" out
	expect_line "<title>Report of $f" "${f%%.*}.html"
done
"$build/vtreport" kineto.json --index >out 2>err
expect [ $? -eq 1 ]
expect_line -- '--index is for STF traces: make one by stftool kineto.json' err
verdict "the analysis, the dump and the page take them"

mkdir tmp
TMPDIR=$dir/tmp "$build/vtreport" --compare kineto.json object.json -- array.json kineto.json -o c.html >out 2>err
expect [ $? -eq 0 ]
expect [ -z "$(ls tmp)" ]
interrupted() # interrupted SIGNAL COMMAND...: it is in the middle of a trace, and leaves no temporary folder
{
	sig=$1
	shift
	# on a fast machine it takes half a second in all: once more where it was over when the signal came
	for _ in 1 2 3 4 5; do
		TMPDIR=$dir/tmp "$@" >out 2>err &
		pid=$!
		until [ -n "$(ls tmp)" ] || ! kill -0 "$pid" 2>/dev/null; do :; done
		kill "-$sig" "$pid"
		wait "$pid"
		ended=$?
		[ $ended -eq 0 ] || break
	done
	expect [ $ended -gt 128 ]
	expect [ -z "$(ls tmp)" ]
}
"$PYTHON3" -c 'for i in range(700000):
	row = "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":1,\"name\":\"n\"}" % i
	print("," if i else "[", row)' >long.json
interrupted TERM "$build/vtreport" long.json
interrupted HUP "$build/stftool" long.json --print-statistics
interrupted XCPU "$build/stftool" long.json --print-statistics
TMPDIR=$dir/tmp "$PYTHON3" -c 'import signal, subprocess, sys
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
p = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE)
p.stdout.readline()
p.stdout.close()
sys.exit(p.wait() != -signal.SIGPIPE)' "$build/stftool" long.json --dump >out 2>err
expect [ $? -eq 0 ]
expect [ -z "$(ls tmp)" ]
rm long.json
verdict "temporary traces are removed when they are read, after a signal, and when nobody reads the output"

# of a kind that is given twice the last one counts; arguments that were passed over are not read
cat >twice.json <<'END'
[{"ph":"X","ts":1,"args":{"a":1},"ph":"C","name":"n"},
{"ph":"X","pid":1,"ts":1,"args":{"name":"p"},"ph":"M","name":"process_name"},
{"ph":"C","ts":2,"args":{"a":7,"b":8,"c":9},"name":"long enough"},
{"args":{"a":1},"ph":"X","ts":3,"args":{"a":1},"ph":"C","name":"n"},
{"ph":"X","ts":4,"dur":1,"args":{"a":1},"name":"slice"}]
END
"$build/stftool" twice.json --convert twice.jsonl >out 2>err
expect [ $? -eq 0 ]
expect_lines 3 '"type":"sample"' twice.jsonl
expect_line 'not read: events with arguments (1)' err
verdict "an event whose kind is given twice: arguments that were passed over are none"

cat >flows.json <<'END'
[{"ph":"X","pid":1,"tid":1,"ts":0,"dur":10,"name":"a","bind_id":"0x5","flow_out":true},
{"ph":"X","pid":1,"tid":2,"ts":20,"dur":10,"name":"b","bind_id":"0x5","flow_in":true,"flow_out":true},
{"ph":"X","pid":2,"tid":2,"ts":40,"dur":10,"name":"c","bind_id":"0x5","flow_in":true},
{"ph":"s","pid":1,"tid":1,"ts":5,"id":"1","name":"n"},{"ph":"t","pid":1,"tid":2,"ts":25,"id":"1","name":"n"},
{"ph":"f","pid":2,"tid":2,"ts":45,"id":"1","name":"n"},{"ph":"s","pid":1,"tid":1,"ts":6,"id":"2","name":"n"},
{"ph":"f","pid":2,"tid":2,"ts":1,"id":"3","name":"n"},{"ph":"s","pid":1,"tid":1,"ts":3,"id":"3","name":"n"}
END
"$build/stftool" flows.json --dump >out 2>err
sed -n 's/^\([0-9]*\) \([SR]...\)MSG CPU \([0-9]*\).*FUNCTION \([0-9]*\) PAIR.*/\1 \2 \3 \4/p' out | sort -n >found
printf '%s\n' '0 SEND 1 1' '1000 RECV 2 0' '3000 SEND 1 1' '5000 SEND 1 1' '20000 RECV 65537 2' '20000 SEND 65537 2' \
	'25000 RECV 65537 2' '25000 SEND 65537 2' '40000 RECV 2 3' '45000 RECV 2 3' >wanted
sort -n wanted >sorted
expect_same sorted found
expect_line 'not read: flows with one end (1)$' err
verdict "flows of both generations, in steps, and back in time; an array without its end"
flows() # flows EVENTS: the messages of these rows of threads 1 and 2, "PHASE:MS:ID"
{
	for e in $1; do
		phase=${e%%:*} id=${e##*:} ms=${e#*:}
		tid=2
		[ "$phase" = s ] && tid=1
		echo ",{\"ph\":\"$phase\",\"pid\":1,\"tid\":$tid,\"ts\":${ms%:*},\"id\":\"$id\"}"
	done | sed '1s/,/[/; $s/$/]/' >again.json
	"$build/stftool" again.json --dump >out 2>err
	sed -n 's/^\([0-9]*\) \([SR]\)...MSG.*/\2\1/p' out | tr '\n' ' '
}
expect [ "$(flows 's:1:a s:10:a f:20:a')" = "S9000 R19000 " ]
expect_line 'not read: flows with one end (1)$' err
expect [ "$(flows 's:1:a t:5:a s:10:a f:20:a')" = "S0 R4000 S9000 R19000 " ]
expect [ "$(flows 's:1:a f:5:a s:10:a f:20:a')" = "S0 R4000 S9000 R19000 " ]
want="S0 S4000 R4000 R8000 S9000 S14000 R14000 R19000 "
expect [ "$(flows 's:1:a t:5:a f:9:a s:10:a t:15:a f:20:a')" = "$want" ]
expect_no_line 'one end' err
verdict "an id of a flow that is used again is another flow"

"$build/stftool" owners.pftrace --convert owners.jsonl --force >out 2>err
lasts() # lasts NAME FROM TO: of owners.jsonl, a slice
{
	expect [ "$(grep -c "\"$1\"" owners.jsonl)" -ge 2 ]
	expect "$PYTHON3" -B "$py" lasts owners.jsonl "$@" >judged 2>&1
	cat judged >>out
}
lasts 'of the process' 100 300
lasts mem 200 400
lasts local 500 520
lasts local 510 530
expect "$PYTHON3" -B "$py" flows owners.jsonl 700 710 701 711 800 810 >judged 2>&1
cat judged >>out
expect_line '"at 0"' owners.jsonl
expect_line '"counter":"mem","value":5,"unit":"B"' owners.jsonl
expect_line 'counter events without a value (1)' err
"$build/stftool" clocks.pftrace --convert owners.jsonl --force >out 2>err
lasts 'of the process' 0 200
expect_no_line '"at 0"' owners.jsonl
expect_line 'events without a stamp (1)' err
verdict "tracks of a process beside its main thread, ids local to a process, stamps of 0, counters without a value"

"$PYTHON3" -c 'import json
print(json.dumps([{"ph": "B", "pid": 1, "tid": 1, "ts": i, "name": "a%d" % (i % 2)} for i in range(100000)] +
    [{"ph": "E", "pid": 1, "tid": 1, "ts": 100000 + i, "name": "a1" if i % 2 else "no"}
        for i in range(200000)]))' >deep.json
timeout 30 "$build/stftool" deep.json --convert o.stf --force >out 2>err
expect [ $? -eq 0 ]
expect_line 'ends without a begin (150000)' err
expect_line 'slices without an end last to the last stamp (50000)' err
verdict "ends of other names, and ends below 100,000 open slices, take no time"
cat >wrong.json <<'END'
[{"ph":"B","pid":1,"tid":1,"ts":1,"name":"open"},{"ph":"B","pid":1,"tid":1,"ts":2,"name":"late"},
{"ph":"B","pid":1,"tid":1,"ts":4,"name":"in"},
{"ph":"E","pid":1,"tid":1,"ts":6,"name":"late"},{"ph":"E","pid":1,"tid":1,"ts":7},{"ph":"E","pid":1,"tid":2,"ts":8},
{"ph":"B","pid":1,"tid":3,"ts":9,"name":"back"},{"ph":"E","pid":1,"tid":3,"ts":8},{"ph":"Q","pid":1,"ts":3},
{"ph":"X","name":"none"},
{"ph":"C","pid":1,"ts":3,"name":"c","args":{"value":"text"}},
{"ph":"X","pid":1,"tid":4,"ts":20,"name":"last"},7]
END
"$build/stftool" wrong.json --dump >out 2>err
expect [ $? -eq 0 ]
for text in 'slices that overlap others are scopes (1)' 'slices without an end last to the last stamp (1)' \
	'slices that end before they begin have no length (1)' 'events of other kinds (2)' \
	'events without a stamp (1)' 'values of counters that are no numbers (1)' 'ends without a begin (1)'; do
	expect_line "$text" err
done
expect_line '^19000 LEAVE CPU 1$' out
verdict "wrong nesting is shown as it is, and counted"

refused() # refused TEXT CONTENT
{
	printf '%s' "$2" >bad.json
	"$build/stftool" bad.json --input-format CHROME --convert bad.stf >out 2>err
	expect [ $? -eq 1 ]
	expect_line "$1" err
	expect_no_files bad.stf
}
expect_no_files() # expect_no_files NAME: nothing of that name is there
{
	expect [ -z "$(find . -name "$1*")" ]
}
deep=$(head -c 3000 /dev/zero | tr '\0' '[')
refused 'bad.json has no event with a stamp' '{"traceEvents":[]}'
refused 'bad.json has stamps that are too far from 1970' \
	'{"baseTimeNanoseconds":4611686018427387903,"traceEvents":[{"ph":"X","ts":9e15}]}'
refused 'has no event with a stamp' '[{"ph":"M","name":"process_name","pid":1,"args":{"name":"p"}}]'
refused 'offset 16: a time that is no number of microseconds' '[{"ph":"X","ts":99999999999999999999999}]'
refused 'offset 16: a time that is no number' '[{"ph":"X","ts":{}}]'
refused 'a span of negative length' '[{"ph":"X","ts":1,"dur":-1}]'
refused 'or one that is too long' '[{"ph":"X","ts":9e15,"dur":9e15}]'
refused 'the file ends within a value' '[{"ph":"X","ts":1,"na'
refused 'more than 1000 brackets in each other' "[{\"ph\":\"X\",\"ts\":1,\"args\":{\"a\":$deep"
refused 'a bracket that was not opened' '[{"ph":"X","ts":1,"args":{"a":[1}}]'
refused 'baseTimeNanoseconds is no whole number' '{"baseTimeNanoseconds":1e99,"traceEvents":[{"ph":"X","ts":1}]}'
verdict "damaged JSON is refused with the place, and leaves nothing"
head -c 4000 packets.pftrace >cut.pftrace
"$build/stftool" cut.pftrace --convert cut.stf >out 2>err
expect [ $? -eq 1 ]
expect_line 'cut.pftrace: offset [0-9]*: the file ends within a packet' err
expect_no_files cut.stf
printf '\012\002\120\001' >none.pftrace
"$build/stftool" none.pftrace --input-format PERFETTO --convert none.stf >out 2>err
expect [ $? -eq 1 ]
expect_line 'none.pftrace has no event with a stamp' err
verdict "damaged packets are refused"
rm -f ./*.stf* o.jsonl
expect "$PYTHON3" -B "$py" noise . "$build/stftool" "${NOISE_S:-5}" >judged 2>&1
cat judged >out
verdict "noise: no crash, and no trace of what is refused"
done_testing

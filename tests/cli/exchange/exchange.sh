#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# stftool --convert to formats of others and back. TAP.
# shellcheck disable=SC1091,SC2154
. "${top_srcdir:-.}/tests/cli/lib/toollib.sh"
TMPDIR=$dir/tmp
export TMPDIR
mkdir "$TMPDIR"

"$build/tests/lib/exchange_table" >"$dir/table"
grep -v '^missing' "$dir/table" >"$dir/built"
# a build without a format's library does not know what it would hold
awk 'NR == FNR { if ($1 == "missing") gone[$2] = 1; next }
	/^[|] [A-Z0-9]+ [|] `/ && !($2 in gone)' "$dir/table" "$src/doc/exchange.md" |
	diff "$dir/built" - >"$dir/diff"
ok "doc/exchange.md has the table of the formats as it is in C" $?

# ---- what is refused ----

tool "$rich" --convert "$dir/x.foo"
expect_status 2
expect_line 'no format has the suffix .foo' "$dir/err"
expect [ ! -e "$dir/x.foo" ]
verdict "an unknown suffix is an error, and no STF of that name"
tool "$rich" --convert "$dir/x" --logfile-format FOO
expect_status 2
expect_line "'FOO' is none of ASCII, STF, .*CSV" "$dir/err"
expect [ ! -e "$dir/x" ]
verdict "so is an unknown name"
for words in "--convert $dir/x.speedscope.json" "--convert $dir/x.json --logfile-format SPEEDSCOPE"; do
	# shellcheck disable=SC2086
	tool "$rich" $words
	expect_status 2
	expect_line '\( SPEEDSCOPE\|speedscope.json\); speedscope opens what' "$dir/err"
	expect_not ls "$dir"/x.*json >/dev/null 2>&1
done
tool "$rich" --convert "$dir/x.json" --logfile-format CHROME
expect_status 0
expect rm "$dir/x.json"
verdict "the format for speedscope alone is no more; the message names the way out"
tool "$rich" --recover "$dir/x.csv"
expect_status 2
expect [ ! -e "$dir/x.csv" ]
verdict "--recover writes STF only"
echo here >"$dir/there.csv"
tool "$rich" --convert "$dir/there.csv"
expect_status 1
expect_text here "$dir/there.csv"
expect tool "$rich" --convert "$dir/there.csv" --force
expect [ "$(head -c 5 "$dir/there.csv")" = time, ]
verdict "a file that is there stays, without --force"
# an earlier conversion has a mark; a table of numbers may be anybody's
for x in jsonl chrome.json ctf lttng paje perfetto parquet otf otf2; do
	tool "$rich" --convert "$dir/two.$x"
	grep -q 'not built\|configure' "$dir/err" && continue
	tool "$rich" --convert "$dir/two.$x" && [ "$status" -eq 0 ] || { cat "$dir/err"; echo "$x: not replaced"; }
	case $x in
	lttng | otf | otf2)
		tool "$dir/two.$x" --convert "$dir/two.$x"
		[ "$status" -eq 1 ] && grep -q 'exists; --force' "$dir/err" || echo "$x: replaced by itself"
		;;
	esac
	rm -rf "$dir"/two* && mkdir "$dir/two.ctf" "$dir/two.lttng" "$dir/two.lttng/control"
	echo mine | tee "$dir/two.ctf/metadata" "$dir/two.lttng/control/facilities_0" >"$dir/two.0.def"
	[ -e "$dir/two.$x" ] || echo mine >"$dir/two.$x"
	tool "$rich" --convert "$dir/two.$x"
	[ "$status" -eq 1 ] && grep -q 'exists; --force\|is in the way' "$dir/err" ||
		echo "$x: a file of the user was replaced"
	rm -rf "$dir"/two*
done >"$dir/diff"
[ ! -s "$dir/diff" ]
ok "an earlier conversion is replaced, a file of the user or the input never" $?
echo mine >"$dir/prog"
tool "$rich" --convert "$dir/prog.otf2"
if grep -q 'not built\|configure' "$dir/err"; then
	skip "OTF2 beside a program of that name" "not in this build"
else
	expect_status 0
	expect_text mine "$dir/prog"
	expect [ -s "$dir/prog.otf2/traces.otf2" ]
	expect [ ! -e "$dir/prog.def" ]
	verdict "OTF2 is a folder of its own, beside a program of the trace's name"
	rm -r "$dir/prog.otf2" && mkdir "$dir/prog.otf2" && echo mine >"$dir/prog.otf2/main.c"
	tool "$rich" --convert "$dir/prog.otf2" --force
	expect_status 1
	expect_line "/prog.otf2 is in the way and is no such archive: give another name" "$dir/err"
	expect_text mine "$dir/prog.otf2/main.c"
	verdict "a folder of other files is in the way, and --force does not replace it"
	ez=$src/tests/golden/eztrace
	mkdir "$dir/of score-p" && cp -r "$ez"/* "$dir/of score-p"
	for input in "of score-p/eztrace_log.otf2" "of score-p" "of score-p/"; do
		"$build/stftool" "$dir/$input" --dump | cksum
	done >"$dir/out" 2>"$dir/err"
	expect [ "$(sort -u "$dir/out" | wc -l) $(wc -l <"$dir/out")" = "1 3" ]
	mv "$dir/of score-p/eztrace_log" "$dir/of score-p/eztrace_log.def" "$dir"
	tool "$dir/of score-p" --convert "$dir/none.stf"
	expect_status 1
	verdict "an archive is read by its anchor file or its folder"
	mkdir "$dir/no archive"
	tool "$dir/no archive" --input-format OTF2 --dump
	expect_status 1
	expect_line "$dir/no archive: this folder has no traces.otf2" "$dir/err"
	verdict "a folder without an archive"
fi
mkdir "$dir/own.ctf" "$dir/own.csv" && echo mine >"$dir/own.ctf/main.c" && echo mine >"$dir/own.csv/main.c" &&
	echo mine >"$dir/own.lttng"
for x in ctf csv lttng; do
	tool "$rich" --convert "$dir/own.$x" --force
	[ "$status" -eq 1 ] && grep -q "/own.$x is in the way" "$dir/err" || break
done && [ "$(cat "$dir/own.ctf/main.c" "$dir/own.csv/main.c" "$dir/own.lttng" | tr '\n' ' ')" = 'mine mine mine ' ]
ok "a folder where a file would be, and a file where a folder would be, stay" $?
mkdir "$dir/full" && mount -t tmpfs -o size=16k none "$dir/full" 2>/dev/null && {
	head -c 16384 /dev/zero >"$dir/full/fill"
	tool "$rich" --convert "$dir/full/x.csv"
	[ "$status" -eq 1 ] && [ "$(ls -A "$dir/full")" = fill ]
}
case $? in
0) ok "of a disk that is full nothing is left" 0 ;;
*) if mountpoint -q "$dir/full"; then ok "of a disk that is full nothing is left" 1; else
	skip "a full disk" "cannot mount"; fi ;;
esac

mkdir "$dir/held"
tool "$rich" --convert "$dir/held/x.parquet"
expect_status 0
# of two files the second one cannot be moved
if mount --bind "$dir/held/x.parquet" "$dir/held/x.parquet" 2>/dev/null; then
	expect cp "$dir/held/x.events.parquet" "$dir/want"
	tool "$dir/one.stf" --convert "$dir/held/x.parquet" --force
	expect_status 1
	expect_line 'cannot replace .*/held/x.parquet: ' "$dir/err"
	expect_same "$dir/want" "$dir/held/x.events.parquet"
	expect [ "$(ls -A "$dir/held" | tr '\n' ' ')" = "x.events.parquet x.parquet " ]
	expect umount "$dir/held/x.parquet"
	verdict "of an output of several files all are replaced, or none"
else
	skip "of an output of several files all are replaced, or none" "cannot mount"
fi

# ---- CSV ----

cat >"$dir/plain.avt" <<'END'
CLKPERIOD 1e-09
NCPUS 1 2
DEFCLASS 1 "P,Q" SELF "P,Q" PARENT 0
DEFGROUP 2147942402 "All" NMEMBS 2 1 2
DEFCOUNTER 6 "ins" CLASS 1 CPU 2147942402 TYPE 67 DIFF 1 UNIT "B" LOWER 0 UPPER 0
DEFCOUNTER 7 "load" CLASS 1 CPU 2147942402 TYPE 34 DIFF 0 UNIT "" LOWER 0 UPPER 0
DEFCOUNTER 8 "low" CLASS 1 CPU 2147942402 TYPE 1 DIFF 0 UNIT "say ""x""" LOWER 0 UPPER 0
DEFCPU 1 HOST "h1" IP "" PID 1 TID 1 OFFSET 0 SKEW 1
DEFCPU 2 HOST "h2" IP "" PID 1 TID 1 OFFSET 0 SKEW 1
5 SAMP CPU 1 DEF 6 UINT 8 1000 DEF 7 FLOAT 8 0.1
2000000005 SAMP CPU 1 DEF 6 UINT 8 18446744073709551615 DEF 7 FLOAT 8 -1e-300
2000000006 SAMP CPU 2 DEF 8 INT 8 -9223372036854775808 DEF 7 FLOAT 8 0.30000000000000004
4000000006 SAMP CPU 65538 DEF 6 UINT 8 7
6000000006 SAMP CPU 65538 DEF 6 UINT 8 107
END
sed -i 's/ UNIT "say ""x"""/ UNIT "say \\"x\\""/' "$dir/plain.avt"
from_text "$dir/plain.avt" "$dir/plain.stf"
tool "$dir/plain.stf" --convert "$dir/p.csv"
# shellcheck disable=SC2016
[ "$status" -eq 0 ] && cat >"$dir/want" <<'END'
time,bound,host,rank,thread,counter,value,unit
0.000000005,,h1,0,0,"P,Q:ins",1000,B
0.000000005,,h1,0,0,"P,Q:load",0.1,
2.000000005,,h1,0,0,"P,Q:ins",18446744073709551615,B
2.000000005,,h1,0,0,"P,Q:load",-1e-300,
2.000000006,,h2,1,0,"P,Q:load",0.30000000000000004,
2.000000006,,h2,1,0,"P,Q:low",-9223372036854775808,"say ""x"""
4.000000006,,h2,1,1,"P,Q:ins",7,B
6.000000006,,h2,1,1,"P,Q:ins",107,B
END
(head -n 1 "$dir/p.csv" && tail -n +2 "$dir/p.csv" | sort) | diff "$dir/want" - >"$dir/diff"
ok "CSV: times, hosts, ranks, threads, names, values and units are those of the trace" $?
tool "$dir/plain.stf" --convert "$dir/w.csv" --layout wide
cat >"$dir/want" <<'END'
time,bound,host,rank,thread,"P,Q:ins [B]","P,Q:load","P,Q:low [say ""x""]"
0.000000005,,h1,0,0,1000,0.1,
2.000000005,,h1,0,0,18446744073709551615,-1e-300,
2.000000006,,h2,1,0,,0.30000000000000004,-9223372036854775808
4.000000006,,h2,1,1,7,,
6.000000006,,h2,1,1,107,,
END
diff "$dir/want" "$dir/w.csv" >"$dir/diff"
ok "wide: a column for each counter, with its unit; empty where there is no sample" $?
echo '7000000006 SAMP CPU 65538 DEF 7 FLOAT 8 2.5' | cat "$dir/plain.avt" - >"$dir/apart.avt"
from_text "$dir/apart.avt" "$dir/apart.stf"
tool "$dir/apart.stf" --convert "$dir/apart.csv" --layout wide
printf '6.000000006,,h2,1,1,107,,\n7.000000006,,h2,1,1,,2.5,\n' >"$dir/want"
tail -n 2 "$dir/apart.csv" | diff "$dir/want" - >"$dir/diff"
ok "wide: another time is another line, also of a counter whose cell is empty" $?
tool "$dir/plain.stf" --convert "$dir/r.csv" --rate
expect_line '^6.000000006,,h2,1,1,"P,Q:ins",50,B/s$' "$dir/r.csv"
expect_lines 2 'P,Q:ins' "$dir/r.csv"
expect_line '"P,Q:load",0.1,$' "$dir/r.csv"
verdict "--rate: totals as change per second since the sample before, others unchanged"
# a clock tick of 10 ms that falls between two samples 1 us apart
{
	sed '/SAMP/d' "$dir/plain.avt"
	for at in 0:0 100:10 200:20 200.001:21 300:30 300.001:31 300.002:31 400:40; do
		echo "$at" | awk -F: '{ printf "%d SAMP CPU 1 DEF 6 UINT 8 %d\n", $1 * 1e6, $2 }'
	done
} >"$dir/soon.avt"
from_text "$dir/soon.avt" "$dir/soon.stf"
tool "$dir/soon.stf" --convert "$dir/soon.csv" --rate
expect_lines 4 'P,Q:ins' "$dir/soon.csv"
expect [ "$(grep -c '^0.[1-4]00000000,,h1,0,0,"P,Q:ins",100,B/s$' "$dir/soon.csv")" = 4 ]
verdict "--rate: a sample soon after another one is joined with the next one"
tool "$rich" --convert "$dir/rich.csv"
expect_status 0
expect_line 'CSV has no place for: function entries (2), function exits (2), message sends (5), message receives (5)' \
	"$dir/err"
verdict "what CSV cannot hold is reported, with its number"
tool "$dir/plain.stf" --logfile-name "$dir/part.csv" --request 0:0
"$build/stftool" "$dir/plain.stf" --dump --request 0:0 | grep -o ' DEF [0-9]* [A-Z]* 8 ' | wc -l >"$dir/want"
expect [ "$(cat "$dir/want")" -gt 0 ]
expect [ "$(tail -n +2 "$dir/part.csv" | wc -l)" -eq "$(cat "$dir/want")" ]
expect [ -z "$(ls -A "$TMPDIR")" ]
verdict "--request selects before a conversion"

has_format() # has_format NAME: does this build write it?
{
	! grep -q "^missing $1$" "$dir/table"
}

for x in csv jsonl chrome.json ctf lttng paje perfetto parquet otf otf2; do
	case $x in otf*) has_format "$(echo $x | tr ot OT | tr f F)" || continue ;; esac
	tool "$src/tests/golden/every-little.stf" --convert "$dir/undeclared.$x"
	expect_status 0
	expect_line 'has no place for: .*counter samples (3)' "$dir/err"
done
verdict "samples of counters that the trace does not declare are counted, whatever the format"

for x in lttng otf; do
	[ $x = lttng ] || has_format OTF || continue
	expect tool "$rich" --convert "$dir/order.$x"
	expect tool "$dir/order.$x" --convert "$dir/order.stf" --force
	"$build/stftool" "$rich" --dump | awk '/^[0-9]/ && $2 != "REPORT" { print $1, $2, $4 }' >"$dir/want"
	"$build/stftool" "$dir/order.stf" --dump | awk '/^[0-9]/ && $2 != "REPORT" { print $1, $2, $4 }' >"$dir/got"
	expect [ "$(wc -l <"$dir/want")" -gt 20 ]
	expect_same "$dir/want" "$dir/got"
done
verdict "LTTng and OTF and back: messages and other events of one time stay in their order"

awk 'BEGIN {
	print "CLKPERIOD 1e-09\nNCPUS 1 1\nDEFCLASS 1 \"P\" SELF \"P\" PARENT 0\nDEFFUNCTION 1 \"f\" CLASS 1"
	for (i = 10; i < 30; i++) print "17000000001234567" i, (i % 2 ? "LEAVE CPU 1" : "ENTER CPU 1 FUNCTION 1")
}' >"$dir/epoch.avt"
expect from_text "$dir/epoch.avt" "$dir/epoch.stf"
expect tool "$dir/epoch.stf" --convert "$dir/epoch.chrome.json"
"${PYTHON3:-python3}" -c 'import json, sys
t = json.load(open(sys.argv[1]))
ts = [e["ts"] for e in t["traceEvents"] if e["ph"] in "BE"]
print(t["otherData"]["zero_ns"], [round(1000 * x) for x in ts] == list(range(20)), sorted(set(ts)) == ts)' \
	"$dir/epoch.chrome.json" >"$dir/got"
expect_text '1700000000123456710 True True' "$dir/got"
verdict "Chrome: stamps since 1970 keep their order as doubles, 1 ns apart, and the zero is told"

# ---- the bound ----

sed \
	'/^DEFCPU 1 /i DEFCLASS 9 "clock-bound" SELF "clock-bound" PARENT 0\nINFO CLASS 9 TEXT "process 0 5 1e-06 '\
'2000000000 2.5e-06"\nINFO CLASS 9 TEXT "process 1 0 unknown 3000000000 4e-06"' \
	"$dir/plain.avt" >"$dir/bound.avt"
from_text "$dir/bound.avt" "$dir/bound.stf"
tool "$dir/bound.stf" --convert "$dir/b.csv"
tail -n +2 "$dir/b.csv" | cut -d, -f1,2 | sort -u >"$dir/out"
cat >"$dir/want" <<'END'
0.000000005,1e-06
2.000000005,2.5e-06
2.000000006,
4.000000006,4e-06
6.000000006,4e-06
END
diff "$dir/want" "$dir/out" >"$dir/diff"
ok "each line has the bound of its time; none where it is not known" $?

for x in p b w; do
	tool "$dir/$x.csv" --convert "$dir/csv.stf" --force && tool "$dir/csv.stf" --verify &&
		"$build/stftool" "$dir/csv.stf" --convert "$dir/again.csv" --force \
			--layout "$([ $x = w ] && echo wide || echo long)" >"$dir/out" 2>"$dir/err" &&
		diff "$dir/$x.csv" "$dir/again.csv" >"$dir/diff" || break
done
ok "CSV and back, long and wide: each line as it was, times, bounds, names, units and values" $?
expect tool "$dir/rich.csv" --convert "$dir/csv.stf" --force
expect tool "$dir/csv.stf" --convert "$dir/again.csv" --force
expect_lines "$(grep -c . "$dir/rich.csv")" . "$dir/again.csv"
expect_same "$dir/rich.csv" "$dir/again.csv"
verdict "CSV and back: names over several lines, limits of 64 bits"
cp "$dir/rich.csv" "$dir/table.txt"
expect tool "$dir/table.txt" --convert "$dir/again.csv" --force
expect_status 0
expect_same "$dir/rich.csv" "$dir/again.csv"
verdict "the content tells that a file is CSV"
sed '1s/time/"time"/' "$dir/rich.csv" >"$dir/table.otf2"
expect tool "$dir/table.otf2" --input-format csv --convert "$dir/again.csv" --force
expect_status 0
expect_same "$dir/rich.csv" "$dir/again.csv"
expect tool "$dir/table.otf2" --input-format JSONL --dump
expect_status 2
expect_line "'JSONL' is none of STF, SINGLESTF, CSV" "$dir/err"
verdict "--input-format wins over the suffix, and names formats that are read"
# what spreadsheets and numpy make of a table: names in a comment, exponents, a byte order mark, DOS lines
read_back() # read_back FILE: prints it as our CSV
{
	rm -f "$dir/other.stf" "$dir/other.back.csv"
	tool "$1" --input-format CSV --convert "$dir/other.stf" --force
	[ "$status" -eq 0 ] && tool "$dir/other.stf" --convert "$dir/other.back.csv" --force &&
		cat "$dir/other.back.csv"
}
head='time,bound,host,rank,thread,counter,value,unit'
printf '\357\273\277# made by a program\r\n\r\n# %s\r\n%s\r\n#end\r\n%s\r\n\r\n' "$head" \
	'1.000000000000000000e-01, ,"h", 0.000000000000000000e+00,0 ,c , 9007199254740993,B' \
	'1.500000000000000056e+00,,h,0,0,c,18446744073709551615,B' >"$dir/numpy.csv"
read_back "$dir/numpy.csv" >"$dir/got"
printf '%s\n0.1,,h,0,0,c,9007199254740993,B\n1.5,,h,0,0,c,18446744073709551615,B\n' "$head" |
	diff - "$dir/got" >"$dir/diff"
ok "a table that went through numpy and a spreadsheet is read to its last digit" $?
printf '%s\n1,,h,0,0,c,9.007199254740993e15,B\n2,,h,0,0,c,-5.0,B\n3,,h,0,0,f,1e3,\n4,,h,0,0,f,%s,\n' "$head" \
	9007199254740994 >"$dir/whole.csv"
read_back "$dir/whole.csv" >"$dir/got"
sed 's/9.007199254740993e15/9007199254740993/; s/-5.0/-5/; s/1e3/1000/' "$dir/whole.csv" |
	diff - "$dir/got" >"$dir/diff"
ok "whole numbers with an exponent or a point are whole where a double would lose digits" $?
# pandas: a column of ranks with empty cells, those of a node's counters, becomes one of doubles
printf '\357\273\277%s\n0.1,,h,0.0,0,c,1.5,\n0.2,,h,,,n,2.5,\n0.3,,h,1.0,0.0,c,3.5,\n' "$head" >"$dir/pandas.csv"
read_back "$dir/pandas.csv" >"$dir/got"
printf '%s\n0.1,,h,0,0,c,1.5,\n0.2,,,,h,n,2.5,\n0.3,,h,1,0,c,3.5,\n' "$head" | diff - "$dir/got" >"$dir/diff"
ok "ranks that pandas made doubles are ranks" $?
# what is refused, each with its line
bad_csv() # bad_csv LINE TEXT: standard input is the file
{
	cat >"$dir/bad.csv"
	tool "$dir/bad.csv" --convert "$dir/bad.stf"
	[ "$status" -eq 1 ] && grep -q "bad.csv: line $1: .*$2" "$dir/err" && ! ls -d "$dir"/bad.stf* >/dev/null 2>&1
}
head='time,bound,host,rank,thread,counter,value,unit'
printf '%s\n1,,h,0,0,c,1\n' "$head" | expect bad_csv 2 'not as many columns'
printf '%s\n1,,h,0,0,c,1,B\n-1,,h,0,0,c,1,B\n' "$head" | expect bad_csv 3 'time is no number'
printf '%s\n1,,h,0,0,c,x,B\n' "$head" | expect bad_csv 2 'a value is no number'
printf '%s\n1,,h,70000,0,c,1,B\n' "$head" | expect bad_csv 2 'rank or thread'
printf '%s\n1,,h,0,0,"c,1,B\n' "$head" | expect bad_csv 2 'a quote is not closed'
printf '%s\n1,,h,0,0,c,9007199254740993,B\n2,,h,0,0,c,0.5,B\n' "$head" | expect bad_csv 2 'would lose digits'
printf '%s\n1,,h,0,0,c,0.5,B\n2,,h,0,0,c,18446744073709551617,B\n' "$head" | expect bad_csv 3 'would lose digits'
printf '%s\n1,,h,0,0,c,-1,B\n2,,h,0,0,c,18446744073709551615,B\n' "$head" | expect bad_csv 3 'would lose digits'
printf '%s\n"1,5",,h,0,0,c,1,B\n' "$head" | expect bad_csv 2 'decimal comma'
printf '%s\n1,5,,h,0,0,c,1,B\n' "$head" | expect bad_csv 2 'decimal comma'
printf '%s\n1,,h,0,0,c,1\0,B\n' "$head" | expect bad_csv 2 'zero byte'
printf '%s\n1;;h;0;0;c;1;B\n' "$head" | tr , ';' | expect bad_csv 1 'semicolons'
printf '# only\n\n' | expect bad_csv 2 'only comments'
printf 'a,b\n1,2\n' | expect bad_csv 1 'no table of stftool'
printf '' | expect bad_csv 0 'the file is empty'
printf '%s\n99999999999999999999,,h,0,0,c,1,B\n' "$head" | expect bad_csv 2 'does not fit'
verdict "damaged CSV is an error with its line, and leaves nothing"

# ---- JSON ----

if ! command -v "${PYTHON3:-python3}" >/dev/null; then
	skip "JSON" "no python3"
else
	for x in jsonl chrome.json; do
		tool "$rich" --convert "$dir/rich.$x" && tool "$dir/bound.stf" --convert "$dir/b.$x"
	done
	cat >"$dir/read.py" <<'END'
import csv, json, sys
what, made, table = sys.argv[1:]
odd = 'odd "name" \\ \u00e4\n1'
if what == "jsonl":
    lines = [json.loads(l) for l in open(made, encoding="utf-8")]
    for l, r in zip([l for l in lines if l["type"] == "sample"], csv.DictReader(open(table, newline="", encoding="utf-8"))):
        assert (l["counter"], l["unit"], str(l["rank"]), str(l["thread"])) == (r["counter"], r["unit"], r["rank"], r["thread"]), (l, r)
        assert l["value"] == (int(r["value"]) if isinstance(l["value"], int) else float(r["value"])), (l, r)
        assert abs(l["time"] - float(r["time"])) < 1e-9 and str(l.get("bound", "")) == r["bound"], (l, r)
    print(sum(l["type"] == "sample" for l in lines), sorted({(l["type"], sum(m["type"] == l["type"] for m in lines)) for l in lines}))
else:
    t = json.load(open(made, encoding="utf-8"))
    e = t["traceEvents"]
    print(sorted({(l["ph"], sum(m["ph"] == l["ph"] for m in e)) for l in e}), t["otherData"]["clock_bound_s"])
    print([(l["ts"], l["name"] == odd) for l in e if l["ph"] in "BE"])
    open_, last = {}, {}
    for l in e:
        if l["ph"] in "BE":
            thread = l["pid"], l["tid"]
            assert l["ts"] >= last.setdefault(thread, 0)
            last[thread] = l["ts"]
            open_.setdefault(thread, [])
            if l["ph"] == "B":
                open_[thread].append(l["name"])
            else:
                assert open_[thread].pop() == l["name"]
    assert open_ and not any(open_.values())
END
	read_json() # read_json WHAT FILE TABLE: what is wanted on standard input
	{
		"${PYTHON3:-python3}" "$dir/read.py" "$@" >"$dir/got" 2>"$dir/err"
		diff - "$dir/got" >"$dir/diff" && [ ! -s "$dir/err" ]
	}
	read_json jsonl "$dir/b.jsonl" "$dir/b.csv" <<'END'
8 [('info', 2), ('sample', 8), ('trace', 1)]
END
	ok "JSONL: each value with its time, bound, thread, name and unit, as in CSV" $?
	read_json jsonl "$dir/rich.jsonl" "$dir/rich.csv" <<'END'
27 [('comment', 1), ('enter', 2), ('info', 2), ('leave', 2), ('receive', 5), ('sample', 27), ('send', 5), ('trace', 1)]
END
	ok "JSONL: names with quotes, line ends and UTF-8, numbers to their last digit" $?
	read_json chrome "$dir/rich.chrome.json" - <<'END'
[('B', 2), ('C', 27), ('E', 2), ('M', 9), ('f', 5), ('s', 5)] None
[(1000000.0, True), (2000000.0, False), (4000000.0, False), (9000000.0, True)]
END
	ok "CHROME: slices, each of them closed in its thread, counters, flows" $?
fi

# ---- OTF2 ----

# what otf2-print shows as "time thread counter value", times less the first if it subtracts it
otf2_samples()
{
	awk '/^METRIC/ { for (i = 6; i <= NF; i++) if ($i ~ /^[(]"/) { n = $i; sub(/^[(]"/, "", n); sub(/"$/, "", n);
		v = $(i + 3); gsub(/[);,]/, "", v); print $3, $2, n, v } }' "$1" | sort
}
if ! has_format OTF2; then
	skip "OTF2" "this build has no otf2"
elif ! command -v otf2-print >/dev/null; then
	skip "OTF2" "otf2-print is not here (Debian: otf2-tools)"
else
	tool "$dir/bound.stf" --convert "$dir/b.otf2"
	otf2-print "$dir/b.otf2/traces.otf2" >"$dir/print" 2>"$dir/warn"
	otf2_samples "$dir/print" >"$dir/got"
	awk -F, 'function plain(s) { gsub(/"/, "", s); return s } NR > 1 { t = $1; sub(/^0+/, "", t);
		sub(/[.]/, "", t); sub(/^0+/, "", t)
		v = $8; if (v ~ /[.]/) v = sprintf("%g", v)
		print t, $4 + $5, plain($6 "," $7), v }' "$dir/b.csv" | sort >"$dir/want"
	expect_status 0
	expect_empty "$dir/warn"
	expect_same "$dir/want" "$dir/got"
	verdict "OTF2: otf2-print warns of nothing and reads each value, at its time, on its thread"
	otf2-print --show-clock-offsets "$dir/b.otf2/traces.otf2" >"$dir/out" 2>&1
	sed -n 's/^CLOCK_OFFSET  *//p' "$dir/out" | tr -s ' ' >"$dir/got"
	cat >"$dir/want" <<'END'
0 Time: 5, Offset: +0, StdDev: 1000
0 Time: 2000000000, Offset: +0, StdDev: 2500
1 Time: 3000000000, Offset: +0, StdDev: 4000
2 Time: 3000000000, Offset: +0, StdDev: 4000
END
	diff "$dir/want" "$dir/got" >"$dir/diff"
	ok "OTF2: clock offsets are 0 and their deviation is the bound, in ticks" $?
	tool "$rich" --convert "$dir/r.otf2"
	otf2-print "$dir/r.otf2/traces.otf2" 2>"$dir/warn" | grep -Eo '^[A-Z_]+ ' | sort | uniq -c |
		awk '{ print $2, $1 }' >"$dir/got"
	printf 'ENTER 2\nLEAVE 2\nMETRIC 9\nMPI_RECV 5\nMPI_SEND 5\n' | expect diff - "$dir/got" >"$dir/diff"
	expect_empty "$dir/warn"
	verdict "OTF2: functions and messages, names with quotes, line ends and UTF-8"
	from_text "$src/tests/cli/stftool/coll.avt" "$dir/coll.stf"
	tool "$dir/coll.stf" --convert "$dir/c.otf2"
	otf2-print "$dir/c.otf2/traces.otf2" 2>"$dir/warn" |
		sed -n 's/^MPI_COLLECTIVE_END  *//p' | tr -s ' ' | sort >"$dir/got"
	cat >"$dir/want" <<'END'
0 110 Operation: BARRIER, Communicator: "world" <0>, Root: NONE, Sent: 0, Received: 0
0 114 Operation: GATHER, Communicator: "pair" <1>, Root: 1 ("thread 0" <2>), Sent: 0, Received: 3
0 192 Operation: GATHER, Communicator: "world" <0>, Root: 1 ("thread 0" <1>), Sent: 10, Received: 0
0 199 Operation: GATHER, Communicator: "pair" <1>, Root: NONE, Sent: 1, Received: 3
0 305 Operation: GATHER, Communicator: "all threads" <2>, Root: 1 ("thread 0" <1>), Sent: 0, Received: 3
1 116 Operation: BARRIER, Communicator: "world" <0>, Root: NONE, Sent: 0, Received: 0
1 122 Operation: GATHER, Communicator: "world" <0>, Root: 1 ("thread 0" <1>), Sent: 11, Received: 77
2 116 Operation: GATHER, Communicator: "pair" <1>, Root: 1 ("thread 0" <2>), Sent: 9, Received: 4
2 128 Operation: GATHER, Communicator: "world" <0>, Root: 1 ("thread 0" <1>), Sent: 12, Received: 0
2 201 Operation: GATHER, Communicator: "pair" <1>, Root: NONE, Sent: 2, Received: 4
2 307 Operation: GATHER, Communicator: "all threads" <2>, Root: 1 ("thread 0" <1>), Sent: 0, Received: 4
END
	expect_same "$dir/want" "$dir/got"
	expect_empty "$dir/warn"
	verdict "OTF2: collective operations, each member at its time, with root and bytes"
	expect mkdir "$dir/moved"
	expect tool "$dir/plain.stf" --convert "$dir/b.otf2"
	expect otf2-print --show-clock-offsets "$dir/b.otf2/traces.otf2" >"$dir/out" 2>&1
	expect_no_line CLOCK_OFFSET "$dir/out"
	expect_not ls -d "$dir"/b.otf2.* >/dev/null 2>&1
	verdict "OTF2: an archive of an earlier conversion is replaced as a whole"
	py=$(for p in "${PYTHON3:-python3}" /usr/bin/python3; do "$p" -c 'import otf2' 2>/dev/null && echo "$p" &&
		break; done)
	if [ -z "$py" ]; then
		skip "OTF2: python3-otf2" "there is no module otf2 (Debian: python3-otf2)"
	else
		cat >"$dir/sums.py" <<'END'
import csv, otf2, sys
from fractions import Fraction
def add(all_, key, value, time):  # exact, whatever the order
    n, total, first, last = all_.get(key, (0, Fraction(0), time, time))
    all_[key] = (n + 1, total + Fraction(value), min(first, time), max(last, time))
got, want = {}, {}
with otf2.reader.open(sys.argv[1]) as trace:
    for _, e in trace.events:
        if isinstance(e, otf2.events.Metric):
            for m, v in zip(getattr(e.metric, "metric_class", e.metric).members, e.values):
                add(got, (m.name, m.unit), v, e.time)
for r in csv.DictReader(open(sys.argv[2], newline="", encoding="utf-8")):
    v = int(r["value"]) if r["value"].lstrip("-").isdigit() else float(r["value"])
    add(want, (r["counter"], r["unit"]), v, int(Fraction(r["time"]) * 10**9))
print(len(got), got == want)
END
		"$py" "$dir/sums.py" "$dir/r.otf2/traces.otf2" "$dir/rich.csv" >"$dir/got" 2>"$dir/err"
		echo 3 True | diff - "$dir/got" >"$dir/diff"
		ok "OTF2: python3-otf2 reads each counter's samples, exact sum, first and last time, name and unit" $?
		cat >"$dir/every.py" <<'END'
import inspect, sys, _otf2, otf2
n = 0
with otf2.writer.open(sys.argv[1], timer_resolution=10**9) as trace:
    d = trace.definitions
    w = trace.event_writer("t", group=d.location_group("P", system_tree_parent=d.system_tree_node("n")))
    f = d.region("f")
    w.enter(1, f)
    w.leave(2, f)
    handle = next(v for v in vars(w).values() if type(v).__name__ == "LP_EvtWriter")
    for name in sorted(name for name in dir(_otf2) if name.startswith("EvtWriter_")):
        f = getattr(_otf2, name)
        names = list(inspect.signature(f).parameters) if callable(f) else []
        if "attributeList" in names[:2] and "typeIDs" not in names:
            for v in 0, 1, 70000, 2**32 - 1:
                f(handle, None, 10 + n, *([1, 2, 3] if a == "programArguments" else v & 255 if a in (
                    "mode", "model", "lockType", "syncLevel", "collectiveOp", "whence", "ioParadigm", "measurementMode", "syncType",
                    "type") else v for a in names[3:]))
                n += 1
print(n)
END
		expect "$py" "$dir/every.py" "$dir/every" >"$dir/got" 2>"$dir/err"
		expect [ "$(cat "$dir/got")" -gt 250 ]
		expect tool "$dir/every/traces.otf2" --convert "$dir/every.stf"
		expect_status 0
		expect_line ' events of kinds that STF has no record for were left out' "$dir/err"
		verdict \
			"OTF2: events of every kind that its library writes, also with undefined ids, are taken or \
counted"
		cat >"$dir/mismatch.py" <<'END'
import otf2, sys
with otf2.writer.open(sys.argv[1]) as trace:
    d = trace.definitions
    m = d.metric_member("m", "#", otf2.MetricType.OTHER, otf2.MetricMode.ABSOLUTE_POINT, value_type=otf2.enums.Type.DOUBLE)
    c = d.metric_class([m])
    w = trace.event_writer("thread", group=d.location_group("p", system_tree_parent=d.system_tree_node("node")))
    for k, v in enumerate([1.5, 2.0, -3.0, 1e300, float("nan")]):
        w.metric(k + 1, c, [v])
    m._value_type = otf2.enums.Type.UINT64
END
		expect "$py" "$dir/mismatch.py" "$dir/mismatch" 2>"$dir/err"
		expect tool "$dir/mismatch/traces.otf2" --convert "$dir/mismatch.csv"
		expect_line '4 events .* 4 of them do not fit the definitions' "$dir/err"
		expect cut -d, -f 6,7 "$dir/mismatch.csv" >"$dir/got"
		printf 'counter,value\nmetric:m,2\n' | expect diff - "$dir/got" >"$dir/diff"
		verdict "OTF2: a value that its counter's type does not have is left out and counted"
	fi

	# ---- and back ----
	expect tool "$dir/b.otf2" --convert "$dir/back.stf"
	expect tool "$dir/back.stf" --verify
	expect tool "$dir/back.stf" --convert "$dir/back.csv"
	expect tool "$dir/plain.stf" --convert "$dir/p.csv" --force
	expect_same "$dir/p.csv" "$dir/back.csv"
	verdict "OTF2 and back: each sample, name and unit, to the last digit"
	expect tool "$dir/bound.stf" --convert "$dir/bound.otf2"
	expect tool "$dir/bound.otf2" --convert "$dir/back.csv" --force
	expect_same "$dir/b.csv" "$dir/back.csv"
	verdict "OTF2 and back: the bound; any input can be converted to any output"
	events() # events TRACE: of each function and message what both formats have
	{
		"$build/stftool" "$1" --dump | awk '$2 == "ENTER" || $2 == "LEAVE" { print $1, $2, $4 }
			$2 == "SENDMSG" || $2 == "RECVMSG" { print $1, $2, $4, $6, $10, $12 }' | sort
	}
	expect tool "$dir/r.otf2" --convert "$dir/r.stf"
	expect [ "$(events "$rich" | wc -l)" -eq 14 ]
	expect events "$rich" >"$dir/want"
	events "$dir/r.stf" | expect diff "$dir/want" - >"$dir/diff"
	verdict "OTF2 and back: functions and messages, also those received before they were sent"

	# of a location without events OTF2's library reads what it has freed, and here what is freed is overwritten
	awk 'BEGIN { print "C ASCII trace\nCLKPERIOD 1e-09\nEVENTBITS 0"; printf "NCPUS"; for (i = 1; i <= 60; i++) {
		printf " 1" }
		print "\nDURATION 0 30\nDEFCLASS 1 \"a\" SELF \"a\" PARENT 0\nDEFFUNCTION 1 \"f\" CLASS 1\n10 ENTER '\
'CPU 60 FUNCTION 1\n20 LEAVE CPU 60" }' >"$dir/idle.avt"
	sed '/^[12]0 /d' "$dir/idle.avt" >"$dir/none.avt"
	for name in idle none; do
		expect from_text "$dir/$name.avt" "$dir/$name.stf"
		expect tool "$dir/$name.stf" --convert "$dir/$name.otf2"
		MALLOC_PERTURB_=165 expect "$build/stftool" "$dir/$name.otf2" --dump >"$dir/out" 2>"$dir/err"
		"$build/stftool" "$dir/$name.stf" --dump | expect grep '^NCPUS\|^[0-9]' >"$dir/want"
		grep '^NCPUS\|^[0-9]' "$dir/out" | expect diff "$dir/want" - >"$dir/diff"
		verdict "OTF2 and back: threads without events ($name)"
	done

	# ---- archives of others ----
	ez=$src/tests/golden/eztrace
	"$build/otf2-to-stf" "$ez/eztrace_log.otf2" "$dir/ez.stf" >"$dir/out" 2>"$dir/err" &&
		tool "$dir/ez.stf" --verify &&
		"$build/stftool" "$dir/ez.stf" --dump |
		awk '$1 ~ /^[0-9]/ { n[$2]++ } $2 == "GLOBALOP" && $NF != "-" { there++ }
			END { print n["ENTER"], n["LEAVE"], n["SENDMSG"], n["RECVMSG"], n["GLOBALOP"],
			there }' >"$dir/got"
	echo 84 84 20 20 40 40 | diff - "$dir/got" >"$dir/diff"
	ok "an archive of EZTrace: functions, messages, barriers, with numbers that it gives twice" $?
	mkdir "$dir/a run" "$dir/a run.x" && cp -r "$ez"/* "$dir/a run.x" && cp -r "$dir/b.otf2" "$dir/a run/" &&
		cp -r "$dir/b.otf2" "$dir/a run/as score-p"
	for input in "a run/b.otf2/" "a run/b.otf2/traces.otf2" "a run/as score-p/traces.otf2" "a run.x"; do
		expect "$build/otf2-to-stf" "$dir/$input" --verbose 0 --force 2>"$dir/err"
	done
	for made in "a run/b" "a run/as score-p" "a run.x"; do
		expect tool "$dir/$made.stf" --verify
	done
	expect_not "$build/otf2-to-stf" "$dir/a run/b.otf2" 2>"$dir/err"
	expect_line 'b.stf' "$dir/err"
	verdict "otf2-to-stf without a name for the trace: it is beside the archive, and not replaced unasked"
	otf2-print "$ez/eztrace_log.otf2" 2>"$dir/warn" |
		awk '$1 == "ENTER" { $1 = $2 = $3 = $4 = ""; sub(/ *"/, ""); sub(/" <.*/, ""); print }' | sort |
		uniq -c >"$dir/want"
	"$build/stftool" "$dir/ez.stf" --dump | awk '$1 == "DEFFUNCTION" { id = $2; sub(/^[^"]*"/, "");
		sub(/" CLASS.*/, ""); name[id] = $0 } $2 == "ENTER" { print name[$6] }' |
		sort | uniq -c | diff "$dir/want" - >"$dir/diff"
	ok "an archive of EZTrace: each function by its name as often as otf2-print sees it" $?
	mkdir "$dir/late" && cp -r "$ez"/* "$dir/late"
	# the global offset of the clock properties, 0, becomes 268435456
	"${PYTHON3:-python3}" -c 'import sys
b = open(sys.argv[1], "rb").read(); i = b.index(b"\x00\xca\x9a\x3b")
open(sys.argv[1], "wb").write(b[:i - 2] + b"\x10" + b[i - 1:i + 4] + b"\x04\0\0\0\x10" + b[i + 5:])' \
		"$dir/late/eztrace_log.def"
	tool "$dir/late/eztrace_log.otf2" --convert "$dir/late.stf"
	expect_status 0
	expect_line 'begins at 268435456, after its first event at 47449, which is at 0 here; ' "$dir/err"
	"$build/stftool" "$dir/ez.stf" --dump | awk '/^[0-9]/ { $1 -= 47449; print }' >"$dir/want"
	"$build/stftool" "$dir/late.stf" --dump | grep '^[0-9]' | sed 's/ *$//' | expect diff "$dir/want" - >"$dir/diff"
	verdict "an archive whose offset is after its first event: the same times, from that event on; it is reported"
	tool "$ez/eztrace_log.otf2" --verify
	[ "$status" -eq 2 ]
	ok "--verify is for STF" $?
	mkdir "$dir/cut" && cp -r "$ez"/* "$dir/cut" &&
		head -c 1000 "$ez/eztrace_log/0.evt" >"$dir/cut/eztrace_log/0.evt"
	tool "$dir/cut/eztrace_log.otf2" --convert "$dir/cut.stf"
	expect_status 1
	expect_line 'cut/eztrace_log/0.evt: offset 994: a record is longer than the rest of its chunk' "$dir/err"
	expect_not ls -d "$dir"/cut.stf* >/dev/null 2>&1
	verdict "an archive that was cut is an error that says where, and leaves nothing"
	cp "$ez/eztrace_log/0.evt" "$dir/cut/eztrace_log/0.evt"
	head -c 19 "$ez/eztrace_log/0.def" >"$dir/cut/eztrace_log/0.def"
	tool "$dir/cut/eztrace_log.otf2" --convert "$dir/cut.stf"
	expect_status 1
	expect_line 'cut/eztrace_log/0.def: offset 19: the end of the file is missing' "$dir/err"
	expect_not ls -d "$dir"/cut.stf* >/dev/null 2>&1
	verdict "so is one with local definitions that were cut"
	head -c 300 "$ez/eztrace_log.def" >"$dir/cut/eztrace_log.def"
	tool "$dir/cut/eztrace_log.otf2" --convert "$dir/cut.stf"
	expect_status 1
	expect_line 'cut/eztrace_log.def: offset 294: a record is longer than the rest of its chunk' "$dir/err"
	expect_not ls -d "$dir"/cut.stf* >/dev/null 2>&1
	verdict "so is one with definitions that were cut"

	# the kinds 2 and 0 end a file and a chunk, 255 is a length of 8 bytes; record 31 is a sample, which EZTrace's
	# archive has not
	damaged() # damaged ARCHIVE FILE OFFSET BYTES NAME ERROR
	{
		rm -rf "$dir/cut" && mkdir "$dir/cut" && cp -r "$dir/$1" "$dir/$1.otf2" "$dir/$1.def" "$dir/cut" ||
			return 1
		# shellcheck disable=SC2059 # the bytes are escapes
		printf "$4" | dd of="$dir/cut/$2" bs=1 seek="$3" conv=notrunc 2>/dev/null
		tool "$dir/cut/$1.otf2" --convert "$dir/cut.stf"
		expect_status 1
		expect_line -F "cut/$2: offset $6" "$dir/err"
		expect_not ls -d "$dir"/cut.stf* >/dev/null 2>&1
		verdict "OTF2: $5 is an error, with file and offset"
	}
	cp -r "$ez"/* "$dir"
	damaged eztrace_log eztrace_log/0.evt 40 '\002' "an end in the middle of the events" \
		"40: the file has more bytes after its end"
	damaged eztrace_log eztrace_log/0.evt 40 '\000' "the end of a chunk before its end" \
		"40: the end of the file is missing"
	damaged eztrace_log eztrace_log/0.evt 28 '\377' "an event longer than the file" \
		"27: a record is longer than the rest of its chunk"
	damaged eztrace_log eztrace_log/0.evt 65 '\003' "an event shorter than its fields" \
		"64: a record is shorter than its fields"
	damaged eztrace_log eztrace_log/0.evt 1 '#' "a chunk of another byte order" "0: no chunk begins here"
	damaged eztrace_log eztrace_log.def 146 '\004\377\377\377\177' "a group of 2 thousand million members" \
		"144: a record is shorter than its fields"
	damaged eztrace_log eztrace_log.def 18 '\002' "an end in the middle of the definitions" \
		"18: the file has more bytes after its end"
	damaged eztrace_log eztrace_log.otf2 29 '\002' "compression" "29: compressed archives are not read"
	damaged eztrace_log eztrace_log.otf2 69 '\000' "an anchor file without its end" \
		"69: the end of the file is missing"
	damaged eztrace_log eztrace_log.otf2 8 '\011' "an archive of a later version" "8: cannot open the archive: "
	damaged eztrace_log eztrace_log.def 107 '\007' "a location of no group" \
		"94: location 1073741823 is of no location group"
	cp -r "$dir/r.otf2/." "$dir"
	property=$(grep -abo -m 1 TICKMARK:: "$dir/traces.otf2" | head -n 1 | cut -d : -f 1)
	damaged traces traces.otf2 "$((property + 10))" ' ' "a property that the library refuses" \
		"$property: cannot open the archive: Property name"
	rm -rf "$dir/cut" && mkdir "$dir/cut" && cp -r "$ez"/* "$dir/cut" &&
		printf '\377' | dd of="$dir/cut/eztrace_log.def" bs=1 seek=64 conv=notrunc 2>/dev/null
	tool "$dir/cut/eztrace_log.otf2" --convert "$dir/cut.stf"
	expect_status 1
	expect_line \
		"cut/eztrace_log/0.evt: offset 1952: the file has 146 events, and its location's definition says 255" \
		"$dir/err"
	verdict "OTF2: fewer events than the definitions say is an error, with file and offset"
	rm "$dir/cut/eztrace_log/0.evt" && tool "$dir/cut/eztrace_log.otf2" --convert "$dir/cut.stf"
	expect_status 1
	expect_line "cut/eztrace_log.def: offset 57: a location of 255 events, and no file 0.evt of them" "$dir/err"
	verdict "OTF2: so is a file of events that is missing"
	cp "$ez/eztrace_log/0.evt" "$dir/cut/eztrace_log" && cp "$ez/eztrace_log.def" "$dir/cut" &&
		printf '\310' | dd of="$dir/cut/eztrace_log.def" bs=1 seek=297 conv=notrunc 2>/dev/null
	calls() # calls TRACE: without MPI_Send, as this thread was in them
	{
		"$build/stftool" "$1" --dump | awk '$1 == "DEFFUNCTION" { id = $2; sub(/^[^"]*"/, "");
			sub(/" CLASS.*/, ""); name[id] = $0 }
			$2 == "ENTER" { in_[$4, n[$4]++] = f = name[$6] } $2 == "LEAVE" { f = in_[$4, --n[$4]] }
			($2 == "ENTER" || $2 == "LEAVE") && f != "MPI_Send" { print $1, $2, $4, f }'
	}
	expect tool "$dir/cut/eztrace_log.otf2" --convert "$dir/undefined.stf"
	expect_status 0
	expect_line '40 of them do not fit the definitions' "$dir/err"
	expect calls "$dir/ez.stf" >"$dir/want"
	expect [ "$(wc -l <"$dir/want")" -gt 80 ]
	calls "$dir/undefined.stf" | expect diff "$dir/want" - >"$dir/diff"
	verdict \
		"OTF2: calls of a region that is not defined are left out and counted, both ends; the others stay as \
they were"
	metric=
	for f in "$dir"/traces/*.evt; do
		metric=$(od -An -v -tu1 -w1 "$f" | awk '{ b[NR - 1] = $1 }
			END { for (i = 18; i < NR; i++) { if (b[i] == 5 && b[i + 9] == 31) {
			print i + 9, i + 12 + b[i + 11]; exit } } }')
		[ -z "$metric" ] || break
	done
	damaged traces "traces/${f##*/}" "${metric#* }" '\377' "a sample of more counters than it has values" \
		"${metric% *}: a record is shorter than its fields"
fi

# ---- OTF2 of more threads than are read at a time ----

# four ranks, of which the first has 602 threads: its messages and collective operations have ends in several groups of
# locations
many_threads()
{
	"${PYTHON3:-python3}" "$src/tests/cli/exchange/four_ranks.py" 20 | awk '
		/^NCPUS / { $2 = 602 }
		{ print }
		/^DEFCOLLOP/ { print "DEFIOFILE 1 \"a file\" COMM 1" }
		$2 == "SENDMSG" { for (i = 0; i < 30; i++) { w = 65536 * (2 + n++ % 600) + 1; t = $1 + i;
		print t, "ENTER CPU", w, "FUNCTION 4"
			print t, "SAMP CPU", w, "DEF 1 UINT 8", n, "DEF 2 FLOAT 8", n / 7
			print t + 1, "IOBEGIN CPU", w, "TYPE 1 FILE 1 LEN", n;
			print t + 2, "IOEND CPU", w, "TYPE 1 FILE 1 LEN", n
			print t + 3, "LEAVE CPU", w } }'
}
data() # data TRACE: its events, without what OTF2 has no place for, and numbers of groups and operations
{
	"$build/stftool" "$1" --dump | grep -E '^[0-9]' | grep -vE ' COMMENT | REPORT ' |
		sed 's/ FUNCTION [0-9]*//; s/ PAIR [0-9]*//; s/ SCL [0-9]*//; s/ OP [0-9]*//; s/ CPU 2147[0-9]*//' |
		sort
}
if ! has_format OTF2 || ! command -v "${PYTHON3:-python3}" >/dev/null; then
	skip "OTF2 of 605 threads" "this build has no otf2, or there is no python3"
else
	expect many_threads >"$dir/605.avt"
	expect from_text "$dir/605.avt" "$dir/605.stf"
	expect tool "$dir/605.stf" --convert "$dir/605.otf2"
	expect tool "$dir/605.otf2" --convert "$dir/605b.stf"
	expect tool "$dir/605b.stf" --verify
	expect data "$dir/605.stf" >"$dir/want"
	expect [ "$(wc -l <"$dir/want")" -gt 9000 ]
	data "$dir/605b.stf" | expect diff "$dir/want" - >"$dir/diff"
	verdict "OTF2 of 605 threads and back: calls, values, files, messages and collective operations"
	"$build/stftool" "$dir/605b.stf" --dump | awk '/^[0-9]/ { if ($1 + 0 < last) exit 1; last = $1 + 0 }'
	ok "they are in the order of time" $?
	evt=$dir/605.otf2/traces/400.evt
	size=$(wc -c <"$evt") && head -c $((size / 2)) "$evt" >"$dir/half" && cp "$dir/half" "$evt"
	tool "$dir/605.otf2" --convert "$dir/605c.stf"
	expect_status 1
	expect_line '605.otf2/traces/400.evt: offset [0-9]*: a record is longer than the rest of its chunk' "$dir/err"
	expect_not ls -d "$dir"/605c.stf* >/dev/null 2>&1
	verdict "one of their files that was cut is an error, and leaves nothing"
fi

# ---- memory ----

# 600 threads and 100,000 messages; what a program allocates is limited, files that it maps are not counted
awk 'BEGIN {
	print "CLKPERIOD 1e-09\nNCPUS 1 600\nDEFCLASS 1 \"P\" SELF \"P\" PARENT 0\nDEFFUNCTION 1 \"f\" CLASS 1"
	print "DEFCOMM 1 \"c\" LEFT 0 FIRST 1 1 LAST 1 600 STRIDE 1 1"
	for (i = 0; i < 600; i++) print i, "ENTER CPU", 65536 * i + 2, "FUNCTION 1"
	for (i = 0; i < 100000; i++) {
		print 1000 + 2 * i, "SENDMSG CPU 2 TO 65538 COMM 1 TAG 1 LEN 1 FUNCTION 0 PAIR", i + 1
		print 1001 + 2 * i, "RECVMSG CPU 65538 FROM 2 COMM 1 TAG 1 LEN 1 FUNCTION 0 PAIR", i + 1
	}
	for (i = 0; i < 600; i++) print 900000 + i, "LEAVE CPU", 65536 * i + 2
}' >"$dir/wide.avt"
from_text "$dir/wide.avt" "$dir/wide.stf"
# shellcheck disable=SC3045
limited() # limited KB ARGUMENTS...: stftool with so much memory of its own
{
	(ulimit -d "$1" && shift && exec "$build/stftool" "$@") >"$dir/out" 2>"$dir/err" </dev/null
}
lines() # lines TRACE: calls and messages
{
	"$build/stftool" "$1" --dump | grep -cE ' (ENTER|LEAVE|SENDMSG|RECVMSG) '
}
# shellcheck disable=SC3045
if ! limited 12000 --help || (ulimit -d 1000 && exec "$build/stftool" "$dir/wide.stf" --verify) >"$dir/out" 2>&1; then
	skip "memory of conversions" "memory cannot be limited here, or not for this build"
else
	expect tool "$dir/wide.stf" --convert "$dir/wide.lttng"
	expect limited 12000 "$dir/wide.lttng" --convert "$dir/wl.stf"
	expect [ "$(lines "$dir/wl.stf")" -eq 201200 ]
	verdict "memory does not grow with the messages that are read"
	if ! has_format OTF2; then
		skip "memory of OTF2 with 600 threads" "this build has no otf2"
	else
		expect limited 40000 "$dir/wide.stf" --convert "$dir/wide.otf2"
		expect tool "$dir/wide.otf2" --convert "$dir/wo.stf"
		expect [ "$(lines "$dir/wo.stf")" -eq 201200 ]
		verdict "OTF2: memory does not grow with the threads that are written"
		expect limited 100000 "$dir/wide.otf2" --convert "$dir/wl.stf" --force
		expect [ "$(lines "$dir/wl.stf")" -eq 201200 ]
		verdict "OTF2: memory does not grow with the threads that are read"
		if mountpoint -q "$dir/full"; then
			mount -o remount,size=1m "$dir/full" && tool "$dir/wide.otf2" --convert "$dir/full/w.stf"
			expect_status 1
			expect_line 'cannot keep the events in a temporary file beside .*full/w.stf: No space left' \
				"$dir/err"
			expect [ "$(ls -A "$dir/full")" = fill ]
			expect mount -o remount,size=16k "$dir/full"
			verdict "reading OTF2 of 600 threads to a full disk is an error, and leaves nothing"
			tool "$dir/wide.stf" --convert "$dir/full/w.otf2"
			expect_status 1
			expect_line '/full/w.otf2: cannot write' "$dir/err"
			expect [ "$(ls -A "$dir/full")" = fill ]
			verdict "OTF2 of 600 threads on a full disk is an error, and leaves nothing"
		else
			skip "OTF2 of 600 threads on a full disk" "cannot mount"
		fi
	fi
fi

done_testing

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Conversions, read by programs that are not ours: babeltrace2, otfprint and the OTF library, pj_dump, protoc, and a
# second reader of LTTng in Python. Each compares with what tests/cli/exchange/four_ranks.py put in. TAP.
# shellcheck disable=SC1091,SC2154
. "${top_srcdir:-.}/tests/cli/lib/toollib.sh"
python=$(command -v python3) || skip_all "no python3 here"
# the bindings of babeltrace2 belong to the python3 of the system
for p in "$python" /usr/bin/python3; do
	if "$p" -c 'import bt2' 2>/dev/null; then
		python=$p
	fi
done

"$python" -B "$src/tests/cli/exchange/four_ranks.py" >"$dir/four.avt" && from_text "$dir/four.avt" "$dir/four.stf"
ok "a trace of four ranks with everything" "$status"

reads() # reads FORMAT NAME
{
	tool "$dir/four.stf" --convert "$dir/four.$1"
	if [ "$status" -ne 0 ] && grep -q 'not built' "$dir/err"; then
		skip "$2" "$1 is not in this build"
		return
	fi
	"$python" -B "$src/tests/cli/exchange/foreign_readers.py" "$1" "$dir/four.$1" >"$dir/diff" 2>&1
	case $? in
	77) skip "$2" "its reader is not installed" ;;
	0) ok "$2" "$status" ;;
	*) ok "$2" 1 ;;
	esac
}

reads ctf "CTF: babeltrace2 and bt2 read without a warning what was written: events, sums, names, units, bounds"
reads lttng "LTTng: the second reader finds the same events, sums, times and texts"
reads otf "OTF: its library and otfprint find the same events, sums, names, units, bounds"
reads paje "Paje: pj_dump finds the same states, links, values, names, bounds"
reads perfetto "Perfetto: protoc decodes the same events, sums, flows, names, units, bounds"
reads parquet "Parquet: the second reader finds the same events, sums to the last bit, times, names, units, bounds"
# more rows than a row group has, values of all sizes
"$build/tests/cli/lib/make_stf" noisy "$dir/noisy.stf" 200000 && tool "$dir/noisy.stf" --convert "$dir/noisy.parquet"
[ "$status" -eq 0 ] && tool "$dir/noisy.stf" --convert "$dir/noisy.csv" &&
	"$python" -B - "$src" "$dir" <<'END' >"$dir/diff" 2>&1
import csv, struct, sys
sys.path.insert(0, sys.argv[1] + "/tests/golden")
import parquet_reader
_, names, rows = parquet_reader.read(sys.argv[2] + "/noisy.parquet")
got, size = [], len(rows)
for r in (dict(zip(names, r)) for r in rows):
    v = struct.unpack("<d", struct.pack("<Q", r["value"] & 2 ** 64 - 1))[0]
    v = v if "load" in r["counter"] else r["value_int"] if r["value_int"] is not None else int(v)
    got.append((r["time_ns"], r["rank"], r["thread"], r["counter"], v % 2 ** 64 if "PAPI" in r["counter"] else v))
want = []
with open(sys.argv[2] + "/noisy.csv", newline="") as f:
    for r in csv.DictReader(f):
        s, ns = r["time"].split(".")
        v = float(r["value"]) if "load" in r["counter"] else int(r["value"])
        want.append((int(s) * 10 ** 9 + int(ns), int(r["rank"]), int(r["thread"]), r["counter"], v))
got.sort(key=repr), want.sort(key=repr)
sys.exit("rows differ" if got != want or size < 600000 else 0)
END
ok "Parquet: every value of 600000, over row groups, as CSV has it" $?

# key-value pairs of others, which become comments
"$python" -B "$src/tests/cli/exchange/otf_values.py" "$dir/values" >"$dir/want"
case $? in
77) skip "OTF: pairs of every type of value" "its library is not installed" ;;
*)
	tool "$dir/values.otf" --convert "$dir/values.stf"
	if grep -q 'not built' "$dir/err"; then
		skip "OTF: pairs of every type of value" "this build has no OTF"
	else
		tool "$dir/values.stf" --dump
		sed -n 's/^\([0-9]*\) COMMENT CPU 1 TEXT "\(.*\)"$/\1 \2/p' "$dir/out" | sed 's/\\"/"/g' >"$dir/got"
		expect [ "$(wc -l <"$dir/want")" -eq 42 ]
		expect_same "$dir/want" "$dir/got"
		verdict \
			"OTF: pairs of every type of value, at an entry, an exit and an event without anything else, \
are read"
	fi
	;;
esac

# ---- archives of others: EZTrace's, and one with counters written by OTF2's own library ----

ez=$src/tests/golden/eztrace/eztrace_log.otf2
outside() # outside FORMAT ARCHIVE NAME.stf
{
	tool "$dir/$3.stf" --convert "$dir/$3.$1"
	[ "$status" -eq 0 ] || { ! grep -q 'not built' "$dir/err" || return 77; return 1; }
	"$python" -B "$src/tests/cli/exchange/outside_readers.py" "$1" "$2" "$dir/$3.$1" >"$dir/diff" 2>&1
}
tool "$ez" --convert "$dir/ez.stf"
if grep -q 'not built' "$dir/err"; then
	skip "archives of others" "this build has no otf2"
elif ! "$python" -c 'import otf2' 2>"$dir/warn"; then
	skip "archives of others" "there is no module otf2 (Debian: python3-otf2)"
else
	"$python" -B "$src/tests/cli/exchange/outside_readers.py" make "$dir/archive"
	tool "$dir/archive/traces.otf2" --convert "$dir/made.stf"
	for format in otf2 ctf otf paje perfetto parquet lttng jsonl csv; do
		outside $format "$ez" ez && outside $format "$dir/archive/traces.otf2" made
		case $? in
		77) skip "$format: archives of others" "not in this build, or its reader is not installed" ;;
		0) ok \
			"$format: of archives of others its reader finds each function, event, value, sum, unit and \
time that OTF2's readers find" 0 ;;
		*) ok "$format: of archives of others its reader finds what OTF2's readers find" 1 ;;
		esac
	done
fi

# ---- nothing, and one record ----

printf 'CLKPERIOD 1e-09\nNCPUS 1 1\n' >"$dir/n0.avt"
cat >"$dir/n1.avt" <<'END'
CLKPERIOD 1e-09
NCPUS 1 1
DEFCLASS 1 "P" SELF "P" PARENT 0
DEFGROUP 2147942402 "All" NMEMBS 1 1
DEFCOUNTER 6 "ins" CLASS 1 CPU 2147942402 TYPE 67 DIFF 1 UNIT "B" LOWER 0 UPPER 0
DEFCPU 1 HOST "h1" IP "" PID 1 TID 1 OFFSET 0 SKEW 1
5 SAMP CPU 1 DEF 6 UINT 8 18446744073709551615
END
look() # look FORMAT FILE: the events that a reader finds, a line each; 77 without the reader
{
	case $1 in
	csv) tail -n +2 "$2" ;;
	jsonl) grep -v '^{"type":"trace"' "$2" ;;
	chrome.json) "$python" \
		-c \
		'import json, sys; [print(e) for e in json.load(open(sys.argv[1]))["traceEvents"] if e["ph"] != "M"]' \
		"$2" ;;
	ctf) command -v babeltrace2 >/dev/null || return 77; babeltrace2 "$2" ;;
	lttng) "$python" -B "$src/tests/golden/lttng_reader.py" "$2" | grep -v '"tickmark_' ;;
	otf) command -v otfprint >/dev/null || return 77; otfprint "$2" | grep ' Counter: ' ;;
	otf2) command -v otf2-print >/dev/null || return 77; otf2-print "$2/traces.otf2" | grep '^METRIC' ;;
	paje) command -v pj_dump >/dev/null || return 77; pj_dump "$2" | grep -v '^Container' ;;
	perfetto)
		command -v protoc >/dev/null || return 77
		(cd "$src/tests/cli/exchange" &&
			"$python" -B -c 'import sys, foreign_readers as f; '\
'sys.stdout.buffer.write(f.unpacked(open(sys.argv[1], "rb").read()))' "$2") |
			protoc --decode_raw | grep '^    9: 4$' ;;
	parquet) \
		(cd "$src/tests/golden" && "$python" \
		-B -c 'import parquet_reader, sys; [print(r) for r in parquet_reader.read(sys.argv[1])[2]]' "$2") ;;
	esac
	return 0
}
for format in csv jsonl chrome.json ctf lttng otf otf2 paje perfetto parquet; do
	for n in 0 1; do
		from_text "$dir/n$n.avt" "$dir/n$n.stf" && tool "$dir/n$n.stf" --convert "$dir/n$n.$format"
		[ "$status" -eq 0 ] || break
		look $format "$dir/n$n.$format" >"$dir/got" 2>"$dir/warn" || status=$?
		[ "$(grep -c . "$dir/got")" -eq "$n" ] && [ ! -s "$dir/warn" ] || [ "$status" -ne 0 ] || status=1
		case $format in
		csv | lttng | otf | otf2)
			[ "$status" -ne 0 ] || { tool "$dir/n$n.$format" --convert "$dir/few.stf" --force &&
				tool "$dir/few.stf" --verify &&
				[ "$("$build/stftool" "$dir/few.stf" --dump | grep -c '^5 SAMP CPU 1 DEF [0-9]* UINT '\
'8 18446744073709551615$')" -eq "$n" ]; } || status=1 ;;
		esac
		[ "$status" -eq 0 ] || break
	done
	if grep -q 'not built' "$dir/err" || [ "$status" -eq 77 ]; then
		skip "$format: no event, one event" "not in this build, or its reader is not installed"
	else
		ok "$format: a trace of no event, and of one: the reader finds none, and one" "$status"
	fi
done

# ---- there and back ----

# what a round trip keeps, without the numbers of names: sorted lines of data
data_of() # data_of STF
{
	"$build/stftool" "$1" --dump | grep -Ev '^(DEF|INFO|CLK|NCPUS|DURATION|EVENTBITS|STAT)' |
		sed 's/ PAIR [0-9]*//; s/ FUNCTION [0-9]*//; s/ SCL [0-9]*//' | sort
}
info_of()
{
	"$build/stftool" "$1" --dump |
		grep \
		-E '^(NCPUS|DURATION|DEFCPU|DEFCPUNAME|DEFGROUP|DEFCOMM|DEFCOLLOP|DEFCOUNTER) |^INFO.*TEXT "process ' |
		sed 's/ CLASS [0-9]*//' | sort
}
back() # back FORMAT
{
	tool "$dir/four.$1" --convert "$dir/back.stf" --force
	if [ "$status" -eq 0 ]; then
		data_of "$dir/four.stf" >"$dir/want"
		data_of "$dir/back.stf" | diff "$dir/want" - >"$dir/diff" || status=1
		info_of "$dir/four.stf" >"$dir/want"
		info_of "$dir/back.stf" | diff "$dir/want" - >>"$dir/diff" || status=1
	fi
	ok "$1 and back: every event, counter, thread, group and bound" "$status"
}
back lttng
if "$build/tests/lib/exchange_table" | grep -q '^| OTF | `.otf` | write, read'; then
	back otf
	cp "$dir/four.otf" "$dir/bad.otf"
	for k in "$dir"/four.[0-9]*.*; do
		cp "$k" "$dir/bad.${k#"$dir/four."}"
	done
	sed -i 's/^K\(.*\)Y6V80070001$/K\1Q6V80070001/' "$dir/bad.0.def"
	tool "$dir/bad.otf" --convert "$dir/bad.stf"
	expect_status 1
	expect_line -E 'bad.0.def: offset [1-9][0-9]*: ' "$dir/err"
	expect [ ! -e "$dir/bad.stf" ]
	verdict "OTF: a line that is none is refused, with file and offset"
	cp "$dir/four.0.def" "$dir/bad.0.def" && head -c 7 "$dir/four.1.events" >"$dir/bad.1.events"
	tool "$dir/bad.otf" --convert "$dir/bad.stf"
	expect_status 1
	expect_line -E 'bad.1.events: offset 7: the file ends within a line' "$dir/err"
	expect [ ! -e "$dir/bad.stf" ]
	verdict "OTF: so is a file that ends within a line"
	cp "$dir/four.1.events" "$dir/bad.1.events" && printf '1:1\n2\n' >"$dir/bad.otf"
	tool "$dir/bad.otf" --convert "$dir/bad.stf"
	expect_status 1
	expect_line -E 'bad.otf: offset 4: no line of a stream and its processes' "$dir/err"
	expect [ ! -e "$dir/bad.stf" ]
	verdict "OTF: and a master file that has no such line"
	tool "$rich" --convert "$dir/theirs.otf"
	sed -i '/^DK1Y/iDK64YbNM"their::bytes"T"of another program"' "$dir/theirs.0.def"
	sed -i '0,/^E2$/s//K64YbV007fe4L3\nE2/; 0,/^E1$/s//K64YbV6869L2\nE1/' "$dir/theirs.1.events"
	tool "$dir/theirs.otf" --convert - --logfile-format ASCII
	grep 'their::bytes' "$dir/out" | cut -d' ' -f 1-4,6- | tr '\n' ';' >"$dir/diff"
	[ "$(cat "$dir/diff")" = \
		'1000000000 COMMENT CPU 1 "their::bytes=007fe4";2000000000 COMMENT CPU 1 "their::bytes=hi";' ]
	ok "OTF: bytes of another program become a comment, as text or as hexadecimal digits" $?
else
	skip "OTF and back" "not in this build"
fi

cat >"$dir/io.avt" <<'END'
CLKPERIOD 1e-09
NCPUS 1 2
DEFIOFILE 1 "data of 'x'" COMM 0
DEFIOFILE 2 "b" COMM 0
DEFCPU 1 HOST "h" IP "" PID 1 TID 1 OFFSET 0 SKEW 1
DEFCPU 2 HOST "h" IP "" PID 2 TID 2 OFFSET 0 SKEW 1
10 IOBEGIN CPU 1 TYPE 0 FILE 1 LEN 100
15 IOBEGIN CPU 2 TYPE 1 FILE 2 LEN 4000000000
20 IOEND CPU 1 TYPE 0 FILE 1 LEN 99
25 IOEND CPU 2 TYPE 1 FILE 2 LEN 7
END
for format in otf2 otf lttng; do
	from_text "$dir/io.avt" "$dir/io.stf" && tool "$dir/io.stf" --convert "$dir/io.$format"
	if [ "$status" -ne 0 ] && grep -q 'not built' "$dir/err"; then
		skip "$format and back: file operations" "not in this build"
		continue
	fi
	tool "$dir/io.$format" --convert "$dir/io.stf" --force
	"$build/stftool" "$dir/io.stf" --dump | grep -E '^(DEFIOFILE|[0-9]+ IO)' >"$dir/got"
	grep -E '^(DEFIOFILE|[0-9]+ IO)' "$dir/io.avt" | diff - "$dir/got" >"$dir/diff"
	ok "$format and back: file operations with file, kind and bytes" $?
done

# ---- damage ----

damaged() # damaged FILE OFFSET NAME: the byte there changes
{
	cp -r "$dir/four.lttng" "$dir/bad.lttng"
	printf '\377' | dd of="$dir/bad.lttng/$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
	tool "$dir/bad.lttng" --convert "$dir/bad.stf"
	expect_status 1
	expect_line -E "bad.lttng/$1: offset [0-9]+: " "$dir/err"
	expect [ ! -e "$dir/bad.stf" ]
	verdict "LTTng: $3"
	rm -rf "$dir/bad.lttng"
}
damaged cpu_0 40 "without a magic number it is refused, with file and offset"
damaged cpu_0 39 "so is a size of blocks that is not possible"
damaged cpu_0 35 "and padding that is larger than the block"
damaged control/facilities_0 110 "and an event of control/ that is none"
cp -r "$dir/four.lttng" "$dir/bad.lttng" && truncate -s -100 "$dir/bad.lttng/cpu_0"
tool "$dir/bad.lttng" --convert "$dir/bad.stf"
expect_status 1
expect_line 'bad.lttng/cpu_0: offset .*the file ends here' "$dir/err"
expect [ ! -e "$dir/bad.stf" ]
verdict "LTTng: a file that is cut is refused, and no STF is left"

# ---- no space ----

# a file may not become larger than 100 KB: as on a full disk, each write fails
for format in csv jsonl ctf lttng otf otf2 paje perfetto parquet; do
	mkdir "$dir/full"
	(
		trap '' XFSZ
		ulimit -f 200
		"$build/stftool" "$dir/noisy.stf" --convert "$dir/full/x.$format"
	) >"$dir/out" 2>"$dir/err"
	status=$?
	if grep -q 'not built' "$dir/err"; then
		skip "$format: a write that fails" "not in this build"
	else
		expect_status 1
		expect [ -s "$dir/err" ]
		expect [ -z "$(ls -A "$dir/full")" ]
		verdict "$format: a write that fails is an error, and nothing is left"
	fi
	rm -r "$dir/full"
done

done_testing

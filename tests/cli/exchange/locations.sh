#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Source locations and call stacks of events in the formats of others. TAP.
# shellcheck disable=SC1091,SC2154
. "${top_srcdir:-.}/tests/cli/lib/toollib.sh"
python=$(command -v python3) || skip_all "no python3 here"

# a call stack of two frames, whose second has no line that is known; another location at the end of the function;
# a file with a blank and UTF-8, and a function of C++ with quotes
# shellcheck disable=SC1112
sed 's/^DEFSCL 5 .*/DEFFILE 7 "a dir\/münze.c"\
DEFSCL 5 FILE 2 7 1 LINE 2 42 0 SYMBOL 2 "f<\\"x\\">" "main" OBJECT 2 0 0\
DEFSCL 6 FILE 1 7 LINE 1 9 SYMBOL 1 0 OBJECT 1 0/; s/^4000000000 LEAVE CPU 1/& SCL 6/
	s/^3000000000 SENDMSG.*FUNCTION 1/& SCL 6/' "$src/tests/cli/stftool/rich.avt" >"$dir/t.avt"
"$build/tests/cli/lib/text_stf" "$dir/t.avt" "$dir/t.stf" >"$dir/out" 2>&1 || cat "$dir/out"
begin='a dir/münze.c:42 f<"x"> < my main.c main' end='a dir/münze.c:9'

convert() # convert FORMAT FILE: nothing about source locations is lost
{
	tool "$dir/t.stf" --convert "$dir/$2" --logfile-format "$1"
	expect_status 0
	expect_no_line 'source locations' "$dir/err"
}
locations() # locations PYTHON: the events with a location, in Python; $1 prints "KIND TIME LOCATION"
{
	"$python" -B -c "$1" "$dir" 2>"$dir/err" | LC_ALL=C sort >"$dir/have"
	printf '%s\n' "enter $begin" "leave $end" "$2" | sed '/^$/d' | LC_ALL=C sort >"$dir/want"
	expect_same "$dir/want" "$dir/have"
}

convert JSONL t.jsonl
locations 'import json, sys
for line in open(sys.argv[1] + "/t.jsonl", encoding="utf-8"):
    e = json.loads(line)
    if "location" in e:
        print(e["type"], e["location"])' "send $end"
verdict "JSON lines"
convert CHROME t.json
locations 'import json, sys
for e in json.load(open(sys.argv[1] + "/t.json", encoding="utf-8"))["traceEvents"]:
    a = e.get("args", {})
    if "location" in a:
        print({"B": "enter", "s": "send"}[e["ph"]], a["location"])
    if "end location" in a:
        print({"E": "leave"}[e["ph"]], a["end location"])' "send $end"
verdict "Chrome"
convert PERFETTO t.perfetto
"$python" -B - "$dir/t.perfetto" >"$dir/texts" 2>"$dir/err" <<'END'
import sys
import zlib


def fields(b):
    at = 0

    def varint():
        nonlocal at
        v = k = 0
        while True:
            v |= (b[at] & 127) << k
            at, k = at + 1, k + 7
            if b[at - 1] < 128:
                return v
    while at < len(b):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 1:
            yield key >> 3, b[at:at + 8]
            at += 8
        else:
            n = varint()
            yield key >> 3, b[at:at + n]
            at += n


def packets(b):
    for k, v in fields(b):
        if k == 1:
            inner = dict(fields(v))
            if 50 in inner:
                yield from packets(zlib.decompress(inner[50]))
            else:
                yield v


for p in packets(open(sys.argv[1], "rb").read()):
    for k, v in fields(p):
        if k == 11:
            kind = dict(fields(v)).get(9)
            for field, a in fields(v):
                a = dict(fields(a)) if field == 4 else {}
                if b"location" in a.get(10, b""):
                    print({1: "enter", 2: "leave", 3: "send"}[kind], a[6].decode())
END
LC_ALL=C sort "$dir/texts" >"$dir/have"
printf '%s\n' "enter $begin" "leave $end" "send $end" | LC_ALL=C sort >"$dir/want"
expect_same "$dir/want" "$dir/have"
verdict "Perfetto"
convert CTF t.ctf
if command -v babeltrace2 >/dev/null 2>&1; then
	babeltrace2 --names=all "$dir/t.ctf" 2>"$dir/err" |
		sed -n 's/, event.fields.*//
			s/.*name = function_\(e[nx]\)[a-z]*,.* location = ( "\(.*\)" : container = [1-9].*/\1 \2/p' |
		sed 's/^en/enter/; s/^ex/leave/; s/\\"/"/g' | LC_ALL=C sort >"$dir/have"
	printf '%s\n' "enter $begin" "leave $end" | LC_ALL=C sort >"$dir/want"
	expect_same "$dir/want" "$dir/have"
	verdict "CTF"
else
	skip "CTF" "no babeltrace2 here"
fi
convert PARQUET t.parquet
if "$python" -c 'import pyarrow.parquet' 2>/dev/null; then
	locations 'import sys
import pyarrow.parquet
for e in pyarrow.parquet.read_table(sys.argv[1] + "/t.events.parquet").to_pylist():
    if e["location"]:
        print(e["kind"], e["location"])' "send $end"
	verdict "Parquet"
else
	skip "Parquet" "no pyarrow here"
fi
if command -v otf2-print >/dev/null 2>&1 && "$build/tests/lib/exchange_table" | grep -q "^| OTF2 "; then
	convert OTF2 t.otf2
	otf2-print "$dir/t.otf2/traces.otf2" >"$dir/printed" 2>"$dir/err"
	expect_lines 3 'ATTR.*"location" <.*a dir/münze.c' "$dir/printed"
	expect_lines 3 'ATTR.*"source location" <.*' "$dir/printed"
	otf2-print -G "$dir/t.otf2/traces.otf2" >"$dir/printed" 2>"$dir/err"
	expect_line 'SOURCE_CODE_LOCATION  *0 .*a dir/münze.c.* 42' "$dir/printed"
	# our reader and its checks take the archive
	tool "$dir/t.otf2" --convert "$dir/back.stf"
	expect_status 0
	verdict "OTF2"
else
	skip "OTF2" "no otf2-print here, or a build without otf2"
fi
if command -v otfprint >/dev/null 2>&1 && "$build/tests/lib/exchange_table" | grep -q "^| OTF "; then
	convert OTF t.otf
	otfprint --fullkeyvalue "$dir/t.otf" >"$dir/printed" 2>"$dir/err"
	# byte arrays are printed in hexadecimal: "a dir/münze.c:"
	expect_lines 3 '61206469722F6DC3BC6E7A652E633A' "$dir/printed"
	tool "$dir/t.otf" --convert "$dir/otf.stf"
	expect_status 0
	"$build/stftool" "$dir/otf.stf" --dump | expect_no_line 'COMMENT.*location' -
	verdict "OTF"
else
	skip "OTF" "no otfprint here, or a build without OTF"
fi
# a trace without locations has no column of them in CTF, where each event would pay for it
tool "$rich" --convert "$dir/rich.ctf"
expect_line 'enum location' "$dir/t.ctf/metadata"
sed '/SCL 5/s/ SCL 5//; /^DEFSCL/d' "$src/tests/cli/stftool/rich.avt" >"$dir/u.avt"
"$build/tests/cli/lib/text_stf" "$dir/u.avt" "$dir/u.stf" >"$dir/out" 2>&1
tool "$dir/u.stf" --convert "$dir/u.ctf"
expect_no_line 'enum location' "$dir/u.ctf/metadata"
verdict "no locations, no field for them in CTF"

done_testing

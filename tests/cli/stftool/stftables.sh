#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The tables of stftool --print-*. TAP.
# shellcheck disable=SC1091,SC2154
. "${top_srcdir:-.}/tests/cli/lib/toollib.sh"

tool "$rich" --print-threads
is "--print-threads" 0 <<'EOT'
number    cpu thread host                     ip           pid     tid                     name
     0      1 0:0    "host one"               10.0.0.1     100     101                  unknown
     1      2 0:1    unknown                  unknown  unknown unknown                  unknown
     2  65538 1:1    unknown                  unknown  unknown unknown                  unknown
     3 131074 2:1    "odd \"name\" \\ ä\x0a1" ""           200     203 "odd \"name\" \\ ä\x0a1"
EOT
tool "$rich" --print-files
sum=$(awk 'NR > 1 { s += $3 } END { print s }' "$dir/out")
expect_status 0
expect [ "$sum" -eq "$(cat "$rich" "$rich".* | wc -c)" ]
expect [ "$(wc -l <"$dir/out")" -eq 9 ]
verdict "--print-files: all components, and their true sizes"
mv "$rich.sts" "$dir/sts"
tool "$rich" --print-files
expect_status 1
expect_line '\.stf\.sts *statistics *unknown$' "$dir/out"
expect_line 'component .sts is missing' "$dir/err"
verdict "--print-files: a missing component"
mv "$dir/sts" "$rich.sts"
tool "$rich" --print-statistics
is "--print-statistics" 0 <<'EOT'
# thread:function:receiver:bytes:processes:count:minimum, maximum and sum without callees:the same with callees
# at least: bytes = 4294967294, count = 4294967295
# seconds of a unit of time = 1e-09
# thread 0 = 0:0
# thread 1 = 0:1
# thread 65537 = 1:1
# thread 131073 = 2:1
# function 1 = MPI:MPI_Send
# function 2 = odd "name" \ ä\x0a1:odd "name" \ ä\x0a1
0:1:131073:64:2:9:5:45:135:10:90:270
EOT
tool "$dir/one.stf" --print-statistics
expect_status 0
expect_empty "$dir/out"
expect_line 'the trace has no statistics' "$dir/err"
verdict "--print-statistics: none"
for f in "$src"/tests/golden/plain-little.stf*; do
	cp "$f" "$dir/empty${f##*plain-little}"
done
: >"$dir/empty.stf.sts"
tool "$dir/empty.stf" --print-statistics
expect_status 0
expect [ "$(grep -vc '^#' "$dir/out")" -eq 2 ]
expect_line 'STATISTICS was not recorded; computed from the events$' "$dir/err"
verdict "--print-statistics: a file of statistics without any"
tool "$rich" --print-reports --csv
expect_status 0
expect [ "$(wc -l <"$dir/out")" -eq 3 ]
verdict "--print-reports"
tool "$rich" --print-errors --csv
tr -d '\r' <"$dir/out" >"$dir/plain" && mv "$dir/plain" "$dir/out"
is "--print-errors, --csv" 0 <<'EOT'
number,stamp,seconds,thread,level,type,description
1,5000000000,5,"0:1","error","GLOBAL:COLLECTIVE:SIZE_MISMATCH","sizes differ"
EOT
tool "$rich" --print-clock
expect_line -E '^ *1e-09 +0 +1e-09 +1000000000 +1000000000 +9000000000 +8 little$' "$dir/out"
expect has 'clock   simulated'
expect_line -E '^131074 2:1 +1000.25 +1.000001e-09$' "$dir/out"
verdict "--print-clock"
tool "$dir/big.stf" --print-clock
grep -q ' big *$' "$dir/out"
ok "--print-clock: byte order" $?
tool "$dir/empty.stf" --print-clock
[ "$status" -eq 0 ]
ok "--print-clock of an empty trace" $?
tool "$rich" --print-counters
is "--print-counters" 0 <<'EOT'
id name                     class     unit type  scope   shows thread samples                  min            mean                  max
 6 PAPI_TOT_INS             PERF_DATA #/s  UINT  sample  rate  0:0          1              unknown         unknown              unknown
 6 PAPI_TOT_INS             PERF_DATA #/s  UINT  sample  rate  2:1          8                 1000            1000                 1000
 7 load                     PERF_DATA #    FLOAT point   value 0:0          1                 -0.1            -0.1                 -0.1
 7 load                     PERF_DATA #    FLOAT point   value 2:1          8                 0.25           1.125                    2
 8 "odd \"name\" \\ ä\x0a1" PERF_DATA #    INT   unknown value 0:0          1 -9223372036854775808 -9.22337204e+18 -9223372036854775808
 8 "odd \"name\" \\ ä\x0a1" PERF_DATA #    INT   unknown value 2:1          8                   -4            -0.5                    3
EOT
# running totals are shown as rates in the unit that the trace wants, samples at one stamp as one; a group by its name
cat >"$dir/rates.avt" <<'EOT'
CLKPERIOD 1e-3
NCPUS 1
DEFCLASS 1 "OS" SELF "OS" PARENT 0
DEFCLASS 2 "counter-display" SELF "counter-display" PARENT 0
DEFGROUP 2147483654 "vm" NMEMBS 1 1
DEFGROUP 2147483655 "a node" NMEMBS 1 1
DEFCOUNTER 1 "disk_io" CLASS 1 CPU 2147483654 TYPE 67 DIFF 1 UNIT "bytes"
DEFCOUNTER 2 "cpu_usr" CLASS 1 CPU 2147483654 TYPE 67 DIFF 1 UNIT "us"
DEFCOUNTER 3 "mem" CLASS 1 CPU 2147483654 TYPE 67 DIFF 0 UNIT "bytes"
DEFCOUNTER 4 "cycles" CLASS 1 CPU 1 TYPE 67 DIFF 1 UNIT "#"
DEFCOUNTER 5 "heat" CLASS 0 CPU 1 TYPE 66 DIFF 1 UNIT "J"
DEFCOUNTER 6 "debt" CLASS 1 CPU 1 TYPE 65 DIFF 1 UNIT "x"
INFO CLASS 2 TEXT "\"OS:disk_io_other\" 7 \"wrong\""
INFO CLASS 2 TEXT "\"OS:disk_io\" 0.0009765625 \"KB/s\""
INFO CLASS 2 TEXT "\"OS:cpu_usr\" 1e-4 \"percent\""
INFO CLASS 2 TEXT "\"OS:mem\" 0.5 \"pairs\""
INFO CLASS 2 TEXT "\"OS:debt\" -1 \"owed\""
1000 SAMP CPU 2147483654 DEF 1 UINT 8 1048576 DEF 2 UINT 8 5000000 DEF 3 UINT 8 64
1000 SAMP CPU 1 DEF 4 UINT 8 18446744073709551000 DEF 5 FLOAT 8 1.5 DEF 6 INT 8 -10
1500 SAMP CPU 2147483654 DEF 1 UINT 8 1052672 DEF 2 UINT 8 5250000 DEF 3 UINT 8 32
1500 SAMP CPU 2147483654 DEF 1 UINT 8 1052679
2000 SAMP CPU 1 DEF 4 UINT 8 18446744073709551615 DEF 5 FLOAT 8 2 DEF 6 INT 8 10
2500 SAMP CPU 2147483655 DEF 1 UINT 8 1024
3000 SAMP CPU 1 DEF 6 INT 8 15
3500 SAMP CPU 2147483654 DEF 1 UINT 8 1073152 DEF 2 UINT 8 5250000 DEF 3 UINT 8 48
EOT
from_text "$dir/rates.avt" "$dir/rates.stf" && tool "$dir/rates.stf" --print-counters
is "--print-counters: rates" 0 <<'EOT'
id name    class   unit    type  scope  shows thread   samples     min    mean     max
 1 disk_io OS      KB/s    UINT  sample rate  vm             4       8     9.6      10
 1 disk_io OS      KB/s    UINT  sample rate  "a node"       1 unknown unknown unknown
 2 cpu_usr OS      percent UINT  sample rate  vm             3       0      10      50
 3 mem     OS      pairs   UINT  sample value vm             3      16      24      32
 4 cycles  OS      #/s     UINT  sample rate  0:0            2     615     615     615
 5 heat    unknown J/s     FLOAT sample rate  0:0            2     0.5     0.5     0.5
 6 debt    OS      owed    INT   sample rate  0:0            3     -20   -12.5      -5
EOT
tool "$dir/rates.stf" --print-counters --csv
expect_line '^1,"disk_io","OS","KB/s","UINT","sample","rate","vm",4,8,9.6,10,"bytes",1048576,1073152' "$dir/out"
expect_line '^3,"mem",.*,16,24,32,"bytes",32,64' "$dir/out"
verdict "--print-counters: what was recorded, for programs"
xtool "$dir/rates.stf"
expect_line '^1000 SAMP CPU "vm" DEF "OS:disk_io" UINT 8 1048576 ' "$dir/out"
expect_line '^2500 SAMP CPU "a node" ' "$dir/out"
verdict "xstftool: a group in quotes"
tool "$dir/one.stf" --print-counters
grep -q '^ 6 PAPI_TOT_INS .* - *0 *- *- *-$' "$dir/out"
ok "--print-counters: no sample" $?
tool "$rich" --print-counters --request 3, 2s:5s --csv
expect_status 0
expect_lines 3 '"2:1",3,' "$dir/out"
expect_line '"load".*"2:1",3,0.5,0.75,1' "$dir/out"
verdict "--print-counters of a window"
tool "$rich" --print-reports --request 5500l:7s --csv
expect_status 0
expect [ "$(wc -l <"$dir/out")" -eq 2 ]
verdict "--print-reports of a window"
refused "--print-counters of rubbish" 2 "--request: 'x' is neither" "$rich" --print-counters --request x
refused "--json and --csv" 2 '--json and --csv exclude' "$rich" --print-clock --json --csv
tool "$rich" --print-threads --print-files --print-statistics --print-reports --print-errors --print-clock \
	--print-counters --json
if grep -q 'has no jansson' "$dir/err"; then
	skip "--json" "this build has no jansson"
elif [ "${PYTHON3:-no}" = no ]; then
	skip "--json" "no python3 to read it with"
else
	"$PYTHON3" - "$dir/out" 2>"$dir/err" <<'EOT'
import json, sys
j = json.load(open(sys.argv[1], encoding="utf-8"))
assert j["schema"] == "stftool/1" and len(j["threads"]) == 4 and len(j["files"]) == 8
assert j["threads"][3]["name"] == 'odd "name" \\ \u00e4\n1' and j["threads"][1]["pid"] is None
assert j["lw_statistics"][0]["sumTicksIncl"] == 270 and len(j["reports"]) == 2 and len(j["errors"]) == 1
assert j["clock"][0]["duration_s"] == 8 and j["counters"][0]["recorded_max"] == "18446744073709551615"
assert j["counters"][3] == {"id": 7, "name": "load", "class": "PERF_DATA", "unit": "#", "type": "FLOAT", "scope": "point",
	"shows": "value", "thread": "2:1", "samples": 8, "min": 0.25, "mean": 1.125, "max": 2.0, "recorded_unit": "#",
	"recorded_min": 0.25, "recorded_max": 2.0}
assert [j["counters"][1][k] for k in ("unit", "min", "recorded_unit", "recorded_max")] == ["#/s", 1000, "#", 8000]
EOT
	ok "--json" $?
	tool "$dir/one.stf" --print-statistics --json
	expect_status 0
	expect "$PYTHON3" -c 'import json, sys; assert json.load(sys.stdin) == {"schema": "stftool/1"}' <"$dir/out"
	verdict "--json where there is nothing to tell is an object too"
fi
done_testing

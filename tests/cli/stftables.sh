#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The tables of stftool --print-*. TAP.
# shellcheck disable=SC1091,SC2154
. "${top_srcdir:-.}/tests/cli/toollib.sh"

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
[ "$status" -eq 0 ] && [ "$sum" -eq "$(cat "$rich" "$rich".* | wc -c)" ] && [ "$(wc -l <"$dir/out")" -eq 14 ]
ok "--print-files: all components, and their true sizes" $?
mv "$rich.sts" "$dir/sts"
tool "$rich" --print-files
[ "$status" -eq 1 ] && grep -q '\.stf\.sts *statistics *unknown$' "$dir/out" && grep -q 'component .sts is missing' "$dir/err"
ok "--print-files: a missing component" $?
mv "$dir/sts" "$rich.sts"
tool "$rich" --print-statistics
is "--print-statistics" 0 <<'EOT'
lw_statistics:
willy function     receiver bytes_sent comm_size count minTicksExcl maxTicksExcl sumTicksExcl minTicksIncl maxTicksIncl sumTicksIncl
0:0   MPI:MPI_Send 2:1              64         2     9            5           45          135           10           90          270
EOT
tool "$dir/one.stf" --print-statistics
[ "$status" -eq 0 ] && [ ! -s "$dir/out" ] && grep -q 'the trace has no statistics' "$dir/err"
ok "--print-statistics: none" $?
tool "$rich" --print-reports --csv
[ "$status" -eq 0 ] && [ "$(wc -l <"$dir/out")" -eq 3 ]
ok "--print-reports" $?
tool "$rich" --print-errors --csv
tr -d '\r' <"$dir/out" >"$dir/plain" && mv "$dir/plain" "$dir/out"
is "--print-errors, --csv" 0 <<'EOT'
number,stamp,seconds,thread,level,type,description
1,5000000000,5,"0:1","error","GLOBAL:COLLECTIVE:SIZE_MISMATCH","sizes differ"
EOT
tool "$rich" --print-clock
grep -Eq '^ *1e-09 +0 +1e-09 +9[0-9.]+ +1000000000 +9000000000 +8 little$' "$dir/out" && has 'clock   simulated' &&
	grep -Eq '^131074 2:1 +1000.25 +1.000001e-09$' "$dir/out"
ok "--print-clock" $?
tool "$dir/big.stf" --print-clock
grep -q ' big *$' "$dir/out"
ok "--print-clock: byte order" $?
tool "$dir/empty.stf" --print-clock
[ "$status" -eq 0 ]
ok "--print-clock of an empty trace" $?
tool "$rich" --print-counters
is "--print-counters" 0 <<'EOT'
id name                     class     unit type  scope   shows thread samples                  min                   mean                  max
 6 PAPI_TOT_INS             PERF_DATA #    UINT  sample  rate  0:0          1 18446744073709551615 1.8446744073709552e+19 18446744073709551615
 6 PAPI_TOT_INS             PERF_DATA #    UINT  sample  rate  2:1          8                 1000                   4500                 8000
 7 load                     PERF_DATA #    FLOAT point   value 0:0          1                 -0.1                   -0.1                 -0.1
 7 load                     PERF_DATA #    FLOAT point   value 2:1          8                 0.25                  1.125                    2
 8 "odd \"name\" \\ ä\x0a1" PERF_DATA #    INT   unknown value 0:0          1 -9223372036854775808 -9.223372036854776e+18 -9223372036854775808
 8 "odd \"name\" \\ ä\x0a1" PERF_DATA #    INT   unknown value 2:1          8                   -4                   -0.5                    3
EOT
tool "$dir/one.stf" --print-counters
grep -q '^ 6 PAPI_TOT_INS .* - *0 *- *- *-$' "$dir/out"
ok "--print-counters: no sample" $?
tool "$rich" --print-counters --request 3, 2s:5s --csv
[ "$status" -eq 0 ] && [ "$(grep -c '"2:1",3,' "$dir/out")" -eq 3 ] && grep -q '"load".*"2:1",3,0.5,0.75,1' "$dir/out"
ok "--print-counters of a window" $?
tool "$rich" --print-reports --request 5500l:7s --csv
[ "$status" -eq 0 ] && [ "$(wc -l <"$dir/out")" -eq 2 ]
ok "--print-reports of a window" $?
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
assert j["schema"] == "stftool/1" and len(j["threads"]) == 4 and len(j["files"]) == 13
assert j["threads"][3]["name"] == 'odd "name" \\ \u00e4\n1' and j["threads"][1]["pid"] is None
assert j["lw_statistics"][0]["sumTicksIncl"] == 270 and len(j["reports"]) == 2 and len(j["errors"]) == 1
assert j["clock"][0]["duration_s"] == 8 and j["counters"][0]["max"] == "18446744073709551615"
assert j["counters"][3] == {"id": 7, "name": "load", "class": "PERF_DATA", "unit": "#", "type": "FLOAT", "scope": "point",
	"shows": "value", "thread": "2:1", "samples": 8, "min": 0.25, "mean": 1.125, "max": 2.0}
EOT
	ok "--json" $?
fi
done_testing

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# clkapply: a correction whose numbers can be checked by hand. TAP.
# shellcheck source=../../lib/tap.sh source-path=SCRIPTDIR disable=SC2154
. "${top_srcdir:-.}/tests/lib/tap.sh"

# rank 1's clock is 10 ns ahead at tick 7000 and 10 ns more after 2 s: 10000010 global ticks of 0.1 ns for 1000000 local
# ones
cat >"$dir/m.clk" <<'END'
TICKMARK-CLK 1
program "test"
master 0
ranks 2
global-period 1.0000000000000001e-10
realtime-at-0 1763689000123456789
end 100000000000
clock-was-set 0
interpolation linear
max-drift 0.00050000000000000001
max-wander 9.9999999999999995e-07
rank 0
host "nodeone"
timer "sim:a"
nominal-hz 1000000000
anchor 5000 1763689000123456789 5000
piece 5000 0 1000000000 10000000000 0 0
end-rank
rank 1
host "nodetwo"
timer "sim:b"
nominal-hz 1000000000
nominal-rate 10
session start used 1 samples 0 lost 0
session end used 1 samples 0 lost 0
rate 9.999 10.001
node 7000 100 -400 600 1
node 2000007000 20000020100 20000019600 20000020600 1
piece 7000 100 2000000000 20000020000 0 0
end-rank
end-file
END
printf 'time,rank,"na,me"\n7000,1,"a ""q"""\n1007000,1,x\n2000007000,1,z\n5001,0,y\n' >"$dir/m.csv"
"$build/clkapply" "$dir/m.clk" "$dir/m.csv" >"$dir/out" 2>"$dir/err"
status=$?
# at the nodes the bound is the farther end of what is certain: 50 ns; in between at least that
sed 's/^\(1007000,.*\),[^,]*$/\1,between/' "$dir/out" >"$dir/got"
cat >"$dir/want" <<'END'
time,rank,"na,me",global_s,bound_s
7000,1,"a ""q""",0.0000000100,5e-08
1007000,1,x,0.0010000110,between
2000007000,1,z,2.0000020100,5e-08
5001,0,y,0.0000000010,0
END
expect_status 0
expect_same "$dir/want" "$dir/got"
expect awk -F, '/^1007000/ { exit !($NF >= 5e-8 && $NF < 1e-6) }' "$dir/out"
verdict "global time and bound of each row, other columns unchanged"
printf 't\n0.000007\n2.000007\n' | "$build/clkapply" "$dir/m.clk" - --column t --unit s --rank 1 >"$dir/out"
printf 't,global_s,bound_s\n0.000007,0.0000000100,5e-08\n2.000007,2.0000020100,5e-08\n' | diff - "$dir/out" >"$dir/diff"
ok "stamps in seconds, of one rank, from standard input" $?
printf 'x,t\n1,7\n' | "$build/clkapply" "$dir/m.clk" - --column 2 --unit us --rank 1 >"$dir/out"
grep -q '^1,7,0.0000000100,5e-08$' "$dir/out"
ok "a column by its number, stamps in microseconds" $?
# the master read 5000 ns at global time 0, so at 2.00000201 s it read 2.00000701 s, rank 1 2.000007 s
"$build/clkapply" "$dir/m.clk" --format mpisync >"$dir/out"
printf 'nodeone 0.000000000000 0.000000000000\nnodetwo 0.000000100000 0.000000010000\n' | diff - "$dir/out" >"$dir/diff"
ok "--format mpisync: host, round trip, offset to the master's clock" $?

refuse() # refuse NAME PATTERN STATUS ARGUMENTS...
{
	name=$1 pattern=$2 want=$3
	shift 3
	"$build/clkapply" "$@" >"$dir/out" 2>"$dir/err" </dev/null
	expect [ $? -eq "$want" ]
	expect_line -E "$pattern" "$dir/err"
	verdict "$name"
}
printf 'time,rank\nabc,1\n' >"$dir/bad.csv"
refuse "what is no stamp is refused, with file and line" "bad.csv: line 2: 'abc' is no stamp in ticks" 1 "$dir/m.clk" \
	"$dir/bad.csv"
printf 'time,rank\n5000000000000000000,1\n' >"$dir/bad.csv"
refuse "so is one too far for a difference in 64 bits" "bad.csv: line 2: '5000000000000000000' is no stamp in ticks" 1 \
	"$dir/m.clk" "$dir/bad.csv"
sed 's/node 7000 100/node 7000 5000000000000000000/' "$dir/m.clk" >"$dir/far.clk"
refuse "and such a number in a correction" 'far.clk:[0-9]+: 5000000000000000000 is not between' 1 "$dir/far.clk" \
	"$dir/m.csv"
printf 'time,rank\n1,7\n' >"$dir/bad.csv"
refuse "so is a rank that the correction does not have" 'bad.csv: line 2: .*has no rank 7; it has 2 ranks' 1 \
	"$dir/m.clk" "$dir/bad.csv"
printf 'time,rank\n1,"7\n' >"$dir/bad.csv"
refuse "so is a quote that is not closed" 'bad.csv: line 2: a quote' 1 "$dir/m.clk" "$dir/bad.csv"
refuse "so is a column that is not there" "no column 'when'" 1 "$dir/m.clk" "$dir/m.csv" --column when
head -n 20 "$dir/m.clk" >"$dir/cut.clk"
refuse "so is a correction that is cut" 'cut.clk' 1 "$dir/cut.clk" "$dir/m.csv"
refuse "neither input nor --format is a usage error" 'give a correction file' 2 "$dir/m.clk"

# ---- tables of other programs ----

# numpy.savetxt(header="time,rank", delimiter=","): comments, exponents, ranks that are doubles
printf '# by a program, 2026\n# time,rank\n%s,1.000000000000000000e+00\n#\n\n2000007000.0 , 1\n\n' \
	7.000000000000000000e+03 >"$dir/numpy.csv"
"$build/clkapply" "$dir/m.clk" "$dir/numpy.csv" >"$dir/out" 2>"$dir/err"
status=$?
printf '# by a program, 2026\n# time,rank,global_s,bound_s\n%s,0.0000000100,5e-08\n#\n\n'\
'%s,2.0000020100,5e-08\n\n' \
	'7.000000000000000000e+03,1.000000000000000000e+00' '2000007000.0 , 1' >"$dir/want"
expect_status 0
expect_same "$dir/want" "$dir/out"
verdict "a table of numpy: comments, names in a comment, exponents, blanks, an empty line at the end"
# a spreadsheet's: byte order mark, DOS lines, a line end within quotes
printf '\357\273\277"time",text,rank\r\n7000,"a,\nb",1\r\n2.000007E+09,,1\r\n' >"$dir/excel.csv"
"$build/clkapply" "$dir/m.clk" "$dir/excel.csv" >"$dir/out" 2>"$dir/err"
status=$?
printf '\357\273\277"time",text,rank,global_s,bound_s\n7000,"a,\nb",1,0.0000000100,5e-08\n%s\n' \
	'2.000007E+09,,1,2.0000020100,5e-08' >"$dir/want"
expect_status 0
expect_same "$dir/want" "$dir/out"
verdict "a table of a spreadsheet: byte order mark, DOS lines, a line end in a cell"
printf '7000,x\n1.0e3,y\n' | "$build/clkapply" "$dir/m.clk" - --column 1 --rank 0 >"$dir/out"
expect [ "$(head -n 1 "$dir/out" | cut -d, -f1-3)" = 7000,x,0.0000020000 ]
expect_lines 2 . "$dir/out"
verdict "a column by its number in a table without names: no row is lost"
# ticks beyond the 53 bits of a double, one apart
printf 'time,rank\n9007199254740993,0\n9.007199254740994e15,0\n' >"$dir/large.csv"
"$build/clkapply" "$dir/m.clk" "$dir/large.csv" >"$dir/out" 2>"$dir/err"
expect [ "$(cut -d, -f3 "$dir/out" | sort -u | wc -l)" -eq 3 ]
verdict "stamps that no double holds keep their last digit"
printf 'time;rank\n7000;1\n' >"$dir/bad.csv"
refuse "semicolons are named" 'bad.csv: line 1: .*semicolons: write commas' 1 "$dir/m.clk" "$dir/bad.csv"
printf 'time\trank\n7000\t1\n' >"$dir/bad.csv"
refuse "so are tabs" 'bad.csv: line 1: .*tabs: write commas' 1 "$dir/m.clk" "$dir/bad.csv"
printf 'time,rank\n"0,5",1\n' >"$dir/bad.csv"
refuse "so is a decimal comma in quotes" "line 2: '0,5' is no stamp in s: a decimal comma, write a point" 1 \
	"$dir/m.clk" "$dir/bad.csv" --unit s
printf 'time,rank\n0,5,1\n' >"$dir/bad.csv"
refuse "and one that makes a column more" 'line 2: more columns than names; .*a point' 1 "$dir/m.clk" "$dir/bad.csv" \
	--unit s
printf 'time,rank\n70.5,1\n' >"$dir/bad.csv"
refuse "half a tick is no stamp" "line 2: '70.5' is no stamp in ticks" 1 "$dir/m.clk" "$dir/bad.csv"
printf 'time,rank\n7000,1\0,x\n' >"$dir/bad.csv"
refuse "a zero byte does not cut a line" 'bad.csv: line 2: a zero byte' 1 "$dir/m.clk" "$dir/bad.csv"
printf 'time,rank\n7000,1\n' | iconv -f UTF-8 -t UTF-16 >"$dir/bad.csv"
refuse "UTF-16 is named" 'bad.csv: line 1: a zero byte; if this is UTF-16, save it as CSV in UTF-8' 1 "$dir/m.clk" \
	"$dir/bad.csv"

# the sample of tickmark-clk(5), and its formulas of the map and the bound
if command -v "${PYTHON3:-python3}" >/dev/null 2>&1; then
	page="$src/tests/cli/clkapply/clk_page.py"
	expect "${PYTHON3:-python3}" "$page" write "$src/doc/man/tickmark-clk.5" "$dir/page.clk"
	expect "${PYTHON3:-python3}" "$page" stamps "$dir/page.clk" >"$dir/stamps.csv"
	expect "$build/clkapply" "$dir/page.clk" "$dir/stamps.csv" >"$dir/stamps.out" 2>"$dir/err"
	expect "${PYTHON3:-python3}" "$page" compare "$dir/page.clk" <"$dir/stamps.out" >"$dir/out"
	verdict "the sample file of tickmark-clk(5), with its formulas, gives what clkapply prints"
else
	skip "the formulas of tickmark-clk(5)" "python3 is not installed"
fi
done_testing

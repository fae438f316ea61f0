#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# stftool --dump and xstftool as their users run them. TAP.
# shellcheck disable=SC1091,SC2154
. "${top_srcdir:-.}/tests/cli/lib/toollib.sh"

# ---- dump ----

tool "$rich" --dump
cp "$dir/out" "$dir/rich.avt"
tail -n +2 "$dir/rich.avt" >"$dir/out"
is "--dump prints the trace" 0 <"$src/tests/cli/stftool/rich.avt"
expect has 'DEFGROUP 2147942402 "All_Processes" NMEMBS 2 2147483649 2147483650'
expect_line '^1000000001 SAMP CPU 131074 DEF 6 UINT 8 1000' "$dir/out"
verdict "the guide's lines"
tool "$dir/big.stf" --dump
diff "$dir/rich.avt" "$dir/out" >"$dir/diff"
ok "a big-endian trace prints the same" $?
tool "$rich" --logfile-name - --logfile-format ascii
diff "$dir/rich.avt" "$dir/out" >"$dir/diff"
ok "--dump is --logfile-name - with ASCII" $?
tool "$dir/empty.stf" --dump
printf 'CLKPERIOD 1e-09\nEVENTBITS 0\nDURATION 0 0\n' >"$dir/want"
expect_status 0
tail -n +2 "$dir/out" | expect diff "$dir/want" - >"$dir/diff"
verdict "an empty trace"
tool "$dir/one.stf" --dump
expect_status 0
expect_lines 1 '^[0-9]' "$dir/out"
expect has '5 LEAVE CPU 1'
verdict "a trace of one record"
wrong=''
for text in 'no line here' 'STG' ' '; do
	printf '%s' "$text" >"$dir/other.stf"
	tool "$dir/other.stf" --verify
	[ "$status" -ne 0 ] && grep -q 'no STF trace: it does not begin' "$dir/out" "$dir/err" || wrong="$wrong '$text'"
done
for text in '' S 'STF 1.0 LIT'; do
	printf '%s' "$text" >"$dir/other.stf"
	tool "$dir/other.stf" --verify
	[ "$status" -ne 0 ] && grep -q 'ends before the END line' "$dir/out" "$dir/err" || wrong="$wrong '$text'"
done
[ -z "$wrong" ]
ok "a file without a line is no trace, unless it may be the beginning of one$wrong" $?
tool "$rich" --dump --extended-vtf off
expect_status 0
expect has '1000000001 SAMP CPU 131074 DEF 7 FLOAT 8 0.25'
expect_no_line -E 'REPORT|COMMENT|STAT|INFO|PAIR' "$dir/out"
verdict "--extended-vtf off leaves out what VTF does not know"
tool "$rich" --dump --matched-vtf
expect has '2000000000 MESSAGE FROM 1 TO 131074 TIME 5 COMM 1 TAG 7 LEN 64 SFUNCTION 1 RFUNCTION 0'
expect has '3000000000 MESSAGE FROM 1 TO 131074 TIME NORECV COMM 1 TAG 7 LEN 64 SFUNCTION 1 RFUNCTION 0'
expect_no_line 'SENDMSG\|RECVMSG' "$dir/out"
verdict "--matched-vtf puts a message on one line"
for g in little big; do
	tool "$src/tests/golden/every-$g.stf" --dump
	cp "$dir/out" "$dir/$g.avt"
done
expect_status 0
expect_same "$dir/little.avt" "$dir/big.avt"
expect [ "$(wc -l <"$dir/big.avt")" -ge 60 ]
verdict "every record prints, in both byte orders"

# ---- xstftool ----

xtool "$rich" --matched-vtf
expect has 'DEFGROUP All_Processes NMEMBS 2 "Process_0" "Process_2"'
expect_line '^1000000001 SAMP CPU 2:1 DEF "PERF_DATA:PAPI_TOT_INS" UINT 8 1000' "$dir/out"
expect has '2000000000 ENTER CPU 0:0 FUNCTION "MPI:MPI_Send" SCL "my main.c:42"'
expect has \
	'2000000000 MESSAGE FROM 0:0 TO 2:1 TIME 5 COMM "MPI_COMM_WORLD" TAG 7 LEN 64 SFUNCTION "MPI:MPI_Send" '\
'RFUNCTION 0'
verdict "xstftool prints names, as in the guide"
sed "s/\\\\x..//g; s/\\\\[\"\\\\]//g" "$dir/out" | awk -F'"' 'NF % 2 == 0 { print; exit 1 }' >"$dir/diff"
ok "xstftool: every quote is closed" $?

# ---- wrong usage, wrong files ----

refused "no file" 2 'no input file'
refused "no such file" 1 "$dir/none.stf: .*No such file" "$dir/none.stf" --dump
refused "nothing to do" 2 'what to do with' "$rich"
for words in "--clock x.clk --dump" "--csv --dump" "--json --verify" "--byte-order big --dump" "--ticks --dump"; do
	# shellcheck disable=SC2086
	refused "an option without effect: $words" 2 "${words%% *} has an effect only with" "$rich" $words
done
refused "an unknown option" 2 "unknown option '--sundial'; --help=all shows all" "$rich" --sundial
refused "a shortened option" 2 "unknown option '--print-stats'; did you mean --print-statistics.? " "$rich" \
	--print-stats
refused "a beginning of several" 2 ".*mean --logfile-format or --logfile-name or --logfile-prefix" "$rich" \
	--logfile
refused "two files" 2 "'b': one argument too many" "$rich" b --dump
refused "a wrong format" 2 "--logfile-format: 'XML' is none of" "$rich" --dump --logfile-format XML
refused "a bad number" 2 "--verbose: '9' is not" "$rich" --dump --verbose 9
cp "$dir/rich.avt" "$dir/lone.text"
refused "no trace at all" 1 "$dir/lone.text: .*STF" "$dir/lone.text" --dump
expect tool "$rich" --logfile-name "$dir/new.avt"
expect_same "$dir/rich.avt" "$dir/new.avt"
verdict "--logfile-name writes a file"
expect tool "$rich" --logfile-name "$dir/new.avt"
verdict "an earlier output is replaced"
{ echo C mine; cat "$dir/rich.avt"; } | sed 's/Tickmark//' >"$dir/new.avt"
refused "an existing file stays" 1 "$dir/new.avt exists; --force replaces it" "$rich" --logfile-name "$dir/new.avt"
expect tool "$rich" --logfile-name "$dir/new.avt" --force
expect_same "$dir/rich.avt" "$dir/new.avt"
verdict "--force replaces it"
refused "an unwritable directory" 1 "cannot create $dir/none/x.avt: No such file" "$rich" \
	--logfile-name "$dir/none/x.avt"
"$build/stftool" "$rich" --dump >&- 2>"$dir/err"
expect [ $? -eq 1 ]
expect_line 'cannot write to standard output: Bad file' "$dir/err"
verdict "standard output closed"
if [ -c /dev/full ]; then
	"$build/stftool" "$rich" --dump >/dev/full 2>"$dir/err"
	expect [ $? -eq 1 ]
	expect_line 'cannot write to standard output: No space' "$dir/err"
	verdict "standard output full"
else
	skip "standard output full" "no /dev/full"
fi

# every truncation of the counters' file: a fault with its place, and all before it printed
size=$(wc -c <"$rich.c.0")
cp "$rich.c.0" "$dir/whole"
lines=$(grep -c ' SAMP ' "$dir/rich.avt") shown=0 n=1 broken=
while [ "$n" -lt "$size" ]; do
	head -c "$n" "$dir/whole" >"$rich.c.0"
	tool "$rich" --dump
	k=$(grep -c ' SAMP ' "$dir/out")
	if [ "$k" -lt "$shown" ] || [ "$status" -gt 1 ] || { [ "$status" -eq 1 ] &&
		! grep -Eq "^stftool: $rich.c.0: offset [0-9]+, record [0-9]+: " "$dir/err"; }; then
		broken=$n
	fi
	shown=$k n=$((n + 7))
done
cp "$dir/whole" "$rich.c.0"
expect [ -z "$broken" ]
expect [ "$shown" -ge $((lines - 1)) ]
verdict "truncated at many places: what is whole is printed, the fault named ($broken)"

# ---- configuration ----

echo "MATCHED-VTF on
PROCESS 0:N OFF" >"$dir/my.conf"
VT_CONFIG=$dir/my.conf
export VT_CONFIG
tool "$rich" --dump
grep -q MESSAGE "$dir/out"
ok "VT_CONFIG names a configuration file" $?
VT_MATCHED_VTF=off tool "$rich" --dump
! grep -q MESSAGE "$dir/out"
ok "a variable wins over the file" $?
VT_MATCHED_VTF=off tool "$rich" --dump --matched-vtf
grep -q MESSAGE "$dir/out"
ok "the command line wins over both" $?
VT_CONFIG=$dir/none.conf tool "$rich" --dump
[ "$status" -eq 0 ]
ok "a VT_CONFIG that does not exist is no error" $?
unset VT_CONFIG
refused "a --config that does not exist is one" 2 'cannot open' "$rich" --dump --config "$dir/none.conf"

# ---- a writer that stepped back in time ----

"$build/tests/cli/lib/make_stf" late "$dir/late.stf" 20000
tool "$dir/late.stf" --dump
expect_status 0
expect sed -n 's/ SAMP .*//p' "$dir/out" >"$dir/times"
expect [ "$(wc -l <"$dir/times")" -eq 20000 ]
expect sort -n -c "$dir/times" 2>"$dir/diff"
verdict "--dump prints records that were written late in the order of their time"
sed -n 's/.* UINT 8 //p' "$dir/out" | sort -n | cmp -s - "$(seq 0 19999 >"$dir/want"; echo "$dir/want")"
ok "all of them, each once" $?

# ---- requests ----
VT_REQUEST=COUNTERS "$build/stftool" "$rich" --request MESSAGES --dump >"$dir/out" 2>"$dir/err"
expect [ "$(grep -c MSG "$dir/out")" -gt 0 ]
expect_no_line SAMP "$dir/out"
verdict "--request replaces VT_REQUEST"
VT_REQUEST=COUNTERS "$build/stftool" "$rich" --dump >"$dir/out" 2>"$dir/err"
expect_no_line MSG "$dir/out"
expect_line SAMP "$dir/out"
verdict "VT_REQUEST alone"
refused "--request of a thread that does not exist" 1 '--request: there is no thread 7; .* has the threads 0 to 3' \
	"$rich" --request 7:9 --dump

request() # request NAME LINES ARGUMENTS...
{
	name=$1 want=$2
	shift 2
	tool "$rich" --dump "$@"
	expect_status 0
	expect_lines "$want" '^[0-9]' "$dir/out"
	verdict "$name"
}
all=$(grep -c '^[0-9]' "$dir/rich.avt")
expect tool "$rich" --request 4s:5s COUNTERS --logfile-name "$dir/selected.avt"
expect_line -F "written to $dir/selected.avt" "$dir/err"
verdict "--request to a file: its name is printed"
request "--request with nothing is all" "$all" --request
request "--request COUNTERS" 9 --request counters
request "--request a window" 1 --request 4s:5s COUNTERS
request "--request two requests" 6 --request COUNTERS,4s:6s --request FUNCTIONS
request "--request a thread" 8 --request 3, COUNTERS
request "--request triplets" 1 --request 0:2 COUNTERS
request "--request a message that is under way" 2 --request MESSAGES 5s:5500l
request "--ticks" 1 --ticks --request COUNTERS 8000000002s:8000000002s
"$build/tests/cli/lib/make_stf" many "$dir/many.stf" 20000
tool "$dir/many.stf" --dump
awk '/ SAMP / && $1 >= 9000000000 && $1 <= 11000000000' "$dir/out" >"$dir/want"
tool "$dir/many.stf" --dump --request 9s:11s
grep ' SAMP ' "$dir/out" | expect diff - "$dir/want" >"$dir/diff"
expect [ "$(wc -l <"$dir/want")" -eq 2001 ]
verdict "--request of a window far inside is what the whole has there, both ends included"
{
	printf 'CLKPERIOD 1e-9\nNCPUS 2\nDEFGROUP 2147483650 "node" NMEMBS 1 1\n'
	printf 'DEFGROUP 2147483649 "loop" NMEMBS 200'
	awk 'BEGIN { for (i = 0; i < 200; i++) { printf " 2147483649" } printf "\n" }'
	printf \
		'1 SAMP CPU 2147483650 DEF 1 UINT 8 1\n2 SAMP CPU 2147483649 DEF 1 UINT 8 1\n3 SAMP CPU 65537 DEF 1 '\
'UINT 8 1\n'
} >"$dir/groups.avt"
from_text "$dir/groups.avt" "$dir/groups.stf"
timeout 120 "$build/stftool" "$dir/groups.stf" --dump --request 0 >"$dir/out" 2>"$dir/err"
expect [ $? -eq 0 ]
expect_lines 1 SAMP "$dir/out"
expect has '1 SAMP CPU 2147483650 DEF 1 OPAQUE 8 1'
verdict "--request of a thread takes its groups; one that contains itself ends"
refused "--request with rubbish" 2 "--request: '4x:5x' is neither" "$rich" --dump --request 4x:5x
refused "--request backwards" 2 "--request: the window 5s:4s ends before" "$rich" --dump --request 5s:4s
refused "--request with a type" 2 "--request: a trace has one type" "$rich" --dump --request '"node counters"'

# ---- a trace that another program wrote ----

if [ -x "$build/timertestcs" ]; then
	"$build/timertestcs" --timer clock_monotonic --performance-time 100ms --output "$dir/tt" --quiet >"$dir/out" \
		2>"$dir/err"
	tool "$dir/tt.stf" --verify
	expect_status 0
	expect tool "$dir/tt.stf" --dump
	expect_line '^CLKPERIOD ' "$dir/out"
	expect has 'NCPUS 1'
	expect_line '^INFO CLASS [0-9]* TEXT "Tickmark .*timertest' "$dir/out"
	verdict "the trace of timertestcs"
else
	skip "the trace of timertestcs" "it was not built"
fi

# ---- completion ----

if command -v bash >/dev/null; then
	bash \
		-c \
		". '$src/tools/completion/stftool'"' && COMP_WORDS=("$1" T.stf --print-c) COMP_CWORD=2 && '\
'_stftool "$1" &&
		printf "%s\n" "${COMPREPLY[@]}"' - "$build/stftool" >"$dir/out" 2>"$dir/err"
	status=$?
	is "bash completes options" 0 <<'EOT'
--print-clock
--print-counters
EOT
else
	skip "bash completes options" "no bash"
fi
# ---- windows ----

awk 'BEGIN {
	print "CLKPERIOD 1e-09\nNCPUS 1 2\nDEFCLASS 1 \"P\" SELF \"P\" PARENT 0\nDEFFUNCTION 1 \"f\" CLASS 1"
	print "DEFCOUNTER 1 \"c\" CLASS 1 CPU 1 TYPE 67 DIFF 1 UNIT \"\" LOWER 0 UPPER 0"
	print "50 ENTER CPU 1 FUNCTION 1\n40 ENTER CPU 2 FUNCTION 1\n60 LEAVE CPU 1\n70 LEAVE CPU 2"
	for (i = 0; i < 9; i++) print 1000 + i, "SAMP CPU 1 DEF 1 UINT 8", i
}' >"$dir/lately.avt"
from_text "$dir/lately.avt" "$dir/lately.stf"
expect_line -a '[.]f[.]0 1 10' "$dir/lately.stf"
expect_line -a '[.]c[.]0 0 0' "$dir/lately.stf"
verdict "a file in order says so beside one that is not, so that a window of it is not read to its end"

done_testing

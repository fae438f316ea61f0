#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# --sumdata: profiles of functions, operations and messages, compared with what awk sums of the text of the trace. TAP.
# shellcheck disable=SC1091,SC2154
. "${top_srcdir:-.}/tests/cli/lib/toollib.sh"
profile() # profile FILE: its lines STAT...
{
	"$build/stftool" "$1" --dump 2>"$dir/err" | grep '^STAT' | LC_ALL=C sort
}

# main calls step three times (10, 20, 30 units), the last one calls itself (5); main is open at the end
cat >"$dir/t.avt" <<'END'
CLKPERIOD 1e-09
EVENTBITS 0
NCPUS 1 1
DURATION 0 1000
DEFCLASS 1 "a" SELF "a" PARENT 0
DEFFUNCTION 1 "main" CLASS 1
DEFFUNCTION 2 "step" CLASS 1
DEFCOMM 1 "MPI_COMM_WORLD" LEFT 0 FIRST 1 1 LAST 1 2 STRIDE 1 1
DEFCOLLOP 1 "MPI_Bcast" TYPE 2
100 ENTER CPU 1 FUNCTION 1
110 ENTER CPU 1 FUNCTION 2
120 LEAVE CPU 1
130 ENTER CPU 1 FUNCTION 2
150 LEAVE CPU 1
160 ENTER CPU 1 FUNCTION 2
170 ENTER CPU 1 FUNCTION 2
175 LEAVE CPU 1
190 LEAVE CPU 1
200 SENDMSG CPU 1 TO 2 COMM 1 TAG 7 LEN 64 FUNCTION 1 PAIR 1
230 RECVMSG CPU 2 FROM 1 COMM 1 TAG 7 LEN 64 FUNCTION 0 PAIR 1
240 SENDMSG CPU 1 TO 2 COMM 1 TAG 7 LEN 64 FUNCTION 1 PAIR 2
250 RECVMSG CPU 2 FROM 1 COMM 1 TAG 7 LEN 64 FUNCTION 0 PAIR 2
260 SENDMSG CPU 1 TO 2 COMM 1 TAG 8 LEN 64 FUNCTION 1 PAIR 3
255 RECVMSG CPU 2 FROM 1 COMM 1 TAG 8 LEN 64 FUNCTION 0 PAIR 3
300 COLLONETOALL ROOT 1 ROOTLEN 100 COMM 1 OP 1 START 2 0 10 TIME 2 50 20 RECVD 2 0 100
400 COLLONETOALL ROOT 1 ROOTLEN 300 COMM 1 OP 1 START 2 0 - TIME 2 100 0 RECVD 2 0 300
END
"$build/tests/cli/lib/text_stf" "$dir/t.avt" "$dir/t.stf" >"$dir/out" 2>&1 || cat "$dir/out"
tool "$dir/t.stf" --sumdata "$dir/out.stf"
expect_status 0
expect_line 'summary data written to .*out.stf.sum.fnc, .cop and .msg' "$dir/err"
expect [ ! -e "$dir/out.stf" ]
profile "$dir/out.stf.sum.fnc" >"$dir/have"
expect_line 'CPU 1 FUNCTION 2 COUNT 4 MINEXCL 5 MAXEXCL 25 SUMEXCL 60 MININCL 5 MAXINCL 30 SUMINCL 65' "$dir/have"
expect_line 'STATPROFILE CPU 1 FUNCTION 1 COUNT 1 .*SUMINCL [1-9]' "$dir/have"
expect_lines 2 . "$dir/have"
verdict "functions: calls, times without and with callees, recursion, a call that is open at the end"
profile "$dir/out.stf.sum.msg" >"$dir/have"
expect_lines 2 . "$dir/have"
expect_line 'FROM 1 TO 2 .*TAG 7 COMM 1 LEN 64 COUNT 2 SUMTIME 40 MINTIME 10 MAXTIME 30' "$dir/have"
expect_line 'FROM 1 TO 2 .*TAG 8 COMM 1 LEN 64 COUNT 1 SUMTIME -5 MINTIME -5 MAXTIME -5' "$dir/have"
verdict "messages, also one that is received before it is sent"
profile "$dir/out.stf.sum.cop" >"$dir/have"
expect_lines 1 . "$dir/have"
expect_line 'STATCOLLOPS OP 1 ROOT 1 COMM 1 COUNT 2 2 1 MINSENT 2 100 0 MAXSENT 2 300 0 SUMSENT 2 400 0 ' "$dir/have"
expect_line 'MINTIME 2 50 20 MAXTIME 2 100 20 SUMTIME 2 150 20' "$dir/have"
verdict "operations, by rank; a member whose part is unknown is not counted"
tool "$dir/t.stf" --sumdata "$dir/out.stf"
expect_status 1
expect_line 'exists' "$dir/err"
tool "$dir/t.stf" --sumdata --force
expect_status 0
expect ls "$dir/t.stf.sum.fnc" "$dir/t.stf.sum.cop" "$dir/t.stf.sum.msg" >/dev/null
for f in fnc cop msg; do
	expect "$build/stftool" "$dir/t.stf.sum.$f" --verify >"$dir/out" 2>&1
done
verdict "files that are there stay; without a name they are beside the trace"
tool "$rich" --sumdata "$dir/a b é.stf"
expect_status 0
expect [ -s "$dir/a b é.stf.sum.msg" ]
printf 'CLKPERIOD 1e-09\nEVENTBITS 0\nNCPUS 1\n' >"$dir/e.avt"
"$build/tests/cli/lib/text_stf" "$dir/e.avt" "$dir/e.stf" >"$dir/out" 2>&1
tool "$dir/e.stf" --sumdata
expect_status 0
verdict "a name with blanks and UTF-8; an empty trace"
done_testing

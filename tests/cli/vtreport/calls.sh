#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The tables of calls, places, ranks, messages and operations of a page: the numbers that were put into the trace.
# shellcheck source=../../lib/tap.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/lib/tap.sh"
cd "$dir" || exit 99

# table CAPTION: the rows of the first table with it, with | between the cells
table()
{
	sed -n "/<caption>$1/,/<.table>/p" t.html | sed -n 's/.*<th scope="row">/<th>/p' |
		sed 's/&#160;/_/g; s/&#45;/-/g; s|</t[hd]><td>|\|| g; s/<[^>]*>//g' >rows
}

cat >t.avt <<'END'
C ASCII trace
CLKPERIOD 1e-06
EVENTBITS 0
NCPUS 1 1
DURATION 0 100000
DEFCLASS 1 "MPI" SELF "MPI" PARENT 0
DEFCLASS 2 "App" SELF "App" PARENT 0
DEFFUNCTION 1 "MPI_Recv" CLASS 1
DEFFUNCTION 2 "MPI_Send" CLASS 1
DEFFUNCTION 3 "main" CLASS 2
DEFFUNCTION 4 "work" CLASS 2
DEFFUNCTION 5 "MPI_Barrier" CLASS 1
DEFFILE 1 "a b.c"
DEFSCL 1 FILE 1 1 LINE 1 42 SYMBOL 1 0 OBJECT 1 0
DEFSCL 2 FILE 1 1 LINE 1 50 SYMBOL 1 0 OBJECT 1 0
DEFCOMM 1 "W" LEFT 0 FIRST 1 1 LAST 1 2 STRIDE 1 1
DEFCOLLOP 1 "MPI_Barrier" TYPE 1
0 ENTER CPU 1 FUNCTION 3
0 ENTER CPU 2 FUNCTION 3
10000 ENTER CPU 1 FUNCTION 4
10000 ENTER CPU 2 FUNCTION 1 SCL 1
20000 LEAVE CPU 1
20000 MESSAGE FROM 1 TO 2 TIME 1000 COMM 1 TAG 0 LEN 1024 SFUNCTION 2 RFUNCTION 1
20000 ENTER CPU 1 FUNCTION 2 SCL 2
21000 LEAVE CPU 1
21000 LEAVE CPU 2
30000 MESSAGE FROM 1 TO 2 TIME 3000 COMM 1 TAG 0 LEN 1025 SFUNCTION 2 RFUNCTION 1
30000 ENTER CPU 1 FUNCTION 2 SCL 2
30000 ENTER CPU 2 FUNCTION 4
31000 LEAVE CPU 1
32000 LEAVE CPU 2
32000 ENTER CPU 2 FUNCTION 1 SCL 1
33000 LEAVE CPU 2
40000 COLLALL COMM 1 OP 1 START 2 0 4000 TIME 2 5000 1000
40000 ENTER CPU 1 FUNCTION 5
44000 ENTER CPU 2 FUNCTION 5
45000 LEAVE CPU 1
45000 LEAVE CPU 2
100000 LEAVE CPU 1
100000 LEAVE CPU 2
END
"$build/tests/cli/lib/text_stf" t.avt t.stf >out 2>err && "$build/vtreport" t.stf >out 2>err
expect_text t.html out
table 'Calls by their callers'
expect_line '^main|1|2|200 ms|100 %|168 ms$' rows
expect_line '^__work|2|2|12 ms|6 %|12 ms$' rows
expect_line '^__MPI_Recv|2|2|12 ms|6 %|12 ms$' rows
expect_lines 5 . rows
expect_line '<svg x="0.000%" y="0" width="100.000%" height="19"><title>main: 200 ms, 100 %, 2 calls' t.html
expect_line 'y="19" width="6.000%" height="19"><title>work: 12 ms, 6 %, 2 calls' t.html
verdict "who calls whom, in numbers and as bars"
table 'Calls by caller and line'
expect_line '^MPI_Recv|main|a b.c:42|2|12 ms|6 ms|11 ms|rank 1$' rows
expect_line '^MPI_Send|main|a b.c:50|2|2 ms|1 ms|1 ms|rank 0$' rows
verdict "the places that call"
table 'Time in functions by rank'
expect_line '^MPI_Recv|6 ms|0 s|0|12 ms|1|6 ms$' rows
table 'Time in functions of each rank'
expect_line '^1|.*12 ms' rows
verdict "the balance of ranks"
table 'Messages by sender and receiver'
expect_text '0|1|2|2.001 KB|1 ms|2 ms|3 ms|1|10 ms' rows
table 'Messages by size'
expect_line '^1024 to 2047|2|2.001 KB|1 ms|2 ms|3 ms|500.2 KB/s$' rows
table 'Collective operations'
expect_text 'MPI_Barrier|1|5 ms|6 ms|0 bytes|4 ms|4 ms|rank 1: 1 of 1|W' rows
verdict "messages with their times and waits, and operations with the spread of arrivals"
"$build/vtreport" t.stf --window 30ms:50ms --output t.html --force >out 2>err
table 'Messages by sender and receiver'
expect_line '^0|1|1|1.001 KB|3 ms|3 ms|3 ms|' rows
table 'Calls by their callers'
expect_line '^main|1|2|30 ms|100 %|' rows
verdict "--window: of that time only"
done_testing

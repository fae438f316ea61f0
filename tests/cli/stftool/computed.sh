#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# stftool --print-statistics of a trace without STATISTICS, whose rows are computed from the events.
# tests/vt/mpi/mpi_waits.sh compares them with recorded ones. TAP.
# shellcheck disable=SC1091,SC2154
. "${top_srcdir:-.}/tests/cli/lib/toollib.sh"

waits=$dir/waits.stf
from_text "$src/tests/cli/stftool/waits.avt" "$waits" || exit 99
tool "$waits" --print-statistics
is "functions, messages and collective operations as rows" 0 <<'EOT'
# thread:function:receiver:bytes:processes:count:minimum, maximum and sum without callees:the same with callees
# at least: bytes = 4294967294, count = 4294967295
# seconds of a unit of time = 1e-06
# thread 0 = 0:0
# thread 1 = 0:1
# missing = 3 calls were left out
# function 1 = MPI:MPI_Init
# function 2 = MPI:MPI_Send
# function 3 = MPI:MPI_Recv
# function 4 = MPI:MPI_Barrier
# function 5 = MPI:MPI_Finalize
# function 6 = solve it
0:1:0xffffffff:0xffffffff:1:1:1000:1000:1000:1000:1000:1000
0:2:1:4:2:2:1:10:11:1:10:11
0:4:0xfffffffe:0:2:1:2895:2895:2895:2895:2895:2895
0:5:0xffffffff:0xffffffff:1:1:1000:1000:1000:1000:1000:1000
0:6:0xffffffff:0xffffffff:1:1:5000:5000:5000:5000:5000:5000
1:1:0xffffffff:0xffffffff:1:1:1000:1000:1000:1000:1000:1000
1:3:0:4:-2:2:11:5000:5011:11:5000:5011
1:4:0xfffffffe:0:2:1:5:5:5:5:5:5
EOT
expect_line 'waits.stf: STATISTICS was not recorded; computed from the events$' "$dir/err"
verdict "standard error says that they are computed"
# a function that calls another one, on two threads, and one that is open at the end
cat >"$dir/nested.avt" <<'END'
CLKPERIOD 1e-06
NCPUS 2
DEFFUNCTION 1 "outer" CLASS 0
DEFFUNCTION 2 "inner" CLASS 0
10 ENTER CPU 1 FUNCTION 1
20 ENTER CPU 1 FUNCTION 2
25 ENTER CPU 65537 FUNCTION 1
30 LEAVE CPU 1
40 ENTER CPU 1 FUNCTION 2
45 LEAVE CPU 65537
60 LEAVE CPU 1
100 LEAVE CPU 1
110 ENTER CPU 1 FUNCTION 1
END
from_text "$dir/nested.avt" "$dir/nested.stf" || exit 99
tool "$dir/nested.stf" --print-statistics --csv
tr -d '\r' <"$dir/out" >"$dir/plain" && mv "$dir/plain" "$dir/out"
is "time with and without callees" 0 <<'EOT'
willy,function,receiver,bytes_sent,comm_size,count,minTicksExcl,maxTicksExcl,sumTicksExcl,minTicksIncl,maxTicksIncl,sumTicksIncl
"0:0","outer",,,1,1,60,60,60,90,90,90
"0:0","inner",,,1,2,10,20,30,10,20,30
"1:0","outer",,,1,1,20,20,20,20,20,20
EOT
done_testing

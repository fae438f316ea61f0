#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What is wrong in a job is in its trace: reports of libVTmc with CHECK-TRACING, and ends that every library sees. TAP.
# shellcheck source=../lib/mpi_lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"
cd "$dir" || exit 99
source=$src/tests/vt/checker/programs/tracing.c
"$MPICC" -g -O0 -w -o tracing "$source" || exit 99

line_of() # line_of TEXT: its first line in the source
{
	grep -n "$1" "$source" | sed -n '1s/:.*//p'
}

# traced CASE OPTION...: runs the program, whose trace may come after the end of the job; reports in `reports` and, of
# the calls that they name, in `details`
traced()
{
	case=$1
	shift
	rm -rf tracing.* .VT-flush-*
	timeout 100 $MPIRUN -np 2 "$build/vtrun" "$@" -- ./tracing "$case" >out 2>&1
	status=$?
	wait_for 30 no_raw_files
	expect "$build/stftool" tracing.stf --verify >verified 2>&1
	"$build/stftool" tracing.stf --print-reports --csv 2>&1 | tr -d '\r' >all
	sed '/^$/,$d' all >reports
	sed '1,/^$/d' all >details
}

check='--check-mpi --check-tracing on'
traced '' $check
expect_status 0
expect_lines 1 '' reports
expect_line '^\[0\] INFO: 0 errors, 0 warnings in ' out
verdict "a correct job has a trace without reports"

traced operation $check
expect [ "$status" -ne 0 ]
expect_line '^[12],[0-9]*,[0-9.]*,"0:[01]","error","GLOBAL:COLLECTIVE:OPERATION_MISMATCH","rank [01] is in ' reports
expect_line -E ',"0:0",(|"rank 0[^"]*:"),"MPI:MPI_Bcast","MPI_Bcast(\(.*root=0, comm=MPI_COMM_WORLD\))?",' details
expect_line -E ',"0:1",(|"rank 1[^"]*:"),"MPI:MPI_Barrier","MPI_Barrier(\(comm=MPI_COMM_WORLD\))?",' details
expect_line "tracing\.c:$(line_of "mistake \*/")\"\$" details
"$build/stftool" tracing.stf --print-errors >errors 2>&1
expect_line ' error *GLOBAL:COLLECTIVE:OPERATION_MISMATCH ' errors
verdict "an error, when it was found, of which rank, with the calls of both, their parameters and lines"
"$build/stftool" tracing.stf --dump >dump 2>&1
expect_line ' "MPI_Barrier" CLASS ' dump
expect_line -E '^[0-9]+ ENTER CPU 2 ' dump
verdict "the job that an error ended has its trace, with its calls"

traced deadlock $check
expect [ "$status" -ne 0 ]
expect_line ',"fatal error","GLOBAL:DEADLOCK:HARD","' reports
expect_line -E ',"0:0",(|"rank 0[^"]*:"),"MPI:MPI_Recv","MPI_Recv.*source=1, tag=3' details
expect_line -E ',"0:1",(|"rank 1[^"]*:"),"MPI:MPI_Recv","MPI_Recv.*source=0, tag=3' details
expect_line "tracing\.c:$(line_of 'MPI_Recv')\"\$" details
verdict "a deadlock, with the calls of all ranks"

traced leak $check
expect_status 0
expect_lines 2 ',"warning","LOCAL:OBJECT:NOT_FREED","1 communicator is not freed before MPI_Finalize"$' reports
expect_line ',"made by","MPI:MPI_Comm_dup","MPI_Comm_dup",".*tracing\.c:'"$(line_of 'MPI_Comm_dup')\"\$" details
"$build/stftool" tracing.stf --print-errors --csv >errors
expect_lines 1 '' errors
verdict "warnings of each rank, which are no errors"

for case in signal kill abort exit; do
	class=LOCAL:EXIT:BEFORE_MPI_FINALIZE
	case $case in signal | kill) class=LOCAL:EXIT:SIGNAL ;; esac
	for options in '--verbose 1' "$check"; do
		# shellcheck disable=SC2086
		traced $case $options
		expect [ "$status" -ne 0 ]
		expect_lines 1 "^1,[0-9]*,[0-9.]*,\"0:1\",\"fatal error\",\"$class\",\"the process " reports
		expect_lines 1 '"fatal error"' reports
	done
	verdict "$case: of the rank that ends so, and of no other, by libVT and by libVTmc"
done

traced deadlock --deadlock-timeout 1s
expect_line ',"fatal error","GLOBAL:DEADLOCK:HARD","no progress in any process for 1 s$' reports
verdict "DEADLOCK-TIMEOUT of libVT"

expect "$MPICC" -w -o linked "$source" -Wl,--no-as-needed "$build/.libs/libVTmc.so"
LD_LIBRARY_PATH=$build/.libs VT_CHECK_TRACING=on timeout 60 $MPIRUN -np 1 ./linked >out 2>&1
expect_line 'CHECK-TRACING: no trace is written, because libVT is not there; start the program by vtrun ' out
verdict "without a library that records, one line says so"
done_testing

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

program=tracing ranks=2
# traced CASE OPTION...: runs the program, whose trace may come after the end of the job; reports in `reports` and, of
# the calls that they name, in `details`
traced()
{
	case=$1
	shift
	rm -rf tracing.* .VT-flush-*
	timeout 100 $MPIRUN -np $ranks "$build/vtrun" "$@" -- "./$program" "$case" >out 2>&1
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

for case in signal abort exit; do
	class=LOCAL:EXIT:BEFORE_MPI_FINALIZE
	[ $case != signal ] || class=LOCAL:EXIT:SIGNAL
	for options in '--verbose 1' "$check"; do
		# shellcheck disable=SC2086
		traced $case $options
		expect [ "$status" -ne 0 ]
		expect_lines 1 "^1,[0-9]*,[0-9.]*,\"0:1\",\"fatal error\",\"$class\",\"the process " reports
		expect_lines 1 '"fatal error"' reports
	done
	verdict "$case: of the rank that ends so, and of no other, by libVT and by libVTmc"
done

traced kill --verbose 1
expect [ "$status" -ne 0 ]
expect_lines 0 ',"0:0",' reports
verdict "kill: not of the rank that the launcher has killed"
if [ "$(uname -r | awk -F. '{ print ($1 > 6 || ($1 == 6 && $2 >= 15)) }')" = 1 ]; then
	ranks=1
	for options in '--verbose 1' "$check"; do
		# shellcheck disable=SC2086
		traced kill $options
		expect_lines 1 '"fatal error"' reports
		expect_line ',"LOCAL:EXIT:SIGNAL","the process ends by signal 9 (Killed)"$' reports
	done
	ranks=2
	verdict "kill: of a process that was alone"
else
	skip "kill: of a process that was alone" "Linux before 6.15 does not tell how a process ended"
fi

traced term --verbose 1
expect [ "$status" -ne 0 ]
expect_lines 1 '' reports
verdict "term: an end that came from outside is none"

traced error $check --check-max-errors 0
expect_line ',"0:1","error","LOCAL:MPI:CALL_FAILED","' reports
expect_lines 1 ',"0:1","fatal error","LOCAL:EXIT:SIGNAL","the process ' reports
expect_lines 1 '"fatal error"' reports
verdict "a signal after an error that did not end the rank"

rm -f stopped
(
	until [ -e stopped ]; do sleep 0.1; done
	sleep 2
	kill -CONT "$(cat stopped)"
) >/dev/null 2>&1 &
traced both --verbose 1
expect_lines 1 ',"0:1","fatal error","LOCAL:EXIT:SIGNAL","the process ' reports
expect_lines 1 '"fatal error"' reports
verdict "the rank with a fault, and not one that was killed by then"
[ -e stopped ] || kill $!

mpicxx=$(echo "$MPICC" | sed 's/mpicc\([^/]*\)$/mpicxx\1/')
late=$src/tests/vt/checker/programs/late.cc
if [ "${CXX:-no}" != no ] && "$mpicxx" -g -w -o late "$late" &&
	"$mpicxx" -g -w -shared -fPIC -DIN_LIBRARY -o liblate.so "$late" &&
	"$mpicxx" -g -w -DONLY_MAIN -o late_library "$late" -L. -llate -Wl,-rpath,"$dir"; then
	VT_LOGFILE_NAME=tracing.stf
	export VT_LOGFILE_NAME
	for program in late late_library; do
		for options in '--verbose 1' "$check"; do
			# shellcheck disable=SC2086
			traced destructor $options
			expect_status 0
			expect_lines 1 '' reports
			[ $program = late_library ] || traced handler $options
			expect_lines 1 '' reports
		done
	done
	verdict "MPI_Finalize in a destructor, of the program or a library, and in a handler is correct"
else
	skip "MPI_Finalize in a destructor" "no C++ compiler here"
fi

mpifort=$(echo "$MPICC" | sed 's/mpicc\([^/]*\)$/mpifort\1/')
source=$src/tests/vt/checker/fortran.F90
if [ "${FC:-no}" != no ] && "$mpifort" -g -w -ffree-line-length-none -fallow-argument-mismatch -DDIALECT=1 "$source" \
	-o fortran >out 2>&1; then
	program=fortran
	VT_LOGFILE_NAME=tracing.stf
	export VT_LOGFILE_NAME
	traced 5 $check
	expect_line ',"error","LOCAL:MPI:CALL_FAILED","' reports
	expect_line "\"MPI_Send(.*fortran\.F90:$(line_of 'call MPI_Send(a, -1,.*mistake$')\"\$" details
	expect_line "\[[01]\] ERROR: .*MPI_Send(.*  MAIN__ (fortran\.F90:" out
	verdict "an error in Fortran, with its line"
else
	skip "an error in Fortran" "no mpifort, or no Fortran compiler, here"
fi
unset VT_LOGFILE_NAME
program=tracing
source=$src/tests/vt/checker/programs/tracing.c

traced deadlock --deadlock-timeout 1s
expect_line ',"fatal error","GLOBAL:DEADLOCK:HARD","no progress in any process for 1 s$' reports
verdict "DEADLOCK-TIMEOUT of libVT"

expect "$MPICC" -w -o linked "$source" -Wl,--no-as-needed "$build/.libs/libVTmc.so"
LD_LIBRARY_PATH=$build/.libs VT_CHECK_TRACING=on timeout 60 $MPIRUN -np 1 ./linked >out 2>&1
expect_line 'CHECK-TRACING: no trace is written, because libVT is not there; start the program by vtrun ' out
verdict "without a library that records, one line says so"
done_testing

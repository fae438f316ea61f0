#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# libVTmc: the limits of what is reported, with more mistakes than each lets through. TAP.
# shellcheck source=../lib/mpi_lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"
cd "$dir" || exit 99
"$MPICC" -g -w -o limits "$src/tests/vt/checker/programs/limits.c" || exit 99

limited() # limited CASE OPTION...: output in out
{
	case=$1
	shift
	timeout 100 $MPIRUN -np 2 "$build/vtrun" --check-mpi "$@" -- ./limits "$case" >out 2>&1
	status=$?
}

failed='^\[1\] ERROR: LOCAL:MPI:CALL_FAILED: error$'
limited errors
expect [ "$status" -ne 0 ]
expect_lines 1 "$failed" out
expect_lines 1 '^\[1\] INFO: the job ends here, because --check-max-errors is 1; with 0 it goes on$' out
limited errors --check-max-errors 3
expect_lines 3 "$failed" out
expect_line 'INFO: 3 errors, 0 warnings in ' out
verdict "CHECK-MAX-ERRORS: a job ends at its first error, or its third"
limited errors --check-max-errors 0 --check-max-reports 4
expect [ "$status" -ne 0 ]
expect_lines 4 "$failed" out
expect_line 'INFO: 4 errors, 0 warnings in ' out
verdict "CHECK-MAX-REPORTS ends the job"
expect_lines 1 'because --check-max-reports is 4; with 0' out
limited errors --check-max-errors 0
expect_lines 10 "$failed" out
expect_no_line 'the job ends here' out
limited errors --check-max-errors 0 --check-suppression-limit 3
expect_lines 3 "$failed" out
limited errors --check-max-errors 0 --check-suppression-limit 0
expect_lines 15 "$failed" out
expect_line 'INFO: 15 errors, 0 warnings in ' out
verdict "CHECK-SUPPRESSION-LIMIT: so many of a class are printed, and all are counted"
limited requests
expect_status 0
expect_line '15 requests are not completed or freed before MPI_Finalize$' out
expect_lines 10 'inactive, made by MPI_Send_init   main (limits\.c:' out
limited requests --check-leak-report-size 2
expect_lines 2 'inactive, made by MPI_Send_init' out
verdict "CHECK-LEAK-REPORT-SIZE: so many calls are in a report of what is not freed"
limited messages
expect_line '25 messages were sent to this rank and never received$' out
expect_lines 20 'from rank 0, tag 1[0-9]*, 4 bytes, by MPI_Send' out
limited messages --check-max-pending 3
expect_lines 3 'from rank 0, tag 1[0-9]*, 4 bytes, by MPI_Send' out
verdict "CHECK-MAX-PENDING: so many messages are in a report of what was not received"
limited stopped --check-timeout 30s
expect [ "$status" -ne 0 ]
expect_lines 1 '^rank 1 has gone on$' out
limited stopped --check-timeout 500ms
expect [ "$status" -ne 0 ]
expect_lines 0 '^rank 1 has gone on$' out
verdict "CHECK-TIMEOUT: so long the others go on after a rank was stopped"
limited abort
expect_status 7
expect_lines 1 '^\[0\] INFO: MPI_Abort with 7 ends the job: it was not checked to its end$' out
expect_no_line '0 errors' out
verdict "a job that the program aborts is not said to be free of errors"
limited memory
expect_status 0
expect_lines 2 ' kB: as few as wanted$' out
verdict "requests use no more than 8 MB: 200,000 in all, 10,000 at a time"
limited communicators
expect_status 0
expect_lines 2 ' kB: as few as wanted$' out
verdict "communicators that were freed keep no memory"
limited fibers
expect_status 0
expect_line '^\[0\] INFO: 0 errors, 0 warnings in ' out
verdict "a program may call MPI on stacks of its own, and unmap them"
limited window
expect_status 0
expect_lines 1 ' s of the processor: as little as wanted$' out
limited refused --check-max-errors 0
expect_lines 1 ' s of the processor: as little as wanted$' out
verdict "a rank that waits sleeps, although there is a window, or a call on it was refused"
limited left --deadlock-timeout 7s
expect_status 0
expect_line '^\[0\] INFO: 0 errors, 0 warnings in ' out
verdict "a rank that has left a loop of MPI_Test does not wait any longer"
limited late --deadlock-timeout 8s &
i=0
while [ $i -lt 300 ] && ! [ -s pid.0 -a -s pid.1 ]; do
	sleep 0.1
	i=$((i + 1))
done
sleep 2
# shellcheck disable=SC2046
kill -STOP $(cat pid.0 pid.1)
sleep 9
# shellcheck disable=SC2046
kill -CONT $(cat pid.0 pid.1)
wait
expect_line '^\[0\] INFO: 0 errors, 0 warnings in ' out
verdict "the time that the whole job was stopped does not count for DEADLOCK-TIMEOUT"
done_testing

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# libVTmc: loops of calls that look. They wait, unless the program computes between the calls. TAP.
# shellcheck source=../lib/mpi_lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"
cd "$dir" || exit 99
"$MPICC" -g -w -o polls "$src/tests/vt/checker/programs/polls.c" || exit 99

polls() # polls CASE: output in out
{
	timeout 60 $MPIRUN -np 2 "$build/vtrun" --check-mpi -- ./polls "$1" >out 2>&1
	status=$?
}

for case in calls chunks probe rare starved naps tail self-probe; do
	polls $case
	expect_status 0
	expect_line '^\[0\] INFO: 0 errors, 0 warnings in ' out
	verdict "$case: a rank that computes between calls that look does not wait"
done
for case in hang hang-sleep hang-late hang-yield hang-probe hang-some; do
	polls $case
	expect [ "$status" -ne 0 ]
	expect_line 'ERROR: GLOBAL:DEADLOCK:HARD: fatal error$' out
	expect_line 'rank 0 waits for \(any:\)*1: MPI_[A-Z][a-z]*(.* looks (polls\.c:' out
	verdict "$case: a loop of calls that look is a wait"
done
done_testing

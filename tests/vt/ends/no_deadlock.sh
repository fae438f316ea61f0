#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# DEADLOCK-TIMEOUT leaves jobs alone whose ranks are in MPI for longer and wait for something that is in no trace:
# other jobs, files, functions and threads of the program. A deadlock after that is still found. TAP.
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"
if [ -n "$san" ]; then
	skip_all "sanitizers have handlers and stacks of their own"
fi
mpi_compile "$MPICC" ends/programs/outside.c outside -pthread

job() # job WORDS...: two ranks; output in say
{
	clean
	timeout 60 "$MPIRUN" -np 2 "$vtrun" --deadlock-timeout 1s -- ./outside "$@" >say 2>&1
	status=$?
	cat say >>out
}

for how in operation attribute handler request thread spawn; do
	job $how
	expect_status 0
	expect [ "$(grep -c '^rank [01] done' say)" -ge 2 ]
	expect_not grep DEADLOCK say
	verdict "$how"
done
mkfifo pipe
(sleep 3; exec timeout 20 cat pipe >taken) &
job pipe
wait
expect_status 0
expect [ "$(grep -c '^rank [01] done' say)" -eq 2 ]
expect_not grep DEADLOCK say
verdict "a file that is a pipe"
for how in operation request spawn; do
	job $how stuck
	expect [ $status -ne 0 ]
	expect [ $status -ne 124 ]
	expect [ "$(grep -c 'Tickmark ERROR: GLOBAL:DEADLOCK: ' say)" -eq 2 ]
	verdict "a deadlock after it: $how"
done
done_testing

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# How the processes end after MPI_Finalize, when the trace is complete: protocol, page and stftool say it. TAP.
# shellcheck source=../lib/mpi_lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"
mpi_compile "$MPICC" ends/programs/later.c later

head_of() # head_of TITLE: that line of the page's head
{
	sed 's/<dt>/\n/g' later.html | sed -n "s|^$1</dt><dd>\\(.*\\)</dd>.*|\\1|p"
}

ends() # ends HOW
{
	rm -f later.html
	run 3 ./later "$1"
	wait_for 30 [ -e later.stf ]
	[ "$1" = abort ] || wait_for 30 grep -q '^INFO STATUS' later.prot
	expect "$build/vtreport" later.stf >>out 2>&1
	"$build/stftool" later.stf --print-clock >clock 2>>out
}

ends exit
expect_line '^INFO STATUS ranks 0 2: exit status 0$' later.prot
expect_line '^INFO STATUS rank 1: exit status 3$' later.prot
expect [ "$(head_of 'Exit status')" = "0 of 2 ranks, 3 of rank 1" ]
expect_line '"process 1: in MPI_Finalize, exit status 3"' clock
expect_line '"process 2: in MPI_Finalize, exit status 0"' clock
verdict "the exit status"
expect_line -E 'Writing tracefile .* 3 processes, (3 threads|[0-9]+ threads \(3 made recorded calls\)), ' out
verdict "threads of the MPI library are not taken for the program's"
rm later.prot later.html
expect "$build/vtreport" later.stf >>out 2>&1
expect [ "$(head_of 'Exit status')" = "unknown: the trace was complete before they ended, in MPI_Finalize" ]
verdict "without the protocol it is not known"
clean
run 3 ./later exit &
job=$!
wait_for 30 grep -q '^INFO ENDED' later.prot
sampler=$(sed -n 's/^INFO SAMPLED by process //p' later.prot)
sed -i 's/^INFO JOB .*/INFO JOB "another"/' later.prot
wait $job
wait_for 30 eval '! kill -0 "$sampler" 2>/dev/null'
expect_line '^INFO JOB "another"' later.prot
expect_no_line '^INFO STATUS' later.prot
verdict "the protocol of another job, which has replaced it, stays as it is"
ends signal
expect_line '^INFO STATUS rank 1: then by signal 8 ' later.prot
expect_line 'Rank 1 ended by signal 8 (.*) after MPI_Finalize, when the trace was complete' later.html
expect [ "$(head_of Ended)" = "not normally" ]
verdict "a signal"
ends abort
expect_line '"process 1: in MPI_Abort, code 7"' clock
expect_line 'Rank 1 .*in MPI_Abort, code 7' later.html
verdict "the code of MPI_Abort"
done_testing

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# libVTmc: messages whose bytes are not those that were sent. TAP.
# shellcheck source=../lib/mpi_lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"
cd "$dir" || exit 99
source=$src/tests/vt/checker/programs/corrupted.c
"$MPICC" -g -w -o corrupted "$source" || exit 99

run_case() # run_case CASE OPTION...: output in out
{
	case=$1
	shift
	timeout 100 $MPIRUN -np 2 "$build/vtrun" --check-mpi "$@" -- ./corrupted "$case" >out 2>&1
	status=$?
}

# the line of the N-th mistake
mistake()
{
	grep -n '/\* mistake \*/' "$source" | sed -n "$1s/:.*//p"
}

only='LOCAL:MEMORY:ILLEGAL_MODIFICATION off'
for case in posted changed; do
	# shellcheck disable=SC2086
	run_case $case --check $only
	expect [ "$status" -ne 0 ]
	expect_line '^\[1\] ERROR: GLOBAL:MSG:DATA_TRANSMISSION_CORRUPTED: error$' out
	expect_line 'the 4194304 bytes that came are not those that rank 0 had when it began to send them, ' out
	expect_line ' with tag 5 by MPI_Isend   change_while_sending (corrupted\.c:[0-9]*)$' out
	expect_line "change_while_sending (corrupted\.c:$(mistake $([ $case = posted ] && echo 1 || echo 2)))$" out
	expect_lines 1 '^\[[01]\] ERROR: [A-Z]*:' out
done
verdict "a message that was changed on its way is reported where it is received"
run_case changed --check-max-errors 0
expect_line '^\[0\] ERROR: LOCAL:MEMORY:ILLEGAL_MODIFICATION: error$' out
verdict "the rank that changed it is named, too"
for i in 1 2 3; do
	run_case correct
	expect_status 0
	expect_line '^\[0\] INFO: 0 errors, 0 warnings in [0-9]* calls of 2 ranks$' out
done
verdict "messages that come as they were sent are not reported"

broken=$src/tests/vt/checker/programs/broken_bcast.c
"$MPICC" -g -w -o bcast "$broken" && "$MPICC" -g -w -DLIBRARY -shared -fPIC -o libbroken.so "$broken" || exit 99
timeout 100 $MPIRUN -np 2 "$build/vtrun" --check-mpi -- ./bcast >out 2>&1
status=$?
expect_status 0
expect_line '^\[0\] INFO: 0 errors, 0 warnings in [0-9]* calls of 2 ranks$' out
LD_PRELOAD=$PWD/libbroken.so timeout 100 $MPIRUN -np 2 "$build/vtrun" --check-mpi -- ./bcast >out 2>&1
expect [ $? -ne 0 ]
expect_line '^\[1\] ERROR: GLOBAL:COLLECTIVE:DATA_TRANSMISSION_CORRUPTED: error$' out
expect_line '^\[1\] ERROR:    the [0-9]* bytes that came are not those that the root had$' out
expect_line '^\[1\] ERROR:    MPI_Bcast(.*   main (broken_bcast\.c:[0-9]*)$' out
expect_lines 1 '^\[[01]\] ERROR: [A-Z]*:' out
expect_lines 2 'a barrier below$' out
verdict "an MPI_Bcast that gives a rank other bytes is reported there, and no correct one is"
done_testing

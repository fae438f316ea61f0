#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The trace of an MPI job is made by the sampler process: rank 0's program needs no memory for it. TAP.
# shellcheck source=../lib/mpi_lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"
mpi_compile "$MPICC" ends/programs/memory.c memory

expect run 4 ./memory 50000
expect one_trace memory 4
added=$(sed -n 's/^added \(.*\) KB$/\1/p' out)
if [ -n "$san" ]; then
	skip "MPI_Finalize needs no memory for the trace" "sanitizers have memory of their own"
else
	expect [ "$added" -le 1024 ]
	verdict "MPI_Finalize needs no memory for the trace"
	echo "# $added KB were added"
fi

# where the program samples itself, it makes the trace itself
VT_SAMPLER=thread
export VT_SAMPLER
expect run 2 ./memory 100
expect one_trace memory 2
verdict "without a sampler process the program makes the trace"
done_testing

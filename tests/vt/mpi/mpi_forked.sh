#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Children of ranks that are made by fork() are not in the job's trace. Their rank reports that, nothing else does, and
# they leave no files. TAP.
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"
mpi_compile "$MPICC" mpi/programs/mpi_forked.c mpi_forked -finstrument-functions ||
	skip_all "the program does not compile here"
for follow in on off; do
	clean
	timeout 60 "$MPIRUN" -np 2 "$vtrun" --follow-children $follow -- ./mpi_forked >out 2>&1
	expect [ $? -eq 0 ]
	expect one_trace mpi_forked 2
	expect [ "$("$build/stftool" mpi_forked.stf --dump | grep -c DEFPROCESS)" -le 2 ]
	expect_lines $([ $follow = on ] && echo 2 || echo 0) '1 forked child of this rank is not recorded' out
	expect_lines 0 'without MPI_Finalize\|no trace was written' out
	verdict "--follow-children $follow"
done
done_testing

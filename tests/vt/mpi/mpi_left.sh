#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# An exception or a jump leaves a call of MPI: out of an error handler, a call-back of an attribute, a signal handler,
# on a stack of its own. That call ends there, and later calls are recorded wherever they are made. Calls that
# call-backs make inside a call are no calls of the program. A send that an error handler left sent nothing. TAP.
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"
[ "${CXX:-no}" != no ] || skip_all 'no C++ compiler here (configure CXX=...)'
mpi_compile "$(command -v "$MPICC" | sed s/mpicc/mpicxx/)" mpi/programs/left.cc left ||
	skip_all "the program does not compile here"

# Calls of MPI_Barrier and of MPI_Comm_size, and whether a barrier is inside another call
calls()
{
	"$build/stftool" left.stf --dump | awk '
		/DEFFUNCTION/ { name[$2] = $3 }
		$2 == "ENTER" { n[name[$6]]++; inside += name[$6] ~ /Barrier/ && open[$4] > 0; open[$4]++ }
		$2 == "LEAVE" { open[$4]-- }
		END {
			print n["\"MPI_Barrier\""] + 0, "barriers,", n["\"MPI_Comm_size\""] + 0, "sizes,",
				inside + 0, "inside"
		}'
}
for way in none:0 nested:0 throw:1 longjmp:1 copy:1 signal:1 sigaltstack:1 coroutine:1; do
	for option in off on; do
		clean
		timeout 60 "$MPIRUN" -np 1 "$vtrun" --statistics $option -- ./left "${way%:*}" >out 2>&1
		expect [ $? -eq 0 ]
		expect grep -q "^left ${way#*:}\$" out
		calls >counted
		cat counted >>out
		expect grep -q '^20 barriers, 0 sizes, 0 inside$' counted
		expect "$build/stftool" left.stf --verify >>out
		expect [ "$("$build/stftool" left.stf --dump | grep -c ' SENDMSG ')" = 1 ]
		expect [ "$("$build/stftool" left.stf --dump | grep -c ' RECVMSG ')" = 1 ]
	done
	verdict "${way%:*}"
done
done_testing

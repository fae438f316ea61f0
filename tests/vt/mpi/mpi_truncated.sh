#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A receive that fails with MPI_ERR_TRUNCATE has taken its message: it counts in the order of its channel, and the
# messages after it are paired with their own sends. TAP.
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"

paired() # paired PROGRAM MESSAGES: all of them, none with an end missing
{
	clean
	timeout 60 "$MPIRUN" -np 2 "$vtrun" -- "./$1" >out 2>&1
	expect_status_is $? 0
	"$build/stftool" "$1.stf" --verify >verified 2>&1
	cat verified >>out
	expect grep -q ": $2 messages" verified
}
expect_status_is() { expect [ "$1" -eq "$2" ]; }

mpi_compile "$MPICC" mpi/programs/truncated.c truncated
paired truncated 23
verdict "eleven calls in C"
if [ -n "$(command -v "$MPICC" | sed 's/mpicc/mpif90/' | xargs -r ls 2>/dev/null)" ]; then
	mpi_compile "$(command -v "$MPICC" | sed 's/mpicc/mpif90/')" mpi/fortran/truncated.f90 truncated_f
	paired truncated_f 6
	verdict "three calls in Fortran"
else
	skip "three calls in Fortran" "no mpif90 beside $MPICC"
fi
done_testing

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# libVTmc: programs in Fortran (fortran.F90), with mpif.h, the module mpi and the module mpi_f08. TAP.
# shellcheck source=../lib/mpi_lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"
here=$src/tests/vt/checker
mpifort=$(echo "$MPICC" | sed 's/mpicc\([^/]*\)$/mpifort\1/')
if [ "${FC:-no}" = no ] || ! command -v "$mpifort" >/dev/null; then
	skip_all "no mpifort, or no Fortran compiler, here"
fi

# check NUMBER: runs the case; output in out
check()
{
	timeout 60 "$MPIRUN" -np 2 "$build/vtrun" --check-mpi -- ./program "$1" >out 2>&1
	status=$?
}

# reports NUMBER CLASS: the mistake is reported with its class and its line
reports()
{
	check "$1"
	line=$(awk -v n="$1" '/^  case/ { at = $2 == "(" n ")" } at && /! mistake$/ { print NR }' \
		"$here/fortran.F90")
	expect_line "^\[[01]\] [A-Z]*: $2: [a-z ]*$" out
	expect_line "MPI_.*  MAIN__ (fortran\.F90:$line)$" out
}

for dialect in 1 2 3; do
	"$mpifort" -g -w -ffree-line-length-none -fallow-argument-mismatch -DDIALECT=$dialect \
		"$here/fortran.F90" -o program >out 2>&1
	compiled=$?
	name=$(echo "mpif.h:the module mpi:the module mpi_f08" | cut -d: -f$dialect)
	if [ $compiled -ne 0 ]; then
		skip "$name" "it does not compile here: $(head -n 1 out)"
		continue
	fi
	check 0
	expect_status 0
	expect_line '^\[0\] INFO: 0 errors, 0 warnings in [0-9]* calls of 2 ranks$' out
	verdict "$name: a correct program is not accused, and gets what MPI gives"
	reports 1 GLOBAL:DEADLOCK:HARD
	reports 2 GLOBAL:COLLECTIVE:OPERATION_MISMATCH
	reports 3 GLOBAL:MSG:DATATYPE:MISMATCH
	reports 4 LOCAL:OBJECT:NOT_FREED
	reports 5 LOCAL:MPI:CALL_FAILED
	reports 6 LOCAL:MEMORY:OVERLAP
	reports 7 LOCAL:DATATYPE:NOT_FREED
	verdict "$name: mistakes are found with class and line"
done
done_testing

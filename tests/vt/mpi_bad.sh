#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs that do wrong things: their calls fail as without us, and the trace is sound and has what was right. TAP.
# shellcheck source=mpi_lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/mpi_lib.sh"
VT_COUNTER='** off'
export VT_COUNTER

mpi_compile "$MPICC" mpi_bad.c bad
sound() # a whole trace with the ten messages, and the one with which rank 1 asks to be killed
{
	i=0
	# of a job that was killed the sampler processes write it, soon after
	while [ ! -s bad.stf ] && [ $i -lt 600 ]; do
		sleep 0.1
		i=$((i + 1))
	done
	"$build/stftool" bad.stf --verify >>out 2>&1 && "$build/stftool" bad.stf --dump >dump 2>>out &&
		grep -q '^INFO .*"1[01] messages were matched"' dump
}

run 2 ./bad errors
sound && [ "$(grep -c ' fails' output)" -eq 11 ] && ! grep -q ' succeeds' output
ok "calls with wrong arguments fail as they do without us" $?
run 2 ./bad leak
sound && [ "$(grep -c ENTER dump)" -gt 2000 ]
ok "a thousand requests that nobody completes" $?
run 2 ./bad abort
[ $? -ne 0 ] && sound
ok "MPI_Abort in the middle" $?
run 2 ./bad kill
[ $? -ne 0 ] && sound
ok "a rank that is killed inside MPI_Recv" $?
done_testing

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A clock that is set while an MPI job runs: its map is split there, and the stamps on both sides are on the right pieces. TAP.
# shellcheck source=mpi_lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/mpi_lib.sh"
mpi_compile "$MPICC" mpi_truth.c truth -lVT
# {rank} is 0 on rank 0, whose clock nobody sets. On a machine so busy that the step is over when MPI has begun, later.
across() # across STEP
{
	for tenths in 15 30 60 120; do
		VT_TIMER="sim:base=CPU,drift={rank}0ppm,tick=3ns,step=$1@${tenths}00ms" run 2 ./truth $((tenths * 2)) timed && one_trace truth 2 || return 1
		"$build/tests/vt/truth" truth.stf truth.clk step >>out 2>&1
		rc=$?
		[ $rc -eq 2 ] || break
	done
	return $rc
}
# Set back by more than any thread is silent for: else it is not seen to go back (calib/map.h, cal_walk_next).
for step in '-{rank}0s' '{rank}s' '-{rank}000s'; do
	across "$step" && grep -q '^step ' truth.clk
	ok "stamps ahead of a step of $(echo "$step" | sed 's/{rank}/1/') and behind it are inside their bound of the truth" $?
	sed -n 's/^step .* found/# &/p' out
done
done_testing

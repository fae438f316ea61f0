#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# stftool --faster and the critical path of a real job, compared with the same job without the delay. TAP.
# shellcheck source=../lib/mpi_lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"
VT_COUNTER='** off'
export VT_COUNTER
mpi_compile "$MPICC" lib/mpi_delay.c job -finstrument-functions

# seconds FILE: the time between MPI_Init and MPI_Finalize
seconds()
{
	sed -n 's/^efficiencies in \([0-9.e-]*\) s between.*/\1/p' "$1"
}

mkdir of_played # run removes the traces beside it
# on a busy node sleeps take longer than they should, in the one run or in the other; then once more
for try in 1 2 3 4; do
	expect run 4 ./job 1
	expect "$build/stftool" job.stf --analyze >with 2>>out
	expect "$build/stftool" job.stf --faster delay=100 >played 2>>out
	expect "$build/stftool" job.stf --faster delay=100 --logfile-name "of_played/$try.stf" >>out 2>&1
	expect run 4 ./job 0
	expect "$build/stftool" job.stf --analyze >without 2>>out
	predicted=$(sed -n 's/.* the run takes \([0-9.e-]*\) s between .*/\1/p' played)
	real=$(seconds without)
	apart=$(awk -v p="$predicted" -v r="$real" 'BEGIN { print (p / r < 1.05 && p / r > 0.95) ? "no" : "yes" }')
	echo "# with the delay $(seconds with) s, predicted without it $predicted s, really $real s"
	[ "$apart" != no ] || break
	[ "$try" -eq 4 ] || : >out
done
expect [ "$apart" = no ]
verdict "the run without the delay takes the predicted time, to 5 %"
expect "$build/stftool" "of_played/$try.stf" --verify >>out 2>&1
expect "$build/stftool" "of_played/$try.stf" --analyze >again 2>>out
expect [ "$(awk -v p="$predicted" -v r="$(seconds again)" 'BEGIN { print (p / r > 0.999 && p / r < 1.001) }')" = 1 ]
verdict "the trace of that run is sound, and as long"
# the delay of rank 1 is 40 of 60 ms of each round
sed -n '/^critical path/,/^$/p' with | tr -s ' ' >path
cat path >>out
expect_line -E '^0:1 [A-Za-z:]*delay .* 0\.[56][0-9]+$' path
verdict "most of the critical path is the delay"
done_testing

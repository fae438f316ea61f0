#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What a parallel region of OpenMP costs under vtrun, with GCC's run-time library and with LLVM's: ns of a region of one
# thread that does nothing, over the same program without vtrun beside it; and loops of 100 us in which each of two
# threads computes. Prints lines as tests/bench/lib/bench.h does.
# usage: bench_omp.sh BUILD-DIRECTORY
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
cd "$dir" || exit 1
VT_VERBOSE=0 VT_FORCE=on VT_COUNTER='** off' VT_KEEP_RAW_EVENTS=on
export VT_VERBOSE VT_FORCE VT_COUNTER VT_KEEP_RAW_EVENTS

took() # took COMMAND...: ns of a region
{
	rm -rf .VT-flush* ./*.stf* ./*.prot
	"$@" >took 2>err || { cat err >&2; exit 1; }
	cut -d ' ' -f 1 took
}

for compiler in gcc clang; do
	if ! $compiler -O2 -fopenmp "$here/bench_omp.c" -o "omp.$compiler" 2>err; then
		echo "$compiler -fopenmp does not work here: it was not measured" >&2
		continue
	fi
	# the work is the same in all runs
	steps=$("./omp.$compiler" 1 1 100 | cut -d ' ' -f 2)
	for _ in 1 2 3 4 5 6 7 8 9; do
		plain=$(took "./omp.$compiler" 1 300000 0) || exit 1
		traced=$(took "$build/vtrun" -- "./omp.$compiler" 1 300000 0) || exit 1
		echo "$plain $traced" | awk '{ print $2 - $1 }' >>"region.$compiler"
		plain=$(took "./omp.$compiler" 2 5000 100 "$steps") || exit 1
		traced=$(took "$build/vtrun" -- "./omp.$compiler" 2 5000 100 "$steps") || exit 1
		echo "$plain $traced" | awk '{ print $2 / $1 }' >>"loop.$compiler"
	done
	figure "omp.region.$compiler" 'ns of one thread, over without vtrun' "region.$compiler"
	figure "omp.loop.$compiler" 'of without vtrun, loops of 100 us in two threads' "loop.$compiler"
done

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What libVT costs an MPI job, and how good its clocks are beside timertest's. Prints lines as tests/bench/lib/bench.h
# does.
# usage: bench_vt.sh BUILD-DIRECTORY
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/lib.sh"
prog=$build/tests/bench/collector/bench_vt_mpi
samples=${BENCH_VT_SAMPLES:-10000000} # per rank
. "$(dirname "$0")/../../lib/launcher.sh"
loops=
# shellcheck disable=SC2086
trap 'kill $loops 2>/dev/null; rm -rf "$dir"' EXIT
cd "$dir" || exit 1

now()
{
	date +%s.%N
}

VT_COUNTER='** off' VT_COUNTER_MIN_INTERVAL=-1s VT_VERBOSE=0 mpirun -np 1 "$build/vtrun" -- "$prog" overhead ||
	not_measured vt.mpi.overhead

# what libVTmc adds to a call, and how many times as long a collective operation takes
why=
mpirun -np 4 "$build/vtrun" --check-mpi -- "${prog%/*}/bench_check" || not_measured check
mpirun -np 1 "$build/vtrun" --check-mpi -- "${prog%/*}/bench_check" alive 10000 || not_measured check.alive
why=

# what a call and a message cost while they are recorded, and how long their records are
VT_FORCE=on VT_TIMER=CPU VT_COUNTER='** off' VT_COUNTER_MIN_INTERVAL=-1s VT_VERBOSE=0
export VT_FORCE VT_TIMER VT_COUNTER VT_COUNTER_MIN_INTERVAL VT_VERBOSE
mpirun -np 1 "$build/vtrun" -- "$prog" trace || not_measured trace.mpi
if command -v eztrace >/dev/null; then
	mpirun -np 1 eztrace -t "${BENCH_EZTRACE_MODULE:-openmpi}" -o eztrace "$prog" trace 2>err |
		sed -n 's/^trace\.mpi\./eztrace.mpi./p'
else
	echo 'no EZTrace here: it was not measured' >&2
fi
mpirun -np 2 --bind-to core "$build/vtrun" -- "$prog" pingpong || not_measured vt.mpi.pingpong
why=
messages=500000
for compress in off on; do
	rm -f ./*.stf* ./*.prot ./*.clk
	mpirun -np 1 "$build/vtrun" --compress-trace $compress -- "$prog" messages $messages || break
	cat ./*.stf* | wc -c | awk -v n=$((3 * messages)) '{ print $1 / n }' >"bytes.$compress"
done
figure trace.mpi.bytes bytes/call bytes.on
figure trace.mpi.bytes.plain bytes/call bytes.off
unset VT_FORCE VT_TIMER VT_COUNTER VT_COUNTER_MIN_INTERVAL VT_VERBOSE

why=
# the whole of mpirun with and without, in turn, less what the two sessions say that they took
for _ in 1 2 3 4 5 6 7 8 9; do
	a=$(now)
	mpirun -np 4 "$prog" start >/dev/null 2>&1 || break
	b=$(now)
	VT_VERBOSE=2 VT_FORCE=on mpirun -np 4 "$build/vtrun" -- "$prog" start >out 2>&1 || break
	c=$(now)
	session=$(sed -n 's/.*clock sessions at start and end took \([0-9.]*\) ms.*/\1/p' out)
	[ -n "$session" ] || { why='the sessions did not say how long they took'; break; }
	echo "$a $b $c $session" | awk '{ printf "%.3f\n", (($3 - $2) - ($2 - $1)) * 1000 - $4 }' >>start
	echo "$session" >>session
done
figure vt.start ms start
figure vt.start.sessions ms session

why=
# one file for all ranks, and one for each
for files in 0 1; do
	for _ in 1 2 3; do
		rm -f ./*.stf* ./*.prot ./*.clk
		VT_VERBOSE=0 VT_TIMER=CPU VT_FLUSH_LIMIT=8GB VT_STF_PROCS_PER_FILE=$files mpirun -np 4 "$build/vtrun" \
			-- "$prog" finalize "$samples" \
			>out 2>&1 || { cat out >&2; break; }
		awk -v n="$samples" '/^[0-9.]+$/ { print 4 * n / $1 / 1e6 }' out >>finalize$files
	done
done
figure vt.finalize Mrecords/s finalize1
figure vt.finalize.one_file Mrecords/s finalize0

# ---- the clocks of a job beside those of timertest, the largest error of all ranks ----
# Simulated clocks over one counter; sessions 0.1 s apart, eight in all, with and without three busy loops for two
# units.
runs=${BENCH_JOB_RUNS:-5}
clocks='sim:base=CPU,offset={rank}ms,drift={rank}0ppm,tick=3ns'

error_of() # error_of CLK: ns
{
	"$build/tests/ci/lib/clk_truth" "$1" >truths 2>&1 || { cat truths >&2; return 1; }
	awk '/ us off/ { most = $7 > most ? $7 : most } END { print most * 1000 }' truths
}

for load in idle busy; do
	i=0
	while [ $load = busy ] && [ $i -lt $(($(getconf _NPROCESSORS_ONLN) * 3 / 2)) ]; do
		sh -c 'while :; do :; done' &
		loops="$loops $!"
		i=$((i + 1))
	done
	for ranks in 4 8 16; do
		rm -f error.*
		why=
		for _ in $(seq "$runs"); do
			rm -f ./*.stf* ./*.prot ./*.clk
			VT_SYNCED_HOST=off VT_TIMER=$clocks VT_COUNTER='** off' VT_LOGFILE_NAME=job.stf VT_FORCE=on \
				mpirun -np "$ranks" "$build/vtrun" -- "$prog" sync 6 >out 2>&1 ||
				{ cat out >&2; break; }
			# its verdict is not the question
			mpirun -np "$ranks" "$build/timertest" --force --quiet --synced-host=off --timer-skip=0 \
				--performance-time=0.1s --burst=1 \
				--timer="$clocks" 0.6 0.1 >out 2>&1
			[ -s timertest.clk ] || { cat out >&2; break; }
			a=$(error_of job.clk) && b=$(error_of timertest.clk) || { why='clk_truth failed'; break; }
			echo "$a" >>error.job
			echo "$b" >>error.timertest
			echo "$a $b" | awk '{ print $1 / $2 }' >>error.ratio
		done
		figure "job.true_error.$ranks.$load" ns error.job
		figure "timertest.true_error.$ranks.$load" ns error.timertest
		figure "job.true_error.ratio.$ranks.$load" 1 error.ratio
	done
done
exit $missing

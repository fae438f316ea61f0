#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A clock that moves in steps, with and without answers of +1 within a step, preloaded under timertest and under a job
# with libVT:
# the step is found, and no corrected stamp is outside its bound of the truth. TAP.
# COARSE_ALL=1: all steps, for tests/ci/series/coarse.sh.
# shellcheck source=../lib/mpi_lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"
case ${CFLAGS:-} in *-fsanitize=*) skip_all "a sanitizer's library must be preloaded first" ;; esac
${CC:-cc} -D_GNU_SOURCE -shared -fPIC -o coarse.so "$src/tests/lib/coarse_clock.c" -ldl >out 2>&1 ||
	skip_all "$(head -1 out)"
mpi_compile "$MPICC" clocks/programs/coarse_job.c job -lVT || echo "Bail out! $(cat out)"
steps='1000 1000000' bumps=1
[ -z "${COARSE_ALL:-}" ] || steps='10 1000 20000 1000000' bumps='0 1'

# STEP BUMP PHASE: a third of a step between the ranks, which messages must find; or 0, and all read one clock
inside()
{
	"$build/tests/lib/coarse_truth" "$1" "$2" "$3" "$4" >truth 2>&1
	rc=$?
	sed 's/^/# /' truth
	return $rc
}

# effective-tick of every rank in the .clk, against the step in ns
says_step()
{
	sed -n 's/^effective-tick //p' "$1" | awk -v step="$2" '{ n++; bad += $1 * 1e9 < 0.95 * step ||
		$1 * 1e9 > 1.05 * step + 1.1 }
		END { exit bad || n != 3 }' || { sed -n 's/^effective-tick/# found/p' "$1" && false; }
}

# The library is not in the sampler process, which reads another clock by this name: ranks whose clock is another one
# sample themselves.
inside_themselves()
{
	[ "$(grep -c '^\[[12]\] .* INFO: a thread inside the program samples it: a library in the program changes '\
'what the clock clock_boottime shows$' out)" -eq 2 ]
}

clock() # clock STEP BUMP PHASE COMMAND...
{
	TEST_CLOCK_STEP=$1 TEST_CLOCK_BUMP=$2 TEST_CLOCK_PHASE=$3 LD_PRELOAD=$dir/coarse.so
	export TEST_CLOCK_STEP TEST_CLOCK_BUMP TEST_CLOCK_PHASE LD_PRELOAD
	shift 3
	timeout 120 "$MPIRUN" -np 3 "$@" >out 2>&1
	status=$?
	unset LD_PRELOAD
	return $status
}

for step in $steps; do
	for bump in $bumps; do
		phase=$((step / 3 + step * 7))
		rm -f tt.*
		clock "$step" $bump $phase "$build/timertest" 1 0.5 --synced-host off --timer clock_boottime \
			--performance-time 0.05s --burst 20 --output tt --force
		expect [ $status -ne 2 ]
		expect says_step tt.clk "$step"
		expect inside tt.clk "$step" $phase $bump
		expect_not grep '^contradiction ' tt.clk
		verdict "timertest, steps of $step ns, bump $bump: found, and every corrected stamp is inside its bound"
		clean
		VT_VERBOSE=2 VT_TIMER=clock_boottime VT_SYNCED_HOST=off clock "$step" $bump $phase "$vtrun" -- ./job
		expect_status 0
		expect inside_themselves
		expect says_step job.clk "$step"
		expect inside job.clk "$step" $phase $bump
		expect_not grep '^contradiction ' job.clk
		verdict "job, steps of $step ns, bump $bump: found, and every corrected stamp is inside its bound"
	done
done
# Several sessions on each tick, all of them used: the clock neither stopped nor stepped, nor is its rate known to be
# wrong; timertest says what was left out.
ticks='sim:offset={rank}ms,drift={rank}0ppm,tick=50ms'
sound() # FILE.clk
{
	! grep -E '^(step|contradiction) ' "$1" && "$build/tests/ci/lib/clk_truth" "$1" >truth &&
		[ "$(grep -c '^session ' "$1")" -gt "$(grep -c '^node ' "$1")" ]
}
rm -f tt.*
timeout 120 "$MPIRUN" -np 3 "$build/timertest" 0.3 0.001 --synced-host off --timer "$ticks" --timer-skip 0 \
	--performance-time 0.05s --burst 3 \
	--output tt --force >out 2>&1
expect sound tt.clk
expect_not grep -E '^ASSUMPTION|stepped' out
expect_lines 2 \
	-E \
	'^clock map of rank [12]: [0-9]+ of [0-9]+ sessions?, [0-9]+ more left out \(on the same tick of a clock as '\
'another, so ' out
verdict "timertest, several sessions on a tick of 50 ms: no step, and it says how many were left out and why"
clean
VT_TIMER=$ticks VT_TIMER_SKIP=0 VT_SYNCED_HOST=off expect timeout 120 "$MPIRUN" -np 3 "$vtrun" -- ./job often >out 2>&1
expect sound job.clk
verdict "job, several sessions on a tick of 50 ms: no step"
# one clock for all by its nature: what it lags is still uncertain
rm -f tt.*
clock 1000 1 0 "$build/timertest" 1 0.5 --timer clock_boottime --performance-time 0.05s --burst 20 --output tt --force
expect [ $status -ne 2 ]
expect inside tt.clk 1000 0 1
verdict "timertest, one clock that all read"
clean
VT_TIMER=clock_boottime clock 1000 1 0 "$vtrun" -- ./job
expect_status 0
expect inside job.clk 1000 0 1
verdict "job, one clock that all read"
# one that does not move for 5 s: its step is unknown
clean
VT_TIMER=clock_boottime clock 5000000000 0 0 "$vtrun" -- ./job
expect_status 0
expect_lines 1 'WARNING.*clock_boottime, did not move for 10 ms, nor did those of others: its step is unknown' out
expect_line '^INFO EFFECTIVE-TICK unknown on 3 of 3 ranks, the first is 0$' job.prot
verdict "job, a clock that stands still: a line in the protocol and on stderr"
done_testing

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Kernel clocks that are slewed by 10 to 500 ppm for half a second between two sessions and back, and set every 100 ms:
# the stamps that the .clk corrects are compared with the clock that was not touched. TAP.
# shellcheck source=lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/mpi/lib.sh"

preload=$(cd "$build" && pwd)/tests/mpi/programs/.libs/libslewed.so

if ! command -v "$mpirun" >/dev/null 2>&1 || ! "$mpirun" -np 1 true >/dev/null 2>&1 || [ ! -x "$build/timertest" ]; then
	skip_all "no mpirun, or timertest was built without MPI"
fi
if [ -n "${ASAN_OPTIONS-}" ] || [ ! -e "$preload" ]; then
	skip_all "nothing can be preloaded into this build"
fi

start_s=4 # from the launch to the first session; a busy machine takes longer, and then it is tried again

# moved TIMER "SLEW" "STEPS": the clock is moved between 1.8 s and 2.8 s after the first session
moved()
{
	TEST_SLEW=$2 TEST_STEPS=$3
	for try in 1 2 3 4; do
		TEST_BASE=$("$build/tests/mpi/programs/slewed" now "$start_s")
		export TEST_SLEW TEST_STEPS TEST_BASE
		timeout 120 "$mpirun" -np 2 -x TEST_SLEW -x TEST_STEPS -x TEST_BASE -x TEST_CLOCK \
			-x LD_PRELOAD="$preload" "$build/timertest" \
			5 1.9 --performance-time 100ms --timer "$1" --synced-host off --timer-skip 0 \
			--force --output "$dir/s" \
			>"$dir/out" 2>"$dir/err" </dev/null
		status=$?
		"$build/tests/mpi/programs/slewed" "$dir/s.clk" >"$dir/compared" 2>>"$dir/err"
		sed "s/^/# try $try: /" "$dir/compared"
		during "$dir/compared" && return
		start_s=$(awk -v was="$start_s" '/^outside/ { was += $14 }
			END { printf "%d\n", was + 0.5 }' "$dir/compared")
	done
}

during() # the clock was moved during the run
{
	awk '/^outside/ && $14 < 1.7 && $16 > 3 { good = 1 } END { exit !good }' "$1"
}

check_that() # check_that NAME COMMAND...
{
	name=$1
	shift
	"$@"
	ok "$name" $?
}

inside()
{
	[ "$status" != 2 ] && grep -q '^outside 0 in_order 0 ' "$dir/compared" && during "$dir/compared"
}

narrow()
{
	awk '{ exit !($8 < 50000) }' "$dir/compared" ||
		{ [ "$status" = 3 ] && grep -q '^verdict: .* not known .*the ranks waited for a core' "$dir/out"; }
}

TEST_CLOCK=7 # CLOCK_BOOTTIME
export TEST_CLOCK
for ppm in 10 50 -500; do
	moved clock_boottime "$ppm 1.8 2.3 2.8" ""
	check_that "slewed by $ppm ppm for half a second between two sessions: every stamp inside its bound" inside
	check_that \
		"slewed by $ppm ppm: the median bound is below 50 us, or timertest says that the ranks waited for a \
core" narrow
	check_that "slewed by $ppm ppm: nothing contradicts what was assumed" grep -q 'contradicted 0 ' "$dir/compared"
done

# of the last one: timertest states the largest bound between the sessions, vtreport that of the run, between the
# readings of the steered clock
"$build/vtreport" "$dir/s.clk" --output "$dir/s.html" --force >/dev/null 2>>"$dir/err"
largest='\([0-9.]*us\) at most, if what is assumed holds'
stated=$(sed -n "s/^bound of rank 1 between its sessions: .*; $largest\$/\\1/p" "$dir/out")
shown=$(sed -n 's/.* to within \([0-9.]*\) us (bound).*/\1/p' "$dir/s.html" | head -1)
echo "# timertest: $stated, vtreport: $shown us"
check_that "vtreport states no smaller bound of a steered clock than timertest, and less than five times it" \
	awk -v a="${stated%us}" -v b="$shown" 'BEGIN { exit !(a > 5 && b > 0.98 * a && b < 5 * a) }'

TEST_CLOCK=0 # CLOCK_REALTIME
for steps in "5000000 1.8 -5000000 1.95 700 2.2 -12345678 2.6" "-200000000 2"; do
	moved clock_realtime "0 0 0 0" "$steps"
	check_that "set by ($steps; ns and s): every stamp inside its bound" inside
done

TEST_CLOCK=7
moved clock_boottime "5000 1.8 2.3 2.8" ""
check_that "slewed by 5000 ppm, more than was assumed: every stamp inside its bound" inside
check_that "slewed by 5000 ppm: it is found that the assumption is wrong" grep -q 'contradicted 1 ' "$dir/compared"
check_that "slewed by 5000 ppm: the report says so" grep -q 'ASSUMPTION WRONG about the clock of rank 1: ' "$dir/out"
check_that "slewed by 5000 ppm: such a clock is not called fit" [ "$status" = 3 -o "$status" = 1 ]
done_testing

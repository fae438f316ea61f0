#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A clock that is set while an MPI job runs: its map is split there, and the stamps on both sides are on the right
# pieces. TAP.
# shellcheck source=../lib/mpi_lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"
mpi_compile "$MPICC" clocks/programs/mpi_truth.c truth -lVT
# no records but the program's own, or nothing would be silent
VT_COUNTER_MIN_INTERVAL=-1
export VT_COUNTER_MIN_INTERVAL
# {rank} is 0 on rank 0, whose clock nobody sets. On a machine so busy that the step is over when MPI has begun, or that
# between two there are too few stamps to judge, later and farther apart.
across() # across STEP WORDS [STEP]: the second one when the clock shows three times as much
{
	for tenths in 15 30 60 120; do
		VT_TIMER="sim:base=CPU,drift={rank}0ppm,tick=3ns,\
step=$1@${tenths}00ms${3:+,step=$3@$((tenths * 3))00ms}" \
			run 2 ./truth $((${3:+$tenths * 2 - 30 +} tenths * 2 + 30)) "$2" && one_trace truth 2 ||
			return 1
		"$build/tests/vt/lib/truth" truth.stf truth.clk step ${3:+2} >>out 2>&1
		rc=$?
		[ $rc -eq 2 ] || break
	done
	return $rc
}

stepped() # stepped NAME STEP WORDS [STEP]
{
	name=$1
	shift
	across "$@" && grep -q '^step ' truth.clk
	rc=$?
	ok "$name: stamps before a step of $(echo "$1${3:+ and $3}" | sed 's/{rank}/1/g') and after it are inside \
their bound of the truth" $rc
	sed -n 's/^step .* found/# &/p' out
	# in one line, which says how large the first one is: its size within what is certain
	grep 'WARNING: the clock of rank' out >said
	expect [ "$(wc -l <said)" -eq 1 ]
	expect_line "the clock of rank 1 stepped against that of rank 0 by .* of the run${3:+, and there is 1 more}:" \
		said
	expect awk -v want="$(echo "$1" | sed 's/{rank}/1/g')" \
		'{ sub(/.*rank 0 by /, ""); sub(/, certain to /, " "); sub(/,.*/, "")
			e = $1 - want; exit !($1 ~ /[0-9]s$/ && (e < 0 ? -e : e) < 0.1) }' said
	verdict "$name: it is reported, once"
}

stepped 'at work' '-{rank}000s' timed
# A thread that is silent for longer than its clock was set back by shows no stamp that goes back: the sessions
# meanwhile tell.
stepped 'silent' '-{rank}s' 'timed silent'
stepped 'two steps' '{rank}s' timed '-{rank}0s'

# nobody exchanges messages about a clock that all read, and nothing but stamps that go back tells of the step
expect mpi_compile "$MPICC" clocks/programs/mpi_set.c set
expect head -c 8 /dev/zero >zero
VT_TIMER=gettimeofday expect run 2 ./set zero
expect_line 'WARNING: [0-9]* stamps go back in their thread' out
expect "$build/stftool" set.stf --dump >dump 2>>out
expect_line '^INFO .*"100 messages were matched"' dump
expect_not grep 'mixed up' dump >>out
verdict "the clock of all ranks is set back while one waits in a call: no message has an end of another"
done_testing

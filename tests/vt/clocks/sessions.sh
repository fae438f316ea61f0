#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Clock sessions in the raw files: a job of four ranks that is killed is corrected as far as its last session, by the
# sampler process and by stftool alone. And a clock that is slewed between the sessions: the sampler process reads it as
# a thread inside does. TAP.
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"

mpi_compile "$MPICC" clocks/programs/mpi_pingpong.c pp -lVT
mpi_compile "$MPICC" clocks/programs/mpi_truth.c truth -lVT
export VT_SYNCED_HOST=off

# killed SAMPLER OFFSET SYNC: all four ranks, after 300 messages each way; the trace is there, or the raw files are
killed()
{
	clean
	VT_SAMPLER=$1 VT_TIMER="sim:base=CPU,offset={rank}$2,drift={rank}0ppm,tick=3ns" timeout 120 "$MPIRUN" -np 4 \
		"$vtrun" -- \
		./pp "$3" kill >out 2>&1
	[ "$1" != process ] || wait_for 60 no_raw_files
}

# No message is received before it is sent by more than the bound, which --verify judges; on a machine with nothing else
# to do none is at all. The stamps are inside the bound of the truth
corrected() # corrected TRACE CLK
{
	"$build/stftool" "$1" --verify >>out 2>&1 && "$build/stftool" "$1" --matched-vtf --dump 2>>out >dump || return 1
	awk '$2 == "MESSAGE" { n++; for (i = 3; i < NF; i++) { if ($i == "TIME" && $(i + 1) < 0) { back++ } } }
	END { printf "# %d messages, %d of them reversed\n", n, back; exit n < 600 }' dump >count
	rc=$?
	cat count
	"$build/tests/vt/lib/truth" "$1" "$2" >truths 2>>out || rc=1
	sed 's/^/# /' truths
	return $rc
}

for offset in 5ms 30s; do
	killed process $offset last
	expect [ -e pp.stf ]
	expect_not ls .VT-flush-*.raw >>out 2>&1
	expect corrected pp.stf pp.clk
	verdict "killed, clocks $offset apart: the sampler's trace has all messages in order"
done
killed process 5ms ''
expect corrected pp.stf pp.clk
expect_lines 21 '^session ' pp.clk
verdict "sessions in between are in the correction"
clean
VT_TIMER_SKIP=1 VT_TIMER="sim:base=CPU,offset={rank}5ms,drift={rank}0ppm,tick=3ns" expect timeout 120 "$MPIRUN" -np 4 \
	"$build/vtrun" -- ./pp '' >out 2>&1
expect corrected pp.stf pp.clk
expect_lines 9 '^session middle used 0' pp.clk
expect_lines 9 '^session middle used 1' pp.clk
verdict "TIMER-SKIP 1: in a job that ends as usual every second one is"
killed thread 5ms last
wait_for 60 no_raw_files
expect corrected pp.stf pp.clk
verdict "killed with a thread that samples: a sampler process makes the trace, with the sessions"
export VT_KEEP_RAW_EVENTS=on
killed thread 5ms last
unset VT_KEEP_RAW_EVENTS
expect "$build/stftool" .VT-flush-*.raw --merge all.stf >>out 2>&1
expect corrected all.stf all.clk
verdict "stftool finds the sessions in the raw files"
rm -f .VT-flush-pp_0-*
expect "$build/stftool" .VT-flush-*.raw --merge part.stf >out 2>&1
expect_line 'not corrected: .*rank 0' out
expect [ ! -e part.clk ]
verdict "without the file of rank 0 the clocks are not corrected, and a line says so"

# The sampler process dies as well: all is in the raw files, and the command in the protocol makes the trace, also where
# they were moved
all_killed()
{
	clean
	rm -rf a*folder moved*
	mkdir -p "a job's folder" "moved it"
	(cd "a job's folder" && exec timeout 120 "$MPIRUN" -np 2 "$vtrun" -- ../truth 600 >../out 2>&1) &
	launcher=$!
	wait_for 60 grep -q '^INFO CLUSTERDEF' "a job's folder/truth.prot"
	wait_for 60 grep -q '^INFO SAMPLED by' "a job's folder/truth.prot"
	ticks 20 a*/truth.prot
	sampler=$(sampler a*/truth.prot)
	date +%s%N >when
	# shellcheck disable=SC2046
	kill -9 "$sampler" $(find a*/ -name '.VT-flush-*.raw' | sed 's/.*-\([0-9]*\)\.raw$/\1/')
	wait $launcher
	[ ! -e a*/truth.stf ] && mv a*/* moved*/ && (cd moved* && PATH=$build:$PATH sh -c "$(sed -n 's/^#   \(stftool '\
'.*\)/\1/p' truth.prot)") >>out 2>&1 &&
		"$build/stftool" moved*/truth.stf --verify >>out 2>&1 && [ -s moved*/truth.clk ]
}
# the program itself may have waited for a core just then, which is no loss: thrice in a row it has not
attempts=0 made=0 age=1000000000
while [ $made -eq $attempts ] && [ $attempts -lt 3 ] && [ "$age" -ge 1000000000 ]; do
	attempts=$((attempts + 1))
	all_killed && made=$((made + 1))
	last=$(samples moved*/truth.stf -t | awk '$NF > last { last = $NF } END { print last }')
	age=$(($(cat when) - 0x${last:-0}))
	echo "# the last sample is $((age / 1000000)) ms older than the signal"
done
[ $made -eq $attempts ]
ok "the sampler process is killed, too: the command in the moved protocol makes the trace" $?
[ "$age" -lt 1000000000 ]
ok "it has all up to 1 s before" $?
rm -rf a*folder moved*

# The bound of rank 1 of a run with sessions at both ends only, in us.
bound()
{
	clean
	VT_SAMPLER=$1 VT_TIMER='sim:base=clock_monotonic_raw,offset={rank}ms,slew={rank}50ppm/0.5s/1s/1.6s' timeout \
		120 "$MPIRUN" -np 2 \
		./truth 20 >out 2>&1 && "$build/tests/vt/lib/truth" truth.stf truth.clk >>out 2>&1 || return 1
	"$build/tests/vt/lib/truth" truth.clk | awk '$1 == 1 { print $2 * 1e6 }' >"bound.$1"
	awk '$1 == "pair" { if (before && $2 - before > longest) { longest = $2 - before } before = $2 }
		END { print int(longest / 1e6) }' truth.clk >gap
	echo "# sampler $1: bound $(cat "bound.$1") us, $(grep -c '^pair ' truth.clk) pairs, at most $(cat \
		gap) ms apart"
}

expect bound thread
expect bound process
verdict "slewed by 50 ppm between two sessions: the stamps are inside the stated bound"
# a thread that samples wakes up each 100 ms, the sampler process reads the clocks each 40 ms; where it waited for a
# core, its bound is rightly wider. So it is where a session at one end had to wait for one: each run has its own two.
as_narrow()
{
	awk 'NR == 1 { thread = $1 } NR == 2 { exit !($1 > 0 && $1 < 1.2 * thread + 10) }' bound.thread bound.process
}
tries=1
while { [ "$(cat gap)" -gt 100 ] || ! as_narrow; } && [ $tries -lt 3 ]; do
	tries=$((tries + 1))
	bound process
done
if [ "$(cat gap)" -gt 100 ]; then
	skip "the bound is as narrow as with a thread inside" "this time the sampler process waited $(cat gap) ms for \
a core"
else
	as_narrow
	ok "the bound is as narrow as with a thread inside" $?
fi

done_testing

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Jobs that are killed on two hosts, whose monotonic clocks differ by 1000 s (tests/mpi/netns.sh): VTserver makes the
# trace of both. One host's sampler falls silent; the hosts share no folder; or no network; a deadlock of both. TAP.
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"
needs_hosts
[ $mpi = openmpi ] || skip_all "only Open MPI ends without us when its ranks are killed"

mpi_compile "$MPICC" clocks/programs/mpi_pingpong.c pp -lVT
export VT_TIMER=clock_monotonic
delay=

# in_hosts COMMAND...: both ranks of the job are killed in it; then until no sampler is left
in_hosts()
{
	timeout 100 sh "$src/tests/mpi/netns.sh" -n 2 -o 1000 -- sh -c '
		helper=$1
		shift
		eval "$helper" &
		"$@"
		# a sampler that is stopped does not end
		tries=0
		until [ "$(pgrep -xc vtsampler)" -le "${SAMPLERS_LEFT:-0}" ] || [ $tries -ge 200 ]; do
			tries=$((tries + 1))
			sleep 0.1
		done' sh "${helper:-:}" "$MPIRUN" -np 2 --map-by node -x VT_TIMER "$@" >out 2>&1
}

# quick TRACE [MS]: it is complete at most 5 s, or so many ms, after the last record. The program records the clock of
# day. A machine that is busy, or slow, needs longer: how long a look at the trace takes there, which takes about 10 ms
# elsewhere, says how much
quick()
{
	last=$(samples "$1" -t | grep ' Messages:realtime ' | awk '$NF > last { last = $NF } END { print last }')
	ms=$((($(stat -c %.3Y "$1" | tr -d .) * 1000000 - 0x$last) / 1000000))
	begin=$(date +%s%N)
	"$build/stftool" "$1" --verify >>out 2>&1
	look=$((($(date +%s%N) - begin) / 1000000))
	echo "# the trace is complete $ms ms after the last record; a look at it takes $look ms"
	[ $ms -lt $((${2:-5000} + 20 * look)) ]
}

# sound TRACE: both ranks, and no message reversed by more than the bounds of both clocks, which --verify judges
sound()
{
	"$build/stftool" "$1" --verify >>out 2>&1 && [ "$("$build/xstftool" "$1" 2>>out | sed -n 's/^NCPUS '\
'//p' | wc -w)" -eq 2 ] &&
		"$build/stftool" "$1" --matched-vtf --dump 2>>out >dump && [ "$(grep -c ' MESSAGE ' dump)" -ge 100 ]
}

nothing_left() # no raw file, no file of a host
{
	! ls VT-* >>out 2>&1
}

clean
in_hosts "$vtrun" -- ./pp sync kill
expect [ "$(find . -name '*.stf' | wc -l)" -eq 1 ]
expect nothing_left
expect sound pp.stf
expect [ -s pp.clk ]
expect [ "$(grep -c '^INFO ENDED' pp.prot)" -ge 1 ]
expect quick pp.stf
verdict "killed on two hosts: one corrected trace of both"

# A batch system signals all processes of a job that it ends; the ranks go on for a while, and their raw files stay
clean
rm -f stopped kept
helper='until [ "$(grep -c "^rank . of 2" out)" -eq 2 ]; do sleep 0.02; done
	kill -TERM "$(pgrep -x VTserver)"
	sleep 1
	find . -name ".VT-flush-*.raw" | wc -l >kept
	touch stopped'
in_hosts "$vtrun" -- ./pp sync kill stopped
unset helper
expect [ "$(cat kept)" -eq 2 ]
expect [ "$(find . -name '*.stf')" = ./pp.stf ]
expect nothing_left
expect sound pp.stf
verdict "VTserver is told to end: it waits for the ranks that run, and makes one trace of all that they recorded"

# The sampler of rank 1's host, which is not the one in the protocol, is stopped before the ranks are killed
clean
helper='until [ "$(grep -c "^rank . of 2" out)" -eq 2 ]; do sleep 0.02; done
	for p in $(pgrep -x vtsampler); do grep -qx "INFO SAMPLED by process $p" pp.prot || kill -STOP "$p"; done
	touch stopped'
SAMPLERS_LEFT=1
export SAMPLERS_LEFT
in_hosts "$vtrun" -- ./pp sync kill stopped
expect [ -e stopped ]
expect [ "$(find . -name '*.stf' | wc -l)" -eq 1 ]
expect nothing_left
expect sound pp.stf
expect quick pp.stf 20000
verdict "a host whose sampler is silent is given up: one trace, with what its ranks have recorded"
unset SAMPLERS_LEFT helper

# VTserver is gone, as if there were no network; the ranks kill themselves once it is. Their raw files are in one folder
clean
rm -f stopped
helper='until [ "$(grep -c "^rank . of 2" out)" -eq 2 ]; do sleep 0.02; done
	kill -KILL "$(pgrep -x VTserver)"
	touch stopped'
in_hosts "$vtrun" -- ./pp sync kill stopped
unset helper
expect [ "$(echo *.stf)" = 'pp-node0.stf pp-node1.stf' ]
expect_trace pp-node0.stf
expect_trace pp-node1.stf
expect_not grep -q node1 pp-node0.stf
expect_not grep -q node0 pp-node1.stf
expect "$build/stftool" pp.prot --merge pp.stf --force >>out 2>&1
expect sound pp.stf
expect [ -s pp.clk ]
verdict "without a network: each host has a trace of its own, and one command makes one of both"

# Each host has a folder of its own under the same name
clean
mkdir -p shared node0 node1
# shellcheck disable=SC2016
in_hosts sh -c 'mount --bind "$0/$(hostname)" "$0/shared" && cd "$0/shared" && exec "$1/vtrun" -- ../pp sync kill' \
	"$dir" "$build"
expect [ "$(find node0 node1 -name '*.stf')" = node0/pp.stf ]
expect_not ls node?/.VT-* >>out 2>&1
expect sound node0/pp.stf
expect [ -s node0/pp.clk ]
expect quick node0/pp.stf
verdict "without a shared folder: one corrected trace of both"

# apart COMMAND...: the same with a folder for each host; $helper knows the processes of another host by their namespace
apart()
{
	clean
	rm -rf node0 node1 stopped
	mkdir -p shared node0 node1
	# shellcheck disable=SC2016
	in_hosts sh -c 'mount --bind "$0/$(hostname)" "$0/shared" && cd "$0/shared" &&
		exec "$1/vtrun" -- ../pp sync kill ../stopped' "$dir" "$build"
}

# at_once NODE: all node processes of that host are killed once both hosts record, and then the ranks kill themselves
at_once()
{
	helper='until [ "$(grep -c "^rank . of 2" out)" -eq 2 ]; do sleep 0.02; done
		for p in $(pgrep -x "vtsampler|VTserver"); do
			[ "$(readlink /proc/$p/ns/uts)" '"$1"' "$(readlink /proc/$$/ns/uts)" ] || kill -KILL "$p"
		done
		touch stopped'
	apart
	unset helper
}

at_once =
expect [ "$(find node0 node1 -name '*.stf')" = node0/pp.stf ]
expect "$build/stftool" node0/pp.stf --verify >>out 2>&1
expect [ "$("$build/xstftool" node0/pp.stf 2>>out | sed -n 's/^NCPUS //p' | wc -w)" -eq 1 ]
expect [ -e node1/.VT-flush-pp_1-*.raw ]
verdict "a host whose node process is killed, too, is given up, and its raw file stays there"

at_once !=
expect [ "$(find node0 node1 -name '*.stf')" = node1/pp-node1.stf ]
expect_trace node1/pp-node1.stf
expect [ -e node0/.VT-flush-pp_0-*.raw ]
verdict "the host of VTserver is gone: the other one makes a trace of its own"

# Ranks of two hosts that wait for each other: each sampler finds its own blocked, and only both together are a deadlock
clean
if [ -n "$san" ]; then
	skip "a deadlock of two hosts is stopped, with one trace of both" "sanitizers have stacks of their own"
else
	mpi_compile "$MPICC" ends/programs/deadlock.c fs -lVTfs
	# shellcheck disable=SC2086
	${CC:-cc} -std=c11 -D_GNU_SOURCE -o opens "$src/tests/vt/ends/programs/opens.c" >>out 2>&1
	VT_DEADLOCK_TIMEOUT=6s
	export VT_DEADLOCK_TIMEOUT
	# the folder is looked at once both are blocked
	helper='until pgrep -x VTserver >/dev/null; do sleep 0.02; done; sleep 1.5; ./opens . 2000 >opened'
	in_hosts -x VT_DEADLOCK_TIMEOUT ./fs
	unset helper
	expect [ "$(cat opened)" = 0 ]
	expect_lines 2 'Tickmark ERROR: GLOBAL:DEADLOCK: no progress in any process for 6 s' out
	expect "$build/stftool" fs.stf --verify >>out 2>&1
	expect nothing_left
	expect_lines 2 '^INFO ENDED .*by the sampler process: deadlock' fs.prot
	verdict "a deadlock of two hosts is stopped, with one trace; nobody opened a file in their folder"
	VT_DEADLOCK_TIMEOUT=1s

	clean
	rm -rf node0 node1
	mkdir -p shared node0 node1
	# shellcheck disable=SC2016
	in_hosts -x VT_DEADLOCK_TIMEOUT sh -c 'mount --bind "$0/$(hostname)" "$0/shared" && cd "$0/shared" &&
		exec ../fs' "$dir"
	expect_lines 2 'Tickmark ERROR: GLOBAL:DEADLOCK: no progress in any process for 1 s' out
	expect [ "$(find node0 node1 -name '*.stf')" = node0/fs.stf ]
	expect "$build/stftool" node0/fs.stf --verify >>out 2>&1
	expect_not ls node?/.VT-* >>out 2>&1
	expect_lines 1 '^INFO ENDED .*by the sampler process: deadlock' node0/fs.prot
	expect [ "$("$build/stftool" node0/fs.stf --print-reports | grep -c GLOBAL:DEADLOCK:HARD)" -eq 2 ]
	verdict "and one of two hosts that share no folder"

	# the ranks of a node whose node process is lost may go on: here the other rank waits for one of them, rightly
	# while rank 0 computes: both ranks have joined by then, and after 15 s of silence VTserver gives the node up
	helper='until pgrep -xo VTserver >/dev/null; do sleep 0.02; done
		sleep 2
		host=$(readlink /proc/"$(pgrep -xo VTserver)"/ns/uts)
		for p in $(pgrep -x vtsampler); do
			[ "$(readlink /proc/$p/ns/uts)" != "$host" ] || { kill -KILL $p && echo $p >killed; }
		done'
	clean
	rm -rf node0 node1 killed
	mkdir -p shared node0 node1
	# shellcheck disable=SC2016
	in_hosts -x VT_DEADLOCK_TIMEOUT sh -c 'mount --bind "$0/$(hostname)" "$0/shared" && cd "$0/shared" &&
		exec ../fs late' "$dir"
	unset helper
	expect [ -s killed ]
	expect_no_line 'GLOBAL:DEADLOCK' out
	expect_trace node0/fs.stf
	expect_lines 1 '^0$\|^1$' out
	verdict "a node process is lost, and a rank waits longer than the limit for a rank of its node: no deadlock"
	unset VT_DEADLOCK_TIMEOUT
fi

done_testing

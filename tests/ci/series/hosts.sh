#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Five hosts made of namespaces, over TCP, as a star and as a tree; each with a simulated clock over the counter that
# all share, so that the truth is known: the maps in the .clk file must stay inside their bounds. With delays of
# different length each way.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/ci/lib/lib.sh
. "$here/../lib/lib.sh"
need mpirun unshare nsenter setpriv flock ip
why=$(sh "$here/../../mpi/netns.sh" -n 5 -d 1000 -- true 2>&1) || { echo "SKIPPED: $why"; exit 77; }
configured hosts
step "hosts: make" make -j"$jobs" timertest tests/ci/lib/clk_truth

# statuses 1 and 3 are verdicts about a busy machine, and none about the bound
judged()
{
	timeout 300 "$@"
	case $? in 0 | 1 | 3) ;; *) return 1 ;; esac
}

# five SHAPE LABEL DELAY
five()
{
	step "hosts: five as a $1, $2" judged sh "$top/tests/mpi/netns.sh" -n 5 -o 7 ${3:+-d "$3"} -- \
		mpirun -np 5 ./timertest 4 2 --force --performance-time 0.2s --topology "$1" --timer-skip 0 \
		--output "$work/hosts" \
		--timer 'sim:base=CPU,offset={rank}ms,drift={rank}0ppm,tick=7.{rank}ns'
	grep -E '^(tree:|verdict)' "$work/log"
	step "hosts: five as a $1, $2: the truth is inside" ./tests/ci/lib/clk_truth "$work/hosts.clk"
	grep '^rank' "$work/log"
}

for shape in star tree; do
	five $shape "no delay" ""
done
for shape in star tree; do
	# half a millisecond that nobody can see
	five $shape "1 ms, up to 0.2 ms, and 1 ms from lower to higher" 1000,200,1000
done

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The part of steered.sh that runs in the machine, in a folder with what was built. TAP.
set -u
run=$(mktemp -d) || exit 99
cp timertest clk_truth steer "$run"
cd "$run" || exit 99
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 HOME=$run
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM HOME
count=0

# moved NAME ARGUMENTS: steer moves the clock as soon as the first session is over, and puts it back
moved()
{
	name=$1
	shift
	rm -f s.*
	timeout 120 mpirun --oversubscribe -np 2 ./timertest 6 1.5 --timer clock_realtime --synced-host off \
		--timer-skip 0 \
		--performance-time 50ms --burst 5 --force --output s >out 2>&1 &
	launched=$!
	while kill -0 $launched 2>/dev/null && ! grep -q '^0\. recording messages' out; do
		sleep 0.1
	done
	sleep 1
	kill -0 $launched 2>/dev/null && ./steer "$@" >>out 2>&1
	steered=$?
	kill -0 $launched 2>/dev/null
	during=$?
	wait $launched
	./clk_truth s.clk >truth 2>&1 && [ $steered -eq 0 ] && [ $during -eq 0 ]
	good=$?
	sed 's/^/# /' truth
	grep 'of rank 1 is steered' out | sed 's/^/# /'
	count=$((count + 1))
	if [ $good -eq 0 ]; then
		echo "ok $count - $name"
	else
		echo "not ok $count - $name (steer $steered, during the run $during)"
		tail -n 5 out | sed 's/^/# /'
	fi
}

moved "500 ppm faster for half a second: 10,001 stamps inside their bounds" freq 500 0.5
moved "9 % slower for 0.3 s" tick -9 0.3
moved "slewed by 500 us" slew 500
moved "set by 5 ms" set 0.005
moved "set back by 2 s" set -2
echo "1..$count"

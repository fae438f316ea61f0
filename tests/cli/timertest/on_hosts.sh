#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs on node0 of tests/mpi/netns.sh: on_hosts.sh CASE TIMERTEST VTRUN FOLDER. Output of rank R is in FOLDER/out.R and
# FOLDER/err.R.
set -u
case=$1 timertest=$2 vtrun=$3 folder=$4
cd "$folder" || exit 99

join() # join HOST NAME [WORD...]: a process there, in the background
{
	host=$1 name=$2
	shift 2
	mkdir -p "$folder/$name"
	command="cd '$folder/$name' && $* exec '$timertest' --join '$word' --timer clock_monotonic \
--performance-time 100ms --output '$folder/joined' --state-dir state 2 1"
	if [ "$host" -eq 0 ]; then
		sh -c "$command" >"out.$name" 2>"err.$name" &
	else
		"$NETNS_AGENT" "node$host" "$command" >"out.$name" 2>"err.$name" &
	fi
}

statuses() # of the processes PID...
{
	for pid in "$@"; do
		wait "$pid"
		printf '%s ' $?
	done >>statuses
	echo >>statuses
}

wait_for() # wait_for COMMAND: until it succeeds, 20 s at most
{
	for _ in $(seq 400); do
		! eval "$1" || break
		sleep 0.05
	done
}

case $case in
hosts)
	timeout 100 "$timertest" --hosts node0,node1,node2 --rsh "$NETNS_AGENT -x" --timer clock_monotonic \
		--performance-time 100ms --output "$folder/hosts" --state-dir "$folder/state" 3 1 >out.0 2>err.0 &
	wait_for "pgrep -a -f -- '--join' >>arguments"
	wait
	exit 0
	;;
screen)
	timeout 100 "$timertest" --hosts node1,node2,node3,node4,node5 --rsh "$NETNS_AGENT" --timer clock_monotonic \
		--performance-time 100ms --output "$folder/screen" --state-dir "$folder/state" 3 1 >out.0 2>err.0
	[ $? -ne 2 ] # a busy machine is another verdict
	;;
slurm)
	word=$("$vtrun" --contact --join-wait=10s 2>err.word) || exit 1
	join 2 2 SLURM_PROCID=2 SLURM_NTASKS=3
	pids=$!
	join 0 0 SLURM_PROCID=0 SLURM_NTASKS=3
	pids="$pids $!"
	join 1 1 SLURM_PROCID=1 SLURM_NTASKS=3
	# shellcheck disable=SC2086
	statuses $pids $!
	# the word of a test that has begun is of no use
	join 1 3 RANK=0 WORLD_SIZE=1
	statuses $!
	;;
itc)
	timeout 100 "$timertest" --hosts node1,node2 --rsh "$NETNS_AGENT" --timer clock_monotonic --sync itc \
		--performance-time 100ms --output "$folder/itc" 2 1 >out.0 2>err.0
	[ $? -ne 2 ]
	;;
late)
	word=$("$vtrun" --contact --join-wait=3s 2>err.word) || exit 1
	join 0 0 WORLD_SIZE=3 RANK=0
	pids=$!
	sleep 2
	join 1 1 WORLD_SIZE=3 RANK=1
	pids="$pids $!"
	sleep 2
	join 2 2 WORLD_SIZE=3 RANK=2
	# shellcheck disable=SC2086
	statuses $pids $!
	;;
missing)
	word=$("$vtrun" --contact --join-wait=2s 2>err.word) || exit 1
	join 0 0 WORLD_SIZE=3 RANK=0
	pids=$!
	join 1 1 WORLD_SIZE=3 RANK=2
	pids="$pids $!"
	join 2 2 WORLD_SIZE=3 RANK=2
	# shellcheck disable=SC2086
	statuses $pids $!
	;;
killed)
	timeout 100 "$timertest" --hosts node1,node2 --rsh "$NETNS_AGENT" --timer clock_monotonic \
		--performance-time 100ms --output "$folder/killed" --patience 2s 60 10 >out.0 2>err.0 &
	pid=$!
	wait_for "grep -q 'recording messages' out.0 err.0"
	began=$(date +%s)
	pkill -KILL -f -- '--join - --rank 2 '
	statuses $pid
	echo $(($(date +%s) - began)) >lasted
	;;
esac

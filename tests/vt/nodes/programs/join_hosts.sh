#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs on node0 of tests/mpi/netns.sh: join_hosts.sh VTRUN PROGRAM FOLDER CASE. Each host has an empty folder of its
# own, FOLDER/private. Output of host I is in FOLDER/out.I; what node0 has in its private folder is copied to
# FOLDER/result.
set -u
vtrun=$1 program=$2 folder=$3 case=$4
private=$folder/private timer=clock_monotonic
all=$(seq -s ' ' 0 $((${HOSTS:-3} - 1)))

on() # on HOST COMMAND: in the private folder of the host
{
	if [ "$1" -eq 0 ]; then
		(cd "$private" && eval "$2")
	else
		"$NETNS_AGENT" "node$1" "cd '$private' && $2"
	fi
}

start() # start HOST [VARIABLE=VALUE...] -- [OPTION...] -- ARGUMENT...: a process there, in the background
{
	host=$1 variables=
	shift
	while [ "$1" != -- ]; do
		variables="$variables $1"
		shift
	done
	shift
	options=
	while [ "$1" != -- ]; do
		options="$options $1"
		shift
	done
	shift
	on "$host" "$variables exec '$vtrun' --join '$word' --timer=$timer $options -- '$program' $*" \
		>>"$folder/out.$host" 2>&1 &
	eval "last=\$!"
}

wait_for() # wait_for FILE: until something is in it
{
	i=0
	until [ -s "$1" ] || [ $i -gt 100 ]; do
		i=$((i + 1))
		sleep 0.1
	done
}

finish() # waits for the trace, and for the node processes, which then remove their files; a minute at most
{
	i=0
	until ls "$private"/*.stf >/dev/null 2>&1 && ! pgrep -x VTserver >/dev/null &&
		! pgrep -x vtsampler >/dev/null; do
		i=$((i + 1))
		[ $i -lt 600 ] || break
		sleep 0.1
	done
	mkdir -p "$folder/result"
	cp "$private"/* "$folder/result/" 2>/dev/null
	for host in $all; do
		on "$host" "ls -A . | grep VT-flush; ls *.stf 2>/dev/null" >"$folder/left.$host"
	done
}

mkdir -p "$private"
for host in $all; do
	if [ "$host" -eq 0 ]; then
		mount -t tmpfs tmpfs "$private"
	else
		"$NETNS_AGENT" "node$host" "mount -t tmpfs tmpfs '$private'"
	fi
done
if [ "$case" = clocks ]; then
	# the sampler process drops LD_PRELOAD, and the system's own list holds for it as well
	for host in $all; do
		shift="cp -a /etc '$private/etc' && echo '$folder/../shifted.so' >'$private/etc/ld.so.preload' &&
			mount --bind '$private/etc' /etc"
		if [ "$host" -eq 0 ]; then
			eval "$shift"
		else
			"$NETNS_AGENT" "node$host" "$shift"
		fi
	done
fi
if [ "$case" = clientserver ]; then
	# without vtrun: the server's word goes to the clients
	(
		cd "$private" || exit
		VT_LOGFILE_NAME=both.stf VT_TIMER=clock_monotonic timeout 60 "$program" server 7000 2 \
			>"$folder/word" 2>"$folder/out.0" &
	)
	wait_for "$folder/word"
	# the address of node0 is in the word
	address=$(cut -d, -f1 "$folder/word" | cut -d: -f1)
	for host in 1 2; do
		client="'$program' client '$address' 7000 $host '$(cat "$folder/word")'"
		on "$host" "VT_TIMER=clock_monotonic timeout 60 $client" >"$folder/out.$host" 2>&1 &
	done
	wait
	finish
	exit 0
fi
if [ "$case" = attach ]; then
	# a process of node0 attaches those of the others
	(
		cd "$private" || exit
		VT_LOGFILE_NAME=attach.stf VT_TIMER=clock_monotonic timeout 60 "$program" hosts "$folder" \
			>"$folder/word" 2>"$folder/out.0"
		echo $? >"$folder/status.0"
	) &
	wait_for "$folder/word"
	for host in 1 2; do
		client="'$program' child $((host - 1)) '$(cat "$folder/word")' '$folder'"
		on "$host" "VT_TIMER=clock_monotonic timeout 60 $client" >"$folder/out.$host" 2>&1 &
	done
	wait
	finish
	exit 0
fi
case $case in contacts | vtserver*)
	# the clients are started first, and their words go to the server
	contacts=
	for host in 1 2; do
		client="'$program' $([ "$case" = vtserver ] && echo 20 || echo 60) client $host"
		[ "$case" != contacts ] || client="'$program' client 10.78.0.1 7000 $host"
		on "$host" "VT_TIMER=clock_monotonic timeout 60 $client" >"$folder/word.$host" 2>"$folder/out.$host" &
		eval "client$host=\$!"
		wait_for "$folder/word.$host"
		contacts="$contacts $(cat "$folder/word.$host")"
	done
	cd "$private" || exit
	export VT_TIMER=clock_monotonic
	# shellcheck disable=SC2086
	if [ "$case" = contacts ]; then
		VT_LOGFILE_NAME=both.stf timeout 60 "$program" server 7000 2 $contacts >"$folder/word" 2>"$folder/out.0"
	elif [ "$case" = vtserver ]; then
		timeout 60 "${vtrun%/*}/VTserver" $contacts --logfile-name steps.stf >"$folder/said" 2>&1
	else
		"${vtrun%/*}/VTserver" $contacts --logfile-name steps.stf >"$folder/said" 2>&1 &
		server=$!
		sleep 4
		begun=$(date +%s)
		case $case in
		vtserver_killed)
			kill -KILL "$server"
			;;
		vtserver_stopped)
			kill -STOP "$server"
			# it goes on when all has ended
			(
				sleep 40
				kill -CONT "$server"
			) &
			;;
		vtserver_cut)
			ip link set eth0 down
			;;
		esac
	fi
	for host in 1 2; do
		eval "wait \$client$host"
		echo $? >"$folder/status.$host"
	done
	if [ -n "${server:-}" ]; then
		echo $(($(date +%s) - begun)) >"$folder/seconds"
		wait "$server"
	fi
	echo $? >"$folder/status.0"
	ls "$private"/*.stf >/dev/null 2>&1 || touch "$private/none.stf" # finish() waits for a trace
	finish
	exit 0
	;;
esac
word=$(cd "$private" && "$vtrun" --contact --join-wait=3s 2>"$folder/said") || exit 1
echo "$word" >"$folder/word"
case $case in
arrival)
	for host in 0 1 2 2; do
		start $host -- -- 20
	done
	wait
	;;
ranks)
	start 2 RANK=0 WORLD_SIZE=3 -- -- 10
	start 1 SLURM_PROCID=1 SLURM_NTASKS=3 -- -- 10
	start 0 -- --rank=2 --size=3 -- 10
	start 1 -- --rank=1 -- 1
	wait
	;;
missing)
	start 1 -- --rank=0 --size=3 -- 5
	start 2 -- --rank=2 -- 5
	wait
	;;
killed)
	start 0 -- -- 10
	start 1 -- -- 10
	start 2 -- -- 10 dies
	wait
	;;
node_process)
	start 0 -- -- 80
	start 1 -- -- 80
	start 2 -- -- 80
	sleep 4
	# of the host, whose network namespace is its own
	net=$("$NETNS_AGENT" node2 'readlink /proc/self/ns/net')
	for pid in $(pgrep -x vtsampler); do
		[ "$(readlink "/proc/$pid/ns/net")" != "$net" ] || kill -KILL "$pid"
	done
	wait
	;;
cut)
	start 0 -- -- 30
	start 1 -- -- 30
	start 2 -- -- 30
	sleep 1.5
	"$NETNS_AGENT" node2 'ip link set eth0 down'
	wait
	;;
clocks)
	timer=CPU
	for host in $all; do
		# each has time for its beginning; the clock of node1 is set meanwhile
		at=$(on "$host" "awk '{ printf \"%.0f\", \$1 * 1e9 + 2e9 }' /proc/uptime")
		start $host "SHIFT='$((host * 12345)) $((host * 70)) $at $((host % 2 * 300000000))'" -- \
			-- "'$folder'"
	done
	wait
	;;
pause)
	start 0 -- -- 90
	start 1 -- -- 90
	sleep 1.5
	"$NETNS_AGENT" node1 'ip link set eth0 down; sleep 5; ip link set eth0 up'
	wait
	;;
esac
finish
exit 0

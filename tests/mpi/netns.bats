#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The rig of two namespaced hosts: are they two, are their clocks apart, is everything gone after?

setup()
{
	netns=${top_srcdir:-$BATS_TEST_DIRNAME/../..}/tests/mpi/netns.sh
	export TMPDIR=$BATS_TEST_TMPDIR
}

quiet()
{
	sh "$netns" "$@" 2>"$TMPDIR/stderr"
}

# Runs the rig; without permission for namespaces the test is skipped with the rig's reason.
rig()
{
	run quiet "$@"
	[ "$status" -ne 77 ] || skip "$(cat "$TMPDIR/stderr")"
}

teardown()
{
	[ -z "${rig-}" ] || kill "$rig" 2>/dev/null || true
}

# how many processes run exactly "sleep $nap", a number of seconds that is this test's own
sleepers()
{
	for p in /proc/[0-9]*/cmdline; do
		tr '\0' ' ' <"$p" 2>/dev/null | grep -x "sleep $nap " || true
	done | wc -l
}

@test "mpirun starts one rank on each of two hosts" {
	rig -- mpirun -np 2 cat /proc/sys/kernel/hostname
	[ "$status" -eq 0 ]
	[ "$(printf '%s\n' "${lines[@]}" | sort | tr '\n' ' ')" = "node0 node1 " ]
}

@test "their boot-time clocks are apart by the offset" {
	rig -o 5000 -- mpirun -np 2 cut -d ' ' -f 1 /proc/uptime
	[ "$status" -eq 0 ]
	apart=$(printf '%s\n' "${lines[@]}" | sort -n | awk '{ d = $1 - d } END { printf "%.0f", d }')
	[ "$apart" -eq 5000 ]
}

@test "frames between them are held back, longer one way" {
	rig -d 50000,0,20000 -- bash \
		-c 'from=$(date +%s%N); (: </dev/tcp/10.78.0.2/9) 2>/dev/null; echo $(($(date +%s%N) - from))'
	[ "$status" -eq 0 ]
	# the address is asked for, then the connection: two round trips
	[ "$output" -ge 240000000 ]
}

@test "status, standard input and arguments with spaces pass" {
	rig -- sh -c 'cat; echo "$1"; exit 3' sh 'a  b' <<<"in"
	[ "$status" -eq 3 ]
	[ "$output" = $'in\na  b' ]
}

@test "a signal leaves neither process nor interface nor file" {
	rig -- true
	nap=9$$
	before=$(ip -o link | wc -l)
	sh "$netns" -- mpirun -np 2 sleep $nap 3>&- &
	rig=$!
	for _ in $(seq 600); do
		[ "$(sleepers)" -lt 2 ] || break
		sleep 0.1
	done
	[ "$(sleepers)" -eq 2 ]
	kill -TERM $rig
	status=0
	wait $rig || status=$?
	[ "$status" -eq 143 ]
	[ "$(sleepers)" -eq 0 ]
	[ "$(ip -o link | wc -l)" -eq "$before" ]
	[ -z "$(find "$TMPDIR" -name 'netns.*')" ]
}

@test "usage" {
	run sh "$netns"
	[ "$status" -eq 2 ]
	run sh "$netns" -o 1.5 -- true
	[ "$status" -eq 2 ]
	run sh "$netns" -d 1ms -- true
	[ "$status" -eq 2 ]
	[[ "$output" == "usage: netns.sh [-n HOSTS] [-o OFFSET] [-d DELAY[,JITTER[,ASYMMETRY]]] -- mpirun"* ]]
}

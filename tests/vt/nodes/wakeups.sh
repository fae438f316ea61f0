#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The processes beside a job that sleeps sleep as well: counts how often their threads wake up in 10 s. TAP.
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/lib.sh"
cd "$dir" || exit 99

switches() # of each thread of this job's node process and of VTserver: process, thread, voluntary switches so far
{
	for pid in $(pgrep -x vtsampler) $(pgrep -x VTserver); do
		# VTserver works in the folder, the node process writes raw files there
		find "/proc/$pid/cwd" "/proc/$pid/fd" -lname "$PWD*" 2>/dev/null | grep -q . || continue
		for task in /proc/"$pid"/task/*; do
			awk -v name="$(cat "/proc/$pid/comm") ${task##*/}" \
				'$1 == "voluntary_ctxt_switches:" { print name, $2 }' "$task/status" 2>/dev/null
		done
	done
}

# beside NAME [OPTION...]: wake-ups a second of each of the two processes, all threads, in the file `often`
beside()
{
	name=$1
	shift
	word=$("$vtrun" --contact --join-wait=20s --logfile-name "every-$name.stf" 2>out) || exit 99
	for rank in 0 1; do
		RANK=$rank WORLD_SIZE=2 "$vtrun" --join "$word" "$@" -- sleep 17 >>out 2>&1 &
	done
	sleep 5
	switches >before
	sleep 10
	switches >after
	wait
	expect wait_for 30 test -s "every-$name.stf"
	awk 'NR == FNR { n[$2] = $3; next } $2 in n { k[$1] += $3 - n[$2] } END { for (i in k) print i, k[i] / 10 }' \
		before after | sort >often
	cat often >>out
	sed 's/^/# /' often
}

# below PROCESS MOST
below()
{
	expect awk -v name="$1" -v most="$2" '$1 == name { n = $2 } END { exit !(n > 0 && n <= most) }' often
}

beside 1s
below VTserver 3
if ! "$build/vtcounters" | grep -q '^ntp_freq .* us ' || ! grep -q '^timer "CPU' every-1s.clk; then
	skip "wake-ups of the node process" "the timer is steered, or adjtimex() refused: a reading each 40 ms"
else
	# a second: one sample of both processes, two or three readings of the clocks, messages
	below vtsampler 9
	verdict "the processes beside a job that sleeps wake up a few times a second"
	# and ten samples of both at once
	beside 100ms --sample-period 100ms
	below VTserver 3
	below vtsampler 20
	verdict "samples of several processes are taken at one wake-up"
fi
done_testing

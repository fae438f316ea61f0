#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The core matrix in timertestcs, on a clock that all processing units share and on one that differs by 1 us from unit
# to unit, on this
# machine as it is and with a busy loop for each unit. TAP. RUNS in the environment: how often each (make check-long
# takes 200).
# shellcheck source=../../lib/tap.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/lib/tap.sh"
runs=${RUNS:-5}
loops=
trap 'kill $loops 2>/dev/null; rm -rf "$dir"' EXIT
trap 'exit 99' HUP INT TERM

reason()
{
	cat "$dir/bad" "$dir/err" 2>/dev/null | tail -20
}

count_lines() # count_lines VARIABLE REGULAR-EXPRESSION: one more if the output has it
{
	if grep -Eq -- "$2" "$dir/out"; then
		eval "$1=\$(($1 + 1))"
	fi
}

# many TIMER: counts over all runs in $failed, $unfit, $apart, $together, $unknown, $contradictory and $zeros
many()
{
	failed=0 zeros=0 unfit=0 apart=0 together=0 unknown=0 contradictory=0 n=0
	: >"$dir/bad"
	while [ $n -lt "$runs" ]; do
		n=$((n + 1))
		"$build/timertestcs" --timer "$1" --performance-time 10ms --force --output "$dir/cores" 0 0 \
			>"$dir/out" 2>"$dir/err"
		case $? in
		1) unfit=$((unfit + 1)) ;;
		2) failed=$((failed + 1)) ;;
		esac
		grep -E '^(core matrix|  PU|verdict)' "$dir/out" >>"$dir/bad"
		count_lines apart '^  PU .*: APART'
		count_lines together '^  PU .*: together'
		count_lines unknown '^  PU .*: not known'
		count_lines contradictory '^  PU .*: contradiction'
		count_lines zeros '^core matrix.*, 0 (apart|not known|contradictory)'
	done
	echo \
		"# $load, $1: $runs runs, $failed failed, $unfit NOT fit; pairs together in $together, apart in \
$apart, not known in" \
		"$unknown, contradictory in $contradictory"
}

# known TIMER: the same, again where no run could tell, because other programs had the units
known()
{
	for _ in 1 2 3; do
		many "$1"
		[ $unknown -eq "$runs" ] || break
	done
}

# What the kernel takes for one clock itself is one; else its own clock is.
shared=clock_monotonic_raw
[ "$(cat /sys/devices/system/clocksource/clocksource0/current_clocksource 2>/dev/null)" = tsc ] && shared=CPU
units=$(getconf _NPROCESSORS_ONLN)
[ -x "$build/timertestcs" ] || skip_all "timertestcs was not built"
{ [ "$units" -ge 2 ] && [ "$units" -le 8 ]; } || skip_all \
	"$units processing units; it takes 2 to 8, whose pairs are all listed"

for load in idle busy; do
	if [ $load = busy ]; then
		i=0
		while [ $i -lt "$units" ]; do
			(while :; do :; done) &
			loops="$loops $!"
			i=$((i + 1))
		done
	fi
	known "$shared"
	expect [ $failed -eq 0 ]
	expect [ $unfit -eq 0 ]
	expect [ $apart -eq 0 ]
	expect [ $contradictory -eq 0 ]
	verdict "$load: one clock is never NOT fit"
	[ $together -gt 0 ]
	ok "$load: and is found together" $?
	[ $zeros -eq 0 ]
	ok "$load: and no result is named that no pair has" $?
	known sim:base=clock_monotonic_raw,cores=1us
	expect [ $failed -eq 0 ]
	expect [ $together -eq 0 ]
	expect [ $contradictory -eq 0 ]
	expect [ $apart -gt 0 ]
	expect [ $unfit -eq $apart ]
	expect [ $((apart + unknown)) -eq "$runs" ]
	verdict "$load: clocks that differ by 1 us are found, unless two units never ran at the same time"
done
done_testing

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# timertest --check as a site runs it, on machines with one defect each: a preloaded library lies about clocks and NTP
# (tests/lib/clock_lies.c), --root has another kernel's files, the state directory another result. TAP.
# shellcheck source=../../lib/tap.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/lib/tap.sh"
timertest=$build/timertestcs
${CC:-cc} -shared -fPIC -O2 "$src/tests/lib/clock_lies.c" -o "$dir/lies.so" -ldl >"$dir/out" 2>&1 || { echo "Bail \
out! $(cat "$dir/out")"; exit 99; }

# the files of this machine that the checks read, with those that it may lack
root=$dir/root
source=sys/devices/system/clocksource/clocksource0
mkdir -p "$root/$source" "$root/proc/sys/kernel/random" "$root/usr/share/zoneinfo" "$root/dev"
cp /proc/cpuinfo "$root/proc/cpuinfo"
cp /proc/sys/kernel/random/boot_id "$root/proc/sys/kernel/random/boot_id"
echo tsc >"$root/$source/current_clocksource"
echo tsc hpet >"$root/$source/available_clocksource"
printf '#@ 1\n2272060800 10\n3692217600 37\n' >"$root/usr/share/zoneinfo/leap-seconds.list"
marker() # marker BYTE: of /dev/vmclock0, which changes when the machine moves to another host
{
	printf \
		"VCLK\\000\\000\
\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000\\$1\\000\\000\\000\\000\\000\\000\\000%040d" 0 >"$root/dev/vmclock0"
}
marker 007

check() # check LIE WORDS...: statuses in $dir/out
{
	lie=$1
	shift
	# a sanitizer's library does not come first here
	ASAN_OPTIONS=verify_asan_link_order=0${ASAN_OPTIONS:+:$ASAN_OPTIONS} LIE=$lie LD_PRELOAD=$dir/lies.so \
		XDG_STATE_HOME="$dir/state" timeout 60 "$timertest" --check --root "$root" --format prometheus "$@" \
		>"$dir/out" 2>"$dir/err"
}

status() # status NAME: 0 ok, 1 warning, 2 critical, 3 not known
{
	sed -n "s/^timertest_check_status{check=\"$1\"} //p" "$dir/out"
}

# what a busy machine could not measure is measured again
found() # found WHAT CHECK STATUS LIE WORDS...
{
	what=$1 name=$2 want=$3
	shift 3
	for try in 1 2 3 4 5 6; do
		check "$@"
		have=$(status "$name")
		[ "$have" = 3 ] || break
	done
	echo "$what: $name has status $have, wanted $want ($try)" >"$dir/verify"
	grep "\"$name\"" "$dir/out" >>"$dir/verify"
	[ "$have" = "$want" ]
	ok "$what: $name" $?
}

units=$(nproc)
judged='tsc.cross_core clock.tick clock.monotonic ntp.synchronised ntp.stepped ntp.slewed tai.offset'
for try in 1 2 3 4 5 6; do
	check none --local --timer clock_monotonic
	for name in $judged; do
		[ "$(status "$name")" = 0 ] || echo "$name has status $(status "$name")"
	done >"$dir/verify"
	grep -q 'has status 3$' "$dir/verify" || break
done
# a pair of cores may stay unmeasured, or there is no pair
expect_not grep -v '^tsc.cross_core has status 3$' "$dir/verify" >"$dir/diff"
expect [ -s "$dir/out" ]
verdict "a sound machine has none of the defects"

found "the time of day is stepped by 10 ms" ntp.stepped 1 step --local
if [ "$units" -gt 1 ]; then
	found "50 ppm between cores" tsc.cross_core 2 cores_apart --local --timer clock_monotonic
	found "a core is 1 us off" tsc.cross_core 2 core_offset --local --timer clock_monotonic
	found "the counter of a core is 1 us off" tsc.cross_core 2 none --local --timer sim:base=CPU,cores=1us
else
	skip "clocks that differ between cores" "one processing unit"
fi
found "stuck" clock.tick 2 stuck --local --timer clock_monotonic
found "backward" clock.monotonic 2 backward --local --timer clock_monotonic
found "coarse" clock.tick 2 coarse --local --timer clock_monotonic
found "coarse is not backward" clock.monotonic 0 coarse --local --timer clock_monotonic
found "not synchronised" ntp.synchronised 1 unsynchronised --local
found "slewing" ntp.slewed 1 slewing --local
found "wrong TAI" tai.offset 1 tai --local
echo hpet >"$root/$source/current_clocksource"
found "a clock source that takes a system call" clocksource.current 2 none --local
echo tsc >"$root/$source/current_clocksource"

# the other three need a result of this boot
if XDG_STATE_HOME="$dir/state" "$timertest" --json - 0.2 0.1 --timer CPU --performance-time 0.1s --output "$dir/tt" \
	>"$dir/json" 2>"$dir/err"; [ $? -le 3 ] && grep -q schema "$dir/json"; then
	state=$dir/state/tickmark/timertest.json
	sed 's/"current": *"[^"]*"/"current": "tsc"/; s/"clocksource": *"[^"]*"/"clocksource": "tsc"/;
		s/"vm_marker": *[^,]*,/"vm_marker": "7",/
		s/"hypervisor": *[^,]*,/"hypervisor": "KVMKVMKVM",/' "$state" >"$dir/kept" && cp "$dir/kept" "$state"
	check none
	# of one process there is no offset to judge
	expect [ "$(status clocksource.changed)$(status result.age)" = 00 ]
	expect [ -z "$(status sync.offset_max)" ]
	verdict "a result of this boot holds"
	echo kvm-clock >"$root/$source/current_clocksource"
	found "another clock source than at the first result" clocksource.changed 2 none
	echo tsc >"$root/$source/current_clocksource"
	found "suspended for 30 s since" result.age 1 suspended
	if grep -q '^flags.* hypervisor' /proc/cpuinfo; then
		[ "$(check none; status vm.migrated)" = 0 ]
		ok "the marker of the hypervisor is that of the result" $?
		marker 010
		found "migrated since" vm.migrated 1 none
	else
		skip "migrated since" "no virtual machine"
	fi
else
	skip "what changed since the stored result" "no JSON in this build: $(cat "$dir/err")"
fi
done_testing

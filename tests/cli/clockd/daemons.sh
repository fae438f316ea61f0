#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The error of the kernel's clock under the daemons that keep it, and what they leave in the kernel
# (tests/lib/ntp_says.c). The clock is wrong by a known time: no interval of tickmark-clockd and of its ClockBound
# segment, no offset of timertest --check and no true frequency may say otherwise, and a daemon that knows the error
# gets an interval. TAP.
# shellcheck source=../../lib/tap.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/lib/tap.sh"
timertest=$build/timertestcs
clockd=$build/tickmark-clockd
san=$(printf '%s ' ${CFLAGS:-} | tr ' ' '\n' | grep '^-f.*sanitize' | tr '\n' ' ')
[ -z "$san" ] || skip_all "a library is preloaded, which the sanitizers do not like"
[ -e "$build/.libs/libtickmark-clock.so" ] || skip_all "no shared library in this build"
${CC:-cc} -shared -fPIC -O2 "$src/tests/lib/ntp_says.c" -o "$dir/ntp_says.so" -ldl >"$dir/out" 2>&1
ok "what the kernel says is compiled" $?
TICKMARK_CLOCK_DIR=$dir/pages
export TICKMARK_CLOCK_DIR

faked() # faked COMMAND...: with the variables of $state
{
	# shellcheck disable=SC2086
	env LD_PRELOAD="$dir/ntp_says.so" $state "$@"
}

served() # served: "inside", "outside", or "unknown" and nothing is served
{
	rm -f "$dir/served"
	# shellcheck disable=SC2086
	env LD_PRELOAD="$dir/ntp_says.so" $state "$clockd" --every 20ms >"$dir/served" 2>"$dir/err" &
	server=$!
	tries=0
	until [ -s "$dir/served" ] || ! kill -0 $server 2>/dev/null || [ $tries -ge 600 ]; do
		sleep 0.1
		tries=$((tries + 1))
	done
	# it may be a while until it has seen who sets the numbers
	for wait in 0 0.5 1 2; do
		sleep $wait
		"$build/tests/lib/clock_reads" 2000 >"$dir/reads" 2>&1
		! grep -q ' 0 without' "$dir/reads" || break
		[ "$1" = inside ] || [ $wait != 0.5 ] || break
	done
	NTP_OFFSET_US=$offset "$build/tests/lib/clockbound_reads" "$TICKMARK_CLOCK_DIR/clockbound" 2000 \
		>"$dir/bound" 2>&1
	if kill $server 2>/dev/null; then
		wait $server
		cat "$dir/reads" "$dir/bound" "$dir/err" >"$dir/out"
		if grep -q ' 0 outside, 0 without' "$dir/reads" && grep -q ' 0 outside, 0 without' "$dir/bound"; then
			echo inside
		elif grep -q ' 2000 without' "$dir/reads" && grep -q ' 2000 without' "$dir/bound"; then
			echo unknown
		else
			echo outside
		fi
	else
		wait $server
		[ $? -ne 2 ] || echo unknown
		cat "$dir/err" >"$dir/out"
	fi
}

checked() # checked OFFSET_US: the states of ntp.synchronised and ntp.offset, and whether the offset is right
{
	faked "$timertest" --check --local --timer clock_monotonic --format json --output "$dir/check" >"$dir/err" 2>&1
	awk -F'[:,"]+' -v off="${1#-}" '$3 == "ntp.synchronised" { printf "%s", $5 }
		$3 == "ntp.offset" { right = $5 == "UNKNOWN" || ($7 * 1e6 >= off && $7 * 1e6 < 2 * off + 2000)
		printf " %s%s\n", $5, right ? "" : " wrong " $7 }' "$dir/check"
}

daemon() # daemon NAME SERVED CHECKED OFFSET_US VARIABLE=VALUE...: what the page has, what --check says
{
	name=$1 want=$2 judged=$3
	state="NTP_OFFSET_US=$4"
	shift 4
	for variable; do
		state="$state NTP_$variable"
	done
	offset=${state#*=}
	offset=${offset%% *}
	got=$(served "$want")
	expect [ "$got" = "$want" ]
	got=$(checked "$offset")
	expect [ "$got" = "$judged" ]
	faked "$timertest" --timer clock_monotonic --performance-time 20ms --state-dir '' --output "$dir/tt" --force \
		0.1 0 >"$dir/tt.out" 2>&1
	if [ "$want" = inside ]; then
		expect_line '^true frequency: .* well enough for so short a run' "$dir/tt.out"
	else
		expect_line '^true frequency: unknown, .*\(error unknown\|not synchronised\|refused\|leap\|slewed\)' \
			"$dir/tt.out"
	fi
	verdict "$name: $want"
}

# status 0x2000 STA_NANO, 0x2001 and STA_PLL, 0x2040 and STA_UNSYNC
daemon "chronyd" inside "OK OK" 1000 BOUND_US=1537 EST_US=40 STATUS=0x2000
daemon "chronyd, the other way" inside "OK OK" -1500 BOUND_US=1537 EST_US=40 STATUS=0x2000
daemon "chronyd without rtcsync" inside "OK OK" 1400 BOUND_US=1500 EST_US=40 STATUS=0x2040 STATE=5
daemon "chronyd with a PTP device" inside "OK OK" 30 BOUND_US=37 EST_US=0 STATUS=0x2000
daemon "chronyd, at a number that could have been 0" inside "OK OK" 1400 BOUND_US=1500 EST_US=40 STATUS=0x2000
daemon "ntpd, which has still to correct 3 ms" inside "OK OK" 5000 BOUND_US=2310 EST_US=200 LEFT_NS=3000000
daemon "ntpd, in microseconds" inside "OK OK" 5000 BOUND_US=2500 EST_US=200 LEFT_NS=3000 STATUS=1
daemon "a daemon that ended an hour ago" inside "WARNING CRITICAL" 1700000 BOUND_US=1801537 EST_US=40 STATUS=0x2040 \
	STATE=5
daemon "systemd-timesyncd" unknown "OK UNKNOWN" 3000000 BOUND_US=0 EST_US=0
daemon "systemd-timesyncd, between its polls" unknown "OK UNKNOWN" 3000000 BOUND_US=0 EST_US=0 EVERY=64
daemon "phc2sys after a boot" unknown "OK UNKNOWN" 3000000 BOUND_US=0 EST_US=16000000 STATUS=0x2000 EVERY=2
daemon "phc2sys after chronyd" unknown "OK UNKNOWN" 3000000 BOUND_US=0 EST_US=40 STATUS=0x2000 EVERY=2
daemon "phc2sys with few updates" unknown "OK UNKNOWN" -3000000 BOUND_US=500 EST_US=40 STATUS=0x2000 EVERY=64
daemon "OpenNTPD" unknown "OK UNKNOWN" 3000000 BOUND_US=0 EST_US=16000000 STATUS=0x2000 EVERY=30
daemon "nobody" unknown "WARNING UNKNOWN" 3000000 BOUND_US=16000000 EST_US=16000000 STATUS=0x2040 STATE=5
daemon "nobody, and the flag is cleared by hand" unknown "WARNING UNKNOWN" 3000000 BOUND_US=16000000 EST_US=40 \
	STATUS=0x2001
daemon "chronyd was killed while it slewed" unknown "OK UNKNOWN" 1000 BOUND_US=1537 EST_US=40 STATUS=0x2000 TICK=10500 \
	FAST_PPM=50000
daemon "a leap second" unknown "OK UNKNOWN" 1000000 BOUND_US=1537 EST_US=40 STATE=3
daemon "adjtimex() is refused" unknown "UNKNOWN UNKNOWN" 3000000 DENY=1
done_testing

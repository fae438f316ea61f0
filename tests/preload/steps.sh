#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A signal at each instruction that records a call (programs/steps.c): no call is lost, counted twice or taken for
# another one, and the trace is sound. TAP.
. "${top_srcdir:-.}/tests/preload/lib.sh"
[ "$(uname -m)" = x86_64 ] || skip_all 'only x86 runs a program step by step without a debugger'
[ -z "$sanitizer" ] || skip_all 'AddressSanitizer adds thousands of steps to each call'
made steps -g -O1 -finstrument-functions || { cat "$dir/diff"; exit 99; }
VT_FORCE=on
export VT_FORCE

calls() # calls FUNCTION: how often it was entered, in the trace
{
	awk -v f="\"$1\"" '/DEFFUNCTION/ { id[$2] = $3 } $2 == "ENTER" && id[$6] == f { n++ } END { print n + 0 }' dump
}

counted() # counted FUNCTION: the same in its statistics
{
	"$build/stftool" steps.stf --print-statistics | "$build/tools/convert-stats" |
		awk -F'\t' -v f="$1" 'NR > 1 { sub(".*:", "", $2); if ($2 == f) { n += $6 } } END { print n + 0 }'
}

deepest() # how many states are inside each other at most
{
	awk '$2 == "ENTER" { n++ } $2 == "LEAVE" { n-- } n > most { most = n } END { print most + 0, n + 0 }' dump
}

run() # run MODE OPTION...
{
	fresh
	options="--logfile-name steps.stf --counter-min-interval 10s $2"
	sampled "$dir/steps" "$1"
	expect_status 0
	read -r leaves handled steps <"$dir/out" || not_met "the program prints its counts"
	expect [ "${steps:-0}" -ge 100 ]
	expect_trace steps.stf
	[ "$1" = jump ] || expect_no_line 'without a beginning' "$dir/err"
	"$build/stftool" steps.stf --dump >dump
}

for timer in CPU clock_monotonic; do
	for more in '' '--statistics on' '--pctrace 2'; do
		run nested "--timer $timer $more"
		expect [ "$(calls leaf)" = "$leaves" ]
		expect [ "$(deepest)" = '2 0' ]
		if [ "$more" = '--statistics on' ]; then
			expect [ "$(counted leaf)" = "$leaves" ]
			expect [ "$(counted handler_leaf)" = "$handled" ]
		else
			# a call of the handler within a record is lost, and that is reported
			expect [ "$(calls handler_leaf)" -ge $((handled * 8 / 10)) ]
			expect_line 'records are missing: of signal handlers that came' "$dir/err"
		fi
		verdict "a handler that calls a function, at $steps steps: --timer $timer $more"
	done
	run nested "--timer $timer --statistics on --throttle 10:1s"
	expect [ "$(counted leaf)" = "$leaves" ]
	expect [ "$(counted handler_leaf)" = "$handled" ]
	verdict "and with --throttle"

	# A call that was left before it began may count, one that was left while it ended may not, and a jump while its
	# place is taken may leave it open.
	run jump "--timer $timer --statistics on"
	expect [ "$(counted leaf)" -ge $((leaves - steps / 10)) ]
	expect [ "$(counted leaf)" -le $((leaves + steps)) ]
	expect [ "$(deepest | cut -d ' ' -f 1)" -le $((2 + steps / 25)) ]
	verdict "a handler that jumps out, at $steps steps: --timer $timer"
done
done_testing

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A program that makes children and leaves functions in every way (programs/storm.cc), under sets of options. In six
# runs, each pair of the ten things below is on together, off together, and one without the other; in four more,
# functions and trace are on with the rest. STORM_INTERRUPTED=1: one more, which is interrupted at any place.
# Exit status, output and recorded counts are compared with what the program says itself. STORM_TIMES: how often (1).
# TAP.
. "${top_srcdir:-.}/tests/preload/lib.sh"
[ "${CXX:-no}" != no ] || skip_all 'no C++ compiler here (configure CXX=...)'
VT_FORCE=on
export VT_FORCE
parts="children threads many"
[ -z "$sanitizer" ] || parts="two_rounds $parts" # AddressSanitizer ends a thread one round earlier
for kind in functions plain; do
	[ $kind = functions ] && flag=-finstrument-functions || flag=
	# shellcheck disable=SC2086
	$CXX -g -O1 $flag "$src/tests/preload/programs/storm.cc" -o "$dir/$kind" -lpthread >"$dir/diff" 2>&1 ||
		{ cat "$dir/diff"; skip_all 'the program does not compile here'; }
done

# called FUNCTION: how often it is in the trace, and in its statistics
called()
{
	"$build/stftool" storm.stf --dump >"$dir/dump"
	awk -v f="\"$1\"" '/DEFFUNCTION/ { id[$2] = $3 } $2 == "ENTER" && id[$6] == f { n++ }
		END { print n + 0 }' "$dir/dump"
}
counted()
{
	"$build/stftool" storm.stf --print-statistics | "$build/tools/convert-stats" |
		awk -F'\t' -v f="$1" 'NR > 1 { sub(".*:", "", $2); if ($2 == f) { n += $6 } } END { print n + 0 }'
}

compare_counts() # compare_counts WORDS: with what the program printed
{
	case $1 in
	*' throttle '* | *' limit '*) expect [ "$(called leaf)" -le "$leaves" ] && expect [ "$(called leaf)" -ge 1 ] ;;
	*' children '*) expect [ "$(called leaf)" = "$leaves" ] ;;
	*)
		expect [ "$(called leaf)" = "$leaves" ]
		# handlers that came in the middle of another record, or when a thread had ended, are not there: the
		# records of two functions of each are counted as lost
		lost=$(sed -n 's/.*: \([0-9]*\) records are missing.*/\1/p' "$dir/err")
		expect [ $((4 * (handled - $(called handler_leaf)))) -eq "${lost:-0}" ]
		# eight threads at a time, with late destructors: eight rows
		expect [ "$(awk '$2 == "ENTER" { print $4 }' "$dir/dump" | sort -u | wc -l)" -le 9 ]
		;;
	esac
	case $1 in
	*' statistics '*) expect [ "$(counted leaf)" = "$leaves" ] ;;
	esac
}

# run NUMBER WORD...: what is on
run()
{
	number=$1
	shift
	program=plain options='--logfile-name storm.stf --counters-only'
	unset VT_ACTIVITY
	for word; do
		case $word in
		trace) options=${options% --counters-only} ;;
		functions) program=functions ;;
		system) export VT_ACTIVITY='SYSTEM on' ;;
		statistics) options="$options --statistics on" ;;
		summary) options="$options --summary" ;;
		throttle) options="$options --throttle 3:1s" ;;
		children) options="$options --follow-children" ;;
		limit) options="$options --flush-limit 1MB" ;;
		pctrace) options="$options --pctrace 3" ;;
		sampler) options="$options --sample-period 1ms --counter proc_usr" ;;
		esac
	done
	fresh
	# shellcheck disable=SC2086
	sampled "$dir/$program" $parts
	expect_status 0
	read -r leaves handled <"$dir/out" || not_met "the program prints its counts"
	expect_trace storm.stf
	case " $* " in
	*' trace functions '*) compare_counts " $* " ;;
	esac
	verdict "$number: $*"
}

# Each of 200 jumps, at any place of what records a call, may lose that call, and a call of which only the begin counts
# may be there.
interrupted()
{
	options='--logfile-name storm.stf --statistics on'
	unset VT_ACTIVITY
	fresh
	sampled "$dir/functions" interrupted
	expect_status 0
	read -r leaves handled <"$dir/out" || not_met "the program prints its counts"
	expect_trace storm.stf
	n=$(called leaf)
	expect [ "$n" -ge $((leaves - 600)) ] && expect [ "$n" -le $((leaves + 600)) ]
	expect [ "$(called on_alarm)" -ge 100 ]
	expect [ "$(called filler)" -ge 1000 ]
	expect [ "$(grep -c 'stacks were switched' "$dir/err")" = 0 ]
	verdict "$1: jumps out of handlers, and cancellation, within the recording of a call"
}

for _ in $(seq "${STORM_TIMES:-1}"); do
	run 1 nothing
	run 2 trace functions system statistics summary throttle
	run 3 trace functions system children limit pctrace
	run 4 trace statistics summary children limit sampler
	run 5 functions statistics throttle children pctrace sampler
	run 6 system summary throttle limit pctrace sampler
	run 7 trace functions
	run 8 trace functions statistics throttle children pctrace sampler
	run 9 trace functions system summary throttle limit pctrace sampler
	run 10 trace functions statistics summary children limit sampler
	# By hand only: it hung once in ten runs, for a reason that is not known. AddressSanitizer itself ends a program
	# whose thread was cancelled within a function of its own.
	[ -n "$sanitizer" ] || [ -z "${STORM_INTERRUPTED:-}" ] || interrupted 11
done
done_testing

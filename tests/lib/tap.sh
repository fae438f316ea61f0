# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# What all test scripts share; to be sourced. TAP; everything that a test makes is in $dir, which goes with it, and so
# does what was mounted below: $dir/full or "$mounted".
set -u
# shellcheck disable=SC2034
build=$(cd "${top_builddir:-.}" && pwd) src=$(cd "${top_srcdir:-.}" && pwd)
dir=$(mktemp -d) || exit 99
mounted=
trap 'umount "$dir/full" 2>/dev/null; [ -z "$mounted" ] || umount "$mounted"; rm -rf "$dir"' EXIT
# a user's settings are not the test's
for v in $(env | sed -n 's/^\(VT_[A-Z_]*\)=.*/\1/p'); do
	unset "$v"
done
# the programs run in the locale of the caller; what looks at their output reads numbers with a point and sorts by bytes
for v in awk comm grep join sed sort stat tr uniq; do
	eval "$v() { LC_ALL=C command $v \"\$@\"; }"
done
# unmet: what the parts of a verdict found
count=0 bad=0 unmet=$dir/.unmet

reason() # what is shown of a test that failed; a script may have its own
{
	cat "$dir/diff" "$dir/out" "$dir/err" "$dir/verify" 2>/dev/null | tail -60
}

ok() # ok NAME STATUS: passes if STATUS is 0, and each expect_... since the verdict before held
{
	count=$((count + 1))
	if [ "$2" -eq 0 ] && [ ! -s "$unmet" ]; then
		echo "ok $count - $1"
	else
		bad=1
		echo "not ok $count - $1"
		{ cat "$unmet" 2>/dev/null && reason; } | sed 's/^/# /'
	fi
	rm -f "$dir/diff" "$dir/verify" "$unmet" "$unmet".*
}

# ---- A verdict of several parts: each expect_... that does not hold is named, with what was there instead. "verdict"
# ends them.
# They return what they found, work in a subshell and at the end of a pipe, and go on: what cannot be looked at after
# one that failed is joined to it by "&&".

verdict() # verdict NAME: passes if each expect_... since the verdict before held
{
	ok "$1" 0
}

not_met() # not_met TEXT [FILE]: notes that a part does not hold, with the end of FILE; always false
{
	{
		echo "not met: $1"
		[ $# -lt 2 ] || tail -n 20 "$2" 2>&1 | sed 's/^/    /'
	} >>"$unmet"
	return 1
}

expect() # expect COMMAND...: succeeds
{
	"$@" || not_met "$* (status $?)"
}

expect_not() # expect_not COMMAND...: fails
{
	! "$@" || not_met "it must fail: $*"
}

expect_status() # expect_status WANTED...: $status is one of these
{
	case " $* " in
	*" $status "*) ;;
	*) not_met "exit status $*, but it is $status" ;;
	esac
}

expect_empty() # expect_empty FILE
{
	[ ! -s "$1" ] || not_met "$1 is empty, but it has:" "$1"
}

expect_same() # expect_same WANTED HAVE: two files
{
	diff "$1" "$2" >"$unmet.diff" 2>&1 || not_met "$2 is as $1, but diff says:" "$unmet.diff"
}

expect_text() # expect_text TEXT FILE: it has this and nothing else
{
	[ "$(cat "$2")" = "$1" ] || not_met "$2 says '$1', but it has:" "$2"
}

expect_line() # expect_line [GREP'S OPTION...] PATTERN FILE: a line of FILE (-: standard input) matches
{
	for looked_in; do :; done
	if [ "$looked_in" = - ]; then
		cat >"$unmet.in"
		grep "$@" <"$unmet.in" >"$unmet.found" ||
			not_met "a line of standard input for: grep $*, but it has:" "$unmet.in"
	else
		grep "$@" >"$unmet.found" 2>&1 || not_met "a line for: grep $*, but the file has:" "$looked_in"
	fi
}

expect_lines() # expect_lines NUMBER [GREP'S OPTION...] PATTERN FILE: so many lines of FILE match
{
	wanted_lines=$1
	shift
	for looked_in; do :; done
	[ "$(grep -c "$@")" = "$wanted_lines" ] ||
		not_met "$wanted_lines lines for: grep $*, but the file has:" "$looked_in"
}

# expect_no_line [GREP'S OPTION...] PATTERN FILE: no line of FILE (-: standard input) matches; FILE is there
expect_no_line()
{
	grep "$@" >"$unmet.found" 2>&1
	case $? in
	1) ;;
	0) not_met "no line for: grep $*, but there is:" "$unmet.found" ;;
	*) not_met "grep $* can read its file:" "$unmet.found" ;;
	esac
}

expect_trace() # expect_trace TRACE...: each is there, and stftool --verify finds no fault
{
	for trace_of_these; do
		[ -e "$trace_of_these" ] || { ls >"$unmet.found" &&
			not_met "a trace $trace_of_these, but there are:" "$unmet.found"; } ||
			return 1
		"$build/stftool" "$trace_of_these" --verify >"$unmet.found" 2>&1 ||
			not_met "a sound trace $trace_of_these, but --verify says:" "$unmet.found" || return 1
	done
}

# wait_for SECONDS COMMAND...: asks ten times a second until COMMAND succeeds; fails, and says so, after SECONDS
wait_for()
{
	turns_left=$(($1 * 10)) waited_for=$1
	shift
	until "$@" >/dev/null 2>&1; do
		if [ $turns_left -le 0 ]; then
			echo "# waited $waited_for s in vain for: $*"
			return 1
		fi
		turns_left=$((turns_left - 1))
		sleep 0.1
	done
}

no_raw_files() # none is in the current folder: the sampler process has made its trace
{
	! ls .VT-flush-* >/dev/null 2>&1
}

result() # result NAME TEXT: passes when TEXT is empty
{
	count=$((count + 1))
	if [ -z "$2" ]; then
		echo "ok $count - $1"
	else
		printf '%s\n' "$2" | sed 's/^/# /'
		echo "not ok $count - $1"
		bad=1
	fi
}

skip() # skip NAME REASON
{
	count=$((count + 1))
	echo "ok $count - $1 # SKIP $2"
}

installed() # installed NAME: libVTcs.so would find this library where it is to be installed
{
	path=$(tr '\0' '\n' <"$build/.libs/libVTcs.so" | LC_ALL=C grep -a "^/.*/tickmark/$1\$")
	[ -e "${path:?no path of $1 in libVTcs.so}" ]
}

skip_all() # skip_all REASON
{
	echo "1..0 # SKIP $1"
	exit 0
}

# sampler PROTOCOL: the process id of the sampler process
sampler()
{
	sed -n 's/^INFO SAMPLED by process \([0-9]*\)$/\1/p' "$1"
}

switches() # switches PROTOCOL: how often its sampler process has given up its CPU: once for each time it waited
{
	sed -n 's/^voluntary_ctxt_switches:[^0-9]*//p' "/proc/$(sampler "$1")/status" 2>/dev/null
}

has_switched() # has_switched N PROTOCOL: N times or more
{
	[ "$(switches "$2")" -ge "$1" ]
}

ticks() # ticks N PROTOCOL: waits until its sampler process has waited N times more, two minutes at most
{
	wait_for 60 has_switched 0 "$2"
	wait_for 60 has_switched $(($(switches "$2") + $1)) "$2"
}

# sanitizer_of LIBRARY: what it was sanitized with, which must be there first in programs that were not
sanitizer_of()
{
	ldd "$build/.libs/$1" 2>/dev/null | sed -n 's/^.* => \(.*lib[at]san[^ ]*\) .*/\1/p'
}

# find_vtrun: $vtrun is the program, or a script that brings the sanitizer for what is not sanitized
find_vtrun()
{
	vtrun=$build/vtrun
	sanitizer=$(sanitizer_of libVTcs.so)
	[ -n "$sanitizer" ] || return 0
	vtrun=$dir/vtrun
	# shellcheck disable=SC2016
	printf \
		'#!/bin/sh\nexport LD_PRELOAD="%s${LD_PRELOAD:+:$LD_PRELOAD}" '\
'ASAN_OPTIONS="$ASAN_OPTIONS:verify_asan_link_order=0:detect_leaks=0"\nexec "%s" "$@"\n' "$sanitizer" "$build/vtrun" \
>"$vtrun"
	chmod +x "$vtrun"
}

done_testing()
{
	echo "1..$count"
	exit "$bad"
}

# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# What all test scripts share; to be sourced. TAP; everything that a test makes is in $dir, which goes with it, and so does
# what was mounted below: $dir/full or "$mounted".
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
count=0 bad=0

reason() # what is shown of a test that failed; a script may have its own
{
	cat "$dir/diff" "$dir/out" "$dir/err" "$dir/verify" 2>/dev/null | tail -60
}

ok() # ok NAME STATUS: status 0 is a pass
{
	count=$((count + 1))
	if [ "$2" -eq 0 ]; then
		echo "ok $count - $1"
	else
		bad=1
		echo "not ok $count - $1"
		reason | sed 's/^/# /'
	fi
	rm -f "$dir/diff" "$dir/verify"
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

ticks() # ticks N PROTOCOL: waits until its sampler process has waited N times more, two minutes at most
{
	tries=0
	until [ -n "$(switches "$2")" ] || [ $tries -ge 600 ]; do
		tries=$((tries + 1))
		sleep 0.1
	done
	first_switch=$(switches "$2")
	until [ "$(switches "$2")" -ge $((first_switch + $1)) ] 2>/dev/null || [ $tries -ge 1200 ]; do
		tries=$((tries + 1))
		sleep 0.1
	done
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
	printf '#!/bin/sh\nexport LD_PRELOAD="%s${LD_PRELOAD:+:$LD_PRELOAD}" ASAN_OPTIONS="$ASAN_OPTIONS:verify_asan_link_order=0:detect_leaks=0"\nexec "%s" "$@"\n' "$sanitizer" "$build/vtrun" >"$vtrun"
	chmod +x "$vtrun"
}

done_testing()
{
	echo "1..$count"
	exit "$bad"
}

# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# What the tests of the VT interface share; to be sourced. TAP; everything that they make is in $dir.
set -u
build=$(cd "${top_builddir:-.}" && pwd)
src=$(cd "${top_srcdir:-.}" && pwd)
# shellcheck disable=SC2034
here=$src/tests/vt lib=$build/.libs include=$src/collector-plugin
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
# what the libraries were sanitized with, the programs must be too
# shellcheck disable=SC2034
san=$(printf '%s ' ${CFLAGS:-} | tr ' ' '\n' | grep '^-f.*sanitize' | tr '\n' ' ')
if [ -n "$san" ]; then
	# vtrun's library comes ahead of all that the program is linked with
	ASAN_OPTIONS=verify_asan_link_order=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
	export ASAN_OPTIONS
fi
count=0 bad=0

ok() # ok NAME STATUS: status 0 is a pass; $dir/out is shown otherwise
{
	count=$((count + 1))
	if [ "$2" -eq 0 ]; then
		echo "ok $count - $1"
	else
		bad=1
		echo "not ok $count - $1"
		sed 's/^/# /' "$dir/out" 2>/dev/null | tail -40
	fi
}

skip() # skip NAME REASON
{
	count=$((count + 1))
	echo "ok $count - $1 # SKIP $2"
}

done_testing()
{
	echo "1..$count"
	exit "$bad"
}

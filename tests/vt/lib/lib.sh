# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# What the tests of the VT interface share; to be sourced. TAP; everything that they make is in $dir.
# shellcheck source=../../lib/tap.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/lib/tap.sh"
# shellcheck disable=SC2034
here=$src/tests/vt lib=$build/.libs include=$src/include
# what the libraries were sanitized with, the programs must be too
# shellcheck disable=SC2034
san=$(printf '%s ' ${CFLAGS:-} | tr ' ' '\n' | grep '^-f.*sanitize' | tr '\n' ' ')
find_vtrun
if [ -n "$san" ]; then
	# vtrun's library comes before all that the program is linked with
	ASAN_OPTIONS=verify_asan_link_order=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
	export ASAN_OPTIONS
fi

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The libraries that others link have every function and type of 0.2.0, the last release, as abi/ holds them. Made by
# abidw --headers-dir include --no-corpus-path --no-comp-dir-path --no-show-locs LIBRARY, again after each release that
# breaks them and counts up their sonames. TAP.
# shellcheck source=../lib/tap.sh source-path=SCRIPTDIR
. "${top_srcdir:-$(dirname "$0")/../..}/tests/lib/tap.sh"
command -v abidiff >/dev/null 2>&1 || skip_all "no abidiff (Debian: abigail-tools)"
libraries='libtickmark-stf libtickmark-clock libVTnull'

# compare DUMP LIBRARY: what is gone or differs; what is new may be
compare()
{
	abidiff --no-added-syms --headers-dir1 "$src/include" --headers-dir2 "$src/include" "$1" "$2" >"$dir/out" 2>&1
}

for name in $libraries; do
	library=$build/.libs/$name.so.0
	if [ ! -e "$library" ] || ! readelf -S "$library" | grep -q ' \.debug_info '; then
		skip "$name" "it is not built as a shared library with -g"
		continue
	fi
	xz -dc "$src/tests/house/abi/$name.abi.xz" >"$dir/$name.abi"
	expect compare "$dir/$name.abi" "$library"
	verdict "$name has what it had in 0.2.0"
done

library=$build/.libs/libtickmark-stf.so.0
if [ -e "$dir/libtickmark-stf.abi" ]; then
	sed 's/stf_version/stf_gone/g' "$dir/libtickmark-stf.abi" >"$dir/gone.abi"
	compare "$dir/gone.abi" "$library" && not_met "a lost function is an error" "$dir/out"
	expect_line 'stf_gone' "$dir/out"
	int=$(sed -n "s/.*<type-decl name='int' .* id='\([^']*\)'.*/\1/p" "$dir/libtickmark-stf.abi")
	sed "s/<return type-id='$int'/<return type-id='type-id-1'/" "$dir/libtickmark-stf.abi" >"$dir/type.abi"
	compare "$dir/type.abi" "$library" && not_met "another type of a result is an error" "$dir/out"
	expect_line 'return type changed' "$dir/out"
	verdict "a function that is gone, and a result of another type, are found"
fi
done_testing

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The libraries that others link have every function and type that abi/ holds: what 0.2.0 will have. Each is made by
#	abidw --headers-dir include --drop-private-types --no-corpus-path --no-comp-dir-path --no-show-locs \
#		build/.libs/NAME.so.0 | xz >tests/house/abi/NAME.abi.xz
# Until 0.2.0 is released a change of a public header makes it again; from then on only a release that counts up the
# soname does. Types that no public header defines are not in it, and may change. TAP.
# shellcheck source=../lib/tap.sh source-path=SCRIPTDIR
. "${top_srcdir:-$(dirname "$0")/../..}/tests/lib/tap.sh"
command -v abidiff >/dev/null 2>&1 || skip_all "no abidiff (Debian: abigail-tools)"
libraries='libtickmark-stf libtickmark-clock libVTnull'

# compare DUMP LIBRARY: what is gone or differs; what is new may be
compare()
{
	abidiff --no-added-syms "$1" "$2" >"$dir/out" 2>&1
}

for name in $libraries; do
	library=$build/.libs/$name.so.0
	if [ ! -e "$library" ] || ! readelf -S "$library" | grep -q ' \.debug_info '; then
		skip "$name" "it is not built as a shared library with -g"
		continue
	fi
	xz -dc "$src/tests/house/abi/$name.abi.xz" >"$dir/$name.abi"
	expect compare "$dir/$name.abi" "$library"
	verdict "$name has what 0.2.0 will have"
done

# Each of these libraries has all VT_ functions. mpi_table.sh compares those of MPI and OpenSHMEM with their tables.
missing_calls() # missing_calls LIBRARY: functions that libVTnull of 0.2.0 has and it lacks
{
	nm -D --defined-only "$1" | awk '{ print $3 }' | sort -u | comm -23 "$dir/calls" -
}
xz -dc "$src/tests/house/abi/libVTnull.abi.xz" | sed -n "s/.*<elf-symbol name='\([^']*\)'.*/\1/p" |
	sort -u >"$dir/calls"
expect [ "$(wc -l <"$dir/calls")" -ge 222 ]
for name in libVTnull libVTcs libVT libVTfs libVTim libVTabi; do
	[ -e "$build/.libs/$name.so" ] || continue
	missing_calls "$build/.libs/$name.so" >"$dir/out"
	expect_empty "$dir/out"
done
verdict "each library of the collector has all VT_ functions of 0.2.0"
printf 'VT_enter_gone\n' | sort - "$dir/calls" >"$dir/more" && mv "$dir/more" "$dir/calls"
expect [ "$(missing_calls "$build/.libs/libVTcs.so")" = VT_enter_gone ]
verdict "and one that is gone is found"

library=$build/.libs/libtickmark-stf.so.0
if [ -e "$dir/libtickmark-stf.abi" ]; then
	sed 's/stf_version/stf_gone/g' "$dir/libtickmark-stf.abi" >"$dir/gone.abi"
	compare "$dir/gone.abi" "$library" && not_met "a lost function is an error" "$dir/out"
	expect_line 'stf_gone' "$dir/out"
	int=$(sed -n "s/.*<type-decl name='int' .* id='\([^']*\)'.*/\1/p" "$dir/libtickmark-stf.abi")
	sed "s/<return type-id='$int'/<return type-id='type-id-1'/" "$dir/libtickmark-stf.abi" >"$dir/type.abi"
	compare "$dir/type.abi" "$library" && not_met "another type of a result is an error" "$dir/out"
	expect_line 'return type changed' "$dir/out"
	sed "/class-decl name='stf_team'/s/size-in-bits='[0-9]*'/size-in-bits='64'/" \
		"$dir/libtickmark-stf.abi" >"$dir/size.abi"
	compare "$dir/size.abi" "$library" && not_met "a public structure that grew is an error" "$dir/out"
	expect_line 'type size changed from 64 to ' "$dir/out"
	verdict "a function that is gone, a result of another type, and a structure that grew are found"
fi
done_testing

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Regions and functions by VT_ calls: the trace says what the program did, thread by thread. TAP.
set -u
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/lib.sh"

# same NAME THREADS STEPS SEED [WRONG]: the program with those arguments, and the trace of it
same()
{
	name=$1
	shift
	rm -f "$dir"/t.*
	VT_LOGFILE_NAME=$dir/t.stf VT_VERBOSE=0 expect timeout 100 "$dir/regions" "$@" >"$dir/out" 2>&1
	expect sort -s -n -k1,1 "$dir/out" >"$dir/said"
	expect "$build/stftool" "$dir/t.stf" --dump >"$dir/dump" 2>&1
	awk -f "$here/lib/regions.awk" "$dir/dump" | expect sort -s -n -k1,1 >"$dir/traced"
	expect [ -s "$dir/said" ]
	expect_same "$dir/said" "$dir/traced"
	verdict "$name"
}

# shellcheck disable=SC2086
${CC:-cc} $san -g -I"$include" -o "$dir/regions" "$here/api/programs/regions.c" -L"$lib" -lVTcs -Wl,-rpath,"$lib" \
	-lpthread ||
	exit 99
same "the states of a thread are in the trace" 1 20000 1
same "those of four threads" 4 5000 2
same "wrong handles and wrong nesting break nothing" 3 2000 3 wrong
grep -q ' ENTER CPU .* SCL 1' "$dir/dump"
ok "source locations are there" $?

# of a program that does not call VT_finalize() the sampler process writes the trace, soon after
trace_comes()
{
	i=0
	while [ ! -s "$dir/t.stf" ] && [ $i -lt 600 ]; do
		sleep 0.1
		i=$((i + 1))
	done
	[ -s "$dir/t.stf" ]
}
# placed NAME WANTED COMPILER...: the program's states in order, with the lines of their source locations: "+name:line",
# "-:line", and scopes
placed()
{
	name=$1
	echo "$2" >"$dir/said"
	shift 2
	rm -f "$dir"/t.*
	# shellcheck disable=SC2086
	expect "$@" $san -I"$include" -o "$dir/placed" -L"$lib" -lVTcs -Wl,-rpath,"$lib" >"$dir/out" 2>&1
	VT_LOGFILE_NAME=$dir/t.stf VT_VERBOSE=0 expect timeout 100 "$dir/placed" >"$dir/out" 2>&1
	expect trace_comes
	expect "$build/stftool" "$dir/t.stf" --dump >"$dir/dump" 2>&1
	awk '$1 == "DEFSCL" { line[$2] = ":" $8 }
			$1 == "DEFFUNCTION" || $1 == "DEFSCOPE" { split($0, part, "\""); called[$1 $2] = part[2] }
			$2 == "ENTER" { print "+" called["DEFFUNCTION" $6] ($7 == "SCL" ? line[$8] : "") }
			$2 == "LEAVE" { print "-" ($5 == "SCL" ? line[$6] : "") }
			$2 == "ENTERSCOPE" { print "[" called["DEFSCOPE" $6] }
			$2 == "LEAVESCOPE" { print "]" called["DEFSCOPE" $6] }' "$dir/dump" | tr '\n' ' ' |
			expect sed 's/ $//' >"$dir/traced"
	expect echo >>"$dir/traced"
	expect_same "$dir/said" "$dir/traced"
	verdict "$name"
}
if [ "${CXX:-no}" != no ]; then
	at() { sed -n "/$1/=" "$here/api/programs/api_cxx.cc" | tr -d '\n'; } # the line that matches
	static=$(at 'static VT_SclDef')
	# region.end() is wrong nesting, because the function `plain` was entered later: nothing is left before main()
	# ends
	# shellcheck disable=SC2086
	placed "the classes of C++, an exception too" \
		"+call nohandles() +placed:$(at VT_Region.later) +region +region:$static +region +nohandles:$(at \
		'VT_Function func("nohandles"') - +handles:$(at VT_SCL_DEF_CXX) - +handles:$(at \
		VT_SCL_DEF_CXX) - +throwing - +later - +later:$(at 'later.begin.*__FILE__') -:$(at \
		'later.end.*__FILE__') +region -:$static +region:$static - - - - - -" \
		$CXX -std=c++11 "$here/api/programs/api_cxx.cc"
else
	skip "the classes of C++, an exception too" "no C++ compiler"
fi
if [ -n "${FC:-}" ] && [ "$FC" != no ]; then
	placed "Fortran" "+solve:17 - +solve:17 -:17 +solve - +A - [scope ]scope +TRACE_FLUSH -" "$FC" -std=f2018 \
		"$here/api/programs/api_free.f90"
else
	skip "Fortran" "no Fortran compiler"
fi
done_testing

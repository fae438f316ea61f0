#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Source locations (the guide's sections 2.9 and 3.1.4): call stacks of a program whose lines are known. TAP.
set -u
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/lib.sh"

grep -q 'define HAVE_LIBDW 1' "$build/config.h" || skip_all "built without libdw"

line() # line NAME ...: the lines of pctrace.c with these marks
{
	for m in "$@"; do
		sed -n "/:$m [*]/=" "$here/functions/programs/pctrace.c"
	done | tr '\n' ' '
}

build_it() # build_it OPTIONS
{
	# shellcheck disable=SC2086
	${CC:-cc} $san -g "$@" -I"$include" -o "$dir/prog" "$here/functions/programs/pctrace.c" -L"$lib" \
		-lVTcs -Wl,-rpath,"$lib" || exit 99
}

run() # run N: the program, with its calls as often
{
	rm -f "$dir"/t.*
	VT_LOGFILE_NAME=$dir/t.stf VT_VERBOSE=1 timeout 100 "$dir/prog" "$1" >"$dir/out" 2>"$dir/err" &&
		"$build/stftool" "$dir/t.stf" --dump >"$dir/dump"
}

# stack KIND FUNCTION: the lines of the first such event of the function, those in the program's own source
stack()
{
	awk -v kind="$1" -v want="$2" '
		$1 == "DEFSCL" { for (i = 1; $i != "LINE"; i++); n = $(i + 1); l = "";
		for (k = 0; k < n; k++) l = l $(i + 2 + k) " "; lines[$2] = l }
		$1 == "DEFFUNCTION" { names[$2] = $3; gsub(/"/, "", names[$2]) }
		$2 == "ENTER" { for (i = 1; i <= NF; i++) { if ($i == "FUNCTION") f = $(i + 1);
		if ($i == "SCL") s = $(i + 1) } open[++d] = f
			if (kind == "enter" && names[f] == want && !done++) print lines[s]; s = 0 }
		$2 == "LEAVE" { s = 0; for (i = 1; i <= NF; i++) if ($i == "SCL") s = $(i + 1); f = open[d--]
			if (kind == "leave" && names[f] == want && !done++) print lines[s] }' "$dir/dump" | tr -d '\n'
}

check() # check LEVELS STACK WANTED: the first LEVELS lines of what stack printed
{
	[ "$(echo "$2" | cut -d' ' -f1-"$1")" = "$(echo "$3" | cut -d' ' -f1-"$1")" ] || {
		echo "have '$2', want '$3'" >"$dir/diff"
		return 1
	}
}

for options in -O0 '-O2 -fno-omit-frame-pointer'; do
	# shellcheck disable=SC2086
	build_it $options
	VT_PCTRACE=5
	export VT_PCTRACE
	expect run 3
	expect check 4 "$(stack enter inner)" "$(line f5 f4 f3 main)"
	expect check 3 "$(stack leave inner)" "$(line f4 f3 main)"
	verdict "five levels by frame pointers, $options"
	expect check 1 "$(stack enter region)" "$(line begin)"
	expect check 1 "$(stack leave region)" "$(line end)"
	verdict "a region begins where VT_begin() is called, and the rest where VT_end() is, $options"
	expect check 1 "$(stack enter stacked)" "$(line library)"
	expect_text "$(cut -d' ' -f1 "$dir/out") 0 -13 0" "$dir/out"
	verdict \
		"VT_sclstack() skips its caller; nothing asked for is no location; wrong numbers an error; frames \
that are none are not followed, $options"
done

build_it -O2 -fomit-frame-pointer
expect run 3
expect [ "$(stack enter inner | wc -w)" -eq 1 ]
expect check 1 "$(stack enter inner)" "$(line f5)"
verdict "without frame pointers the direct caller, and nothing that is wrong"
for cache in on off; do
	VT_PCTRACE_FAST=off VT_PCTRACE_CACHE=$cache expect run 300
	expect check 4 "$(stack enter inner)" "$(line f5 f4 f3 main)"
	expect_lines 300 'ENTER.* FUNCTION 1 SCL' "$dir/dump"
	expect [ "$(grep 'ENTER.* FUNCTION 1 SCL' "$dir/dump" | sed 's/.*SCL//' | sort -u | wc -l)" -eq 1 ]
	stack enter region | expect_line "$(line begin).* $(line sort)" -
	verdict "without frame pointers by debug information, PCTRACE-CACHE $cache, through a function of libc"
done

# the time from the first call to the last, by the stamps, in microseconds
took()
{
	VT_PCTRACE_FAST=off VT_PCTRACE_CACHE=$1 run 3000 &&
		awk '/^CLKPERIOD/ { p = $2 } $2 == "ENTER" { last = $1; first = first ? first : $1 }
		END { printf "%d", (last - first) * p * 1e6 }' "$dir/dump"
}
for try in 1 2 3 4 5; do
	on=$(took on) && off=$(took off) && [ "$off" -gt $((3 * on)) ] && break
done
[ "$try" -lt 5 ] || [ "$off" -gt $((3 * on)) ]
ok "PCTRACE-CACHE on, off: 3000 calls take $on us, $off us" $?
VT_PCTRACE=on expect run 1
expect [ "$(stack enter inner)" = "$(line f5)" ]
verdict "PCTRACE on is one level"
VT_PCTRACE_FAST=off VT_PCTRACE=1:2 expect run 1
expect [ "$(stack enter inner)" = "$(line f4 f3)" ]
verdict "levels are skipped"
VT_PCTRACE_FAST=off VT_STATE='**inner 2:1;**region ON;**stacked 0' VT_PCTRACE=2 expect run 1
expect [ "$(stack enter inner)" = "$(line f3)" ]
expect [ "$(stack enter region | wc -w)" -eq 2 ]
verdict "a level in a filter rule counts more than PCTRACE, ON leaves it to PCTRACE"
VT_PCTRACE_FAST=off VT_STATE='**region OFF' VT_PCTRACE=off expect run 1
expect_lines 0 'ENTER.*FUNCTION 1 SCL' "$dir/dump"
verdict "PCTRACE off"
VT_PCTRACE=banana expect run 1
expect_line "VT_PCTRACE: 'banana' is none of" "$dir/err"
VT_PCTRACE=16 expect run 1
expect_line "'16' is none of" "$dir/err"
verdict "wrong levels are named and left out"

strip -d "$dir/prog"
VT_PCTRACE=1 expect run 1
expect_line 'no source lines were found for' "$dir/err"
expect_line 'prog+0x' "$dir/dump"
verdict "without debug information the addresses stay, and the reason is reported"

# shellcheck disable=SC2086
expect ${CC:-cc} $san -O1 -fno-omit-frame-pointer -g -finstrument-functions -o "$dir/cyg" \
	"$here/functions/programs/functions.c" -ldl -lpthread
expect timeout 100 "$vtrun" --logfile-name "$dir/c.stf" --pctrace 2 --verbose 0 -- "$dir/cyg" 1 50 1 >"$dir/out" \
	2>"$dir/err"
expect "$build/stftool" "$dir/c.stf" --dump >"$dir/dump"
expect_lines "$(grep -c ' ENTER .* SCL ' "$dir/dump")" ' ENTER ' "$dir/dump"
expect_line '^DEFFILE.*functions.c"' "$dir/dump"
verdict "instrumented functions: where they were called"
done_testing

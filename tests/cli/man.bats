#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The manual: well-formed, and naming the very options that the programs name.

setup()
{
	top=${top_srcdir:-$BATS_TEST_DIRNAME/../..}
	builddir=${top_builddir:-$top/build}
}

# As in tests/lib/tap.sh: [a-z] means other letters in other locales.
for tool in awk grep sed sort tr; do
	eval "$tool() { LC_ALL=C command $tool \"\$@\"; }"
done

# The options that --help lists, one per line: "--output -o", "--force"; each line of it that begins with an option.
options_of() # options_of PROGRAM [MODE]: the long name first, then the letter
{
	{ "$@" --help=all 2>/dev/null || "$@" --help; } |
		sed -nE 's/^ {2,6}(-([a-zA-Z]), )?--([a-z0-9][a-z0-9-]*).*/--\3 \2/p' |
		sed -E 's/ $//; s/ (.)$/ -\1/' | LC_ALL=C sort -u
}

# The same of the list in a page: ".It Fl -output Ar file , Fl o Ar file", ".It Fl -quiet , Fl q", ".It Fl -a , Fl -b"
options_in() # options_in [SECTION] <PAGE
{
	awk -v section="${1-}" '
		/^\.Sh / { inside = section == "" || $0 == ".Sh " section }
		inside && /^\.It Fl -/ {
			name = ""; letter = ""
			for (i = 3; i <= NF; i++) {
				if ($(i - 1) != "Fl") continue
				if ($i ~ /^-[a-z]/) {
					if (name) print name letter
					name = "-" $i; letter = ""
				} else letter = " -" $i
			}
			print name letter
		}' | LC_ALL=C sort -u
}

program()
{
	for p in "$builddir/$1" "$builddir/calib/$1"; do
		[ -d "$p" ] || [ ! -x "$p" ] || echo "$p"
	done
}

same_options() # same_options PROGRAM PAGE
{
	p=$(program "$1")
	[ -n "$p" ] || skip "$1 was not built"
	options_of "$p" >"$BATS_TEST_TMPDIR/program"
	options_in <"$top/doc/man/$2" >"$BATS_TEST_TMPDIR/page"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/program")" -ge 3 ]
	diff "$BATS_TEST_TMPDIR/page" "$BATS_TEST_TMPDIR/program"
}

@test "every page passes mandoc's lint" {
	command -v mandoc >/dev/null || skip "mandoc is not installed"
	for page in "$top"/doc/man/*.[13578]; do
		case $(head -n 1 "$page") in
		.so*) [ -f "$top/doc/man/$(sed 's,.*/,,' "$page")" ] ;; # another name of that page
		*) mandoc -T lint -W warning "$page" ;;
		esac
	done
}

# timertest.1 has the options of the test in OPTIONS and those of --check in CHECKING A NODE
same_options_of_timertest() # same_options_of_timertest PROGRAM
{
	p=$(program "$1")
	[ -n "$p" ] || skip "$1 was not built"
	options_of "$p" >"$BATS_TEST_TMPDIR/program"
	options_in OPTIONS <"$top/doc/man/timertest.1" | diff - "$BATS_TEST_TMPDIR/program"
	# -h, -V and the three actions are in OPTIONS
	options_of "$p" --check | grep -vE '^--(help|usage|version|check|fingerprint|taskprolog)\>' \
		>"$BATS_TEST_TMPDIR/check"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/check")" -ge 10 ]
	options_in 'CHECKING A NODE' <"$top/doc/man/timertest.1" | diff - "$BATS_TEST_TMPDIR/check"
}

@test "timertest.1 and timertest --help name the same options, with --check, too" {
	same_options_of_timertest timertest
}

@test "timertest.1 and timertestcs --help name the same options, with --check, too" {
	same_options_of_timertest timertestcs
}

@test "tickmark-clockd.8 and tickmark-clockd --help name the same options" {
	same_options tickmark-clockd tickmark-clockd.8
}

@test "stftool.1 and stftool --help name the same options" {
	same_options stftool stftool.1
}

@test "stftool.1 and xstftool --help name the same options" {
	same_options xstftool stftool.1
}

@test "vtrun.1 and vtrun --help name the same options" {
	same_options vtrun vtrun.1
}

@test "VT.3 has the further options of vtrun --help, and vtrun accepts each" {
	p=$(program vtrun)
	[ -n "$p" ] || skip "vtrun was not built"
	COLUMNS=100 "$p" --help=all | sed -n '/^Further options/,/^$/p' | grep -oE -e '--[a-z0-9-]+' |
		LC_ALL=C sort >"$BATS_TEST_TMPDIR/program"
	sed -n -e '/^\.Sh OPTIONS/,/^\.Ss Options of the Intel/p' -e '/^\.Sh CHECKING/,/^\.Sh RETURN/p' \
		"$top/doc/man/VT.3" |
		awk '/^\.It Li / { for (i = 3; i <= NF; i++) if ($i ~ /^[A-Z][A-Z0-9]+(-[A-Z0-9]+)*$/ &&
		$(i - 1) != "|") print $i }' |
		tr 'A-Z' 'a-z' | sed 's/^/--/' | LC_ALL=C sort -u >"$BATS_TEST_TMPDIR/page"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/program")" -ge 20 ]
	diff "$BATS_TEST_TMPDIR/page" "$BATS_TEST_TMPDIR/program"
	while read -r option; do
		run "$p" "$option" @ --help # a value that none has: refused for the value, or accepted
		[[ "$output" != *"unknown option"* ]]
	done <"$BATS_TEST_TMPDIR/program"
	run "$p" --csv -- true
	[ "$status" -eq 2 ]
	[[ "$output" == *"--csv is an option of stftool or timertest, not of vtrun"* ]]
}

@test "VT.3 lists every call of VT.h" {
	grep -oE '\bVT_[a-z][a-z_]*\(' "$top/include/VT.h" | tr -d '(' | LC_ALL=C sort -u >"$BATS_TEST_TMPDIR/header"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/header")" -ge 50 ]
	sed -n '/^\.Ss The calls/,/^\.Ss What is recorded/p' "$top/doc/man/VT.3" | sed -n 's/^\.It //p' |
		grep -oE '\bVT_[a-z_]+' | LC_ALL=C sort >"$BATS_TEST_TMPDIR/page"
	diff "$BATS_TEST_TMPDIR/page" "$BATS_TEST_TMPDIR/header"
}

@test "convert-stats.1 and otf2-to-stf.1 name the options of --help" {
	options_of "$builddir/tools/convert-stats" | diff <(options_in <"$top/doc/man/convert-stats.1") -
	same_options otf2-to-stf otf2-to-stf.1
}

@test "vtreport.1 and vtreport --help name the same options" {
	same_options vtreport vtreport.1
}

@test "vttop.1 and vttop --help name the same options" {
	same_options vttop vttop.1
}

@test "clkapply.1 and clkapply --help name the same options" {
	same_options clkapply clkapply.1
}

@test "every variable in timertest.1 is an option's" {
	LC_ALL=C grep -o 'VT_[A-Z_]*[A-Z]' "$top/doc/man/timertest.1" | sort -u | while read -r variable; do
		option=$(echo "${variable#VT_}" | tr 'A-Z_' 'a-z-')
		grep -q "^\.It Fl -$option\b" "$top/doc/man/timertest.1" || { echo "$variable"; exit 1; }
	done
}

@test "every installed page is distributed, and every page referred to is ours or named" {
	for page in "$top"/doc/man/*.[13578]; do
		grep -q "%D%/man/${page##*/}" "$top/doc/Makefile.inc.am"
	done
	sed -n 's/^\.Xr \([a-z-]*\) \([0-9]\).*/\1.\2/p' "$top"/doc/man/*.[13578] | sort -u |
		grep -vx -e mpirun.1 -e ssh.1 -e gnuplot.1 -e dlopen.3 -e fork.2 -e chronyd.8 | while read -r page; do
			[ -f "$top/doc/man/$page" ] || { echo "$page is missing"; exit 1; }
		done
}

@test "every program of README's table has a page" {
	sed -n '/^## The programs/,/^## /s/^| \(`[a-z].*\) | .*/\1/p' "$top/README.md" | tr -d '`,' |
		tr ' ' '\n' >"$BATS_TEST_TMPDIR/programs"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/programs")" -ge 12 ]
	while read -r name; do
		[ -f "$top/doc/man/$name.1" ] || [ -f "$top/doc/man/$name.8" ] || { echo "no page for $name"; false; }
	done <"$BATS_TEST_TMPDIR/programs"
}

@test "vtcounters: the page and --help name the same options" {
	same_options vtcounters vtcounters.1
}

# names_exist PAGE FOLDER: each `path` and `path: name` of the page, below FOLDER
names_exist() {
	LC_ALL=C grep -oE '`[a-z_/.-]+/[a-z_./-]*(: [A-Za-z_]+)?`' "$top/$1" | tr -d '`' >"$BATS_TEST_TMPDIR/names"
	while IFS=': ' read -r file name; do
		# ARCHITECTURE.md names nine folders of collector-plugin/ without it
		case $1:$file in
		ARCHITECTURE.md:vtsampler/* | ARCHITECTURE.md:api/* | ARCHITECTURE.md:trace/* | \
			ARCHITECTURE.md:raw/* | ARCHITECTURE.md:mpi/* | \
			ARCHITECTURE.md:sample/* | ARCHITECTURE.md:settings/* | ARCHITECTURE.md:launch/* | \
			ARCHITECTURE.md:merge/*) file=collector-plugin/$file ;;
		esac
		[ -e "$top/$2$file" ] || { echo "no $file"; return 1; }
		[ -z "$name" ] || grep -qw "$name" "$top/$2$file" || { echo "no $name in $file"; return 1; }
	done <"$BATS_TEST_TMPDIR/names"
}

@test "README.md, CONTRIBUTING.md and NEWS stay as short as they are to be" {
	[ "$(wc -l <"$top/README.md")" -le 150 ]
	[ "$(wc -l <"$top/CONTRIBUTING.md")" -le 140 ]
	[ "$(wc -l <"$top/NEWS")" -le 60 ]
}

@test "ARCHITECTURE.md has two pages, and names files that exist, and names that are in them" {
	[ "$(wc -w <"$top/ARCHITECTURE.md")" -le 900 ]
	names_exist ARCHITECTURE.md ""
	[ "$(wc -l <"$BATS_TEST_TMPDIR/names")" -gt 30 ]
}

@test "VT.h describes every call directly above its declaration" {
	awk '/^[A-Za-z].*VT_[a-z_]+\(/ && !/^typedef|^#/ { n++; if (before !~ /\*\/$/) { print "no comment: " $0;
		bad = 1 } }
		{ before = $0 } END { print n " calls"; exit bad || n < 54 }' "$top/include/VT.h"
}

@test "each folder with rooms has a README.md with a row for each, and names files that exist" {
	(cd "$top" && find $(sed -n 's,^\([a-z-]*\)[:/].*,\1,p' tests/layers | sort -u) -name '*.[ch]') |
		sed 's,/[^/]*$,,' |
		grep -vE '^(tests|doc|contrib)(/|$)' | sort -u |
		sed -n 's,^\(.*\)/\([^/]*\)$,\1 \2,p' >"$BATS_TEST_TMPDIR/rooms"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/rooms")" -gt 50 ]
	while read -r folder room; do
		grep -qE "^\\| [^|]*\b$room/" "$top/$folder/README.md" ||
			{ echo "$folder/README.md: no $room/"; false; }
	done <"$BATS_TEST_TMPDIR/rooms"
	for folder in $(cut -d ' ' -f 1 "$BATS_TEST_TMPDIR/rooms" | sort -u); do
		[ "$folder" = collector-plugin ] || names_exist "$folder/README.md" "$folder/"
	done
}

@test "lab/README.md has every folder, files that exist, and options that --help has" {
	for folder in "$top"/lab/*/; do
		folder=${folder%/}
		grep -q "^| ${folder##*/}/ |" "$top/lab/README.md" || { echo "no $folder"; false; }
	done
	names_exist lab/README.md lab/
	for p in calibsim calibtruth; do
		[ -n "$(program $p)" ] || skip "$p was not built"
		COLUMNS=100 "$(program $p)" --help
	done | grep -oE -e '--[a-z-]+' | sort -u >"$BATS_TEST_TMPDIR/help"
	grep -oE -e '(^|[ `])--[a-z]+[a-z-]*' "$top/lab/README.md" | tr -d ' `' | sort -u |
		grep -vx -e --help -e --some-name >"$BATS_TEST_TMPDIR/page"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/page")" -ge 10 ]
	! grep -vxF -f "$BATS_TEST_TMPDIR/help" "$BATS_TEST_TMPDIR/page"
}

@test "doc/calibration-proofs.md: constants of the code; both pages: files that exist, the same headings" {
	sed -n '/^## Constants/,$s/^| `\([^`]*\)` |.*/\1/p' "$top/doc/calibration-proofs.md" \
		>"$BATS_TEST_TMPDIR/constants"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/constants")" -gt 35 ]
	while IFS= read -r line; do
		grep -qwF -e "${line#*: }" "$top/${line%%: *}" || { echo "not so: $line"; false; }
	done <"$BATS_TEST_TMPDIR/constants"
	# every name of a file is that of one
	cat "$top/doc/calibration.md" "$top/doc/calibration-proofs.md" |
		grep -oE '`(timers|calib|clock|lab|tests)/[a-z0-9_/-]*\.(c|h|sh|py|txt|bats)' |
		tr -d '`' | sort -u | while read -r file; do
		[ -e "$top/$file" ] || { echo "no $file"; exit 1; }
	done
	[ "$(wc -w <"$top/doc/calibration.md")" -le 4000 ]
	grep '^##' "$top/doc/calibration.md" | while IFS= read -r heading; do
		grep -qxF -e "$heading" "$top/doc/calibration-proofs.md" || { echo "only in one: $heading"; exit 1; }
	done
}

@test "collector-plugin/README.md has every folder, and files that exist" {
	cd "$top/collector-plugin"
	for folder in */; do
		grep -q "^| $folder |" README.md || { echo "no $folder"; false; }
	done
	folder=
	sed -n 's/^| \([a-z]*\/\) |/\1 /p' README.md | while read -r folder text; do
		for file in $(echo "$text" | grep -oE '`[a-z0-9_/]+\.(c|h|def)`' | tr -d '`'); do
			[ -e "$folder$file" ] || { echo "no $folder$file"; false; }
		done
	done
}

@test "each VT_ call of VT.h has a page of its own, with its declaration, and VT_CONFIG has every option" {
	pages=${top_builddir:-$top/build}/doc/man/vt
	[ -d "$pages" ] || skip "the pages were not built"
	names=$(grep -oE '^[A-Za-z].*VT_[a-z_]+\(' "$top/include/VT.h" | grep -v typedef | grep -oE 'VT_[a-z_]+\($' |
		tr -d '(' | sort -u)
	[ "$(echo "$names" | wc -l)" -ge 54 ]
	for name in $names; do
		grep -qE "^[A-Za-z].*\b$name\(.*;$" "$pages/$name.3" ||
			{ echo "no page of $name, or no declaration"; false; }
		[ "$(sed -n '/^\.Sh DESCRIPTION/,/^\.Sh/p' "$pages/$name.3" | wc -w)" -gt 6 ] ||
			{ echo "$name: no description"; false; }
	done
	[ "$(ls "$pages" | wc -l)" -eq "$(($(echo "$names" | wc -l) + 1))" ]
	for option in $(sed -n 's/^OPTION("\([A-Z-]*\)".*/\1/p' "$top/collector-plugin/settings/options.def"); do
		grep -q "^\.It Li $option " "$pages/VT_CONFIG.3" || { echo "VT_CONFIG(3) lacks $option"; false; }
	done
	grep -q '^CALL VTENTER(STATEHANDLE, SCLHANDLE, IERR)$' "$pages/VT_enter.3"
	if command -v mandoc >/dev/null; then
		mandoc -Tlint -W warning "$pages"/*.3
	fi
}

@test "the Fortran form in the page of each VT_ call is one call" {
	pages=$builddir/doc/man/vt
	[ -d "$pages" ] || skip "the pages of the VT_ calls were not made"
	grep -h -A2 "INCLUDE 'VT.inc'" "$pages"/*.3 | grep -E '^(CALL|X) ' >"$BATS_TEST_TMPDIR/calls"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/calls")" -ge 40 ]
	run grep -vE '^(CALL|X =) VT[A-Z]+\(([A-Z_0-9]+(, [A-Z_0-9]+)*)?\)$' "$BATS_TEST_TMPDIR/calls"
	[ "$output" = "" ]
}

# Titles are in these tables: "vtr_test_x, "Title"" of a rule, "{ "counter", LIMIT, "Title"" of a node's counter.
@test "vtreport.1 has each title of the tables of findings" {
	cat "$top/report/findings/rules.c" "$top/report/findings/nodes.c" | tr -d '\n\t' | sed 's/},/},\n/g' |
		sed -nE -e 's/.*\{ "[a-z-]+".*vtr_test_[a-z_]+, *"([^"]*)".*/\1/p' \
			-e 's/.*\{ "[a-z_]+", [0-9]+, "([^"]*)".*/\1/p' \
			>"$BATS_TEST_TMPDIR/titles"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/titles")" -ge 20 ]
	sed -n '/^\.Sh FINDINGS/,/^\.Sh /p' "$top/doc/man/vtreport.1" | grep '^\.It ' >"$BATS_TEST_TMPDIR/page"
	while IFS= read -r title; do
		grep -qF "$title" "$BATS_TEST_TMPDIR/page" || echo "'$title' is not in the page"
	done <"$BATS_TEST_TMPDIR/titles" >"$BATS_TEST_TMPDIR/missing"
	diff /dev/null "$BATS_TEST_TMPDIR/missing"
}

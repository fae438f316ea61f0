#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The manual: well-formed, and naming the very options that the programs name.

setup()
{
	top=${top_srcdir:-$BATS_TEST_DIRNAME/../..}
	builddir=${top_builddir:-$top/build}
}

# Option names in a program's --help, one per line.
options_of()
{
	"$1" --help | grep -E '^ *-' | grep -oE -e '--[a-z][a-z-]*' | sort -u
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
	sed -n 's/^\.It Fl -\([a-z][a-z-]*\).*/--\1/p' "$top/doc/$2" | sort -u >"$BATS_TEST_TMPDIR/page"
	diff "$BATS_TEST_TMPDIR/page" "$BATS_TEST_TMPDIR/program"
}

@test "every page passes mandoc's lint" {
	command -v mandoc >/dev/null || skip "mandoc is not installed"
	for page in "$top"/doc/*.[1357]; do
		case $(head -n 1 "$page") in
		.so*) [ -f "$top/doc/$(sed 's,.*/,,' "$page")" ] ;; # another name of that page
		*) mandoc -T lint -W warning "$page" ;;
		esac
	done
}

@test "timertest.1 and timertest --help name the same options" {
	same_options timertest timertest.1
}

@test "timertest.1 and timertestcs --help name the same options" {
	same_options timertestcs timertest.1
}

@test "calibsim.1 and calibsim --help name the same options" {
	same_options calibsim calibsim.1
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
	LC_ALL=C grep -o 'VT_[A-Z_]*[A-Z]' "$top/doc/timertest.1" | sort -u | while read -r variable; do
		option=$(echo "${variable#VT_}" | tr 'A-Z_' 'a-z-')
		grep -q "^\.It Fl -$option\b" "$top/doc/timertest.1" || { echo "$variable"; exit 1; }
	done
}

@test "every installed page is distributed, and every page referred to is ours or named" {
	for page in "$top"/doc/*.[1357]; do
		grep -q "%D%/${page##*/}" "$top/doc/Makefile.inc.am"
	done
	sed -n 's/^\.Xr \([a-z-]*\) \([0-9]\).*/\1.\2/p' "$top"/doc/*.[1357] | sort -u |
		grep -vx -e mpirun.1 -e gnuplot.1 -e dlopen.3 | while read -r page; do
			[ -f "$top/doc/$page" ] || { echo "$page is missing"; exit 1; }
		done
}

@test "every program of README's table has a page" {
	sed -n '/^## The programs/,/^## /s/^| \(`[a-z].*\) | .*/\1/p' "$top/README.md" | tr -d '`,' | tr ' ' '\n' >"$BATS_TEST_TMPDIR/programs"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/programs")" -ge 12 ]
	while read -r name; do
		[ -f "$top/doc/$name.1" ] || { echo "no page for $name"; false; }
	done <"$BATS_TEST_TMPDIR/programs"
}

@test "vtcounters: the page and --help name the same options" {
	same_options vtcounters vtcounters.1
}

# `path` and `path: name`
@test "ARCHITECTURE.md names files that exist, and names that are in them" {
	[ "$(wc -l <"$top/ARCHITECTURE.md")" -le 110 ]
	LC_ALL=C grep -oE '`[a-z_/.-]+/[a-z_./-]*(: [A-Za-z_]+)?`' "$top/ARCHITECTURE.md" | tr -d '`' >"$BATS_TEST_TMPDIR/names"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/names")" -gt 30 ]
	while IFS=': ' read -r file name; do
		# the page names six folders of collector-plugin/ without it
		case $file in api/* | trace/* | raw/* | mpi/* | sample/* | merge/*) file=collector-plugin/$file ;; esac
		[ -e "$top/$file" ] || { echo "no $file"; false; }
		[ -z "$name" ] || grep -qw "$name" "$top/$file" || { echo "no $name in $file"; false; }
	done <"$BATS_TEST_TMPDIR/names"
}

@test "doc/calibration.md: its constants are those of the code" {
	sed -n '/^## Constants/,$s/^| `\([^`]*\)` |.*/\1/p' "$top/doc/calibration.md" >"$BATS_TEST_TMPDIR/constants"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/constants")" -gt 35 ]
	while IFS= read -r line; do
		grep -qwF -e "${line#*: }" "$top/${line%%: *}" || { echo "not so: $line"; false; }
	done <"$BATS_TEST_TMPDIR/constants"
	# every name of a file is that of one
	grep -oE '`(timers|calib|clock|tests)/[a-z0-9_/-]*\.(c|h|sh|py|txt|bats)' "$top/doc/calibration.md" | tr -d '`' | sort -u | while read -r file; do
		[ -e "$top/$file" ] || { echo "no $file"; exit 1; }
	done
}

@test "collector-plugin/README.md has every folder, and files that exist" {
	cd "$top/collector-plugin"
	for folder in */; do
		grep -q "^| $folder |" README.md || { echo "no $folder"; false; }
	done
	folder=
	sed -n 's/^| \([a-z]*\/\) |/\1 /p' README.md | while read -r folder text; do
		for file in $(echo "$text" | grep -oE '`[a-z0-9_]+\.(c|h|def)`' | tr -d '`'); do
			[ -e "$folder$file" ] || { echo "no $folder$file"; false; }
		done
	done
}

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The tarball of `make dist` has every file that git has, but for those that concern a checkout alone. TAP.
# shellcheck source=../lib/tap.sh source-path=SCRIPTDIR
. "${top_srcdir:-$(dirname "$0")/../..}/tests/lib/tap.sh"
[ -e "$src/.git" ] || skip_all "not a git checkout: no list of the files that the tarball must have"
command -v git >/dev/null 2>&1 || skip_all "no git"
unset MAKEFLAGS MFLAGS MAKELEVEL

# what make would put into it, files and folders
# shellcheck disable=SC2016
printf 'include Makefile\nprint-distfiles:\n\t@:$(info $(DISTFILES:$(top_srcdir)/%%=%%))\n' >"$dir/print.mk"
expect make -s -C "$build" -f "$dir/print.mk" print-distfiles >"$dir/made"
tr ' ' '\n' <"$dir/made" >"$dir/packed"

not_packed() # of the names on standard input
{
	awk -v packed="$dir/packed" '
	BEGIN {
		while ((getline name <packed) > 0) { has[name] = 1 }
	}
	{
		path = $0
		while (!(path in has) && sub(/\/[^\/]*$/, "", path)) { }
		if (!(path in has)) { print }
	}'
}

expect git -c safe.directory='*' -C "$src" ls-files >"$dir/tracked"
grep -vxE '\.ci/run|\.editorconfig|\.gitignore' "$dir/tracked" | not_packed >"$dir/out"
expect [ -s "$dir/packed" ]
expect [ -s "$dir/tracked" ]
expect_empty "$dir/out"
verdict "every file of git is in the tarball"

printf 'COPYING\ntests/fuzz/corpus/x\ntests/house/unheard-of.sh\n' | not_packed >"$dir/out"
expect_text tests/house/unheard-of.sh "$dir/out"
verdict "a file that no list has is found, one in a folder of the list is not"
done_testing

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# No text of the tree has a phrase of tests/phrases. Third parties' files are not asked. TAP.
# shellcheck source=lib/tap.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/lib/tap.sh"

# found DIR: FILE:LINE:TEXT, and what to write instead
found()
{
	find "$1" \( -name .git -o -name autom4te.cache -o -name build-aux -o -name m4 -o -name third-party \
		-o -name timertest-here -o -name install -o -name corpus \
		-o -path "$1/build*" \) -prune -o -type f \( -name '*.[chm1357]' -o -name '*.md' -o -name '*.def' \
		-o -name '*.sh' -o -name '*.bats' \
		-o -name '*.inc' -o -name '*.awk' -o -name '*.cc' -o -name '*.f' -o -name '*.f90' -o -name '*.js' \
		-o -name '*.py' -o -name '*.am' -o -name NEWS -o -name quickstart -o -name '*.gnuplot' \) \
		! -name phrases.sh -print >"$dir/files"
	grep -v '^#' "$src/tests/phrases" | while IFS='	' read -r pattern instead; do
		tr '\n' '\0' <"$dir/files" | xargs -0 grep -nHEi -e "$pattern" |
			sed "s|^$1/||; s/$/	[write: $instead]/"
	done
}

found "$src" >"$dir/out"
ok "no phrase of tests/phrases" "$(wc -l <"$dir/out")"

mkdir "$dir/tree"
printf 'Nobody knows what a Step is said to be.\n' >"$dir/tree/a.md"
printf 'sound\n' >"$dir/tree/b.c"
found "$dir/tree" >"$dir/out"
[ "$(wc -l <"$dir/out")" -eq 3 ] && ! grep -qv '^a.md:1:' "$dir/out"
ok "phrases are found, and named with their line" $?
done_testing

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every C file is as clang-format leaves it (.clang-format). Text that its versions lay out in different ways, such as
# tables and macros with braces, is between "clang-format off" and "on": 14, 15, 16 and 19 agree on all the rest.
# CLANG_FORMAT names another one. TAP.
. "${top_srcdir:-$(dirname "$0")/..}/tests/lib/tap.sh"

format=
for version in "" -19 -18 -17 -16 -15 -14; do
	[ -n "$format" ] || format=$(command -v "${CLANG_FORMAT:-clang-format$version}")
done
[ -n "$format" ] || skip_all "no clang-format"
version=$("$format" --version | sed -n 's/.*version \([0-9]*\)\..*/\1/p')
[ "${version:-0}" -ge 14 ] || skip_all "clang-format is older than version 14: $("$format" --version)"

# not_formatted DIR: the files below it that clang-format would change. What a build makes is no source.
not_formatted()
{
	find "$1" -mindepth 1 \( -name '.*' -o -name autom4te.cache -o -name install -o -name timertest-here -o \
		-type d -exec test -e {}/config.status \; \) -prune -o -name '*.[ch]' ! -name config.h \
		! -name '*_gnuplot.h' \
		! -name 'report_[cj]s*.h' ! -path '*/tickmark/*' -print0 |
		xargs -0 "$format" --style=file --dry-run -Werror 2>&1 |
		sed -n 's/:[0-9]*:[0-9]*: error: code should be clang-formatted.*//p' | sort -u
}

not_formatted "$src" >"$dir/out"
ok "every C file is formatted (clang-format $version)" "$(wc -l <"$dir/out")"

mkdir "$dir/base" "$dir/build" && cp "$src/.clang-format" "$dir"
printf 'int  f( void ){return 1;}\n' >"$dir/base/bad.c"
cp "$dir/base/bad.c" "$dir/build" && touch "$dir/build/config.status"
[ "$(not_formatted "$dir")" = "$dir/base/bad.c" ]
ok "a file that is not is named" $?
done_testing

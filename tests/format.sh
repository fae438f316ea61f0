#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every C file is as clang-format leaves it (.clang-format). Tables that read better by rows are between
# "clang-format off" and "on". Only version 14 is asked: others break lines elsewhere. TAP.
. "${top_srcdir:-$(dirname "$0")/..}/tests/lib/tap.sh"

format=$(command -v clang-format-14 || command -v clang-format) || skip_all "no clang-format"
case $("$format" --version) in
*"version 14."*) ;;
*) skip_all "not clang-format 14: $("$format" --version)" ;;
esac

# not_formatted DIR: the files below it that clang-format would change
not_formatted()
{
	for folder in base check timers stf sampler calib clock collector-plugin contrib exchange report tools lab \
		tests; do
		[ -d "$1/$folder" ] && find "$1/$folder" -name '*.[ch]' -print0
	done | xargs -0 "$format" --style=file --dry-run -Werror 2>&1 |
		sed -n 's/:[0-9]*:[0-9]*: error: code should be clang-formatted.*//p' |
		sort -u
}

not_formatted "$src" >"$dir/out"
ok "every C file is formatted" "$(wc -l <"$dir/out")"

mkdir "$dir/base" && cp "$src/.clang-format" "$dir" && printf 'int  f( void ){return 1;}\n' >"$dir/base/bad.c"
[ "$(not_formatted "$dir")" = "$dir/base/bad.c" ]
ok "a file that is not is named" $?
done_testing

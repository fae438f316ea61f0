# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# What the tests of the trace tools share; to be sourced. TAP.
# shellcheck source=../../lib/tap.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/lib/tap.sh"

tool() # tool ARGUMENTS...: output in $dir/out and $dir/err, exit status in $status
{
	"$build/stftool" "$@" >"$dir/out" 2>"$dir/err" </dev/null
	status=$?
}

from_text() # from_text TEXT TRACE [PROCESSES_PER_FILE]: makes a trace of what --dump prints
{
	"$build/tests/cli/lib/text_stf" "$@" >"$dir/out" 2>"$dir/err"
	status=$?
	return "$status"
}

xtool()
{
	"$build/xstftool" "$@" >"$dir/out" 2>"$dir/err" </dev/null
	status=$?
}

is() # is NAME STATUS: standard input is what $dir/out must be
{
	cat >"$dir/want"
	[ "$status" -eq "$2" ] && diff "$dir/want" "$dir/out" >"$dir/diff"
	ok "$1" $?
}

has() # has LINE: exactly so
{
	grep -Fxq -- "$1" "$dir/out"
}

# refused NAME STATUS PATTERN ARGUMENTS...: one line on stderr, nothing on stdout
refused()
{
	name=$1 want=$2 pattern=$3
	shift 3
	tool "$@"
	[ "$status" -eq "$want" ] && grep -Eq -- "^stftool: $pattern" "$dir/err" && [ "$(wc -l <"$dir/err")" -eq 1 ] &&
		[ ! -s "$dir/out" ]
	ok "$name" $?
}

for t in rich big empty one; do
	"$build/tests/cli/lib/make_stf" $t "$dir/$t.stf" || exit 99
done
# shellcheck disable=SC2034
rich=$dir/rich.stf


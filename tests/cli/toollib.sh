# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# What the tests of the trace tools share; to be sourced. TAP.
set -u
build=${top_builddir:-.}
# shellcheck disable=SC2034
src=${top_srcdir:-.}
dir=$(mktemp -d) || exit 99
trap 'umount "$dir/full" 2>/dev/null; rm -rf "$dir"' EXIT
for v in $(env | sed -n 's/^\(VT_[A-Z_]*\)=.*/\1/p'); do
	unset "$v"
done
count=0 bad=0

ok() # ok NAME STATUS: status 0 is a pass; output is shown otherwise
{
	count=$((count + 1))
	if [ "$2" -eq 0 ]; then
		echo "ok $count - $1"
	else
		bad=1
		echo "not ok $count - $1"
		sed 's/^/# /' "$dir/diff" "$dir/out" "$dir/err" 2>/dev/null | head -60
	fi
	rm -f "$dir/diff"
}

skip() # skip NAME REASON
{
	count=$((count + 1))
	echo "ok $count - $1 # SKIP $2"
}

tool() # tool ARGUMENTS...: output in $dir/out and $dir/err, exit status in $status
{
	"$build/stftool" "$@" >"$dir/out" 2>"$dir/err" </dev/null
	status=$?
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
	"$build/tests/cli/make_stf" $t "$dir/$t.stf" || exit 99
done
# shellcheck disable=SC2034
rich=$dir/rich.stf

done_testing()
{
	echo "1..$count"
	exit $bad
}

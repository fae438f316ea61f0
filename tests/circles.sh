#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Circles of files (tests/circles.py). None may span folders. Inside a folder a circle has 4 files at most. TAP.
set -u
here=$(cd "$(dirname "$0")" && pwd)
top=$(dirname "$here")
build=${top_builddir:-$(pwd)}

if ! command -v "${PYTHON3:-python3}" >/dev/null 2>&1; then
	echo "1..0 # SKIP no python3"
	exit 0
fi
count=0
bad=0

result() # result NAME TEXT: passes when TEXT is empty
{
	count=$((count + 1))
	if [ -z "$2" ]; then
		echo "ok $count - $1"
	else
		printf '%s\n' "$2" | sed 's/^/# /'
		echo "not ok $count - $1"
		bad=1
	fi
}

# too_large: of lines of circles on standard input those with more than 4 files
too_large()
{
	awk '$2 > 4'
}

# between: those that span folders
between()
{
	awk '$1 > 1'
}

circles=$("${PYTHON3:-python3}" "$here/circles.py" "$top" "$build") || {
	result "the uses of all files are read" "circles.py failed"
	echo "1..$count"
	exit 1
}
result "no circle spans folders" "$(printf '%s\n' "$circles" | between)"
result "no circle inside a folder has too many files" "$(printf '%s\n' "$circles" | too_large)"

# a tree with both kinds of circle: one by includes, one by symbols
fixture=$(mktemp -d) || exit 99
trap 'rm -rf "$fixture"' EXIT
mkdir -p "$fixture/base" "$fixture/stf" "$fixture/build/stf"
echo '#include "stf/b.h"' >"$fixture/base/a.h"
echo '#include "base/a.h"' >"$fixture/stf/b.h"
for i in 1 2 3 4 5; do
	echo "void f$((i % 5 + 1))(void); void f$i(void) { f$((i % 5 + 1))(); }" >"$fixture/stf/s$i.c"
	${CC:-cc} -c -o "$fixture/build/stf/s$i.o" "$fixture/stf/s$i.c"
done
circles=$("${PYTHON3:-python3}" "$here/circles.py" "$fixture" "$fixture/build")
result "caught: two folders that include each other" \
	"$([ "$(printf '%s\n' "$circles" | between)" = "2 2 base/a stf/b" ] || echo "got: $circles")"
result "caught: five files that call each other" \
	"$([ "$(printf '%s\n' "$circles" | too_large)" = "1 5 stf/s1 stf/s2 stf/s3 stf/s4 stf/s5" ] || echo "got: $circles")"
echo "1..$count"
exit $bad

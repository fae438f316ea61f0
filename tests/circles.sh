#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Functions that nothing uses (tests/unused.py), and circles of files (tests/circles.py). None may span folders. Inside
# a folder a circle has 4 files at most. TAP.
# shellcheck source=lib/tap.sh source-path=SCRIPTDIR
. "$(dirname "$0")/lib/tap.sh"
here=$(cd "$(dirname "$0")" && pwd)
top=$(dirname "$here")
fixture=$dir/tree
if ! command -v "${PYTHON3:-python3}" >/dev/null 2>&1; then
	skip_all "no python3"
fi

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
	done_testing
}
result "no circle spans folders" "$(printf '%s\n' "$circles" | between)"
result "no circle inside a folder has too many files" "$(printf '%s\n' "$circles" | too_large)"

unused=$("${PYTHON3:-python3}" "$here/unused.py" "$top" "$build" 2>&1)
result "every function is used, not by tests alone" "$unused"

# a tree with both kinds of circle: one by includes, one by symbols
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
	"$([ "$(printf '%s\n' "$circles" | too_large)" = "1 5 stf/s1 stf/s2 stf/s3 stf/s4 stf/s5" ] ||
	echo "got: $circles")"
echo 'void used(void) { } void unused(void) { } int g; void caller(void) { used(); }' >"$fixture/stf/u.c"
echo 'void caller(void); void calls(void) { caller(); calls(); }' >"$fixture/base/v.c"
mkdir "$fixture/build/base"
${CC:-cc} -c -o "$fixture/build/stf/u.o" "$fixture/stf/u.c" &&
	${CC:-cc} -c -o "$fixture/build/base/v.o" "$fixture/base/v.c"
unused=$("${PYTHON3:-python3}" "$here/unused.py" "$fixture" "$fixture/build")
result "caught: functions and variables that nothing uses" \
	"$([ "$unused" = "$(printf 'stf/u.c: g\nstf/u.c: unused')" ] || echo "got: $unused")"
done_testing

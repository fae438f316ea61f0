#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Functions that nothing uses (tests/unused.py), and circles of files (tests/circles.py): there are none. TAP.
# shellcheck source=lib/tap.sh source-path=SCRIPTDIR
. "$(dirname "$0")/lib/tap.sh"
here=$(cd "$(dirname "$0")" && pwd)
top=$(dirname "$here")
fixture=$dir/tree
if ! command -v "${PYTHON3:-python3}" >/dev/null 2>&1; then
	skip_all "no python3"
fi

circles=$("${PYTHON3:-python3}" "$here/circles.py" "$top" "$build") || {
	result "the uses of all files are read" "circles.py failed"
	done_testing
}
result "no circle of files" "$circles"

unused=$("${PYTHON3:-python3}" "$here/unused.py" "$top" "$build" 2>&1)
result "every function is used, not by tests alone" "$unused"

# a tree with both kinds of circle: one by includes, one by symbols
mkdir -p "$fixture/base" "$fixture/stf" "$fixture/build/stf"
echo '#include "stf/b.h"' >"$fixture/base/a.h"
echo '#include "base/a.h"' >"$fixture/stf/b.h"
for i in 1 2; do
	echo "void f$((3 - i))(void); void f$i(void) { f$((3 - i))(); }" >"$fixture/stf/s$i.c"
	${CC:-cc} -c -o "$fixture/build/stf/s$i.o" "$fixture/stf/s$i.c"
done
circles=$("${PYTHON3:-python3}" "$here/circles.py" "$fixture" "$fixture/build")
result "caught: two folders that include each other, two files that call each other" \
	"$([ "$circles" = "$(printf '2 2 base/a stf/b\n1 2 stf/s1 stf/s2')" ] || echo "got: $circles")"
echo 'void used(void) { } void unused(void) { } int g; void caller(void) { used(); }' >"$fixture/stf/u.c"
echo 'void caller(void); void calls(void) { caller(); calls(); }' >"$fixture/base/v.c"
mkdir "$fixture/build/base"
${CC:-cc} -c -o "$fixture/build/stf/u.o" "$fixture/stf/u.c" &&
	${CC:-cc} -c -o "$fixture/build/base/v.o" "$fixture/base/v.c"
unused=$("${PYTHON3:-python3}" "$here/unused.py" "$fixture" "$fixture/build")
result "caught: functions and variables that nothing uses" \
	"$([ "$unused" = "$(printf 'stf/u.c: g\nstf/u.c: unused')" ] || echo "got: $unused")"
done_testing

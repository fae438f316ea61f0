#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The clock library as others link it: what it exports is all that clock.h declares, it needs nothing
# but libc and its mathematics, its header compiles without a warning in strict C and C++, and the example builds
# against it.
# shellcheck source=../lib/tap.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/lib/tap.sh"
LC_ALL=C
export LC_ALL
cd "$src" || exit 99

echo '#include "include/clock.h"' | ${CC:-cc} -E -P -I. -x c - | tr -d '\n' | grep -oE '\btickmark_[a-z0-9_]+\(' |
	tr -d '(' | sort -u >"$dir/declared"
lib=$(find "$build/.libs" -name 'libtickmark-clock.so*' -type f 2>/dev/null | head -n 1)
if [ -n "$lib" ]; then
	nm -D --defined-only "$lib" |
		awk '$2 != "A" && sub(/@@TICKMARK_[A-Z]*_0$/, "", $3) { print $3 }' | sort >"$dir/exported"
	diff "$dir/declared" "$dir/exported" >"$dir/diff"
	ok "the library exports what clock.h declares" $?
	readelf -d "$lib" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
		grep -vE '^(libc|libm|libpthread|ld-linux[-a-z0-9_]*|lib[atu][a-z]*san)\.so\.' >"$dir/diff"
	test ! -s "$dir/diff"
	ok "the library needs libc and libm at most" $?
else
	skip "the library exports what clock.h declares" "no shared library in this build"
	skip "the library needs libc and libm at most" "no shared library in this build"
fi
sed -n 's/^\.Fn \(tickmark_[a-z_]*\).*/\1/p; s/^\.Fo \(tickmark_[a-z_]*\).*/\1/p' doc/man/tickmark-clock.3 |
	sort -u >"$dir/manual"
diff "$dir/declared" "$dir/manual" >"$dir/diff"
ok "the manual names every call" $?

mkdir "$dir/tickmark"
cp include/clock.h "$dir/tickmark/"
for std in c99 c11; do
	${CC:-cc} -I"$dir" -std=$std -Wall -Wextra -pedantic -Werror -fsyntax-only doc/clock/now.c >"$dir/out" 2>&1
	ok "the example in strict $std" $?
done
for std in c++11 c++17; do
	if command -v c++ >/dev/null; then
		c++ -I"$dir" -std=$std -Wall -Wextra -pedantic -Werror -x c++ -fsyntax-only doc/clock/now.c \
			>"$dir/out" 2>&1
		ok "the example in strict $std" $?
	else
		skip "the example in strict $std" "no C++ compiler here"
	fi
done
done_testing

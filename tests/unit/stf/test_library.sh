#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The trace library as others link it: what it exports is all that stf.h and analysis.h declare, it needs
# nothing but libc and zstd, and its header compiles without a warning in strict C and C++.
set -u
cd "${top_srcdir:?}" || exit 99
build=${top_builddir:?}
tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
LC_ALL=C
export LC_ALL
n=0

# result NAME: the last command's status as a TAP line; what it printed went to $tmp/why
result()
{
	status=$?
	n=$((n + 1))
	if [ "$status" -eq 0 ]; then
		echo "ok $n - $1"
	else
		sed 's/^/# /' "$tmp/why"
		echo "not ok $n - $1"
	fi
}

skip()
{
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}

# inline functions aside, every prototype of the header, the generated ones too
echo '#include "include/analysis.h"' | ${CC:-cc} -E -P -I. -x c - | tr -d '\n' | sed 's/static inline[^{]*{[^}]*}//g' |
	grep -oE '\bstf_[a-z0-9_]+\(' | tr -d '(' | sort -u >"$tmp/declared"
lib=$(find "$build/.libs" -name 'libtickmark-stf.so*' -type f 2>/dev/null | head -n 1)
if [ -n "$lib" ]; then
	nm -D --defined-only "$lib" |
		awk '$2 != "A" && sub(/@@TICKMARK_[A-Z]*_0$/, "", $3) { print $3 }' | sort >"$tmp/exported"
	diff "$tmp/declared" "$tmp/exported" >"$tmp/why"
	result "the library exports what stf.h and analysis.h declare"
	readelf -d "$lib" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' >"$tmp/needed"
	# a sanitizer brings the mathematics along
	libm=
	! grep -q 'san\.so\.' "$tmp/needed" || libm='|libm'
	grep -vE "^(libc|libzstd|ld-linux[-a-z0-9_]*|lib[atu][a-z]*san$libm)\.so\." "$tmp/needed" >"$tmp/why"
	test ! -s "$tmp/why"
	result "the library needs libc and zstd at most"
else
	skip "the library exports what stf.h and analysis.h declare" "no shared library in this build"
	skip "the library needs libc and zstd at most" "no shared library in this build"
fi

{
	echo '#include "include/analysis.h"'
	echo 'int f(const struct stf_counter_batch *b);'
	echo 'int f(const struct stf_counter_batch *b) { return stf_batch_willy(b, 0) == STF_CHECK_GOOD; }'
} >"$tmp/use"
for std in c99 c11; do
	${CC:-cc} -I. -std=$std -Wall -Wextra -pedantic -Werror -x c -fsyntax-only "$tmp/use" >"$tmp/why" 2>&1
	result "stf.h in strict $std"
done
for std in c++11 c++17; do
	if command -v c++ >/dev/null; then
		c++ -I. -std=$std -Wall -Wextra -pedantic -Werror -x c++ -fsyntax-only "$tmp/use" >"$tmp/why" 2>&1
		result "stf.h in strict $std"
	else
		skip "stf.h in strict $std" "no C++ compiler here"
	fi
done
echo "1..$n"

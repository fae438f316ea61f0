#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# make install, installcheck and uninstall, with the archives that --enable-static adds; the last leaves no file in the
# prefix. Also staged, as packagers do.
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/lib.sh"
prefix=$work/prefix
configured install --prefix="$prefix" --enable-static
step "make" make -j"$jobs"
step "make install" make install
step "make installcheck" make installcheck ARCHIVES=1
(cd "$prefix" && find . -type f | sort)

# Somebody else's program, in C and C++, with nothing but what is installed.
need pkg-config g++
PKG_CONFIG_PATH=$prefix/lib/pkgconfig
LD_LIBRARY_PATH=$prefix/lib
export PKG_CONFIG_PATH LD_LIBRARY_PATH
mkdir "$work/use" && cd "$work/use" || exit 99
# shellcheck disable=SC2046
step "compile a C program" gcc -std=c99 -Wall -Wextra -pedantic -Werror "$top/tests/ci/builds/use_stf.c" -o use_c \
	$(pkg-config --cflags --libs tickmark-stf)
# shellcheck disable=SC2046
step "compile a C++ program" g++ -std=c++11 -Wall -Wextra -pedantic -Werror -x c++ "$top/tests/ci/builds/use_stf.c" \
	-o use_cpp \
	$(pkg-config --cflags --libs tickmark-stf)
step "run the C program" ./use_c c.stf
step "run the C++ program" ./use_cpp cpp.stf
# shellcheck disable=SC2016
step "both wrote the same trace" sh -c 'for f in c.stf*; do cmp "$f" "cpp${f#c}" || exit 1; done'
step "the installed tool finds no fault in it" "$prefix/bin/stftool" c.stf --verify
# shellcheck disable=SC2046
step "compile the example of the clock" gcc -std=c99 \
	-Wall -Wextra -pedantic -Werror "$prefix/share/doc/tickmark/clock/now.c" -o now \
	$(pkg-config --cflags --libs tickmark-clock)
step "it runs, and finds no clock" sh -c './now utc 2>no_clock; test $? -eq 2 && grep -q "no page with UTC" no_clock'
unset LD_LIBRARY_PATH PKG_CONFIG_PATH
cd "$work/build" || exit 99
step "make uninstall" make uninstall
step "the prefix is empty" test -z "$(find "$prefix" ! -type d)"
step "make install DESTDIR" make install DESTDIR="$work/stage"
step "nothing but the stage was touched" test -z "$(find "$prefix" ! -type d)"
step "make uninstall DESTDIR" make uninstall DESTDIR="$work/stage"
step "the stage is empty" test -z "$(find "$work/stage" ! -type d)"

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# make install, installcheck and uninstall; the last leaves no file in the prefix. Also staged, as
# packagers do.
# shellcheck source=lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
prefix=$work/prefix
configured install --prefix="$prefix"
step "make" make -j"$jobs"
step "make install" make install
step "make installcheck" make installcheck
(cd "$prefix" && find . -type f | sort)
step "make uninstall" make uninstall
step "the prefix is empty" test -z "$(find "$prefix" ! -type d)"
step "make install DESTDIR" make install DESTDIR="$work/stage"
step "nothing but the stage was touched" test -z "$(find "$prefix" ! -type d)"
step "make uninstall DESTDIR" make uninstall DESTDIR="$work/stage"
step "the stage is empty" test -z "$(find "$work/stage" ! -type d)"

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every call of the tools that can fail, failing in turn; make check takes some of them.
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/lib.sh"
configured faults CFLAGS="-O1 -g"
step "faults: make" make -j"$jobs" stftool xstftool tests/cli/lib/make_stf
# by itself: make check would build all other tests first
top_srcdir=$top top_builddir=. EVERY_FAULT=1
export top_srcdir top_builddir EVERY_FAULT
step "faults: stffault.sh" sh "$top/tests/cli/stftool/stffault.sh"

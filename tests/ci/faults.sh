#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every call of the tools that can fail, failing in turn; make check takes some of them.
# shellcheck source=lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
configured faults CFLAGS="-O1 -g"
step "faults: make" make -j"$jobs"
EVERY_FAULT=1
export EVERY_FAULT
step "faults: stffault.sh" make check TESTS=tests/cli/stffault.sh

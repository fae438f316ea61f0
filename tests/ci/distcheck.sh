#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The tarball is complete: it unpacks, builds from a read-only tree, checks, installs, uninstalls
# and cleans up after itself.
# shellcheck source=lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
need xz
configured distcheck
step "make distcheck" make -j"$jobs" distcheck

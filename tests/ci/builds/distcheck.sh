#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The tarball is complete: it unpacks, builds from a read-only tree, checks, installs, uninstalls
# and cleans up after itself. Root could write into the read-only tree, so it becomes nobody first.
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/lib.sh"
need xz setpriv
configured distcheck
as=
if [ "$(id -u)" -eq 0 ]; then
	chown -R 65534:65534 "$work"
	chmod 755 "$work"
	as="setpriv --reuid 65534 --regid 65534 --clear-groups"
fi
mkdir -p "$work/home" && chmod 777 "$work/home"
# shellcheck disable=SC2086
step "make distcheck" $as env HOME="$work/home" make -j"$jobs" distcheck VERBOSE=1

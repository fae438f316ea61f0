#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Slurm: Prolog=/usr/share/tickmark/contrib/slurm/prolog.sh
# Slurm starts it as root on each node without a PATH; every status other than 0 drains the node and requeues the job. So only
# what is critical may fail here, and nothing that needs a stored result.
TIMERTEST=${TIMERTEST:-/usr/bin/timertestcs}
[ -x "$TIMERTEST" ] || exit 0 # not installed is no reason to drain a node
line=$("$TIMERTEST" --check --local --fail-on critical --format nagios 2>&1)
status=$?
if [ $status -ne 0 ]; then
	echo "print ${line%%|*}" # Slurm logs it
	exit 1
fi
exit 0

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Slurm: TaskProlog=/usr/share/tickmark/contrib/slurm/taskprolog.sh
# Slurm reads what it prints: "export VT_TIMER=CPU" if the last result of timertest on this node holds and is fit. A user's own
# setting stays. Root's results are read, since root made them for the site.
TIMERTEST=${TIMERTEST:-/usr/bin/timertestcs}
unset LD_PRELOAD # the job's environment is here already
if [ -z "${VT_TIMER:-}" ] && [ -x "$TIMERTEST" ]; then
	"$TIMERTEST" --taskprolog --quiet --state-dir "${TICKMARK_STATE:-/var/lib/tickmark}" 2>/dev/null
fi
exit 0

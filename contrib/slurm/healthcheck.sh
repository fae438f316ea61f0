#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Slurm: HealthCheckProgram=/usr/share/tickmark/contrib/slurm/healthcheck.sh  HealthCheckInterval=600
# Slurm ignores the status, so the node is drained here; and it is resumed if this script drained it.
TIMERTEST=${TIMERTEST:-/usr/bin/timertestcs}
SCONTROL=${SCONTROL:-/usr/bin/scontrol}
node=${SLURMD_NODENAME:-$(uname -n)}
mark="tickmark: "
[ -x "$TIMERTEST" ] || exit 0
reason=$("$SCONTROL" show node "$node" 2>/dev/null | sed -n 's/^ *Reason=//p')
line=$("$TIMERTEST" --check --fail-on critical --format nagios 2>&1)
if [ $? -ne 0 ]; then
	line=${line%%|*}
	case $reason in
	"") "$SCONTROL" update NodeName="$node" State=drain Reason="$mark${line#TIMERTEST }" ;;
	esac
else
	case $reason in
	"$mark"*) "$SCONTROL" update NodeName="$node" State=resume ;;
	esac
fi
exit 0

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Two ranks on one machine whose realtime clock is steered by the kernel itself meanwhile (adjtimex: frequency, tick,
# slew) and set: both
# correct the same clock, each by its own sessions, so what they make of one stamp must agree within their bounds.
# Cross-compiled and run in a machine whose clock may be moved, as for machine.sh.
# MACHINE_CC a compiler for it; MACHINE_MPICC the same with its Open MPI (-showme:compile and -showme:link are asked)
# MACHINE_RUN what runs a command there as root, in the working directory, which the machine sees; with two CPUs
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/lib.sh"
if [ -z "${MACHINE_CC:-}" ] || [ -z "${MACHINE_MPICC:-}" ] || [ -z "${MACHINE_RUN:-}" ]; then
	echo "MACHINE_CC, MACHINE_MPICC and MACHINE_RUN are not set: no machine whose clock may be moved"
	exit 77
fi
for_machine
configured steered --host="$host" --disable-static CC="$MACHINE_CC" MPICC="$MACHINE_MPICC" MPIRUN="$(command -v true)"
step "steered: make" make -j"$jobs" timertest tests/ci/lib/clk_truth
mkdir -p "$work/there"
cp timertest tests/ci/lib/clk_truth "$top/tests/ci/machine/steered_inside.sh" "$work/there"
# shellcheck disable=SC2086
step "steered: steer" $MACHINE_CC -O2 "$top/tests/ci/machine/steer.c" -o "$work/there/steer"
inside steered_inside.sh

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The counters nvml_* of a GPU of NVIDIA against work that is known (gpu_work.c): utilisation without work and with,
# the clock by the kernel's own cycles, the energy against the integral of the power, memory by an allocation, PCIe by
# copies. And the timer cuda_globaltimer: what kernels read of that clock is inside its bound on the host's clock.
# About a minute. It needs the driver only, and a GPU that nobody else uses; else status 77 with the reason.
# No machine with a GPU has run it yet.
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/lib.sh"
cd "$work" || exit 99
printf '#define PACKAGE_%s "gpu"\n' NAME VERSION STRING >config.h
sampler=$(find "$top/sampler" -name '*.c' ! -name vtcounters.c ! -name validate.c ! -name works.c ! -name 'papi*.c')
timers=$(find "$top/timers" -name '*.c' ! -name tmr_mpi_wtime.c ! -name matrix.c)
# shellcheck disable=SC2046,SC2086
step "build gpu_work" ${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O2 -I. -I"$top" -o gpu_work \
	"$top/tests/ci/machine/gpu_work.c" \
	$sampler $timers "$top/calib/map/pairs.c" $(find "$top/base" -name '*.c') -lm -lpthread -ldl
./gpu_work

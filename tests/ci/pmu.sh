#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The counter sources on a machine that has a PMU, when this one has none: cross-compiled and run there.
#   PMU_CC   a compiler for it that finds PAPI's headers, "aarch64-linux-gnu-gcc --sysroot=..."
#   PMU_RUN  what runs a command there in the working directory: "srun -w NODE", a wrapper of an emulator
# QEMU's ARM PMU counts cycles and instructions and offers other events that stay 0: vtcounters must refuse those.
# PMU_ZERO names one such event (default PAPI_L1_DCM; empty on real hardware).
# shellcheck source=lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
if [ -z "${PMU_CC:-}" ] || [ -z "${PMU_RUN:-}" ]; then
	echo "PMU_CC and PMU_RUN are not set: no machine with a PMU to run on"
	exit 77
fi
cd "$work" || exit 99
printf '%s\n' '#define HAVE_PAPI 1' '#define PACKAGE_VERSION "pmu"' >config.h
base="$top/base/err.c $top/base/option.c $top/base/rootfs.c $top/base/text.c"
library=$(find "$top/sampler" -name '*.c' ! -name vtcounters.c ! -name validate.c ! -name works.c)
# shellcheck disable=SC2086
step "cross-compile the test" $PMU_CC -std=gnu11 -D_GNU_SOURCE -O2 -I. -I"$top" -o test_papi \
	"$top/tests/unit/test_sampler_papi.c" $library $base -lm -lpthread
# shellcheck disable=SC2086
step "cross-compile vtcounters" $PMU_CC -std=gnu11 -D_GNU_SOURCE -O2 -I. -I"$top" -o vtcounters \
	"$top"/sampler/*.c $base -lm -lpthread
# shellcheck disable=SC2086
run() { $PMU_RUN "$@" >tap 2>&1 </dev/null; }
counts()
{
	run ./test_papi || { cat tap; return 1; }
	! grep 'loop_exactly # SKIP' tap
}
accepts() { run ./vtcounters --validate "$1"; grep -E "^$1  *accept" tap || { cat tap; return 1; }; }
refuses() { run ./vtcounters --validate "$1"; grep -E "^$1  *REFUSE" tap || { cat tap; return 1; }; }
step "instructions of threads are counted exactly" counts
grep '^# ' tap
step "a counter that counts is accepted" accepts PAPI_TOT_INS
[ -z "${PMU_ZERO-PAPI_L1_DCM}" ] || step "one that stays 0 is refused" refuses "${PMU_ZERO-PAPI_L1_DCM}"

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The counter sources on a machine that has a PMU, when this one has none: cross-compiled and run there.
#   PMU_CC   a compiler for it that finds PAPI's headers, "aarch64-linux-gnu-gcc --sysroot=..."
#   PMU_RUN  what runs a command there in the working directory: "srun -w NODE", a wrapper of an emulator
# PMU_MPICC the same as PMU_CC with MPI, PMU_MPIRUN what starts three ranks there ("mpirun -np 3"): then the counts of
# each rank must come back from the trace of a job as well. Words there must not need quoting.
# QEMU's ARM PMU counts cycles and instructions and offers other events that stay 0: vtcounters must refuse those.
# PMU_ZERO names one such event (default PAPI_L1_DCM; empty on real hardware).
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/lib.sh"
if [ -z "${PMU_CC:-}" ] || [ -z "${PMU_RUN:-}" ]; then
	echo "PMU_CC and PMU_RUN are not set: no machine with a PMU to run on"
	exit 77
fi
cd "$work" || exit 99
printf '%s\n' '#define HAVE_PAPI 1' '#define PACKAGE_VERSION "pmu"' >config.h
base="$top/base/err.c $top/base/cli/option.c $top/base/rootfs.c $top/base/text/text.c"
library=$(find "$top/sampler" -name '*.c' ! -name vtcounters.c ! -name validate.c ! -name works.c)
# shellcheck disable=SC2086
step "cross-compile the test" $PMU_CC -std=gnu11 -D_GNU_SOURCE -O2 -I. -I"$top" -o test_papi \
	"$top/tests/unit/sampler/test_papi.c" $library $base -lm -lpthread
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

# ---- a job of three ranks under libVT: their loops' instructions in the trace ----

if [ -z "${PMU_MPICC:-}" ] || [ -z "${PMU_MPIRUN:-}" ]; then
	echo "PMU_MPICC and PMU_MPIRUN are not set: no MPI job is run there"
	exit 0
fi
printf '%s\n' '#define PACKAGE_NAME "Tickmark"' '#define PACKAGE_STRING "Tickmark pmu"' >>config.h
of_libVT() # the sources of libVT.so
{
	find "$top/base" "$top/timers" "$top/stf" "$top/sampler" "$top/calib" "$top/collector-plugin" -name '*.c' |
		grep -vE '/(agent|launch)/|/(load|inside|failsafe|help)\.c$' |
		grep \
		-vE \
		'/(vtcounters|validate|works|timertest[a-z_]*|calib(sim|truth)[a-z_]*|link_none|vtrun|vtrun_hw|'\
'vtrun_mpi|vtrun_show|vt_null|merge_clk)\.c$'
}
{
	echo '{ global:'
	awk -f "$top/collector-plugin/exports.awk" "$top/collector-plugin/api/api.list" \
		"$top/collector-plugin/preload/preload.sym" \
		"$top/collector-plugin/mpi/calls.def" | sed 's/$/;/'
	echo 'local: *; };'
} >libVT.map
wrap=$(printf -- '-Wl,--wrap=%s ' malloc calloc realloc free strdup strndup)
# shellcheck disable=SC2046,SC2086
step "cross-compile libVT" $PMU_MPICC -std=gnu11 -D_GNU_SOURCE -O1 -w -fPIC -shared -I. -I"$top" '-DLIBDIR=""' \
	-o libVT.so $(of_libVT) \
	-Wl,--version-script=libVT.map $wrap -Wl,-z,nodelete -lm -lpthread -ldl
# shellcheck disable=SC2086,SC2016
step "cross-compile the job" $PMU_MPICC -O1 -I"$top/include" -o loop "$top/tests/vt/mpi/programs/mpi_loop.c" -L. \
	-lVT '-Wl,-rpath,$ORIGIN'
printf 'COUNTER PAPI_TOT_INS on\nCOUNTER PAPI_TOT_INS:process on\nSAMPLE-PERIOD 10ms\nFLUSH-PREFIX /tmp\nFORCE on\n' \
	>loop.conf
# shellcheck disable=SC2086
job() { $PMU_RUN env VT_CONFIG=loop.conf OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 $PMU_MPIRUN ./loop \
	</dev/null >job 2>&1 || { cat job; return 1; }; }
step "three ranks" job
configured native --without-mpi
step "this machine's xstftool" make -j"$jobs" xstftool
cd "$work" || exit 99
# Of each rank what the commonest differences over n and 2 n turns differ by: two instructions a turn, and nothing else.
exact() # exact COUNTER
{
	"$work/build/xstftool" loop.stf | awk -v counter=" DEF \"PERF_DATA:$1\" " '
		/ DEF "Loop:turns" / { mark[$4] = $NF; seen[$4] = 0 }
		index($0, counter) {
			if (seen[$4] == 1) { times[$4 " " mark[$4] " " $NF - before[$4]]++ }
			before[$4] = $NF
			seen[$4]++
		}
		END {
			for (k in times) {
				split(k, f, " ")
				if (times[k] > most[f[1] " " f[2]]) { most[f[1] " " f[2]] = times[k]; count[f[1] " " '\
'f[2]] = f[3] }
			}
			for (r = 0; r < 3; r++) {
				n = 100000 * (r + 1)
				d = count["0:" r " " 2 * n] - count["0:" r " " n]
				print "# rank " r ": " d " instructions for " n " turns"
				bad += d != 2 * n
			}
			exit bad
		}'
}
step "each rank's instructions come back from the trace" exact PAPI_TOT_INS
step "those of each process too, read at the same events" exact PAPI_TOT_INS:process

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Clock sessions of a job with more ranks than processing units, whose MPI yields when it waits: as good as those of
# timertest under
# the same load, with nothing of the program's settings changed. The clocks are simulated ones over one that all share.
# TAP.
# shellcheck source=../lib/mpi_lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"
mpi_compile "$MPICC" clocks/programs/mpi_sync.c sync -lVT -ldl
VT_SYNCED_HOST=off VT_TIMER='sim:base=CPU,offset={rank}ms,drift={rank}0ppm,tick=3ns'
export VT_SYNCED_HOST VT_TIMER
units=$(getconf _NPROCESSORS_ONLN)
ranks=$((2 * units < 4 ? 4 : 2 * units > 16 ? 16 : 2 * units))
loops=
trap 'kill $loops 2>/dev/null; rm -rf "$dir"' EXIT

busy() # three loops that never sleep for two units
{
	i=0
	while [ $i -lt $((units * 3 / 2)) ]; do
		sh -c 'while :; do :; done' &
		loops="$loops $!"
		i=$((i + 1))
	done
}

worst() # worst CLK: the largest error of all ranks in ns; status 1 if one leaves its bound
{
	"$build/tests/ci/lib/clk_truth" "$1" >truths 2>&1
	rc=$?
	cat truths >>out
	awk '/ us off/ { most = $7 > most ? $7 : most; n++ } END { if (n) { printf "%d\n", most * 1000 } }' truths
	return $rc
}

job() # job COMMAND...: six sessions in between, the error in ns in error; 1 without a sound result
{
	clean
	VT_LOGFILE_NAME=$dir/sync.stf timeout 300 "$MPIRUN" -np "$ranks" "$@" ./sync 6 50 >out 2>&1 &&
		worst sync.clk >error
}

# What timertest reaches beside it. The limit is wide: what is wrong here is wrong by a hundred times.
near_timertest()
{
	mine=$(cat error)
	rm -f timertest.clk
	timeout 300 "$MPIRUN" -np "$ranks" "$build/timertest" --force --quiet --timer-skip=0 --performance-time=0.1s \
		--burst=10 0.3 0.05 >tt 2>&1
	[ -s timertest.clk ] || { cat tt >>out; return 1; }
	theirs=$(worst timertest.clk) || return 1
	echo "# $1: job $mine ns, timertest $theirs ns"
	[ "$mine" -le $((theirs * 10 > 600 ? theirs * 10 : 600)) ]
}

for load in idle busy; do
	[ $load = idle ] || busy
	for how in linked vtrun; do
		if [ $how = vtrun ]; then
			set -- "$vtrun" --
		else
			set --
		fi
		# shellcheck disable=SC2086
		expect job "$@"
		expect near_timertest "$how, $load"
		verdict "$how, $load: $ranks ranks on $units units, the clocks are as good as timertest's"
		! grep '^step ' sync.clk >>out
		ok "$how, $load: no step is reported" $?
		expect_lines "$ranks" '^rank .*: unchanged' out
		expect_no_line '^changed' out
		verdict "$how, $load: affinity, scheduling, environment, signal mask and yielding are as before"
	done
done
# Ranks that can share no memory, in containers of their own for example, exchange messages by MPI, whose yielding is
# off meanwhile.
printf \
	'#include <errno.h>\nint memfd_create(const char *n, unsigned f) { (void)n; (void)f; errno = ENOSYS; return '\
'-1; }\n' >apart.c
# shellcheck disable=SC2086
expect ${CC:-cc} $san -shared -fPIC apart.c -o apart.so
expect job env LD_PRELOAD="$dir/apart.so"
expect near_timertest "apart, busy"
expect_not grep '^step ' sync.clk >>out
verdict "without memory in common, busy: the clocks are as good as timertest's, and no step is reported"
expect_lines "$ranks" '^rank .*: unchanged' out
expect_no_line '^changed' out
verdict "without memory in common, busy: nothing is changed"
# shellcheck disable=SC2086
kill $loops
loops=
# All on one unit: who waits yields it, or each message would take a time slice and the clocks were wrong by hundreds of
# us.
unit=$(sed -n 's/^Cpus_allowed_list:[^0-9]*\([0-9]*\).*/\1/p' /proc/self/status)
OMPI_MCA_hwloc_base_binding_policy=none expect job taskset -c "$unit"
expect echo "# one unit: job $(cat error) ns"
expect [ "$(cat error)" -lt 20000 ]
verdict "all ranks on one unit: they yield it to each other"
done_testing

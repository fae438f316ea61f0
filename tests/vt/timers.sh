#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Ranks that were started with different timers, as by launchers that do not forward the environment: all take that of rank 0
# where they can open it, and one line says so. TAP.
# shellcheck source=mpi_lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/mpi_lib.sh"
mpi_compile "$MPICC" coarse_job.c job -lVT || echo "Bail out! $(cat out)"
cat >each <<'END'
#!/bin/sh
case ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} in
0) VT_TIMER=$FIRST ;;
*) [ -z "${OTHERS:-}" ] || VT_TIMER=$OTHERS ;;
esac
[ -z "${VT_TIMER:-}" ] || export VT_TIMER
exec "$@"
END
chmod +x each

both() # both FIRST OTHERS: timertest, then a job, of three ranks
{
	FIRST=$1 OTHERS=$2
	export FIRST OTHERS
	rm -f tt.*
	timeout 120 "$MPIRUN" -np 3 ./each "$build/timertest" 1 0.5 --performance-time 0.05s --burst 20 --output tt --force >tt.out 2>&1
	tt=$?
	mv tt.clk tt.maps 2>/dev/null
	clean
	timeout 120 "$MPIRUN" -np 3 ./each "$build/vtrun" -- ./job >out 2>&1
	status=$?
	cat tt.out >>out
	[ $tt -ne 2 ] && [ $status -eq 0 ]
}

said() # said TEXT: once by each of the two
{
	[ "$(grep -cF "$1" tt.out)" -eq 1 ] && [ "$(grep -cF "$1" out)" -eq 2 ]
}

timers() # timers FILE.clk NAME N
{
	[ "$(grep -c "^timer \"$2" "$1")" -eq "$3" ]
}

both CPU_Norm '' && said 'rank 0 with CPU_Norm, ranks 1, 2 with' && timers tt.maps CPU_Norm 3 && timers job.clk CPU_Norm 3
ok "only rank 0 has VT_TIMER: its timer is that of all" $?
both clock_monotonic_raw clock_boottime && said 'ranks 1, 2 with clock_boottime (replaced by that of rank 0)' &&
	timers tt.maps clock_monotonic_raw 3 && timers job.clk clock_monotonic_raw 3
ok "the others have another one" $?
sim='sim:base=CPU,drift={rank}0ppm,tick=1ns'
both "$sim" "$sim" && ! grep -q 'different timers' out && timers tt.maps 'sim:base=CPU,drift=20ppm' 1
ok "one simulated clock for each rank is no difference" $?
# a rate that is refused on all ranks but 0
both 'sim:base=CPU,drift={rank}000000ppm,tick=1ns' clock_monotonic_raw && said 'clock_monotonic_raw (kept: ' && timers tt.maps clock_monotonic_raw 2 &&
	timers job.clk clock_monotonic_raw 2 && grep -q '^verdict: .*NOT fit' tt.out
ok "what cannot be opened elsewhere is named, and is not fit" $?
done_testing

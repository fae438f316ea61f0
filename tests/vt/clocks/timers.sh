#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Ranks that were started with different timers, as by launchers that do not forward the environment: all take that of
# rank 0 where they can open it, and one line says so. TAP.
# shellcheck source=../lib/mpi_lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"
mpi_compile "$MPICC" clocks/programs/coarse_job.c job -lVT || echo "Bail out! $(cat out)"
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
	timeout 120 "$MPIRUN" -np 3 ./each "$build/timertest" 1 0.5 --performance-time 0.05s --burst 20 --output tt \
		--force >tt.out 2>&1
	tt=$?
	mv tt.clk tt.maps 2>/dev/null
	clean
	timeout 120 "$MPIRUN" -np 3 ./each "$vtrun" -- ./job >out 2>&1
	status=$?
	cat tt.out >>out
	# 124: it came to no end
	[ $tt -ne 2 ] && [ $tt -ne 124 ] && [ $status -eq 0 ]
}

said() # said TEXT: once by each of the two
{
	[ "$(grep -cF "$1" tt.out)" -eq 1 ] && [ "$(grep -cF "$1" out)" -eq 2 ]
}

timers() # timers FILE.clk NAME N
{
	[ "$(grep -c "^timer \"$2" "$1")" -eq "$3" ]
}

expect both CPU_Norm ''
expect said 'rank 0 with CPU_Norm, ranks 1, 2 with'
expect timers tt.maps CPU_Norm 3
expect timers job.clk CPU_Norm 3
verdict "only rank 0 has VT_TIMER: its timer is that of all"
expect both clock_monotonic_raw clock_boottime
expect said 'ranks 1, 2 with clock_boottime (replaced by that of rank 0)'
expect timers tt.maps clock_monotonic_raw 3
expect timers job.clk clock_monotonic_raw 3
verdict "the others have another one"
expect both gettimeofday ''
expect timers tt.maps gettimeofday 3
expect timers job.clk gettimeofday 3
verdict "gettimeofday where it is named"

# No timer is named: what timertest finds proven, the job takes as well. A busy machine may fail to prove it, and then
# says so: again.
unnamed() # into $name and $taken
{
	both '' '' || return 1
	name=$(sed -n 's/^timer: \([A-Za-z_]*\), because.*/\1/p' tt.out)
	taken=$(sed -n '1,/^timer/s/^timer "\([A-Za-z_]*\).*/\1/p' job.clk)
	[ -n "$name" ] && timers tt.maps "$name" 3 && { [ "$taken" = "$name" ] || [ "$taken" = clock_monotonic ]; } &&
		timers job.clk "$taken" 3 &&
		! grep -q 'different timers' out && grep -q "^TIMER $(sed -n '1,'\
'/^timer/s/^timer "\(.*\)".*/\1/p' job.clk)\$" job.prot
}
unnamed
rc=$? tries=0
while [ $rc -eq 0 ] && [ "$taken" != "$name" ] && [ $tries -lt 4 ]; do
	tries=$((tries + 1))
	unnamed
	rc=$?
done
ok "no timer is named: timertest and the job take one that is proven, and the protocol names it" $rc
if [ $rc -eq 0 ] && [ "$taken" != "$name" ]; then
	skip "and it is the same" "this time the job proved none but $taken, timertest $name"
else
	ok "and it is the same" $rc
fi
source=/sys/devices/system/clocksource/clocksource0/current_clocksource
echo hpet >hpet
if ! unshare -m mount --bind hpet $source 2>/dev/null; then
	skip "a counter that the kernel does not use is not taken" "another clock source cannot be shown here"
	skip "one node whose counter is not proven" "another clock source cannot be shown here"
else
	export source
	cat >hidden <<'END'
#!/bin/sh
# the kernel's clock source is another one for the ranks in $HIDE
case " $HIDE " in
*" ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} "*)
	exec unshare -m sh -c 'mount --bind hpet "$source" && exec "$@"' - "$@" ;; esac
exec "$@"
END
	chmod +x hidden
	cp each each.before
	sed 's/^exec /exec .\/hidden /' each.before >each
	HIDE='0 1 2'
	export HIDE
	expect both '' ''
	expect timers tt.maps clock_monotonic 3
	expect timers job.clk clock_monotonic 3
	expect_line '^timer: clock_monotonic, because .* not proven to be one clock on the node of rank 0' tt.out
	verdict "a counter that the kernel does not use is not taken"
	# ranks 1 and 2 have begun with the counter and go back
	HIDE=0
	expect both '' ''
	expect timers tt.maps clock_monotonic 3
	expect timers job.clk clock_monotonic 3
	expect_no_line 'different timers' out
	verdict "one node whose counter is not proven: no rank takes it"
	if starts_several; then
		# a steered clock on rank 0, which is read beside a free one, and the counter on the others
		clean
		FIRST='' OTHERS='' timeout 120 "$MPIRUN" -np 1 ./each "$vtrun" -- ./job : \
			-np 2 ./each "$vtrun" -- ./job early >out 2>&1
		rc=$?
		expect [ $rc -eq 0 ]
		expect_lines 2 'TIMER CPU is kept, although the job takes clock_monotonic' out
		expect_no_line 'no clock session' out
		expect timers job.clk clock_monotonic 1
		expect timers job.clk CPU 2
		expect_lines 3 '^rank ' job.clk
		expect [ "$(grep -c '^session' job.clk)" -ge 4 ]
		verdict "ranks that keep the counter, beside one with a kernel clock: the sessions are made"
	else
		skip "ranks that keep the counter, beside one with a kernel clock: the sessions are made" "$several_why"
	fi
	mv each.before each
fi
sim='sim:base=CPU,drift={rank}0ppm,tick=1ns'
expect both "$sim" "$sim"
expect_no_line 'different timers' out
expect timers tt.maps 'sim:base=CPU,drift=20ppm' 1
verdict "one simulated clock for each rank is no difference"
# a rate that is refused on all ranks but 0
expect both 'sim:base=CPU,drift={rank}000000ppm,tick=1ns' clock_monotonic_raw
expect said 'clock_monotonic_raw (kept: '
expect timers tt.maps clock_monotonic_raw 2
expect timers job.clk clock_monotonic_raw 2
expect_line '^verdict: .*NOT fit' tt.out
verdict "what cannot be opened elsewhere is named, and is not fit"

# The clocks run at known rates against CLOCK_REALTIME, which NTP keeps on rank 0 only: the intervals contain them.
case ${CFLAGS:-} in
*-fsanitize=*) skip "true frequencies" "a sanitizer's library must be preloaded first" && done_testing ;;
esac
${CC:-cc} -D_GNU_SOURCE -shared -fPIC -o ntp.so "$src/tests/lib/ntp_says.c" >out 2>&1 || echo "Bail out! $(cat out)"
cat >first <<'END'
#!/bin/sh
[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" != 0 ] || {
	LD_PRELOAD=$PWD/ntp.so NTP_BOUND_US=$ERROR
	export LD_PRELOAD NTP_BOUND_US
}
exec "$@"
END
chmod +x first
true_rates() # true_rates ERROR_US SECONDS: of two ranks
{
	ERROR=$1
	export ERROR
	timeout 120 "$MPIRUN" -np 2 ./first "$build/timertest" "$2" 1 \
		--timer 'sim:base=clock_realtime,tick=10ns,drift={rank}00ppm' --performance-time 0.05s \
		--burst 20 --output tt --force >out 2>&1
	[ $? -ne 2 ] && grep '^true frequency' out
}
# the kernel adds up to 0.5 ms at the end of a second
expect true_rates 50 6 >rates
expect awk '{ r = $5 + 0; truth = 100 * (1 + r * 100e-6); bad += !(($6 - truth) ^ 2 <= ($6 * $9 * 1e-6) ^ 2) ||
	$9 > 200 }
	NR == 1 { bad += !/by NTP \(maximum error [0-9.]*us over/ } NR == 2 { bad += !/by the sessions with rank 0/ }
	END { exit bad || NR != 2 }' rates
verdict "true frequencies: by NTP on rank 0, by the sessions on rank 1, and right"
sed 's/^/# /' rates
true_rates 900000 2 >rates
[ "$(cat rates)" = \
	'true frequency: unknown, NTP does not keep CLOCK_REALTIME of rank 0 well enough for so short a run' ]
ok "a large error of NTP is reported as too large" $?
done_testing

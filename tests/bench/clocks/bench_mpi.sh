#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The figures that need two processes. Prints lines as tests/bench/lib/bench.h does.
# usage: bench_mpi.sh BUILD-DIRECTORY
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/lib.sh"
runs=5

mpirun --oversubscribe -np 2 "$build/tests/bench/clocks/bench_calib" || not_measured bench_calib
mpirun --oversubscribe -np 2 "$build/tests/bench/clocks/bench_session" || not_measured bench_session.np2
mpirun --oversubscribe -np 16 "$build/tests/bench/clocks/bench_session" || not_measured bench_session.np16

why=
# 16 processes on one node, by both methods in turn: the largest true error of any rank
for _ in 1 2 3; do
	for sync in pairs itc; do
		[ -z "$why" ] || break
		mpirun --oversubscribe -np 16 "$build/timertest" 3 3 --sync $sync --burst 1 --performance-time 50ms \
			--timer 'sim:base=CPU,offset={rank}ms,drift={rank}0ppm,tick=7.3ns' \
			--output "$dir/t" --force >"$dir/out" 2>&1
		case $? in 0 | 1 | 3) why= ;; *) cat "$dir/out" >&2; break ;; esac
		awk '
		function ns(s) {
			if (s ~ /ps,$/) return s * 1e-3; if (s ~ /ns,$/) return s + 0
			if (s ~ /us,$/) return s * 1e3; return s * 1e6
		}
		/^true error of rank/ { e = ns($12); if (e > worst) worst = e;
		broken += !/inside its bound everywhere/ }
		END { print worst, broken }' "$dir/out" >>"$dir/np16.$sync"
	done
done

for sync in pairs itc; do
	figure calib.np16.$sync.true_error ns np16.$sync
	figure calib.np16.$sync.outside_bound ranks np16.$sync 2
done
why=

# "0 <-> 1 374.738ns (latency 6.752us)" after "maximum clock offset during run:", and the tick
for _ in $(seq $runs); do
	# without the setting the ranks of one node would share the clock, and nothing would be calibrated
	mpirun --oversubscribe -np 2 "$build/timertest" 6 2 --timer CPU --synced-host off --performance-time 1s \
		--output "$dir/t" --force >"$dir/out" 2>&1
	case $? in 0 | 1 | 3) why= ;; *) cat "$dir/out" >&2; break ;; esac
	awk '
	function seconds(s) {
		if (s ~ /ps$/) return s * 1e-12; if (s ~ /ns$/) return s * 1e-9
		if (s ~ /us$/) return s * 1e-6; if (s ~ /ms$/) return s * 1e-3
		return s + 0
	}
	/effective tick:/ { for (i = 1; i < NF; i++) if ($i == "tick:") tick = seconds($(i + 1)) }
	found { sub(/\)/, "", $6); o = seconds($4); l = seconds($6); if (o < 0) o = -o
		print o * 1e9, o / l, o / tick, l * 1e9; exit }
	/^maximum clock offset during run:/ { found = 1 }' "$dir/out" >>"$dir/values"
done

figure timertest.latency ns values 4
figure timertest.max_offset ns values
figure timertest.max_offset.over_latency ratio values 2
figure timertest.max_offset.over_tick ratio values 3
why=

# 2016 pairs, a burst of each
for _ in 1 2 3; do
	begin=$(date +%s.%N)
	mpirun --oversubscribe -np 64 "$build/timertest" 5 5 \
		--timer 'sim:base=CPU,offset={rank}ms,drift={rank}ppm,tick=7.3ns' \
		--output "$dir/t" --force >"$dir/out" 2>&1
	case $? in 0 | 1 | 3) why= ;; *) cat "$dir/out" >&2; break ;; esac
	date +%s.%N | awk -v begin="$begin" '{ print $1 - begin }' >>"$dir/pairs64"
done
figure timertest.pairs64 s pairs64
exit $missing

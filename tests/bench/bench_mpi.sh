#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The figures that need two processes. Prints lines as tests/bench/bench.h does.
# usage: bench_mpi.sh BUILD-DIRECTORY
set -u
build=${1:?usage: bench_mpi.sh BUILD-DIRECTORY}
runs=5
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

mpirun --oversubscribe -np 2 "$build/tests/bench/bench_calib" || exit 1
mpirun --oversubscribe -np 2 "$build/tests/bench/bench_session" || exit 1
mpirun --oversubscribe -np 16 "$build/tests/bench/bench_session" || exit 1

# 16 processes on one node, by both methods in turn: the largest true error of any rank
for i in 1 2 3; do
	for sync in pairs itc; do
		mpirun --oversubscribe -np 16 "$build/timertest" 3 3 --sync $sync --burst 1 --performance-time 50ms \
			--timer 'sim:base=CPU,offset={rank}ms,drift={rank}0ppm,tick=7.3ns' \
			--output "$dir/t" --force >"$dir/out" 2>&1
		case $? in 0 | 1 | 3) ;; *) cat "$dir/out" >&2; exit 1 ;; esac
		awk '
		function ns(s) {
			if (s ~ /ps,$/) return s * 1e-3; if (s ~ /ns,$/) return s + 0
			if (s ~ /us,$/) return s * 1e3; return s * 1e6
		}
		/^true error of rank/ { e = ns($12); if (e > worst) worst = e; broken += !/inside its bound everywhere/ }
		END { print worst, broken }' "$dir/out" >>"$dir/np16.$sync"
	done
done

# "0 <-> 1 374.738ns (latency 6.752us)" behind "maximum clock offset during run:", and the tick
for i in $(seq $runs); do
	# without the setting the ranks of one node would share the clock, and nothing would be calibrated
	mpirun --oversubscribe -np 2 "$build/timertest" 6 2 --timer CPU --synced-host off --performance-time 1s \
		--output "$dir/t" --force >"$dir/out" 2>&1
	case $? in 0 | 1 | 3) ;; *) cat "$dir/out" >&2; exit 1 ;; esac
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

# 2016 pairs, a burst of each
for i in 1 2 3; do
	begin=$(date +%s.%N)
	mpirun --oversubscribe -np 64 "$build/timertest" 5 5 --timer 'sim:base=CPU,offset={rank}ms,drift={rank}ppm,tick=7.3ns' \
		--output "$dir/t" --force >"$dir/out" 2>&1
	case $? in 0 | 1 | 3) ;; *) cat "$dir/out" >&2; exit 1 ;; esac
	date +%s.%N | awk -v begin="$begin" '{ print $1 - begin }' >>"$dir/pairs64"
done

figure() # figure NAME COLUMN UNIT [FILE]
{
	cut -d' ' -f"$2" "${4:-$dir/values}" | sort -g | awk -v name="$1" -v unit="$3" '
		{ v[NR] = $1 }
		END { m = NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2
		      printf "%s\t%.4g\t%s\t%.4g\t%.4g\t%d\n", name, m, unit, v[1], v[NR], NR }'
}
for sync in pairs itc; do
	figure calib.np16.$sync.true_error 1 ns "$dir/np16.$sync"
	figure calib.np16.$sync.outside_bound 2 ranks "$dir/np16.$sync"
done
figure timertest.pairs64 1 s "$dir/pairs64"
figure timertest.latency 4 ns
figure timertest.max_offset 1 ns
figure timertest.max_offset.over_latency 2 ratio
figure timertest.max_offset.over_tick 3 ratio

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# stftool --analyze of a real job: each kind of wait, in each call that completes it, and the efficiencies, compared
# with what the program measured itself. TAP.
# shellcheck source=../lib/mpi_lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"
VT_COUNTER='** off'
export VT_COUNTER

mpi_compile "$MPICC" mpi/programs/mpi_waits.c waits

# compared TOLERANCE AT_LEAST: what is in `have`, the output of --analyze --csv, with what the program has printed, at
# least so many waits. There are no other waits than these, and those in calls that are there to separate the cases.
compared()
{
	grep '^wait ' output | sed 's/^wait //' >want
	tr -d '\r' <have | awk -v tolerance="$1" '
		FILENAME == "want" {
			split($0, w, "|")
			key = w[1] "|" w[2] "|" w[3]
			want[key] += w[4]
			cause[key] = w[5]
			next
		}
		/^wait,/ { waits = tables = 1; next }
		/^$/ { waits = 0 }
		waits {
			gsub(/"/, "")
			split($0, h, ",")
			# whether MPI_Win_start waits for the target, or a later call, is up to the library
			if (h[1] == "late post") sub(/Win_complete/, "Win_start", h[3])
			if (h[1] ~ /lock$/) sub(/Win_(flush|unlock)$/, "Win_lock", h[3])
			key = h[1] "|" h[2] "|" h[3]
			if (h[3] ~ /MPI_(Init|Finalize|Allgather)$/) next
			got[key] += (h[5] + h[7]) * 1e9
			if (key in want && h[11] != cause[key]) {
				print key, "is said to wait for", h[11], "want", cause[key]
			}
		}
		END {
			if (!tables) { print "there is no table of waits" }
			for (key in got) {
				if (!(key in want) && got[key] > tolerance) { print key, "is no wait:", got[key] }
			}
			for (key in want) {
				if (got[key] - want[key] > tolerance || want[key] - got[key] > tolerance) {
					print key, "is", got[key] + 0, "want", want[key]
				}
			}
		}
	' want - >differs
	grep '^share ' output | while read -r _ name value; do
		tr -d '\r' <have | awk -F, -v name="\"$name\"" -v value="$value" '
			$1 == name && ($2 - value > 0.01 || value - $2 > 0.01) { print name, "is", $2, "want", value }'
	done >>differs
	[ "$(wc -l <want)" -ge "$2" ] && [ ! -s differs ]
}

# a rank that the system takes off its processor between its own clock and the call is measured wrongly: then once more
for try in 1 2 3; do
	expect run 4 ./waits
	expect "$build/stftool" waits.stf --analyze --csv >have 2>>out
	compared 3000000 25 && break
	[ "$try" -eq 3 ] || : >out
done
cat differs >>out
compared 3000000 25
verdict "each kind of wait has its length, its call, its rank and its cause; the efficiencies are right to 1 %"
expect "$build/stftool" waits.stf --verify >>out 2>&1
verdict "the trace is sound"

# the rows of STATISTICS that were recorded, and those that are computed from the events of this run
VT_STATISTICS=on expect run 4 ./waits
"$build/stftool" waits.stf --print-statistics 2>>out | grep -v '^#' | sort -t : -k 1,6 >recorded
expect "$build/stftool" waits.stf --dump --matched-vtf >all.avt 2>>out
grep -v STAT all.avt >events.avt
expect "$build/tests/cli/lib/text_stf" events.avt events.stf >>out 2>&1
"$build/stftool" events.stf --print-statistics 2>>out | grep -v '^#' | sort -t : -k 1,6 >computed
expect grep -q 'events.stf: STATISTICS was not recorded; computed from the events' out
expect [ "$(wc -l <recorded)" -gt 50 ]
# equal but for roundings of stamps and of the clock's rate, 4 units of 0.1 ns and 1 ppm
paste -d : recorded computed | awk -F : '
	function apart(a, b) { return a > b ? a - b : b - a }
	{
		for (i = 1; i <= 12; i++) {
			if (i <= 6 ? $i != $(i + 12) : apart($i, $(i + 12)) > 4 + 1e-6 * $i) { print; next }
		}
	}' >differs
cat differs >>out
expect [ ! -s differs ]
verdict "--print-statistics computes the rows that STATISTICS records"

mpi_compile "$MPICC" mpi/windows/mpi_window_faults.c libfaults.so -shared -fPIC
mpi_compile "$MPICC" mpi/windows/mpi_windows.c windows -L. -lfaults -Wl,-rpath,"$dir"
for try in 1 2 3; do
	expect run 3 ./windows
	expect "$build/stftool" windows.stf --analyze --csv >have 2>>out
	compared 5000000 9 && break
	[ "$try" -eq 3 ] || : >out
done
cat differs >>out
expect compared 5000000 9
expect "$build/stftool" windows.stf --verify >>out 2>&1
expect_line '"MPI_Win_fence","window 1 of COMM_WORLD",3,' have
verdict "waits on a window: at a fence, for a target that posts late, for an origin that completes late, for a lock"
for try in 1 2 3; do
	expect run 3 ./windows even
	expect "$build/stftool" windows.stf --analyze --csv >have 2>>out
	: >output
	compared 30000000 0
	[ -s differs ] || break
done
cat differs >>out
expect [ ! -s differs ]
verdict "and no long ones where nobody sleeps"

mpi_compile "$MPICC" mpi/programs/mpi_slow.c slow
# on a busy node the system may hold up another rank for long, so once more then
for try in 1 2 3; do
	expect run 4 ./slow 2
	grep -q 'rank 2 makes the others wait' out && break
done
expect_line '^\[0\] Tickmark INFO: rank 2 makes the others wait, from .* % of the waits$' out
verdict "the end of a job names the slow rank"
for try in 1 2 3; do
	VT_SUMMARY=on expect run 4 ./slow
	grep -q 'no rank makes the others wait' out && break
done
# on a busy node they wait, now for one and now for another
expect_line -E '^\[0\] Tickmark INFO: no (rank makes the others wait for long|single rank makes the others wait.*)$' out
expect_line ': parallel efficiency [0-9.]* % = load balance [0-9.]* % x communication [0-9.]* %$' out
verdict "and none in a job with equal work; SUMMARY also has the efficiencies"
mpi_compile "$MPICC" mpi/programs/mpi_halo.c halo
for way in sendrecv waitall; do
	for slow in 1 -1; do
		want="rank $slow makes the others wait, from .* % of the waits"
		[ "$slow" -ge 0 ] || want='no rank makes the others wait for long'
		for try in 1 2 3 4 5; do
			expect run 4 ./halo $way $slow
			grep -qE "INFO: $want\$" out && break
		done
		# as above
		[ "$slow" -ge 0 ] || want='no (rank makes the others wait for long|single rank makes the others wait.*)'
		expect_line -E "^\[0\] Tickmark INFO: $want\$" out
	done
	verdict "a delay goes round a ring by $way: the end of the job names the rank that causes it, or none"
done
VT_VERBOSE=0 expect run 2 ./slow
expect_no_line 'Tickmark' out
verdict "VERBOSE 0: nothing"
done_testing

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TRACE-IMBALANCE and libVTim: the states of the trace are the waits of the job, and no others, as long as the
# program has measured them; everything else is counted. With a slow rank, threads, Fortran, a killed job and hosts
# whose clocks differ. TAP.
# shellcheck source=../lib/mpi_lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"

mpi_compile "$MPICC" mpi/programs/mpi_waits.c waits
mpi_compile "$MPICC" mpi/programs/mpi_slow.c slow

# idle N PROGRAM ARGUMENTS...: its waits, as lines of waits.awk, in have
idle()
{
	n=$1
	shift
	clean
	timeout "${LIMIT:-300}" "$MPIRUN" -np "$n" "$vtrun" --trace-imbalance -- "$@" >out 2>&1
	status=$?
	grep -v ' Tickmark ' out | LC_ALL=C sort >output
	states "$1"
	return $status
}

states() # states PROGRAM
{
	"$build/stftool" "$(basename "$1").stf" --dump >dump 2>>out
	awk -f "$here/lib/waits.awk" dump | LC_ALL=C sort >have
}

# Each wait that the program has measured has its length; what the program did not measure are waits in MPI_Allgather.
waits_as_measured()
{
	# like MPI_Test, MPI_Win_test is no call that waits; waits for locks of windows are not in these traces
	sed -n '/MPI_Win_test/d; /wait for window lock/d; s/^wait //p' output >want
	awk -F '|' '
		FILENAME == "want" { split($2, r, ":"); want[r[2] "|" $3] += $4; next }
		# whether MPI_Win_start waits for the target, or a later call, is up to the library
		{ sub(/Win_complete$/, "Win_start", $2); seen[$1 "|" $2] += $4 }
		END {
			for (k in want) {
				d = seen[k] - want[k]
				if (d > 3e6 || d < -3e6) { print k, "is", seen[k] + 0, "want", want[k] }
			}
			for (k in seen) {
				if (!(k in want) && k !~ /MPI_Allgather$/ && seen[k] > 3e6) {
					print k, "is no wait:", seen[k]
				}
			}
		}
	' want have >differs
	[ "$(wc -l <want)" -ge "$1" ] && [ ! -s differs ]
}

# a rank that the system takes off its processor between its own clock and the call is measured wrongly: then once more
for try in 1 2 3; do
	expect idle 4 ./waits
	waits_as_measured 25 && break
	[ "$try" -eq 3 ] || : >out
done
cat differs >>out
expect waits_as_measured 25
expect "$build/stftool" waits.stf --verify >>out 2>&1
expect one_trace waits 4
verdict "each kind of wait has its length, in each call that can wait"

mpi_compile "$MPICC" mpi/windows/mpi_window_faults.c libfaults.so -shared -fPIC
mpi_compile "$MPICC" mpi/windows/mpi_windows.c windows -L. -lfaults -Wl,-rpath,"$dir"
for try in 1 2 3 4 5 6; do
	expect idle 3 ./windows
	waits_as_measured 7 && break
	[ "$try" -eq 6 ] || : >out
done
cat differs >>out
expect waits_as_measured 7
expect one_trace windows 3
verdict "waits on a window, with a fence that one rank leaves early, and calls that fail"

slow_alone() # the waits are of the other ranks, 40 times 20 ms each, give or take what the system adds to each sleep
{
	awk -F '|' '
		$2 != "MPI:MPI_Allreduce" { print "a state that is no wait:", $0; bad = 1; next }
		$1 == 2 { print "the slow rank waits:", $0; bad = 1; next }
		{ n++; if ($4 < 0.5e9 || $4 > 1.2e9) { print "is not 0.8 s:", $0; bad = 1 } }
		END { exit bad || n != 3 }
	' have >differs
}
for try in 1 2 3 4 5; do
	expect idle 4 ./slow 2
	slow_alone && break
	[ "$try" -eq 5 ] || : >out
done
cat differs >>out
expect slow_alone
verdict "a job with one slow rank: states on the other ranks only, whose sum is the delay"

# by function and rank: calls with libVT are those that are counted with libVTim, and its waits
calls() # calls FILE: of --print-statistics, as RANK|FUNCTION|COUNT
{
	awk -F : '/^#/ { next } { n[($1 - 1) % 65536 "|" $2] += $6 } END { for (k in n) { print k "|" n[k] } }' "$1" |
		LC_ALL=C sort
}
mpi_compile "$MPICC" mpi/programs/mpi_messages.c messages -lVTim
clean
VT_STATISTICS=on VT_TRACE_IMBALANCE=off timeout 300 "$MPIRUN" -np 4 ./messages 10 1 >out 2>&1
expect "$build/stftool" messages.stf --print-statistics >all 2>>out
clean
timeout 300 "$MPIRUN" -np 4 ./messages 10 1 >out 2>&1
states messages
expect one_trace messages 4
expect "$build/stftool" messages.stf --print-statistics >left 2>>out
head -3 all left >>out
verdict "what is left out is counted, by function, partner and rank"

mpi_compile "$MPICC" mpi/programs/mpi_idle.c idle_c -pthread -lVTim
for how in threads probe user turns; do
	case $how in
	threads) want=2 ;;
	probe) want=1 ;;
	*) want=6 ;;
	esac
	for try in 1 2 3; do
		clean
		timeout 100 "$MPIRUN" -np 2 ./idle_c $how >out 2>&1
		grep '^wait ' out >output
		states idle_c
		waits_as_measured $want && break
		[ "$try" -eq 3 ] || : >out
	done
	cat differs >>out
	expect waits_as_measured $want
	expect one_trace idle_c 2
	expect_no_line -E 'SCOPE|steps|open' have
	expect_no_line -E '^[0-9]+ (COUNTER|ENTERSCOPE|MESSAGE.* LEN 10 )' dump
	verdict "waits of a program that is linked with libVTim: $how"
done

clean
VT_PCTRACE=on timeout 100 "$MPIRUN" -np 2 ./idle_c turns >out 2>&1
expect "$build/stftool" idle_c.stf --dump >dump 2>>out
expect_line '^[0-9]* ENTER .* SCL [0-9]*$' dump
expect_line '^DEF.*mpi_idle\.c' dump
verdict "PCTRACE: the source line of each wait"

clean
timeout 100 "$MPIRUN" -np 2 "$vtrun" --trace-imbalance=1s -- ./idle_c turns >out 2>&1
states idle_c
expect_empty have
verdict "waits that are shorter than asked for are left out"
for wrong in 0 -1s 2s often; do
	"$vtrun" --trace-imbalance=$wrong -- true >out 2>&1
	status=$?
	expect_status 2
	expect_line '^vtrun: --trace-imbalance=.* is none of on, off, or the shortest wait' out
done
verdict "a wrong time is an error"

clean
timeout 60 "$MPIRUN" -np 2 "$vtrun" --trace-imbalance -- ./idle_c hang >out 2>&1 &
launcher=$!
wait_for 30 eval '[ "$(ls .VT-flush-* 2>/dev/null | wc -l)" -eq 2 ]'
sleep 3
# shellcheck disable=SC2046
kill -9 $(find . -name '.VT-flush-*.raw' | sed -n 's/.*-\([0-9]*\)\.raw$/\1/p')
wait $launcher
wait_for 60 no_raw_files
states idle_c
expect "$build/stftool" idle_c.stf --verify >>out 2>&1
expect awk -F '|' '$1 == 0 && $2 == "MPI:MPI_Recv" && $4 > 0.5e9 { n++ } END { exit n != 1 || NR != 1 }' have
expect_line '^INFO .*1 calls did not end' dump
verdict "a killed job: the call that never ended is a wait until the end"

fortran=$(command -v "$MPICC" | sed s/mpicc/mpif90/)
if [ -x "$fortran" ]; then
	clean
	mpi_compile "$fortran" mpi/fortran/idle_f08.f90 idle_f08 -lVTim &&
		timeout 100 "$MPIRUN" -np 2 ./idle_f08 >out 2>&1
	states idle_f08
	expect awk -F '|' '$1 == 0 && $2 == "MPI:MPI_Recv" && $4 > 0.9e9 && $4 < 1.3e9 { n++ }
		END { exit n != 1 || NR != 1 }' have
	verdict "mpi_f08"
else
	skip "mpi_f08" "no mpif90 beside $MPICC"
fi

if why=$(sh "$src/tests/mpi/netns.sh" -- true 2>&1); then
	for try in 1 2 3; do
		clean
		VT_TIMER=clock_monotonic launch 2 2 ./idle_c turns
		grep '^wait ' out >output
		states idle_c
		waits_as_measured 6 && break
		[ "$try" -eq 3 ] || : >out
	done
	cat differs >>out
	expect waits_as_measured 6
	expect one_trace idle_c 2
	expect_line -E '^INFO .*: 6 waits, 0\.[0-9]+ s \+- [0-9.e-]+ s' dump
	verdict "two hosts whose clocks differ by 1000 s"
else
	skip "two hosts" "$why"
fi
done_testing

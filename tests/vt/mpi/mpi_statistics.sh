#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# STATISTICS of MPI programs (the guide's section 2.8): counts and bytes by function, partner and size. TAP.
# shellcheck source=../lib/mpi_lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"
VT_COUNTER='** off' VT_STATISTICS=on
export VT_COUNTER VT_STATISTICS

mpi_compile "$MPICC" mpi/programs/mpi_statistics.c program || exit 99

# events of messages in the trace, as the program says them
events()
{
	"$build/stftool" program.stf --dump 2>>out |
		awk '/ SENDMSG / { for (i = 1; i < NF; i++) { if ($i == "CPU") c = $(i + 1) - 1;
		if ($i == "TO") t = $(i + 1) - 1; if ($i == "LEN") l = $(i + 1) } n[c " " t " " l]++ }
		END { for (i in n) print i, n[i] }' | LC_ALL=C sort
}

# counted: what the trace's statistics say, as the program says it; and messages received, which are as many
counted()
{
	"$build/stftool" program.stf --print-statistics | "$build/tools/convert-stats" >stats &&
		awk -F'\t' '{ sub(/.*:/, "", $1); sub(/.*:MPI_/, "", $2); sub(/.*:/, "", $3) }
			$5 == 2 && $3 != "all" { sent[$1 " " $3 " " $4] += $6 }
			$5 == -2 { received[$3 " " $1 " " $4] += $6 }
			$3 == "all" && $2 ~ /Bcast|Allreduce/ { print $1, $2, $4, $6 }
			END { for (i in sent) { print i, sent[i]; if (sent[i] != received[i]) print "received", i,
			received[i] } }' stats | LC_ALL=C sort >have
	diff output have >diff
}

expect run 4 ./program
expect counted
verdict "every message and operation is counted, with its partner and bytes"
# the same from the events of the same run
events >events
grep -v '[a-z]' have | LC_ALL=C sort | diff events - >diff
ok "the events say the same" $?
"$build/stftool" program.stf --verify >>out 2>&1
ok "--verify accepts rows without a receiver" $?
VT_STATISTICS=ON VT_PROCESS=OFF expect run 4 ./program
expect counted
"$build/stftool" program.stf --dump 2>>out | expect_no_line ' SENDMSG ' -
verdict "with PROCESS off too, and there are no events"
VT_STATISTICS=64 expect run 4 ./program 300
"$build/stftool" program.stf --print-statistics | expect "$build/tools/convert-stats" >stats
expect_line 'Statistics:others' stats
expect awk -F'\t' 'NR > 1 && $4 != "-" && $3 != "all" { n += $6; b += $4 * $6 }
		END { w = 4 * (50 * 6 + 300);
		x = 4 * (50 * (0 + 1 + 8 + 1000 + 70000 + 24) + 300 * 2000 + 300 * 299 / 2);
		exit n != 2 * w || b != 2 * x }' stats
verdict "in few rows the others hold the exact rest of counts and bytes"
# each rank may lose messages of the call in which the limit is reached: at most one of each size and partner
VT_STATISTICS=off VT_FLUSH_LIMIT=1MB expect run 4 ./program 0 6000
counted || true
expect events >events
expect awk '
	FILENAME == "output" { if ($2 ~ /^[0-9]/) truth[$1 " " $2 " " $3] = $4; next }
	FILENAME == "events" { traced[$1 " " $2 " " $3] = $4; next }
	$2 ~ /^[0-9]/ && $1 != "received" { rest[$1 " " $2 " " $3] = $4 }
	END { for (i in truth) { n++; d = truth[i] - traced[i] - rest[i]; if (d < 0 || d > 1 || traced[i] < 100 ||
	rest[i] < 100) { print i, truth[i], traced[i], rest[i]; bad = 1 } }
		exit bad || n != 24 }' output events have >diff
expect grep -c 'FLUSH-LIMIT is reached. The program goes on with statistics only' out >said
expect [ "$(cat said)" -eq 4 ]
verdict "after FLUSH-LIMIT the statistics have the messages that the trace lacks, by partner and size"
VT_SUMMARY=on expect run 4 ./program
expect_line ' 200 .*MPI:MPI_Waitall$' out
expect_line ' 200 .*MPI:MPI_Sendrecv$' out
expect_line '100.00%  all calls of MPI' out
expect_line '200     14000000  of up to 131071 bytes' out
verdict "SUMMARY: calls of functions, also of those with several messages, the share of MPI, messages by size"

# main is open when MPI_Finalize writes the trace; it waits for 0.4 s itself, and its callee for 0.2 s
mpi_compile "$MPICC" functions/programs/open_main.c open -finstrument-functions || exit 99
expect run 2 ./open
"$build/stftool" open.stf --print-statistics | "$build/tools/convert-stats" >stats
# of each rank: one call of main, one of work, main alone from 0.4 s on, and with what it called longer by work and MPI
expect awk -F'\t' '$2 ~ /:main$/ { n += $6; if ($9 < 0.4 || $12 < $9 + 0.2) bad = 1 }
	$2 ~ /:work$/ { w += $6 }
	END { exit bad || n != 2 || w != 2 }' stats
verdict "calls that are open when the trace is written are counted, once"
done_testing

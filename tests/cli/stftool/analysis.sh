#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# stftool --analyze: its tables, its JSON, and the window of time. TAP.
# shellcheck disable=SC1091,SC2154
. "${top_srcdir:-.}/tests/cli/lib/toollib.sh"

waits=$dir/waits.stf
from_text "$src/tests/cli/stftool/waits.avt" "$waits" || exit 99
tool "$waits" --analyze
# one space for several, so that the lines of the table are not too long
tr -s ' ' <"$dir/out" >"$dir/narrow" && mv "$dir/narrow" "$dir/out"
is "--analyze: efficiencies, waits, delays, threads, and what cannot be decided" 0 <<'EOT'
efficiencies in 0.01 s between MPI_Init and MPI_Finalize, parallel = load_balance x communication, communication = serialisation x transfer:
efficiency share error
parallel 0.6039 0.0003208
load_balance 0.8513 0.000522
communication 0.7094 0.0003419
serialisation 0.7896 0.0003985
transfer 0.8984 0.0003797

functions and regions of the program, and what they call (level 1), with their efficiencies:
phase level calls time_s parallel load_balance communication most longest_s longest_at_s longest_of
"solve it" 0 1 0.005 0.5 0.5 1 0:0 0.005 0.001 0:0

the thread that others wait for in MPI, and what they waited together:
thread in since_s until_s waited_s share
nobody - - - - -

waits, the longest sum first; undecided: not longer than the clocks' bound:
wait thread call count sum_s undecided undecided_s worst_s worst_at_s bound_s cause cause_in source
"late sender" 0:1 MPI:MPI_Recv 1 0.004 1 1e-06 0.004 0.002 2e-06 0:0 "solve it" -
"wait at barrier" 0:0 MPI:MPI_Barrier 1 0.00289 0 0 0.00289 0.0061 2e-06 0:1 - -

what others waited for a thread, and for those that had waited for it:
thread in count direct_s propagated_s first_s last_s
0:0 "solve it" 1 0.004 0 0.002 0.006
0:1 - 1 0.00289 0 0.0061 0.00899

collective operations: from the first begin to the last, and which thread was the last most often:
operation communicator count inside_s spread_s worst_s worst_at_s last last_count undecided
MPI_Barrier COMM_WORLD 1 0.0029 0.00289 0.00289 0.0061 0:1 1 0

critical path: what the end of the run, after 0.01 s, had to wait for:
thread in source time_s share
0:0 "solve it" - 0.005 0.5
0:0 - - 0.002005 0.2005
0:1 - - 0.001979 0.1979
0:1 MPI:MPI_Recv - 0.001011 0.1011
0:0 MPI:MPI_Barrier - 5e-06 0.0005

functions on the critical path; 10 % less time in one makes the run shorter by at most 10 % of its time here:
in time_s share
"solve it" 0.005 0.5
- 0.003984 0.3984
MPI:MPI_Recv 0.001011 0.1011
MPI:MPI_Barrier 5e-06 0.0005

threads that called MPI; open_in: a call that was not left at the end:
thread from_s to_s outside_s mpi_s waits_s undecided_s calls open_in open_since_s
0:0 0.001 0.011 0.007094 0.002906 0.00289 0 5 - -
0:1 0.001 0.011 0.004984 0.005016 0.004 1e-06 5 MPI:MPI_Finalize 0.011

what was analysed:
what count
messages 3
"collective operations" 1
"3 calls were left out" -
"2 states were open" -
EOT
# the layout that stftool(1) documents
if "$build/stftool" "$waits" --analyze --json >"$dir/out" 2>"$dir/err"; then
	if command -v jq >/dev/null 2>&1; then
		jq -r '.schema,
			(.efficiencies, .who, .waits, .delays, .spreads, .mpi_threads, .basis |
				(.[0] | keys_unsorted | join(" "))),
			(.waits[0] | .wait, .count, (.sum_s * 1e6 | round), (.worst_at_s * 1e6 | round),
				(.bound_s * 1e9 | round), .cause, .cause_in, .source),
			(.efficiencies[0].share * 1e6 | round), (.basis | map(.count) | join(" "))' \
			<"$dir/out" >"$dir/json"
		mv "$dir/json" "$dir/out"
		status=0
		is "--analyze --json" 0 <<'EOT'
stftool/1
efficiency share error
thread in since_s until_s waited_s share
wait thread call count sum_s undecided undecided_s worst_s worst_at_s bound_s cause cause_in source
thread in count direct_s propagated_s first_s last_s
operation communicator count inside_s spread_s worst_s worst_at_s last last_count undecided
thread from_s to_s outside_s mpi_s waits_s undecided_s calls open_in open_since_s
what count
late sender
1
4000
2000
2000
0:0
solve it
null
603900
3 1 0 0 0 0 0 0  
EOT
	else
		skip "--analyze --json" "no jq"
	fi
else
	skip "--analyze --json" "this build has no jansson"
fi
tool "$waits" --analyze --csv
tr -d '\r' <"$dir/out" | sed -n '/^wait,/,/^$/p' >"$dir/rows"
expect [ "$(wc -l <"$dir/rows")" -eq 4 ]
expect_line '^"late sender","0:1","MPI:MPI_Recv",1,0.004,1,' "$dir/rows"
verdict "--analyze --csv"
tool "$waits" --analyze --request 5ms:9ms
expect_status 0
expect_line '"late sender" *0:1 *MPI:MPI_Recv *1 *0.001 ' "$dir/out"
expect_line '"wait at barrier" *0:0 *MPI:MPI_Barrier *1 *0.00289 ' "$dir/out"
expect_line 'efficiencies in 0.004 s' "$dir/out"
verdict "--request: a window cuts the waits that begin before it"
cat >"$dir/cut.avt" <<'EOT'
CLKPERIOD 1e-03
NCPUS 1 1
DEFCLASS 1 "MPI" SELF "MPI" PARENT 0
DEFFUNCTION 1 "MPI_Init" CLASS 1
DEFFUNCTION 2 "MPI_Recv" CLASS 1
0 ENTER CPU 1 FUNCTION 1
0 ENTER CPU 2 FUNCTION 1
100 LEAVE CPU 1
100 LEAVE CPU 2
200 ENTER CPU 1 FUNCTION 2
300 ENTER CPU 2 FUNCTION 2
9000 LEAVE CPU 1
9000 LEAVE CPU 2
EOT
"$build/tests/cli/lib/text_stf" "$dir/cut.avt" "$dir/cut.stf"
tool "$dir/cut.stf" --who
is "--who: a run that was ended in a deadlock" 0 <<'EOT'
the trace has no MPI_Finalize of rank 0: it is not known whether one rank makes the others wait
EOT
tool "$waits" --who --verbose 2
is "--who" 0 <<'EOT'
no single rank makes the others wait
parallel efficiency 60.4 % = load balance 85.1 % x communication 70.9 %
rank 1 waits 0.004 s, in MPI:MPI_Recv, late sender: 1 wait, the longest for rank 0
rank 0 waits 0.00289 s, in MPI:MPI_Barrier, wait at barrier: 1 wait, the longest for rank 1
EOT
tool "$dir/one.stf" --who
is "--who: nothing to say about one process" 0 </dev/null
tool "$waits" --analyze --fail-below efficiency=0.6,load_balance=0.85
expect_status 0
tool "$waits" --analyze --fail-below load_balance=0.8,communication=0.71
expect_status 4
expect_line 'waits.stf: the efficiency communication is 0.7094, below 0.71$' "$dir/err"
expect [ "$(wc -l <"$dir/err")" -eq 1 ]
tool "$dir/empty.stf" --analyze --fail-below parallel=0.1
expect_status 1
verdict "--fail-below: the exit status is 4, of a trace without the efficiency 1"
for words in efficiency efficiency=2 efficiency=0.5, speed=0.1 efficiency=x; do
	refused "--fail-below $words" 2 "--fail-below: '$words' is not" "$waits" --analyze --fail-below "$words"
done
refused "--request with threads" 2 "--analyze takes one --request with a window of time alone" \
	"$waits" --analyze --request 0:1
refused "--json alone" 2 "--json has an effect only with --print-... or --analyze" "$waits" --dump --json
tool "$dir/empty.stf" --analyze
expect_status 0
expect_line '^no thread called MPI: ' "$dir/out"
expect [ "$(wc -l <"$dir/out")" -eq 1 ]
tool "$dir/empty.stf" --analyze --json
expect_status 0
expect_line '"mpi_threads"' "$dir/out"
verdict "an empty trace"
tool "$rich" --analyze
expect_status 0
verdict "a trace of every kind of record"
done_testing

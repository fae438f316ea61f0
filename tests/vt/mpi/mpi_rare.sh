#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# MPI that few programs use: cancelled and freed requests, intercommunicators, partitions, threads with the same
# envelope, spawned processes, calls outside MPI; and the states of MPI_Init and MPI_Finalize. Compared with what
# mpi_rare.c knows. TAP.
# shellcheck source=../lib/mpi_lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"
VT_COUNTER='** off'
export VT_COUNTER
mpi_compile "$MPICC" mpi/programs/mpi_rare.c rare -pthread

# program RANKS PART: under vtrun; the trace's text in dump, its operations as the program states its own in
# truth.operations
program()
{
	rm -f truth.* child.* dump
	run "$1" ./rare "$2" && ! grep -q 'no threads' out && "$build/stftool" rare.stf --verify >>out 2>&1 &&
		"$build/stftool" rare.stf --dump >dump 2>>out && cat truth.* | sed -n 's/^operation //p' |
		LC_ALL=C sort >want &&
		awk '$1 == "DEFCOLLOP" { gsub(/"/, ""); name[$2] = $3 }
		$2 == "GLOBALOP" {
			root = 0
			for (i = 3; i < NF; i++) { v[$i] = $(i + 1); if ($i == "ROOT") { root = $(i + 1) } }
			if (v["MEMBER"] == 1) { print name[v["OP"]], root - 1 }
		}' dump | LC_ALL=C sort >have && cmp want have >>out 2>&1 && sed -i '/^operation/d' truth.*
}
able() # able RANKS PART: can this MPI do it, without us?
{
	rm -f truth.*
	timeout 60 "$MPIRUN" -np "$1" ./rare "$2" >plain 2>&1 && [ "$(cat truth.* | wc -l)" -gt 0 ]
}
named() # named TAG: how many messages with it are named as ambiguous
{
	grep -cE "^INFO CLASS [0-9]+ TEXT \"[0-9]+ from 0:[0-9]+ to 1:0, communicator 1, tag $1, " dump
}
says() # says TEXT: an info of the trace, exactly
{
	grep -qE "^INFO CLASS [0-9]+ TEXT \"$1\"$" dump
}

expect program 4 cancel
expect same_messages rare.stf 4
verdict "cancelled sends and receives: what is sent later with their envelope finds its receive"
expect program 4 inter
expect same_messages rare.stf 7
expect says '9 collective operations'
verdict "messages and operations of an intercommunicator, their roots, and the merged communicator"
grep '^DEFCOMM ' dump | expect_line -x 'DEFCOMM [0-9]* "both" LEFT 2 FIRST 2 1 2 LAST 2 3 4 STRIDE 2 2 2' -
grep '^DEFCOMM ' dump | expect_line -x 'DEFCOMM [0-9]* "all" LEFT 0 FIRST 2 1 2 LAST 2 3 4 STRIDE 2 2 2' -
verdict "their members"
cat >want.names <<'END'
CART_CREATE COMM_WORLD
CART_SUB CART_CREATE COMM_WORLD
CART_SUB CART_CREATE COMM_WORLD
COMM_WORLD
CREATE COMM_WORLD
DUP last
GRAPH_CREATE COMM_WORLD
MERGE SPLIT COMM_WORLD
MERGE low/high
high
last
low
END
expect program 4 names
sed -n 's/^DEFCOMM [0-9]* "\([^"]*\)".*/\1/p' dump | grep -vE 'COMM_SELF|^INTERCOMM' | LC_ALL=C expect sort >have
expect_same want.names have
verdict "communicators have the guide's names, also those of two, of renamed ones and of two renamed ones"
if able 4 connect; then
	expect program 4 connect
	expect same_messages rare.stf 7
	verdict "MPI_Comm_accept and MPI_Comm_connect"
else
	skip "MPI_Comm_accept and MPI_Comm_connect" "this MPI cannot do it here"
fi
if able 2 parted; then
	expect program 2 parted
	expect same_messages rare.stf 1
	verdict "partitioned messages"
else
	skip "partitioned messages" "this MPI has none (MPI 4)"
fi
expect program 3 some
expect same_messages rare.stf 1000
verdict "two threads with MPI_Testsome"

expect program 2 twice
expect messages rare.stf >have
LC_ALL=C expect sort truth.* >want
expect_same want have
expect [ "$(named 7)" -eq 2 ]
expect says '2 messages are ambiguous: .*'
expect says '4 messages were matched'
verdict "two threads that send the same envelope at once: both messages are named as ambiguous, no other"
# which of the two equal messages the freed receive took, nobody can say
expect program 2 freed
expect messages rare.stf >have
{ cat truth.*; echo '0 1 30 9 COMM_WORLD'; } | LC_ALL=C sort >want || not_met '{ cat truth.*; echo ...'
expect_same want have
expect [ "$(named 9)" -eq 1 ]
expect [ "$(named 8)" -eq 0 ]
expect says '1 messages are ambiguous: .*'
expect says '1 receives were freed, .*'
expect says '1 messages were sent whose receiving was not recorded'
verdict "a freed receive from anybody: what may have been its message is named, no other"

expect program 2 outside
expect_line -x 'before: begun 0, over 0' out
expect_line -x 'after: begun 1, over 1' out
verdict "calls before MPI_Init and after MPI_Finalize"
# each rank: MPI_Init_thread is the first state of MPI, MPI_Finalize the last; both are left
awk '$1 == "DEFFUNCTION" { gsub(/"/, ""); name[$2] = $3 }
$2 == "ENTER" && name[$6] ~ /^MPI_/ { cpu = $4; n[cpu]++; last[cpu] = name[$6]; if (name[$6] == "MPI_Init_thread") {
first[cpu] = seen[cpu] } if (name[$6] ~ /^MPI_(Init_thread|Finalize)$/) { both[cpu]++ } else { seen[cpu]++ }
open[cpu]++ }
$2 == "LEAVE" { open[$4]-- }
END { for (c in n) { print c, first[c] + 0 <= 4, last[c], both[c], open[c] } }' dump | sort >have
printf '%s\n' '1 1 MPI_Finalize 2 0' '2 1 MPI_Finalize 2 0' | diff - have >>out
ok "the states of MPI_Init_thread and MPI_Finalize: one of each, in their places, left" $?

# Of what the children do there is another trace.
if able 2 child; then
	expect program 2 child
	expect messages rare.stf >have
	expect_line '^0 1 52 3 COMM_WORLD$' have
	expect [ "$(wc -l <have)" -eq 1 ]
	expect says '2 messages go to or come from processes that are not in this trace'
	verdict "messages to a spawned process are counted, and no rank of the job gets them"
else
	skip "messages to a spawned process" "this MPI cannot do it here"
fi
done_testing

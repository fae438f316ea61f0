#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# libVTmc: programs with known mistakes, each beside a correct one (generate.py), by vtrun --check-mpi; and what a user
# gets to see.
# CASES=0 runs all of them, which check-long does. TAP.
# shellcheck source=../lib/mpi_lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"
here=$src/tests/vt/checker
printf '#include <mpi.h>\nMPI_VERSION\n' >version.c
standard=$("$MPICC" -E version.c | tail -n 1)
expect $PYTHON3 "$here/generate.py" "$dir" "$standard"
expect "$MPICC" -g -w -o cases cases.c -lpthread -ldl

# number NAME: of a case
number()
{
	awk -F '\t' -v name="$1" '$5 == name { print $1 }' cases.list
}

# check NAME RANKS OPTION...: runs a case; output in out
check()
{
	case_number=$(number "$1")
	ranks=$2
	shift 2
	timeout 100 $MPIRUN -np "$ranks" "$build/vtrun" --check-mpi "$@" -- ./cases "$case_number" >out 2>&1
	status=$?
}

check 'Barrier correct' 2
expect_status 0
expect_line '^\[0\] INFO: 0 errors, 0 warnings in [1-9][0-9]* calls of 2 ranks$' out
expect_no_line -E 'ERROR|WARNING' out
check 'Recv peer n' 2 --check-json reports.json
expect [ "$status" -ne 0 ]
expect_line '^\[[01]\] ERROR: LOCAL:MPI:CALL_FAILED: error$' out
expect_line '^\[1\] ERROR:    MPI_Recv(buf=0x[0-9a-f]*, count=2, datatype=MPI_INT, source=2, tag=7, ' out
expect_line ' comm=MPI_COMM_WORLD, status=0)   case_[0-9]* (cases\.c:[0-9]*)$' out
expect_line '^\[1\] INFO:    LOCAL:MPI:CALL_FAILED: 1, rank 1$' out
expect $PYTHON3 -c 'import json
assert [json.loads(line)["type"] for line in open("reports.json")] == ["LOCAL:MPI:CALL_FAILED"]'
verdict "a report has its head, the call with its parameters, the line, a summary, and the job fails"

check 'Recv peer n' 2 --check 'LOCAL:**' off
expect_no_line 'LOCAL:MPI' out
check 'Recv peer n' 2 --check-max-errors 0
expect_line '^\[1\] ERROR: LOCAL:MPI:CALL_FAILED: error$' out
check 'Barrier correct' 2 --check 'GLOBAL:COLLECTIVE:COMM_FREE_MISMATCH' on
expect_line '^\[0\] .*INFO: CHECK GLOBAL:COLLECTIVE:COMM_FREE_MISMATCH: there is no check of this name; ' out
verdict "CHECK takes classes out, and names those that do not exist; CHECK-MAX-ERRORS lets the job go on"

check 'any correct 3' 3 --check 'GLOBAL:MSG:RACE' on
expect_status 0
expect_line '^\[0\] WARNING: GLOBAL:MSG:RACE: warning$' out
expect_line ' may take a message of rank [12], by MPI_Send .*, or of rank [12], by MPI_Send ' out
check 'any correct 2' 2 --check 'GLOBAL:MSG:RACE' on
expect_line '^\[0\] INFO: 0 errors, 0 warnings in ' out
verdict "a receive that may take messages of two ranks is reported, if that is wanted"

awk -F '\t' '$5 ~ /^profiled: / { print $1, $2, $3 }' cases.list >profiled
expect [ -s profiled ]
while read -r case_number ranks class; do
	timeout 100 $MPIRUN -np "$ranks" "$build/vtrun" --check-mpi -- ./cases "$case_number" >out 2>&1 </dev/null
	found="^\[0\] INFO:    $class: 1, rank"
	[ "$class" != correct ] || found='^\[0\] INFO: 0 errors, 0 warnings in '
	expect_line "$found" out
done <profiled
check 'profiled: a message sent by PMPI_Send' 2
expect_line ' INFO: a message from rank 0, with tag 3, was sent by a call that is not seen here, such as PMPI_Send ' out
check 'more messages at a time than are followed' 2
expect_line ' INFO: a message from rank 0, with tag 3, had no room among those that are followed, or was sent by ' out
expect_no_line 'PMPI_Send' out
verdict "messages that a library sends or receives by PMPI_ calls are no mistakes, and what is not seen then is said"

check 'message to the wrong rank' 3
expect_line '   look at rank 1 first: it has sent rank 0 what rank 2 waits for: MPI_Send, tag 3   case_' out
check 'message with another tag' 3
expect_line '   look at ranks 1 and 2 first: rank 2 does not wait for .* has sent: MPI_Send, tag 4   case_' out
check 'message on another communicator' 3
expect_line '   look at ranks 1 and 2 first: rank 2 does .* sent: MPI_Send, tag 3, on another communicator   case_' out
check 'message with another tag, and a receive of any' 3
expect_line '   look at ranks 1 and 2 first: rank 2 does not wait for .* has sent: MPI_Send, tag 7   case_' out
check 'a rank waits for the wrong one of a ring' 3
expect_line 'ERROR: GLOBAL:DEADLOCK:HARD: fatal error$' out
expect_no_line 'has sent rank' out
verdict "a deadlock names the message that went elsewhere, and none that may be taken"

check 'more operations at a time than there is room for' 3
expect_line '^\[0\] INFO: 0 errors, 0 warnings in ' out
expect_line 'INFO: too many collective operations are under way at a time: from MPI_[IB]' out
verdict "an operation that has no room to be compared is not waited for"

pairs=0
while IFS='|' read -r ranks name line; do
	check "$name" "$ranks" </dev/null
	expect_line "   look at $line\$" out
	pairs=$((pairs + 1))
done <<'END'
3|a message too few|ranks 2 and 1 first: rank 2 waits for rank 1 alone, which is in MPI_Barrier
3|a barrier too many|rank 0 first: several ranks wait for it alone, and it is in MPI_Barrier
2|a message to itself|rank 0 first: it waits for itself
3|each of two waits for the other|ranks 0 and 1 first: rank 0 waits for rank 1 alone, which is in MPI_Recv
4|a ring without its first message|rank 0 first: it is not where the others wait
3|message to the wrong rank, for a receive of any|rank 1 first: it has sent rank 2 what rank 0 waits for: MPI_Send, .*
END
expect [ "$pairs" -eq 6 ]
verdict "a deadlock names the ranks between which a call is missing, or is too many"

check 'idup missing 2' 2 --deadlock-timeout 0
expect_line 'ERROR: GLOBAL:DEADLOCK:HARD: fatal error$' out
expect_line '   rank 0 waits for 1: MPI_Wait(.* case_[0-9]* (cases\.c:[0-9]*)' out
verdict "a rank that MPI_Comm_idup waits for is known"

check 'late message that nobody receives' 2 --deadlock-timeout 0
expect_line 'ERROR: GLOBAL:DEADLOCK:HARD: fatal error$' out
expect_line '   rank 0 waits for 1: MPI_Ssend(.* case_[0-9]* (cases\.c:[0-9]*)' out
verdict "a message that was on its way when its receiver looked is still awaited"

timeout 20 "$build/vtrun" --check-mpi -- true >out 2>&1
expect [ $? -eq 2 ]
expect_line 'does not use MPI: there is nothing to check$' out
verdict "a program without MPI is refused"

VT_DEADLOCK_TIMEOUT=2s
export VT_DEADLOCK_TIMEOUT
timeout 3000 $PYTHON3 "$here/run_cases.py" "$dir" "${CASES:-150}" 20261128 \
	$MPIRUN -np '{n}' "$build/vtrun" --check-mpi -- ./cases >out 2>&1
status=$?
expect_status 0
sed 's/^/# /' out
verdict "known mistakes are found, with their class and line, and no correct program is accused"
done_testing

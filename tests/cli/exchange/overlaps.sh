#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What libVT records is not nested: a scope that begins in a function and ends in another one, collective operations
# that do not block, operations on files that are complete later. What readers show of them is rebuilt here. TAP.
# shellcheck disable=SC1091,SC2154
. "${top_srcdir:-.}/tests/cli/lib/toollib.sh"
python=$(command -v python3) || skip_all "no python3 here"

cat >"$dir/ov.avt" <<'END'
CLKPERIOD 1e-09
NCPUS 1 2
DEFCLASS 1 "MPI" SELF "MPI" PARENT 0
DEFCLASS 2 "User" SELF "User" PARENT 0
DEFFUNCTION 1 "f" CLASS 2
DEFFUNCTION 2 "g" CLASS 2
DEFFUNCTION 3 "MPI_Wait" CLASS 1
DEFFUNCTION 4 "MPI_Send" CLASS 1
DEFSCOPE 1 "sc" CLASS 2 SCL1 0 SCL2 0
DEFSCOPE 2 "other" CLASS 2 SCL1 0 SCL2 0
DEFCOMM 0 "world" LEFT 0 FIRST 1 1 LAST 1 2 STRIDE 1 1
DEFCOLLOP 37 "MPI_Iallreduce" TYPE 4
DEFCOLLOP 31 "MPI_Ibcast" TYPE 2
DEFIOFILE 1 "data" COMM 0
50 SENDMSG CPU 1 TO 2 COMM 0 TAG 1 LEN 1 FUNCTION 4 PAIR 1
50 ENTER CPU 1 FUNCTION 4
60 RECVMSG CPU 2 FROM 1 COMM 0 TAG 1 LEN 1 FUNCTION 0 PAIR 1
70 LEAVE CPU 1
100 ENTER CPU 1 FUNCTION 1
200 ENTERSCOPE CPU 1 SCOPE 1 SEQ 7
250 ENTERSCOPE CPU 1 SCOPE 1 SEQ 8
300 LEAVE CPU 1
350 LEAVESCOPE CPU 1 SCOPE 1 SEQ 7
400 ENTER CPU 1 FUNCTION 2
410 ENTERSCOPE CPU 1 SCOPE 2 SEQ 9
420 LEAVESCOPE CPU 1 SCOPE 2 SEQ 9
500 LEAVESCOPE CPU 1 SCOPE 1 SEQ 8
600 LEAVE CPU 1
700 COLLALLTOALL COMM 0 OP 37 START 2 0 1 TIME 2 100 120 SENT 2 8 8 RECVD 2 8 8
720 COLLONETOALL ROOT 1 ROOTLEN 8 COMM 0 OP 31 START 2 0 1 TIME 2 130 140 RECVD 2 0 8
730 ENTER CPU 1 FUNCTION 3
900 LEAVE CPU 1
1000 IOBEGIN CPU 1 TYPE 0 FILE 1 LEN 100
1010 ENTER CPU 1 FUNCTION 1
1020 IOBEGIN CPU 1 TYPE 0 FILE 1 LEN 200
1030 LEAVE CPU 1
1040 ENTER CPU 1 FUNCTION 2
1050 IOEND CPU 1 TYPE 0 FILE 1 LEN 100
1060 LEAVE CPU 1
1070 IOEND CPU 1 TYPE 0 FILE 1 LEN 200
END
from_text "$dir/ov.avt" "$dir/ov.stf"
ok "a trace of what overlaps" "$status"
tool "$dir/ov.stf" --convert "$dir/ov.perfetto"
expect_status 0
"$python" -B "$src/tests/cli/exchange/perfetto_slices.py" "$dir/ov.perfetto" >"$dir/have" 2>"$dir/err"
cat >"$dir/want" <<'END'
collective operations: MPI_Iallreduce 700-800
collective operations: MPI_Iallreduce 701-821
collective operations: MPI_Ibcast 720-850
collective operations: MPI_Ibcast 721-861
file operations: data 1000-1050
file operations: data 1020-1070
scopes: User:other 410-420
scopes: User:sc 200-350
scopes: User:sc 250-500
send in MPI:MPI_Send
thread 0: MPI:MPI_Send 50-70
thread 0: MPI:MPI_Wait 730-900
thread 0: User:f 100-300
thread 0: User:f 1010-1030
thread 0: User:g 1040-1060
thread 0: User:g 400-600
END
expect_same "$dir/want" "$dir/have"
verdict "Perfetto: each slice on its track is as long as it was, a send is in its function"

tool "$dir/ov.stf" --convert "$dir/ov.paje"
expect_status 0
if command -v pj_dump >/dev/null; then
	# it prints seconds with six digits
	sed 's/CLKPERIOD 1e-09/CLKPERIOD 1e-03/' "$dir/ov.avt" >"$dir/slow.avt"
	from_text "$dir/slow.avt" "$dir/slow.stf" && tool "$dir/slow.stf" --convert "$dir/slow.paje"
	pj_dump "$dir/slow.paje" | sed -n 's/, *[0-9.]*, [0-9.]*, \([^,]*\)$/, \1/
		s/^State, \(thread .:0\), \([a-z]*\)[ 0-9]*, \([0-9.]*\), \([0-9.]*\), /\1 \2: \3-\4 /p' >"$dir/have"
	expect_line 'thread 0:0 collective: 0.700000-0.800000 MPI_Iallreduce' "$dir/have"
	expect_line 'thread 0:0 collective: 0.720000-0.850000 MPI_Ibcast' "$dir/have"
	expect_line 'thread 0:0 scope: 0.200000-0.350000 User:sc' "$dir/have"
	expect_line 'thread 0:0 scope: 0.250000-0.500000 User:sc' "$dir/have"
	expect_line 'thread 0:0 io: 1.000000-1.050000 data' "$dir/have"
	expect_line 'thread 0:0 io: 1.020000-1.070000 data' "$dir/have"
	verdict "Paje: what overlaps has a state of its own"
else
	skip "Paje: what overlaps has a state of its own" "no pj_dump here"
fi

# what has one stamp with the begin or the end of its function is in that function, for each reader
cat >"$dir/tie.avt" <<'END'
CLKPERIOD 1e-09
NCPUS 2 1
DEFCLASS 1 "MPI" SELF "MPI" PARENT 0
DEFFUNCTION 1 "main" CLASS 1
DEFFUNCTION 3 "MPI_Recv" CLASS 1
DEFFUNCTION 4 "MPI_Send" CLASS 1
DEFFUNCTION 5 "MPI_Allreduce" CLASS 1
DEFFUNCTION 6 "MPI_File_write" CLASS 1
DEFCOMM 0 "world" LEFT 0 FIRST 1 1 LAST 1 2 STRIDE 1 1
DEFCOLLOP 12 "MPI_Allreduce" TYPE 4
DEFIOFILE 1 "data" COMM 0
10 ENTER CPU 1 FUNCTION 1
10 ENTER CPU 2 FUNCTION 1
50 SENDMSG CPU 1 TO 2 COMM 0 TAG 1 LEN 1 FUNCTION 4 PAIR 1
50 ENTER CPU 1 FUNCTION 4
50 ENTER CPU 2 FUNCTION 3
60 LEAVE CPU 1
60 LEAVE CPU 2
60 RECVMSG CPU 2 FROM 1 COMM 0 TAG 1 LEN 1 FUNCTION 3 PAIR 1
100 COLLALLTOALL COMM 0 OP 12 START 2 0 0 TIME 2 20 20 SENT 2 8 8 RECVD 2 8 8
100 ENTER CPU 1 FUNCTION 5
100 ENTER CPU 2 FUNCTION 5
120 LEAVE CPU 1
120 LEAVE CPU 2
130 ENTER CPU 1 FUNCTION 6
130 IOBEGIN CPU 1 TYPE 0 FILE 1 LEN 100
140 LEAVE CPU 1
140 IOEND CPU 1 TYPE 0 FILE 1 LEN 100
200 LEAVE CPU 1
200 LEAVE CPU 2
END
from_text "$dir/tie.avt" "$dir/tie.stf"
within() # within: standard input has lines KIND PLACE NAME; each event with the function that is open in its place
{
	awk '$1 == "ENTER" { stack[$2, ++depth[$2]] = $3 }
		$1 == "LEAVE" { depth[$2]-- }
		$1 != "ENTER" && $1 != "LEAVE" { print $1, stack[$2, depth[$2]] }' | sort >"$dir/have"
	printf '%s\n' "$@" | sort >"$dir/want"
	expect_same "$dir/want" "$dir/have"
}
tool "$dir/tie.stf" --convert "$dir/tie.otf2"
if ! grep -q 'not built' "$dir/err" && command -v otf2-print >/dev/null; then
	otf2-print "$dir/tie.otf2/traces.otf2" |
		sed -n 's/^\([A-Z_]*\) *\([0-9]\) *[0-9]* *\(Region: "\(.*\)".*\)*/\1 \2 \4/p' |
		sed 's/Receiver.*\|Sender.*\|Operation.*\|Handle.*//' |
		within 'IO_OPERATION_BEGIN MPI_File_write' 'IO_OPERATION_COMPLETE MPI_File_write' \
			'MPI_COLLECTIVE_BEGIN MPI_Allreduce' 'MPI_COLLECTIVE_BEGIN MPI_Allreduce' \
			'MPI_COLLECTIVE_END MPI_Allreduce' 'MPI_COLLECTIVE_END MPI_Allreduce' \
			'MPI_RECV MPI_Recv' 'MPI_SEND MPI_Send'
	verdict "OTF2: what a call makes is in the call, by otf2-print"
else
	skip "OTF2: what a call makes is in the call" "this build has no OTF2, or no otf2-print is here"
fi
tool "$dir/tie.stf" --convert "$dir/tie.otf"
if ! grep -q 'not built' "$dir/err" && command -v otfprint >/dev/null; then
	otfprint "$dir/tie.otf" >"$dir/printed" 2>"$dir/warn"
	sed -n 's/.*DefFunction: .*function \([0-9]*\), name "\(.*\)", group.*/s,^\\(ENTER .*\\) \1$,\\1 \2,/p' \
		"$dir/printed" >"$dir/names"
	sed -n 's/.* Enter: function \([0-9]*\), process \([0-9]*\),.*/ENTER \2 \1/p
		s/.* Leave: function \([0-9]*\), process \([0-9]*\),.*/LEAVE \2 \1/p
		s/.* \(SendMessage\|ReceiveMessage\): [a-z]* \([0-9]*\),.*/\1 \2/p
		s/.* \([A-Z][a-z]*\(Collective\|FileOperation\)\): process \([0-9]*\),.*/\1 \3/p' "$dir/printed" |
		sed -f "$dir/names" | within 'BeginCollective MPI_Allreduce' 'BeginCollective MPI_Allreduce' \
		'BeginFileOperation MPI_File_write' 'EndCollective MPI_Allreduce' 'EndCollective MPI_Allreduce' \
		'EndFileOperation MPI_File_write' 'ReceiveMessage MPI_Recv' 'SendMessage MPI_Send'
	verdict "OTF: what a call makes is in the call, by otfprint"
else
	skip "OTF: what a call makes is in the call" "this build has no OTF, or no otfprint is here"
fi
tool "$dir/tie.stf" --convert "$dir/tie.chrome.json"
"$python" -B - "$dir/tie.chrome.json" <<'END' 2>"$dir/err" |
import json
import sys
for e in json.load(open(sys.argv[1]))["traceEvents"]:
    kind = {"B": "ENTER", "E": "LEAVE", "s": "s", "f": "f"}.get(e["ph"])
    if kind:
        print(kind, f'{e["pid"]}:{e["tid"]}', e["name"] if kind == "ENTER" else "")
END
	within 'f MPI_Recv' 's MPI_Send'
verdict "Chrome: arrows begin and end in their calls"

tool "$dir/ov.stf" --convert "$dir/ov.otf"
if grep -q 'not built' "$dir/err" || ! command -v otfprint >/dev/null; then
	skip "OTF: the end of an operation on a file" "this build has no OTF, or no otfprint is here"
else
	otfprint "$dir/ov.otf" >"$dir/printed" 2>"$dir/warn"
	sed -n 's/.*\(Begin\|End\)FileOperation: .*matching ID \([0-9]*\).*/\1 \2/p' "$dir/printed" >"$dir/have"
	printf '%s\n' 'Begin 1' 'Begin 2' 'End 1' 'End 2' >"$dir/want"
	expect_same "$dir/want" "$dir/have"
	expect_lines 2 'EndFileOperation: .*operation WRITE' "$dir/printed"
	verdict "OTF: the end of an operation on a file has the number of its begin"
fi
if ! command -v otf2-print >/dev/null || ! "$build/tests/lib/exchange_table" | grep -q '^| OTF2 '; then
	skip "OTF2" "this build has no OTF2, or no otf2-print is here"
	done_testing
	exit
fi
tool "$dir/ov.stf" --convert "$dir/ov.otf2"
expect_status 0
otf2-print "$dir/ov.otf2/traces.otf2" >"$dir/printed" 2>"$dir/warn"
sed -n 's/^IO_OPERATION_\([A-Z]*\) .*Bytes [A-Za-z]*: \([0-9]*\), Matching Id: /\1 \2 /p' "$dir/printed" >"$dir/have"
printf '%s\n' 'BEGIN 100 3' 'BEGIN 200 4' 'COMPLETE 100 3' 'COMPLETE 200 4' >"$dir/want"
expect_same "$dir/want" "$dir/have"
verdict "OTF2: the end of an operation on a file has the number of its begin"
# pairs by the number of the request, and the way back
sed -n 's/^NON_BLOCKING_COLLECTIVE_\([A-Z]*\) *0 *\([0-9]*\) .*Request: /\1 \2 /p' "$dir/printed" >"$dir/have"
printf '%s\n' 'REQUEST 700 1' 'REQUEST 720 2' 'COMPLETE 800 1' 'COMPLETE 850 2' >"$dir/want"
expect_same "$dir/want" "$dir/have"
lines() # lines STF: operations by name, and operations on files
{
	tool "$1" --convert "$dir/lines.jsonl" --force
	grep -E '"type":"(coll|io)' "$dir/lines.jsonl" | sed 's/"\(operation\|instance\|id\|number\)":[0-9]*,//g' | sort
}
tool "$dir/ov.otf2" --convert "$dir/back.stf"
expect_status 0
lines "$dir/ov.stf" >"$dir/want"
lines "$dir/back.stf" >"$dir/have"
expect [ "$(wc -l <"$dir/want")" = 12 ]
expect_same "$dir/want" "$dir/have"
verdict "OTF2 and back: operations that overlap keep begin, end and name"

# an archive of another program: operations that overlap as pairs of begin and end, and as requests that end in
# another order; one that never ends
python=/usr/bin/python3
if ! "$python" -c 'import otf2' 2>"$dir/warn"; then
	skip "OTF2 of others" "there is no module otf2 (Debian: python3-otf2)"
	done_testing
	exit
fi
"$python" -B - "$dir/theirs" <<'END' 2>"$dir/warn"
import sys
import otf2
from otf2 import CollectiveOp as Op
with otf2.writer.open(sys.argv[1], timer_resolution=10**9) as w:
    d = w.definitions
    node = d.system_tree_node("node", class_name="node")
    where = []
    for rank in range(2):
        p = d.location_group(f"rank {rank}", system_tree_parent=node)
        where.append(d.location("main", group=p))
    d.group("", group_type=otf2.GroupType.COMM_LOCATIONS, members=where, paradigm=otf2.Paradigm.MPI)
    world = d.comm("world", group=d.group("world", group_type=otf2.GroupType.COMM_GROUP, members=where,
                                          paradigm=otf2.Paradigm.MPI))
    for rank, e in enumerate(w.event_writer_from_location(x) for x in where):
        t = 1000 + rank
        e.mpi_collective_begin(t)
        e.mpi_collective_begin(t + 20)
        e.mpi_collective_end(t + 40, Op.ALLREDUCE, world, 0xffffffff, 8, 8)
        e.mpi_collective_end(t + 60, Op.BARRIER, world, 0xffffffff, 0, 0)
        e.non_blocking_collective_request(t + 100, 7)
        e.non_blocking_collective_request(t + 110, 8)
        e.non_blocking_collective_complete(t + 120 + 40 * rank, Op.BCAST, world, 0, 8, 0, 7 + rank)
        e.non_blocking_collective_complete(t + 170, Op.BCAST, world, 0, 8, 0, 8 - rank)
        e.mpi_collective_begin(t + 200)
END
tool "$dir/theirs/traces.otf2" --convert "$dir/theirs.stf"
expect_status 0
expect_line '2 collective operations have a begin only' "$dir/err"
tool "$dir/theirs.stf" --convert "$dir/theirs.jsonl"
sed -n 's/"host.*"rank"/"rank"/; s/"thread.*"operation"/"operation"/; s/"communicator.*"id"/"id"/
	s/.*collective_\([a-z]*\)","time":0[.]0*\([0-9]*\),"rank":\(.\),"operation"/\3 \1 \2/
	s/^\(. [a-z]* [0-9]*\):"\(.*\)","id":\(.\),.*/\3 \2 \1/p' \
	"$dir/theirs.jsonl" | sort | sed 'N; s/\n[^ ]* [^ ]* . end/ to/; s/begin //' >"$dir/have"
cat >"$dir/want" <<'END'
1 MPI_Allreduce 0  to 40
1 MPI_Allreduce 1 1 to 41
2 MPI_Barrier 0 20 to 60
2 MPI_Barrier 1 21 to 61
3 MPI_Ibcast 0 100 to 120
3 MPI_Ibcast 1 101 to 171
4 MPI_Ibcast 0 110 to 170
4 MPI_Ibcast 1 111 to 161
END
expect_same "$dir/want" "$dir/have"
verdict "OTF2 of others: a begin is that of its own operation"
done_testing

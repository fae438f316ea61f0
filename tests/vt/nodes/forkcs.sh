#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Processes that start others: VT_attach and VT_get_parent. Each message is in the trace once, between the right ranks,
# in the right communicator. TAP.
. "${top_srcdir:-.}/tests/vt/lib/lib.sh"
cd "$dir" || exit 99
for source in doc/vt/forkcs.c doc/vt/forkcs2.c tests/vt/nodes/programs/attach.c; do
	# shellcheck disable=SC2086
	if ! "${CC:-cc}" $san -g -I"$include" "$src/$source" -o "$(basename "$source" .c)" -L"$lib" -Wl,-rpath,"$lib" \
		-lVTcs -lpthread >out 2>&1; then
		cat out
		exit 99
	fi
done

# messages TRACE: number, sender and receiver (ranks from 1), communicator, tag, bytes
messages()
{
	expect wait_for 30 test -s "$1.stf"
	expect_trace "$1.stf"
	"$build/stftool" "$1.stf" --matched-vtf --dump >dump 2>>out
	awk '
		$1 == "DEFCOMM" { gsub(/"/, "", $3); name[$2] = $3 }
		$2 == "MESSAGE" { print $4, $6, name[$10], $12, $14 }
	' dump | sort | uniq -c | sed 's/^ *//' >messages
}

timeout 60 ./forkcs 2 >out 2>&1
expect [ $? -eq 0 ]
messages forkcs
# either child may be the first to attach its own
sort messages | sed 's/ATTACH_0+1-2/top/; s/ATTACH_[12]+[0-9-]*/below/; s/COMM_WORLD_[0-9-]*/siblings/' |
	awk '{ $2 = $2 > 3 ? "grandchild" : $2; $3 = $3 > 3 ? "grandchild" : $3; 
			n[$2 " " $3 " " $4 " " $5 " " $6] += $1 }
		END { for (i in n) print n[i], i }' | sort >have
expect_text '1 1 2 top 1 4
1 1 3 top 1 4
1 2 1 top 2 4
1 2 3 siblings 3 4
1 3 1 top 2 4
2 2 grandchild below 1 4
2 3 grandchild below 1 4
2 grandchild 2 below 2 4
2 grandchild 3 below 2 4
2 grandchild grandchild siblings 3 4' have
verdict "forkcs: two generations of children are in one trace, with their messages"

timeout 60 ./forkcs2 2 >out 2>&1
expect [ $? -eq 0 ]
messages forkcs2
expect_text '20 1 2 COMM_WORLD 5 4
20 1 3 COMM_WORLD 5 4
20 2 1 COMM_WORLD 5 4
20 3 1 COMM_WORLD 5 4' messages
verdict "forkcs2: clients that the server forked before it began"

# the contacts are for VTserver CONTACT..., and not for the one that the program starts
TICKMARK_CLIENTS=nonsense VT_LOGFILE_NAME=rounds.stf timeout 60 ./attach rounds >said 2>out
expect [ $? -eq 0 ]
cat said >>out
# VT_ERR_BADARG -13: a rank that the communicator does not have
expect_lines 2 '^attach: 0 [23]$' said
expect_lines 2 '^outside: -13$' said
# a pipe of the program ends with it
expect_lines 0 'holds a pipe' said
messages rounds
expect_text '1 2 1 ATTACH_0+1-2 1 100
1 3 1 ATTACH_0+1-2 1 101
1 4 1 ATTACH_0+3-3 1 100' messages
# each round has one operation, of all its processes
awk '
	$1 == "DEFCOMM" { gsub(/"/, "", $3); name[$2] = $3 }
	$2 == "COLLALL" { print name[$4], $8 }
' dump | sort >operations
expect_text 'ATTACH_0+1-2 3
ATTACH_0+3-3 2' operations
verdict "several rounds: children are ordered by procid, and each round has its communicator"

./attach first >said 2>word &
expect wait_for 10 test -s word
timeout 60 "$build/VTserver" "$(head -n 1 word)" --logfile-name first.stf >out 2>&1
expect [ $? -eq 0 ]
wait
cat said >>out
messages first
expect_text '1 3 2 ATTACH_1+2-3 1 100
1 4 2 ATTACH_1+2-3 1 101
1 5 2 ATTACH_1+4-4 1 100' messages
verdict "so has a client that was started before its server"

rm -f attach.*
timeout 60 ./attach dies >said 2>out
messages attach
expect_line '^child 1: 0$' said
# what it sent is there, although nobody received it
expect_text '1 2 1 ATTACH_0+1-2 1 100
1 3 1 ATTACH_0+1-2 1 101
1 4 1 ATTACH_0+3-3 1 100' messages
# the one that was killed has a process in the trace
expect_line '^DEFCOMM .* "COMM_SELF_#2"' dump
verdict "a child that is killed is in the trace as far as it came"

# failing CASE: the server goes on and ends with 0. Its trace comes a little later: take messages() before the next case
failing()
{
	rm -f attach.*
	VT_JOIN_WAIT=3s timeout 60 ./attach "$1" >said 2>out
	expect [ $? -eq 0 ]
	cat said >>out
}

# VT_ERR_COMM -16
failing missing
expect_line '^attach: -16 -1$' said
expect_line '^child 1: -16$' said
expect_line 'ERROR: VT_attach: 1 of 2 children of rank 0 have come within 3 s (JOIN-WAIT). Missing: procid 0$' out
messages attach
failing alone
expect_line '^child 0: -16$' said
expect_line 'ERROR: VT_initialize cannot join the processes of its parent as process 0: no process with' out
messages attach
# the parent ends, and nobody attaches the child
rm -f attach.*
timeout 60 ./attach leaves >said 2>out
expect [ $? -eq 0 ]
messages attach
expect wait_for 10 grep -q child said
cat said >>out
expect_line '^child 0: -16$' said
expect_line 'ERROR: VT_initialize cannot join the processes of its parent as process 0: the job has ended' out
failing same
expect_line '^attach: -16 -1$' said
expect_line 'ERROR: VT_attach: two children of rank 0 have procid 4' out
messages attach
failing abort
expect_line '^abort: 0$' said
expect_line '^attach: -16 -1$' said
expect_line 'ERROR: VT_attach: the wait was given up' out
expect_line '^attach: 0 2$' said
messages attach
expect_text '1 2 1 ATTACH_0+1-2 1 100
1 3 1 ATTACH_0+1-2 1 101' messages
failing killed
expect_line '^attach: 0 2$' said
messages attach
verdict "children that never come, are not attached or are alike: an error with its line, and the run continues"
done_testing

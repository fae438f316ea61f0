#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A server and two clients on three hosts, by VT_serverinit and VT_clientinit: one trace, and no message in it is
# received before it was sent. What is not there, or fails, returns an error and prints a line. TAP.
program=clientserver source=doc/vt/clientserver.c
. "${top_srcdir:-.}/tests/vt/nodes/lib.sh"

questions() # 50 questions and answers with each of two clients; --verify has judged the order by the bounds
{
	expect_trace f/result/both.stf
	"$build/stftool" f/result/both.stf --matched-vtf --dump 2>>out >dump
	awk '$2 == "MESSAGE" { n++ } END { printf "# %d messages\n", n; exit n != 200 }' dump >count
	expect [ $? -eq 0 ]
	cat count f/out.* >>out
	expect_line 'timer "clock_monotonic"' f/result/both.clk
}

job clientserver
questions
verdict "a server and its clients are in one trace"

job contacts
questions
expect [ "$(cat f/status.0 f/status.1 f/status.2)" = "$(printf '0\n0\n0')" ]
verdict "so are clients that were started before it, by their contacts"

expect "${CC:-cc}" -I"$include" \
	"$src/tests/vt/nodes/programs/refused.c" -o refused -L"$lib" -Wl,-rpath,"$lib" -lVTcs >out 2>&1
timeout 60 ./refused >answers 2>said
cat said answers >>out
# VT_ERR_BADARG -13, VT_ERR_BADREQUEST -4, VT_ERR_NOTIMPLEMENTED -2, VT_ERR_COMM -16, VT_ERR_NOTINITIALIZED -3
expect_line '^-4 -13 -16 0 -16 -2 1 -3$' answers
expect_line 'ERROR: VT_serverinit: 2000 contacts take [0-9]* bytes, and the system lets less than 131072' said
expect_line 'ERROR: VT_serverinit: VTserver: cannot reach client 1, contact Slocalhost: not a contact' said
expect_line 'ERROR: VT_initialize cannot join .* as process 1: .*localhost' said
expect_line 'ERROR: VT_attach: ' said
verdict "no call reports success and connects nothing"

# on one host, without the others' programs: 5, 10 and 15 questions with an answer
expect "${CC:-cc}" $san -I"$include" \
	"$src/tests/vt/nodes/programs/rounds.c" -o rounds -L"$lib" -Wl,-rpath,"$lib" -lVTcs -pthread >out 2>&1
expect timeout 100 ./rounds >>out 2>&1
for round in 1 2 3; do
	for try in $(seq 100); do
		[ ! -f "round$round.stf" ] || break
		sleep 0.1
	done
	expect_trace "round$round.stf"
	"$build/stftool" "round$round.stf" --matched-vtf --dump 2>>out >dump
	expect [ "$(awk '$2 == "MESSAGE"' dump | wc -l)" -eq $((10 * round)) ]
	expect [ "$("$build/stftool" "round$round.stf" --print-statistics | grep -c "^[01]:.*:$((5 * round)):")" -eq 2 ]
done
verdict "several rounds in one run of a program, a trace each"

rm -f round[0-9]*
timeout 100 ./rounds thread >said 2>&1
expect [ $? -eq 1 ]
cat said >>out
expect_line 'ERROR: VT_initialize: another thread that was recorded in the last job has not ended' said
verdict "a thread that outlives its round is named"
done_testing

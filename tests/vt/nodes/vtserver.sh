#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# VTserver CONTACT...: clients that wait for it are in one trace, which it writes, and its status tells. TAP.
. "${top_srcdir:-.}/tests/vt/nodes/lib.sh"
server=$build/VTserver

job vtserver
expect_trace f/result/steps.stf
expect_line '2 of 2 nodes and 2 processes that joined' f/said
expect [ "$(cat f/status.0 f/status.1 f/status.2)" = "$(printf '0\n0\n0')" ]
expect_line '^rank 2' f/result/steps.clk
inside
verdict "clients on two hosts are in the trace of VTserver, inside their bounds, at the rate of the clock of day"

job vtserver_killed
expect [ "$(cat f/status.0)" -eq 137 ]
expect [ "$(cat f/status.1 f/status.2)" = "$(printf '0\n0')" ]
for host in 1 2; do
	expect_line "steps-node$host.stf" "f/left.$host"
done
verdict "when VTserver is killed the clients go on, and each node has a trace of its own"

# 60 steps take 6 s and more; a node waits 15 s for VTserver, and VTserver goes on after 40 s
for how in stopped cut; do
	job vtserver_$how
	expect [ "$(cat f/status.0 f/status.1 f/status.2)" = "$(printf '1\n0\n0')" ]
	for host in 1 2; do
		expect_line "steps-node$host.stf" "f/left.$host"
	done
	expect_lines 2 'node node[12] is not in the trace: ' f/said
	expect [ "$(awk '{ print ($1 < 30) }' f/seconds)" = 1 ]
	verdict "when VTserver is $how, the clients end in time, each node has a trace, and each is named"
done

# ---- the example simplecs.c, on this host ----

expect "${CC:-cc}" $san -I"$include" "$src/doc/vt/simplecs.c" -o simplecs -L"$lib" -Wl,-rpath,"$lib" -lVTcs >out 2>&1
PATH=$build:$PATH timeout 60 ./simplecs 3 --logfile-name ring.stf >>out 2>&1
expect [ $? -eq 0 ]
expect_trace ring.stf
"$build/stftool" ring.stf --matched-vtf --dump 2>>out >dump
# ranks are shown from 1, and rank 0 is VTserver
awk '$2 == "MESSAGE" { print $4, $6, $11, $12, $13, $14 }' dump | sort | uniq -c | sed 's/^ *//' >messages
expect_text '10 2 3 TAG 7 LEN 4
10 3 4 TAG 7 LEN 4
10 4 2 TAG 7 LEN 4' messages
verdict "simplecs: each message around the ring is in the trace once"

# ---- what fails ----

# refused STATUS TEXT WORD...: it ends with that status and one line
refused()
{
	wanted=$1 text=$2
	shift 2
	timeout 60 "$server" "$@" >said 2>&1
	status=$?
	expect_status "$wanted"
	cat said >>out
	expect_line "$text" said
	expect [ "$(wc -l <said)" -eq 1 ]
}

: >out
key=0000000000000000000000000000000000000000000000000000000000000000
rm -f word
VT_JOIN_WAIT=3s timeout 60 ./steps 1 client 1 >word 2>alone &
client=$!
expect wait_for 10 test -s word
contact=$(cat word)
refused 2 'VTserver: nonsense: not a contact of a client that waits' nonsense
refused 2 'VTserver: localhost: not a contact of a client that waits' "localhost:1:$key"
refused 1 'reach client 1, contact localhost: no connection (tried localhost port 1' "localhost:1:$key/w"
refused 1 'VTserver: cannot reach client 1, .* no answer within 5 s: .* the key is wrong' "${contact%:*}:$key/w"
words=
while [ ${#words} -lt 132000 ]; do
	words="$words localhost:1:$key/w"
done
# shellcheck disable=SC2086
refused 2 'VTserver: [0-9]* contacts take 13[0-9]* bytes, and the system lets less than 131072' $words
refused 2 "did you mean --logfile-name" "$contact" --logfile-nam x.stf
wait "$client"
expect [ $? -eq 1 ]
cat alone >>out
expect_line 'client 1, steps is in no job: no server has contacted it within 3 s (VT_JOIN_WAIT)' alone
timeout 60 "$server" >said 2>&1
expect [ $? -eq 2 ]
expect_line 'Usage: VTserver CONTACT' said
verdict "wrong words, contacts that nobody answers, clients without a server: one line each, and no endless wait"

# a client that is told twice, and one that never initializes
: >out
rm -f word
VT_JOIN_WAIT=20s timeout 60 ./steps 1 client 1 >word 2>first &
expect wait_for 10 test -s word
contact=$(cat word)
refused 1 'VTserver: cannot reach client 2, .* a server has contacted this client before' "$contact" "$contact"
wait
expect_line 'VT_initialize cannot join .* as process 1' first
printf '%s\n' '#include <stdio.h>' '#include <unistd.h>' '#include <VT.h>' 'int main(void) { const char *c = 0;' \
	'VT_clientinit(2, "late", &c); puts(c); fflush(stdout); sleep(10); return 0; }' >late.c
expect "${CC:-cc}" $san -I"$include" late.c -o late -L"$lib" -Wl,-rpath,"$lib" -lVTcs
rm -f word
./late >late_word &
# this one waits for its server already, and takes the first word that comes
VT_JOIN_WAIT=20s timeout 60 ./steps 1 client 1 >word 2>first &
expect wait_for 10 test -s late_word
expect wait_for 10 test -s word
# an attempt that fails uses up no client: all are read, and asked, before the first is told the word
TICKMARK_CLIENTS="$(cat word) nonsense" timeout 60 "$server" >said 2>&1
expect [ $? -eq 1 ]
expect_line 'cannot reach client 2, contact nonsense: not a contact' said
refused 1 'cannot reach client 2, contact localhost' "$(cat word)" "localhost:1:$key/w"
timeout 60 "$server" "$(cat late_word)" "$(cat word)" --logfile-name one.stf --join-wait 2s >said 2>&1
expect [ $? -eq 0 ]
cat said >>out
expect_line 'WARNING: 2 of 3 processes have joined. Missing: rank 2' said
expect_trace one.stf
wait
verdict "a client that never comes is named, and the trace has the others"

# the variable of a VTserver is not for those that programs start later
TICKMARK_CLIENTS="localhost:1:$key/w" timeout 60 "$vtrun" --contact --logfile-name own.stf >own 2>out
expect [ $? -eq 0 ]
timeout 60 "$vtrun" --join "$(cat own)" -- ./steps 1 >>out 2>&1
expect [ $? -eq 0 ]
expect wait_for 30 test -s own.stf
expect_trace own.stf
verdict "vtrun --contact calls no clients"

# a child whose parent is not there is alone on its node; 15 s is how long a silent node is waited for
printf '%s\n' '#include <VT.h>' 'int main(int n, char **v) { const char *c = v[1]; (void)n;' \
	'return VT_clientinit(0, "orphan", &c) != VT_OK || VT_initialize(0, 0) != VT_ERR_COMM; }' >orphan.c
expect "${CC:-cc}" $san -I"$include" orphan.c -o orphan -L"$lib" -Wl,-rpath,"$lib" -lVTcs >out 2>&1
timeout 60 "$vtrun" --contact --logfile-name alone.stf --join-wait 2s >own 2>said
expect timeout 60 ./orphan "$(cat own)/0123456789abcdef" >>out 2>&1
sleep 3 # its node process ends
timeout 60 "$vtrun" --join "$(cat own)" -- ./steps 1 >>out 2>&1
expect wait_for 10 test -s alone.stf
cat said >>out
expect_line 'INFO: 2 of 2 nodes and 1 process that joined have sent' said
verdict "a child that is refused alone on its node delays no trace"
done_testing

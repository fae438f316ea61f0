#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Who joins a job by its contact word gets a rank, and is in one trace on one time. TAP.
. "${top_srcdir:-.}/tests/vt/nodes/lib.sh"

job arrival
expect_trace f/result/steps.stf
expect_line 'Writing tracefile .*/steps.stf: .* 4 processes' f/said
expect_line '3 of 3 nodes and 4 processes that joined' f/said
inside
expect_empty f/left.1
expect_empty f/left.2
verdict "ranks by the order of arrival: one trace of three hosts, and no raw file is left"

job ranks
expect_trace f/result/steps.stf
expect_line 'another process of this job has rank 1' f/out.1
expect_line '3 of 3 nodes and 3 processes' f/said
verdict "ranks by --rank and by variables; a rank that is taken is refused, and the program runs"

job missing
expect_trace f/result/steps.stf
expect_line '2 of 3 processes have joined' f/said
verdict "a rank that never comes is waited for as long as --join-wait says"

# between joining and the first thing that is recorded, the start of a program may take longer than others run
if [ -z "$san" ] && expect "${CC:-cc}" -shared -fPIC "$here/nodes/programs/late.c" -o late.so; then
	mkdir late
	cd late || exit 99
	"$vtrun" --contact=lo >word 2>said
	timeout 60 "$vtrun" --join "$(cat word)" --rank 0 --size 2 -- sleep 1 >out.0 2>&1 &
	LD_PRELOAD=../late.so timeout 60 "$vtrun" --join "$(cat word)" --rank 1 --size 2 -- sleep 0.1 >out.1 2>&1
	wait $!
	i=0
	until { grep -q 'Writing tracefile' said && [ -z "$(find . -name '*.raw')" ]; } || [ $i -ge 300 ]; do
		i=$((i + 1))
		sleep 0.1
	done
	cd ..
	expect_line 'Writing tracefile .* 2 processes' late/said
	expect [ -z "$(find late -name '*.raw')" ]
	cat late/out.* late/said >>out
	verdict "a process that starts to record when the others of its node have ended is in the trace"
else
	skip "a process that starts to record when the others of its node have ended is in the trace" \
		"the sanitizer has to be the first library"
fi

# its connections are closed at once, not after 15 s of silence
mkdir ended
cd ended || exit 99
"$vtrun" --contact=lo >word 2>said
timeout 60 "$vtrun" --join "$(cat word)" -- sleep 4 >out.0 2>&1 &
sleep 2
port=$(sed 's/.*\]:\([0-9]*\):.*/\1/' word)
server=$(ss -Htlnp "sport = :$port" | sed -n 's/.*"VTserver",pid=\([0-9]*\).*/\1/p' | head -n 1)
expect [ -n "$server" ]
expect kill -KILL "${server:-no}"
wait $!
i=0
until grep -q 'Writing tracefile' out.0 || [ $i -ge 70 ]; do
	i=$((i + 1))
	sleep 0.1
done
cd ..
cat ended/out.0 >>out
expect_line 'the trace has this node only: VTserver on .* has ended' ended/out.0
expect_line 'Writing tracefile .*/sleep-.*stf' ended/out.0
verdict "when VTserver is killed, the node that it leaves has its trace within 7 s"

mkdir closed
chmod 555 closed
as=
[ "$(id -u)" -ne 0 ] || as='setpriv --reuid 65534 --clear-groups'
chmod 755 .
what="no contact where the trace cannot be made in the end"
# shellcheck disable=SC2086
if ! $as "$vtrun" --version >out 2>&1; then
	skip "$what" "another user cannot run the programs of this build"
	done_testing
	exit
fi
cd closed || exit 99
# shellcheck disable=SC2086
timeout 10 $as "$vtrun" --contact=lo >../out 2>&1
status=$?
expect_status 2
cd ..
expect_line 'no trace can be made in the folder \.: Permission denied; --logfile-prefix names another one' out
verdict "$what"
done_testing

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# stftool --verify counts the messages that a trace shows as received before they were sent, and fails for those beyond
# the bound of the clocks. TAP.
# shellcheck disable=SC1091,SC2154
. "${top_srcdir:-.}/tests/cli/lib/toollib.sh"

# trace MESSAGE...: a trace of two processes, of ticks of 1 ns. A message is FROM:SENT:TO:RECEIVED. Process 0 is off by
# 1 us at most, from 1 ms on by 2 us; process 1 by 0.5 us, and from 2 ms on no bound is stated.
trace()
{
	{
		printf '%s\n' 'CLKPERIOD 1e-09' 'EVENTBITS 0' 'NCPUS 1 1' 'DURATION 0 3000000' \
			'DEFCLASS 1 "clock-bound" SELF "clock-bound" PARENT 0' \
			'DEFCPU 1 HOST "here" IP "10.1.2.3" PID 1 TID 1 OFFSET 0 SKEW 0' \
			'DEFCPU 2 HOST "here" IP "10.1.2.3" PID 2 TID 2 OFFSET 0 SKEW 0'
		[ -z "${bounds+none}" ] && printf '%s\n' 'INFO CLASS 1 TEXT "process 0 0 1e-06 1000000 2e-06"' \
			'INFO CLASS 1 TEXT "process 1 0 5e-07 2000000 unknown"'
		printf '%s\n' "$@" | tr : ' ' | awk '{
			print $2, "SENDMSG CPU", $1 + 1, "TO", $3 + 1, "COMM 0 TAG 7 LEN 4 FUNCTION 0 PAIR", NR
			print $4, "RECVMSG CPU", $3 + 1, "FROM", $1 + 1, "COMM 0 TAG 7 LEN 4 FUNCTION 0 PAIR", NR
		}' | sort -n
	} >"$dir/t.avt"
	rm -f "$dir"/t.stf*
	from_text "$dir/t.avt" "$dir/t.stf" && tool "$dir/t.stf" --verify
}
said() # said TEXT: of the messages
{
	sed -n 's/.*t\.stf: \([0-9]* messages*, .*\)/\1/p' "$dir/err" | diff - "$dir/want" >"$dir/diff"
}

trace 0:10000:1:10100 1:20000:0:20000
echo '2 messages, 0 received before sent' >"$dir/want"
expect_status 0
expect said
verdict "no message goes back"

# as far as the bounds together at both ends; those of either end at its own time
trace 0:20000:1:18500 0:1000500:1:998100 1:1001000:0:999501 0:30000:1:30001
echo '4 messages, 3 received before sent; 3 within the bound of the clocks, by 2.4e-06 s at most' >"$dir/want"
expect_status 0
expect said
verdict "messages that go back within the bound are counted"

# one more than the bound and a tick; the receiver's bound is that of its time, before it grew
trace 0:20000:1:18500 0:40000:1:38498 1:1001000:0:999400 0:1000500:1:997000
echo \
	'4 messages, 4 received before sent; 1 within the bound of the clocks, by 1.5e-06 s at most; 3 beyond it, by '\
'3.5e-06 s at most' >"$dir/want"
expect_status 1
expect said
expect [ "$(grep -c 'one_to_one_communication: received .* s before it was sent, and the bounds of both clocks '\
'together are ' "$dir/err")" -ge 2 ]
expect_line 'received 1.5e-06 s before it was sent, .* together are 1.5e-06 s (process 0 to 1)' "$dir/err"
expect_line ' 3 faults$' "$dir/err"
verdict "messages that go back beyond the bound are faults"

trace 0:2100000:1:2000500 0:20000:1:18500
echo \
	'2 messages, 2 received before sent; 1 within the bound of the clocks, by 1.5e-06 s at most; 1 whose clocks '\
'have no known bound here, by 9.95e-05 s at most' >"$dir/want"
expect_status 0
expect said
verdict "where no bound is known it is not judged, but said"
bounds=
trace 0:20000:1:18500
echo '1 message, 1 received before sent; 1 whose clocks have no known bound here, by 1.5e-06 s at most' >"$dir/want"
expect_status 0
expect said
verdict "a trace that states no bounds"
done_testing

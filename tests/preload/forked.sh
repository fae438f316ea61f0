#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# --follow-children and fork() without exec: a child and its own child use at once what was defined before they were
# made (programs/forked.c). Their functions have names, the values of counters are there, and no call is missing. TAP.
. "${top_srcdir:-.}/tests/preload/lib.sh"
made forked -g -finstrument-functions -I"$src/include" -L"$build/.libs" -lVTcs -Wl,-rpath,"$build/.libs" ||
	{ cat "$dir/diff"; skip_all 'the program does not compile here'; }

# In each of three processes: 50 calls of each, and one of before() more in the first
for statistics in off on; do
	options="--follow-children --statistics $statistics"
	fresh
	sampled "$dir/forked"
	expect_status 0
	expect_trace forked.stf
	"$build/stftool" forked.stf --dump >"$dir/dump"
	awk '/DEFFUNCTION/ { name[$2] = $3 } $2 == "ENTER" { n[$4 " " name[$6]]++ }
		END { for (k in n) { print k, n[k] } }' "$dir/dump" | LC_ALL=C sort >"$dir/have"
	for process in 1 2 3; do
		printf '%s "after" 50\n%s "before" %d\n%s "by 50\n' $process $process $((50 + (process == 1))) $process
	done >"$dir/right"
	expect_same "$dir/right" "$dir/have"
	"$build/stftool" forked.stf --print-counters | grep '"my counter"' >"$dir/values"
	expect [ "$(awk '{ n += $(NF - 3) } END { print n }' "$dir/values")" = 150 ]
	expect [ "$(grep -c 'ENTER.* SCL ' "$dir/dump")" = 150 ]
	expect [ "$(grep -c ' SCOPE ' "$dir/dump")" = 300 ]
	verdict "statistics $statistics"
done

made forked_busy -g -I"$src/include" -L"$build/.libs" -lVTcs -lpthread -Wl,-rpath,"$build/.libs"
options='--follow-children'
fresh
sampled timeout 60 "$dir/forked_busy"
expect_status 0
verdict "children that are made while other threads define names can define some, too"
done_testing

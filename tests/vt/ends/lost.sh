#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What is not in the trace is counted, to the event: a program says how many events it makes, and as many are in the
# trace or said to be missing. TAP.
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/lib.sh"
[ -e "$lib/libVTcs.so" ] || skip_all "no shared library in this build"
[ -z "$san" ] || skip_all "the sanitizer has to be the first library"
cd "$dir" || exit 99
expect ${CC:-cc} -O1 -finstrument-functions -o lost "$here/ends/programs/lost.c" -lpthread >out 2>&1
expect ${CC:-cc} -O2 -DSHIM -shared -fPIC "$here/ends/programs/no_room.c" -o shim.so -ldl >>out 2>&1
verdict "the programs are compiled"

# exact NAME LEAST CALLS HOW [OPTION...]: at least so many events are missing. What the sampler process records is no
# event of the program: it
# has found its place before the calls begin. Nor is the end of a state that the merge made for want of a record, or
# that comes late.
exact()
{
	name=$1 least=$2 calls=$3 how=$4
	shift 4
	rm -f l.* go
	timeout 100 "$build/vtrun" --logfile-name l.stf --counter '** off' "$@" -- ./lost "$calls" "$how" "$dir/go" \
		"$dir/full" >out 2>err &
	pid=$!
	until [ -s l.prot ] || ! kill -0 $pid 2>/dev/null; do
		sleep 0.05
	done
	ticks 3 l.prot
	: >go
	expect wait $pid
	expect "$build/stftool" l.stf --verify >verify 2>&1
	expect "$build/stftool" l.stf --dump >dump 2>>err
	events=$(sed -n 's/^\([0-9]*\) events$/\1/p' out) || not_met "events is known"
	recorded=$(grep -c ' ENTER \| LEAVE ' dump) || not_met "recorded is known"
	closed=$(sed -n 's/^INFO .*"\([0-9]*\) states \(were open\|seem to last\).*/\1/p' dump | awk '{ n += $1 }
		END { print n + 0 }') || not_met "closed is known"
	missing=$(sed -n 's/^INFO .* \([0-9]*\) records are missing\([;:] .*\)*"$/\1/p' dump) ||
		not_met "missing is known"
	expect [ "${missing:=0}" -ge "$least" ]
	expect [ $((recorded - closed + missing)) -eq "$events" ]
	expect_line "^INFO RECORDED .*, $missing records lost" l.prot
	verdict "$name: $((recorded - closed)) events are in the trace, $missing are missing, $events were made"
}

# counted OPEN: the calls in the trace and those that the statistics have instead are all calls, OPEN of which have no
# end of their own
counted()
{
	expect "$build/stftool" l.stf --print-statistics >lines 2>>err
	rows=$(grep -v '^#' lines | awk -F: '{ n += $6 } END { print n + 0 }') || not_met "rows is known"
	pattern='s/^# missing = .* records are missing; the statistics have \([0-9]*\) calls of these$/\1/p'
	said=$(sed -n "$pattern" lines) || not_met "said is known"
	enters=$(grep -c ' ENTER ' dump) || not_met "enters is known"
	expect [ "$rows" -gt 1000 ]
	expect [ "$rows" -eq "$said" ]
	expect [ $((enters + rows)) -eq $((events / 2 + $1)) ]
	verdict "... $enters calls are in the trace, $rows in the statistics instead"
}
exact "nothing is lost, the program ends inside a call" 0 10000 exit
exact "FLUSH-LIMIT" 1000000 500000 return --flush-limit 1MB
counted 0
expect grep -c 'no place for more records in .*: FLUSH-LIMIT is reached. The program goes on with statistics only' err \
	>count
expect [ "$(cat count)" -eq 1 ]
verdict "... one message says so"
exact "FLUSH-LIMIT, the program ends inside a call" 1000000 500000 exit --flush-limit 1MB
counted 1
exact "FLUSH-LIMIT, with STATISTICS" 1000000 500000 return --flush-limit 1MB --statistics on
[ "$("$build/stftool" l.stf --print-statistics | grep -v '^#' | awk -F: '{ n += $6 } END { print n + 0 }')" \
	-eq $((events / 2)) ]
ok "... which have all calls" $?
exact "MEM-MAXBLOCKS without AUTOFLUSH" 1000000 500000 return --mem-blocksize 65536 --mem-maxblocks 8 --autoflush off
expect "$build/vtrun" --logfile-name l.stf --mem-blocksize 65536 --mem-maxblocks 8 --autoflush off --sampler thread -- \
	./lost 500000 return "$dir/go" "$dir/full" >out 2>err
expect_line 'Tickmark WARNING: process 0: no place for records .*; [0-9]* records are missing' err
verdict "... what the merge says of it is also printed where a thread inside samples"
exact "nested more deeply than there is room for" 60000 100000 deep
: >full
export SHIM_END=2000000 SHIM_ERRNO=28 SHIM_WHILE="$dir/full" LD_PRELOAD="$dir/shim.so"
exact "a disk that is full for a while" 1 500000 again
unset SHIM_END SHIM_ERRNO SHIM_WHILE LD_PRELOAD
expect [ ! -e full ]
expect_line 'seem to last until the next record' dump
expect [ "$(awk '$2 == "ENTER" { n++ } END { print n + 0 }' dump)" -gt 250000 ]
verdict "... and what was made after that is in the trace, the states that ended meanwhile are counted"
done_testing

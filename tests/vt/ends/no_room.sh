#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Where raw data can no longer be stored: a quota, a folder that vanishes, one that becomes read-only, a file system
# without shared
# mappings, a disk that is full or FLUSH-LIMIT while functions are traced. One message at once, lost records are
# counted, the program is not slowed down, and it ends with its own status. TAP.
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/lib.sh"
[ -e "$lib/libVTcs.so" ] || skip_all "no shared library in this build"
[ -z "$san" ] || skip_all "the sanitizer has to be the first library"
cd "$dir" || exit 99
expect ${CC:-cc} -O2 -I"$include" "$here/ends/programs/no_room.c" -o no_room -L"$lib" -lVTcs -Wl,-rpath,"$lib" >out 2>&1
expect ${CC:-cc} -O2 -DSHIM -shared -fPIC "$here/ends/programs/no_room.c" -o shim.so -ldl >>out 2>&1
verdict "the program is compiled"

# records CALLS COMMAND: in the folder $at, with the shim; what it said is in $dir/out
records()
{
	mkdir -p "$at"
	(cd "$at" && LD_PRELOAD=$dir/shim.so timeout 100 "$dir/no_room" "$@") >"$dir/out" 2>&1 </dev/null
	status=$?
}

# as_fast: a lost record costs at most twice what a stored one does; three times here, on a busy machine
as_fast()
{
	awk '/^[0-9.]+$/ { n++; if ($1 > 3) slow = 1 } END { exit n != 1 || slow }' "$dir/out"
}

once() # once TEXT
{
	[ "$(grep -c "$1" "$dir/out")" -eq 1 ]
}

calls=400000
at=$dir/quota
SHIM_END=4000000 SHIM_ERRNO=122
export SHIM_END SHIM_ERRNO
records $calls
unset SHIM_END SHIM_ERRNO
expect_status 7
expect once 'no place for more records in .*: Disk quota exceeded'
expect once "quota exceeded; [0-9]* records are missing"
verdict "a quota: one message, the number of records that are missing, the program's own status"
as_fast
ok "a quota: lost records cost no more than stored ones" $?
expect "$build/stftool" quota/no_room.stf --verify >out 2>&1
expect_not ls quota/VT-* >/dev/null 2>&1
verdict "a quota: what was stored is a valid trace"

at=$dir/vanishes
records $calls "rm -rf '$dir/vanishes'"
expect_status 7
expect once 'no place for more records in .*: No such file or directory'
expect once 'WARNING: no trace: .*/vanishes/.VT-flush-.* was removed; [0-9]* more records are lost'
verdict "a folder that vanishes: one message at once, one at the end, the program's own status"
as_fast
ok "a folder that vanishes: lost records cost no more than stored ones" $?

at=$dir/fixed
mkdir "$at"
if mount -t tmpfs -o size=4m tickmark-test "$at" 2>/dev/null; then
	records $calls "cp '$dir/no_room' '$at/more' && mount -o remount,ro '$at' 2>/dev/null || :"
	expect_status 7
	expect once 'no place for more records in .*: '
	expect once 'WARNING: no trace: .*What was recorded is in .*; .* makes the trace'
	expect as_fast
	verdict "a full folder: one message, the command that makes the trace, no slower"
	# shellcheck disable=SC2016
	command='s/.* is in .*; stftool \(.* --merge\) .* makes the trace.*/"$build\/stftool" \1 "$dir\/fixed.stf"/p'
	expect eval "$(sed -n "$command" out)" >out2 2>&1
	expect "$build/stftool" fixed.stf --verify >>out2 2>&1
	verdict "a full folder: the command makes a valid trace elsewhere"
	umount "$at"
else
	skip "a full folder: one message, the command that makes the trace, no slower" "no right to mount a tmpfs"
	skip "a full folder: the command makes a valid trace elsewhere" "no right to mount a tmpfs"
fi

at=$dir/unmapped
SHIM_NO_MAP=$at
export SHIM_NO_MAP
records 1000
unset SHIM_NO_MAP
expect_status 7
expect once 'cannot be mapped; --flush-prefix names another folder: No such device; the raw file is '
expect "$build/stftool" unmapped/no_room.stf --verify >out2 2>&1
verdict "a file system without shared mappings: one message, raw data elsewhere, a trace"

# 9p with cache=mmap: read() asks the server, which does not know yet what is mapped
at=$dir/unread
SHIM_NO_READ=$at
export SHIM_NO_READ
records 1000
unset SHIM_NO_READ
expect_status 7
expect once 'reading from this file system does not show what is mapped; .*; the raw file is '
expect "$build/stftool" unread/no_room.stf --verify >out2 2>&1
verdict "a file system whose mappings are not what is read: one message, raw data elsewhere, a trace"

# What is mapped under one name of a file is not seen under another one
at=$dir/names
SHIM_NAMES=1
export SHIM_NAMES
records 1000
unset SHIM_NAMES
expect_status 7
expect "$build/xstftool" names/no_room.stf >dump 2>out2
expect_lines 5000 '^[0-9]* SAMP .*"test:value"' dump
verdict "a file system that keeps a cache for each name of a file: all values are in the trace"

at=$dir/served
SHIM_FUSE=$at
export SHIM_FUSE
records 1000
expect_status 7
expect once 'if the server of this file system (FUSE) ended, the program would, too; .*; the raw file is '
expect "$build/stftool" served/no_room.stf --verify >out2 2>&1
verdict "a file system of FUSE: raw data elsewhere, one message, a trace"
rm -f served/*
VT_FLUSH_PREFIX=$at
export VT_FLUSH_PREFIX
records 1000
unset SHIM_FUSE VT_FLUSH_PREFIX
expect_status 7
expect_no_line FUSE out
expect "$build/stftool" served/no_room.stf --verify >out2 2>&1
verdict "and there, where the user says so"
# ---- calls of instrumented functions ----

${CC:-cc} -O2 -finstrument-functions "$here/functions/programs/functions_many.c" -o many >out 2>&1
ok "the program of calls is compiled" $?
calls=1000000

# calls_recorded OPTIONS...: of the program in $at; its own output is in said, ours in out
calls_recorded()
{
	(cd "$at" && timeout 100 "$build/vtrun" --counter '** '\
'off' --sample-period 100s "$@" -- "$dir/many" $((calls - 1))) >said 2>out </dev/null
	status=$?
	[ $status -eq 7 ] && [ "$(cat said)" -eq "$calls" ]
}

# all_counted FILE TRACE: what is missing, by FILE, and what is in the trace are all calls; states that were open are
# closed at the end,
# and there are at most two; where the file was full before the sampler process had recorded, its two or three samples
# are missing, too
all_counted()
{
	missing=$(sed -n 's/.*process 0: no place for records from .*; \([0-9]*\) records are missing.*/\1/p' "$1")
	"$build/stftool" "$2" --verify >verified 2>&1 &&
		"$build/stftool" "$2" --dump | awk -v missing="$missing" -v calls="$calls" '
	$2 == "ENTER" || $2 == "LEAVE" { n++ }
	END { print "# " n " events in the trace, " missing " records are missing"
	      exit !(n > 10000 && missing > 10000 && n + missing >= 2 * calls && n + missing <= 2 * calls + 5) }'
}

at=$dir/calls
mkdir "$at"
if mount -t tmpfs -o size=3m tickmark-test "$at" 2>/dev/null; then
	expect calls_recorded
	expect once 'no place for more records in .*: No space left on device'
	verdict "a disk that is full while functions are traced: one message, the program ends as always"
	expect "$build/stftool" calls/.VT-flush-* --merge full.stf >out2 2>&1
	expect all_counted out2 full.stf
	verdict "what fitted is a valid trace, and what did not is counted"
	umount "$at"
else
	skip "a disk that is full while functions are traced" "no right to mount a tmpfs"
	skip "what fitted is a valid trace, and what did not is counted" "no right to mount a tmpfs"
fi

# beyond the limit are a block of the calls that are left out, and names, in two copies of a block
expect calls_recorded --flush-limit 2MB --keep-raw-events on
expect once 'no place for more records in .*: FLUSH-LIMIT is reached'
expect [ "$(wc -c <"$(ls "$at"/.VT-flush-*)")" -le $((2097152 + 3 * 65536)) ]
expect "$build/stftool" "$at"/.VT-flush-* --merge limit.stf >out2 2>&1
expect all_counted out2 limit.stf
verdict "FLUSH-LIMIT while functions are traced: one message, no event is beyond it, what is left out is counted"
rm -f "$at"/many.*
expect calls_recorded --flush-limit 2MB --statistics on
expect "$build/stftool" "$at/many.stf" --print-statistics >out2 2>&1
function=$(sed -n 's/^# function \([0-9]*\) = Application:nothing$/\1/p' out2) || not_met "function is known"
expect [ "$(awk -F: -v f="$function" '$2 == f { n += $6 } END { print n + 0 }' out2)" -eq $((calls - 1)) ]
verdict "and the statistics have all calls, those after it, too"

# on a shared folder only the trace; a script's children do not record into a folder that the script removes
expect ${CC:-cc} -shared -fPIC "$here/lib/nfs.c" -o nfs.so >out 2>&1
mkdir shared node
# shellcheck disable=SC2016
expect env LD_PRELOAD="$dir/nfs.so" SHARED="$dir/shared" TMPDIR="$dir/node" timeout 100 "$vtrun" --logfile-prefix \
	shared --logfile-name parts --follow-children -- \
	sh -c 'TMPDIR=$(mktemp -d); export TMPDIR; sh -c "ls -lA /proc/self/cwd/node; :"; rm -r "$TMPDIR"' >>out 2>&1
expect_lines 4 '^-rw-------[. ].* \.VT-flush-.*\.raw$' out
"$build/stftool" shared/parts.stf --print-threads >threads 2>>out
expect [ "$(awk '$1 ~ /^[0-9]+$/ { print $NF }' threads | LC_ALL=C sort | tr '\n' ' ')" = "ls mktemp rm sh sh " ]
expect [ -z "$(ls -A node)" ]
cat threads >>out
verdict "beside a trace on NFS no raw file: a script's and its children's are in the node's folder, for nobody else"
done_testing

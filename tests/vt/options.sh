#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every option of the Intel Trace Collector guide's section 3.2.3: VT.3 says whether it has an effect, and so does the library. TAP.
set -u
# shellcheck source=lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib.sh"

# shellcheck disable=SC2086
${CC:-cc} $san -g -I"$include" -o "$dir/prog" "$here/libraries.c" -L"$lib" -lVTcs -Wl,-rpath,"$lib" || exit 99

# an option and a value that is right
cat >"$dir/options" <<END
ACTIVITY Application on
ALTSTACK on
AUTOFLUSH on
CHECK ** off
CHECK-LEAK-REPORT-SIZE 10
CHECK-MAX-DATATYPES 1000
CHECK-MAX-ERRORS 1
CHECK-MAX-PENDING 20
CHECK-MAX-REPORTS 0
CHECK-MAX-REQUESTS 100
CHECK-SUPPRESSION-LIMIT 10
CHECK-TIMEOUT 5s
CHECK-TRACING off
CLUSTER 0:N on
COMPRESS-RAW-DATA on
COUNTER ** off
CURRENT-DIR $dir
DEADLOCK-TIMEOUT 1m
DEADLOCK-WARNING 5m
DEMANGLE on
DETAILED-STATES 2
ENTER-USERCODE on
ENVIRONMENT on
EXTENDED-VTF on
FLUSH-PID on
FLUSH-PREFIX $dir
GROUP odd 1:N:2
HANDLE-SIGNALS 3,10:15
INTERNAL-MPI on
KEEP-RAW-EVENTS off
LOGFILE-FORMAT STF
LOGFILE-NAME t.stf
LOGFILE-PREFIX $dir
LOGFILE-RANK 0
MEM-BLOCKSIZE 64KB
MEM-FLUSHBLOCKS 1024
MEM-INFO 500MB
MEM-MAXBLOCKS 4096
MEM-MINBLOCKS 0
MEM-OVERWRITE off
NMCMD "nm -P"
OS-COUNTER-DELAY 1s
PCTRACE 5
PCTRACE-CACHE on
PCTRACE-FAST on
PLUGIN $dir/none.so
PROCESS 0:N on
PROGNAME prog
PROTOFILE-NAME t.prot
STATE Application:* on
STATISTICS on
STF-PROCS-PER-FILE 16
STF-USE-HW-STRUCTURE on
STOPFILE-NAME stop
SYMBOL main on
SYNC-MAX-DURATION 1m
SYNC-MAX-MESSAGES 100
SYNC-PERIOD -1s
SYNCED-CLUSTER off
SYNCED-HOST off
TIME-WINDOWS 0:1,10:20
TIMER gettimeofday
TIMER-SKIP 0
UNIFY-COUNTERS on
UNIFY-GROUPS on
UNIFY-SCLS on
UNIFY-SYMBOLS on
VERBOSE 1
END

# lists of the manual, between the two lines that begin them
sed -n '/^These have an effect:$/,/^These have none,/p' "$src/doc/VT.3" | grep -o '[A-Z][A-Z-]*[A-Z]\( \|$\)' | tr -d ' ' | sort >"$dir/with"
sed -n '/^These have none,/,/^\.Sh/p' "$src/doc/VT.3" | sed -n 's/^\.It Li //p' | tr -d ',' | tr -s ' ' '\n' | sort >"$dir/without"
cut -d' ' -f1 "$dir/options" | sort >"$dir/all"
sort "$dir/with" "$dir/without" | diff "$dir/all" - >"$dir/diff"
ok "VT.3 names every option of the guide once" $?

cd "$dir" || exit 99
bad_ones=
while read -r line; do
	name=${line%% *}
	rm -f "$dir"/t.* "$dir"/prog.*
	echo "$line" >"$dir/conf"
	VT_CONFIG=$dir/conf timeout 100 "$dir/prog" >"$dir/out" 2>"$dir/err" || bad_ones="$bad_ones $name(status)"
	if grep -qx "$name" "$dir/without"; then
		grep -q "conf:1: $name has no effect" "$dir/err" || bad_ones="$bad_ones $name(silent)"
	elif [ "$name" = GROUP ]; then # only MPI programs have groups
		grep -q 'GROUP .*: the program does not call MPI_Init' "$dir/err" || bad_ones="$bad_ones $name(silent)"
	elif grep -qE 'has no effect|unknown option|left out' "$dir/err"; then
		bad_ones="$bad_ones $name(refused)"
	fi
done <"$dir/options"
echo "$bad_ones" >"$dir/diff"
[ -z "$bad_ones" ]
ok "each option of the guide is accepted, or a message says that it has no effect" $?
printf 'PCTRACES on\nSTOPFILE on\n' >"$dir/conf"
VT_CONFIG=$dir/conf timeout 100 "$dir/prog" >"$dir/out" 2>"$dir/err"
[ "$(grep -c 'unknown option' "$dir/err")" -eq 2 ]
ok "an option that nobody has is unknown" $?
done_testing

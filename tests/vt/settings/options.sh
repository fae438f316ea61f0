#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every option of the Intel Trace Collector guide's section 3.2.3: VT.3 says whether it has an effect, and so does the
# library. TAP.
set -u
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/lib.sh"

# shellcheck disable=SC2086
${CC:-cc} $san -g -I"$include" -o "$dir/prog" "$here/settings/programs/libraries.c" -L"$lib" \
	-lVTcs -Wl,-rpath,"$lib" || exit 99

# an option, a value that is right and, if it has an effect, the script that shows it
cat >"$dir/table" <<END
ACTIVITY Application on | vt/settings/filter
ALTSTACK on | vt/ends/deadlock
AUTOFLUSH on | vt/settings/effects
CHECK ** off | vt/checker/checker
CHECK-LEAK-REPORT-SIZE 10 | vt/checker/limits
CHECK-MAX-DATATYPES 1000
CHECK-MAX-ERRORS 1 | vt/checker/limits
CHECK-MAX-PENDING 20 | vt/checker/limits
CHECK-MAX-REPORTS 0 | vt/checker/limits
CHECK-MAX-REQUESTS 100
CHECK-SUPPRESSION-LIMIT 10 | vt/checker/limits
CHECK-TIMEOUT 5s | vt/checker/limits
CHECK-TRACING off | vt/mpi/mpi_guide
CLUSTER 0:N on | vt/mpi/mpi
COMPRESS-RAW-DATA on
COUNTER ** off | preload/config
CURRENT-DIR $dir | vt/settings/effects
DEADLOCK-TIMEOUT 1m | vt/ends/deadlock
DEADLOCK-WARNING 5m | vt/ends/deadlock
DEMANGLE on | vt/functions/functions
DETAILED-STATES 2 | vt/settings/effects
ENTER-USERCODE on | vt/settings/filter
ENVIRONMENT on | vt/settings/effects
EXTENDED-VTF on | vt/settings/effects
FLUSH-PID on | vt/settings/effects
FLUSH-PREFIX $dir | vt/settings/effects
GROUP odd 1:N:2 | vt/mpi/mpi
HANDLE-SIGNALS 3,10:15 | vt/ends/deadlock
INTERNAL-MPI on | vt/settings/filter
KEEP-RAW-EVENTS off | vt/settings/effects
LOGFILE-FORMAT STF | vt/mpi/mpi
LOGFILE-NAME t.stf | preload/config
LOGFILE-PREFIX $dir | vt/settings/effects
LOGFILE-RANK 0 | vt/mpi/mpi
MEM-BLOCKSIZE 64KB | vt/settings/effects
MEM-FLUSHBLOCKS 1024 | vt/settings/effects
MEM-INFO 500MB | vt/settings/effects
MEM-MAXBLOCKS 4096 | vt/settings/effects
MEM-MINBLOCKS 0 | vt/settings/effects
MEM-OVERWRITE off | vt/settings/effects
NMCMD "nm -P" | vt/functions/functions
OS-COUNTER-DELAY 1s | vt/settings/effects
PCTRACE 5 | vt/functions/pctrace
PCTRACE-CACHE on | vt/functions/pctrace
PCTRACE-FAST on | vt/functions/pctrace
PLUGIN $dir/none.so | vt/settings/effects
PROCESS 0:N on | vt/mpi/mpi
PROGNAME prog | vt/settings/effects
PROTOFILE-NAME t.prot | vt/settings/effects
STATE Application:* on | vt/settings/filter
STATISTICS on | vt/functions/statistics
STF-PROCS-PER-FILE 16 | vt/mpi/mpi_trace
STF-USE-HW-STRUCTURE on | vt/clocks/hosts
STOPFILE-NAME stop | vt/ends/stop
SYMBOL main on | vt/settings/filter
SYNC-MAX-DURATION 1m | vt/mpi/mpi
SYNC-MAX-MESSAGES 100 | vt/mpi/mpi
SYNC-PERIOD -1s | vt/mpi/mpi
SYNCED-CLUSTER off | vt/mpi/mpi
SYNCED-HOST off | vt/mpi/mpi
TIME-WINDOWS 0:1,10:20 | vt/functions/functions
TIMER gettimeofday | vt/clocks/timers
TIMER-SKIP 0 | vt/clocks/sessions
UNIFY-COUNTERS on | vt/mpi/mpi
UNIFY-GROUPS on | vt/mpi/mpi
UNIFY-SCLS on | vt/mpi/mpi
UNIFY-SYMBOLS on | vt/mpi/mpi
VERBOSE 1 | vt/settings/effects
END
sed 's/ | .*//' "$dir/table" >"$dir/options"

# lists of the manual, between the two lines that begin them
sed -n '/^These have an effect:$/,/^These have none,/p' "$src/doc/man/VT.3" | grep -o '[A-Z][A-Z-]*[A-Z]\( \|$\)' |
	tr -d ' ' | sort >"$dir/with"
sed -n '/^These have none,/,/^\.Sh/p' "$src/doc/man/VT.3" | sed -n 's/^\.It Li //p' | tr -d ',' | tr -s ' ' '\n' |
	sort >"$dir/without"
cut -d' ' -f1 "$dir/options" | sort >"$dir/all"
sort "$dir/with" "$dir/without" | diff "$dir/all" - >"$dir/diff"
ok "VT.3 names every option of the guide once" $?

# an effect is shown where a script gives the option: in a file, as a variable or on the command line
grep -v ' | ' "$dir/table" | cut -d' ' -f1 | sort | diff "$dir/without" - >"$dir/diff"
sed -n 's/^\([A-Z-]*\) .* | /\1 /p' "$dir/table" | while read -r name script; do
	grep -v '^#' "$src/tests/$script.sh" | grep -qE -e "(^|[^A-Z-])$name([ '\"]|\
$)" -e "VT_$(echo "$name" | tr - _)=" -e "--$(echo "$name" | tr A-Z a-z)[ =]" ||
		echo "$name: not in tests/$script.sh"
done >>"$dir/diff"
expect_empty "$dir/diff"
verdict "the effect of each of $(grep -c ' | ' "$dir/table") options has its test, the other $(grep -vc ' | ' \
	"$dir/table") have none"

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

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# STATISTICS (the guide's section 2.8): counts and times of a program that says its own call tree. TAP.
set -u
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/lib.sh"

# shellcheck disable=SC2086
${CC:-cc} $san -O2 -g -finstrument-functions -o "$dir/prog" "$here/functions/programs/functions.c" -ldl -lpthread ||
	exit 99

run() # run OPTIONS -- PROGRAM ARGUMENTS: what it said as "THREAD FUNCTION CALLS", and the same from the trace
{
	rm -f "$dir"/t.*
	timeout 100 "$vtrun" --logfile-name "$dir/t.stf" --verbose 0 "$@" >"$dir/out" 2>"$dir/err" &&
		awk '$2 == "+" { n[$1 " " $3]++ } END { for (i in n) print i, n[i] }' "$dir/out" | sort >"$dir/said" &&
		[ -s "$dir/said" ] && "$build/stftool" "$dir/t.stf" --print-statistics >"$dir/lines" &&
		"$build/tools/convert-stats" "$dir/lines" >"$dir/stats" &&
		awk '$1 ~ /^[0-9]+:0$/ { sub(/:.*/, "", $1); print $1, $2, $6 }' "$dir/stats" | sort >"$dir/counted" &&
		! grep -v '^#' "$dir/lines" | grep -vqE '^([0-9]+:){2}0xffffffff:0xffffffff:1(:[0-9]+){7}$'
}

expect run --statistics -- "$dir/prog" 3 3000 1
expect_same "$dir/said" "$dir/counted"
verdict "every call of every function and thread is counted"

"$build/stftool" "$dir/t.stf" --print-statistics --csv 2>&1 | expect tr -d '\r' >"$dir/csv"
expect [ "$(wc -l <"$dir/csv")" -gt 3 ]
sed 1d "$dir/csv" | expect_no_line -vE '^"[0-9]+:0",[^,]*,,,1,[0-9]+(,[0-9]+){6}$' -
verdict "--csv: no receiver and no message are empty fields"

# exclusive times add up to the time of the outermost state; no maximum is below its mean
LC_ALL=C awk '$2 == "Application:main" { main = $12 }
	$1 == "0:0" { sum += $9; if ($8 * $6 < $9 - 1e-8 || $7 * $6 > $9 + 1e-8 || $11 * $6 < $12 || $9 > $12) bad++ }
	END { d = sum - main; exit bad || main == 0 || d > 1e-6 || d < -1e-6 }' "$dir/stats"
ok "times: minimum, mean and maximum are in order, and exclusive ones add up" $?

expect run --statistics --start-paused -- "$dir/prog" 2 1000 2
expect_same "$dir/said" "$dir/counted"
"$build/stftool" "$dir/t.stf" --dump | expect_no_line ENTER -
verdict "the same while no event is recorded"

for state in off no discard; do
	expect run --statistics --process "0:N $state" -- "$dir/prog" 2 1000 2
	expect_same "$dir/said" "$dir/counted"
	"$build/stftool" "$dir/t.stf" --dump | expect_no_line ENTER -
	verdict "and with PROCESS $state"
done

expect run --statistics 4 -- "$dir/prog" 1 1000 3
expect [ "$(wc -l <"$dir/counted")" -eq 4 ]
expect_line Statistics:others "$dir/counted"
expect [ "$(awk '{ n += $3 } END { print n }' "$dir/said")" -eq "$(awk '{ n += $3 } END { print n }' "$dir/counted")" ]
verdict "in fixed memory: a row for the others holds the exact rest"

expect run --statistics --flush-limit 1MB -- "$dir/prog" 1 200000 1
expect_same "$dir/said" "$dir/counted"
expect [ "$("$build/stftool" "$dir/t.stf" --dump | grep -c ' ENTER ')" -lt "$(grep -c '^0 +' "$dir/out")" ]
verdict "after FLUSH-LIMIT statistics go on"

# shellcheck disable=SC2086
${CC:-cc} $san -O2 -finstrument-functions -o "$dir/killed" "$here/functions/programs/statistics.c" || exit 99
calls() # calls 1: that the program has begun; 2: that have ended
{
	od -A n -t d8 "$dir/calls" 2>/dev/null | awk -v field="$1" '{ print $field }'
}
# killed SIGNAL CALLS MORE FOLDER OPTIONS...: the program ends by the signal after it has made MORE of its CALLS (0:
# they never end). The raw file is in FOLDER. Are those in the statistics at least those that had ended, and at most
# those that had begun?
killed()
{
	signal=$1 most=$2 more=$3 folder=$4
	shift 4
	rm -rf "$dir/calls" "$dir"/k.*
	VT_FLUSH_PREFIX=$folder "$vtrun" --statistics --logfile-name "$dir/k.stf" --verbose 0 "$@" -- "$dir/killed" \
		"$dir/calls" "$most" >"$dir/out" 2>"$dir/err" &
	pid=$!
	tries=0
	until [ "$(calls 2)" -ge "$more" ] 2>/dev/null || [ $tries -ge 3000 ]; do
		tries=$((tries + 1))
		sleep 0.01
	done
	kill -"$signal" $pid
	wait $pid 2>/dev/null
	until { [ -e "$dir/k.stf" ] && ! ls "$folder"/.VT-flush-* >/dev/null 2>&1; } || [ $tries -ge 6000 ]; do
		tries=$((tries + 1))
		sleep 0.01
	done
	"$build/stftool" "$dir/k.stf" --print-statistics 2>>"$dir/err" | "$build/tools/convert-stats" >"$dir/stats"
	n=$(awk '$2 == "Application:work" { print $6 }' "$dir/stats")
	echo "# $signal: ${n:-nothing} counted, $(calls 2) ended, $(calls 1) begun"
	[ "${n:-0}" -ge "$(calls 2)" ] && [ "$n" -le "$(calls 1)" ]
}
wrong=0
for more in 1 1000 30000 1000000 5000000 9000000; do
	killed KILL 0 $more "$dir" || wrong=$((wrong + 1))
done
[ $wrong -eq 0 ]
ok "after SIGKILL every call that had ended is in the statistics" $?
expect killed TERM 12345 12345 "$dir" --process '0:N off'
expect [ "$n" -eq 12345 ]
verdict "and those of a program that waited when it was ended by a signal"
killed KILL 0 200000 "$dir" --statistics 2000 --mem-blocksize 4KB
ok "and in many small tables" $?
if mkdir "$dir/small" && mount -t tmpfs -o size=1m none "$dir/small" 2>/dev/null; then
	mounted=$dir/small
	expect killed KILL 0 1000000 "$dir/small"
	"$build/stftool" "$dir/k.stf" --dump | expect_line 'No space left on device' -
	verdict "and on a disk that is full"
	umount "$mounted"
	mounted=
else
	skip "and on a disk that is full" "no right to mount a tmpfs"
fi
# recorded until its functions are throttled, with those that were open then: it is recursive
expect run --throttle 100:1s -- "$dir/prog" 1 3000 1
expect_same "$dir/said" "$dir/counted"
expect "$build/stftool" "$dir/t.stf" --dump >"$dir/dump"
expect awk '$1 == "DEFFUNCTION" { gsub(/"/, "", $3); name[$2] = $3 } $2 == "ENTER" { n[$6]++ }
	END { for (i in n) print name[i], n[i] }' "$dir/dump" >"$dir/recorded"
expect awk 'NR == FNR { sub(/.*:/, "", $2); said[$2] = $3; next } { m = said[$1] }
	m <= 100 ? $2 != m : $2 < 100 || (m > 300 && $2 > 200) { print $0, m; bad = 1 } m > 300 { big++ }
	END { exit bad || !big }' "$dir/said" "$dir/recorded" >"$dir/diff"
verdict "--throttle: a function is recorded about as often as that, and counted always"
expect run --throttle 100:1ns -- "$dir/prog" 1 3000 1
expect [ "$("$build/stftool" "$dir/t.stf" --dump | grep -c ' ENTER ')" -eq "$(grep -c '^0 +' "$dir/out")" ]
verdict "--throttle: functions that take longer are not touched"
timeout 100 "$vtrun" --throttle banana -- true >"$dir/out" 2>"$dir/err"
expect [ $? -ne 0 ]
expect_line "'banana' is not CALLS:TIME" "$dir/err"
verdict "--throttle: a wrong value is refused"

run --summary -- "$dir/prog" 1 3000 1 && grep -q 'seconds .* function' "$dir/err"
[ $? -ne 0 ]
ok "VERBOSE 0 prints no summary" $?
expect timeout 100 "$vtrun" --logfile-name "$dir/s.stf" --summary -- "$dir/prog" 1 3000 1 >"$dir/out" 2>"$dir/err"
expect [ "$(grep -c '%  Application:' "$dir/err")" -le 10 ]
expect_line ' 0.00%  all calls of MPI' "$dir/err"
expect [ "$(awk '$2 == "+" && $3 == "Application:alpha" { n++ } END { print n }' "$dir/out")" \
	-eq "$(awk '$NF == "Application:alpha" { print $3 }' "$dir/err")" ]
verdict "--summary: the functions with their counts"
printf '1:2:3\n' | "$build/tools/convert-stats" >"$dir/out" 2>"$dir/err"
expect [ $? -ne 0 ]
expect_line 'line 1 is no line' "$dir/err"
verdict "convert-stats names a line that it cannot read"
rm -f "$dir"/t.*
"$vtrun" --logfile-name "$dir/t.stf" --verbose 0 -- true >"$dir/out" 2>&1
"$build/tools/convert-stats" "$dir/t.stf" >"$dir/out" 2>"$dir/err"
expect [ $? -eq 1 ]
expect grep -q 't.stf is a trace: stftool TRACE.stf --print-statistics | convert-stats' "$dir/err"
expect [ "$(wc -l <"$dir/err")" -eq 1 ]
verdict "convert-stats says how to pass it a trace"
seq 30 | "$build/tools/convert-stats" >"$dir/out" 2>"$dir/err"
expect [ $? -eq 1 ]
expect [ "$(wc -l <"$dir/err")" -eq 11 ]
verdict "convert-stats names ten lines at most"
"$build/tools/convert-stats" "$dir/nosuch" >"$dir/out" 2>"$dir/err"
expect [ $? -eq 1 ]
expect_empty "$dir/out"
expect_line "cannot read $dir/nosuch" "$dir/err"
verdict "convert-stats names a file that it cannot read"
done_testing

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# vttop: values compared with those in the trace of the same run; end of the job, no job, wrong usage; nothing in the program.
# shellcheck source=../lib/tap.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/lib/tap.sh"
cd "$dir" || exit 99

if ! [ -x "$build/vtrun" ]; then
	echo "1..0 # SKIP vtrun was not built"
	exit 0
fi

until_true() # until_true COMMAND...: within 20 s
{
	i=0
	while ! "$@"; do
		i=$((i + 1))
		[ $i -lt 200 ] || return 1
		sleep 0.1
	done
}

mkdir "my job" && cd "my job" || exit 99
"$build/vtrun" --sample-period 20ms --os-counter-delay 100ms --counter proc_rss --counter proc_usr --counter 'cpu_*' -- \
	sh -c 'echo $$ >pid; while ! [ -e stop ]; do :; done' 2>../run.err &
run=$!
has_values()
{
	"$build/vttop" sh.stf --count 1 2>/dev/null | grep -q proc_rss
}
until_true has_values
ok "the job is found by its trace's name" $?
pid=$(cat pid)

"$build/vttop" "$pid" --count 5 --period 0.2s >../out 2>../err
status=$?
awk -F '\t' -v pid="$pid" '
	NF != 5 || $1 !~ /^[0-9]+\.[0-9]+$/ { bad = 1; print "bad line: " $0 }
	$3 == "proc_rss" && $2 == "pid " pid { rss++ }
	$3 == "cpu_idle" && $2 ~ /^node / && $4 >= 0 && $5 == "percent" { idle++ }
	END { exit bad || rss != 5 || idle < 4 }' ../out >../verify
[ $? -eq 0 ] && [ "$status" -eq 0 ] && [ ! -s ../err ]
ok "by a process id: five looks, a line for each value" $?
awk -F '\t' '$3 == "proc_rss" { print $4, $5; exit }' ../out >../shown

"$build/vttop" "$pid" --count 1 --counter usr >../out 2>../err
[ -n "$(cat ../out)" ] && ! grep -qv usr ../out
ok "--counter: only those" $?

[ "$(grep -c . "/proc/$pid/task/$pid/children" 2>/dev/null)" -eq 0 ] && [ "$(ls "/proc/$pid/task" | wc -l)" -eq 1 ]
ok "the program has no thread and no child" $?

rm ../out
"$build/vttop" "$pid" --plain --period 0.1s >../out 2>../err &
top=$!
shows_lines()
{
	[ -s ../out ]
}
until_true shows_lines
touch stop
wait "$run"
wait "$top"
[ $? -eq 0 ] && grep -q '^vttop: sh has ended; its trace: .*/my job/sh.stf$' ../err
ok "it ends with the job and names the trace" $?

# the resident size is shown in the unit that the trace states, and was between the smallest and largest of the run
"$build/stftool" sh.stf --dump >../dump 2>/dev/null
"$build/stftool" sh.stf --convert ../t.csv >/dev/null 2>&1
awk -F , -v shown="$(cut -d' ' -f1 ../shown)" -v unit="$(cut -d' ' -f2 ../shown)" '
	NR > 1 && $0 ~ /proc_rss/ { v = $7 + 0; low = !n || v < low ? v : low; high = !n || v > high ? v : high; n++ }
	END { f = unit == "MB" ? 1048576 : unit == "KB" ? 1024 : 1; print n, low, high, shown, unit
		exit !(n && shown * f >= low * 0.999 && shown * f <= high * 1.001) }' ../t.csv >../verify
ok "the value is one of the trace" $?
cd ..

"$build/vttop" "my job/sh.stf" >out 2>err
[ $? -eq 1 ] && grep -q 'no such program is recorded here' err
ok "a job that has ended: status 1" $?
"$build/vttop" 1 >out 2>err
[ $? -eq 1 ] && grep -q '^vttop: 1: no such program' err
ok "a process that is not recorded: status 1" $?
"$build/vttop" a b >out 2>err
[ $? -eq 2 ] && grep -q 'one job at a time' err
ok "two names: wrong usage" $?
"$build/vttop" --period 0 >out 2>err
[ $? -eq 2 ] && grep -q period err
ok "no period: wrong usage" $?
done_testing

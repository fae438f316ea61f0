#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# vttop: values compared with those in the trace of the same run; end of the job, no job, wrong usage; nothing in the
# program.
# shellcheck source=../../lib/tap.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/lib/tap.sh"
cd "$dir" || exit 99
find_vtrun

if ! [ -x "$build/vtrun" ]; then
	echo "1..0 # SKIP vtrun was not built"
	exit 0
fi

until_true() # until_true COMMAND...: within a minute
{
	i=0
	while ! "$@"; do
		i=$((i + 1))
		[ $i -lt 600 ] || return 1
		sleep 0.1
	done
}

mkdir "my job" && cd "my job" || exit 99
"$vtrun" --sample-period 20ms --os-counter-delay 100ms --counter proc_rss --counter proc_usr --counter 'cpu_*' -- \
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
expect [ $? -eq 0 ]
expect_status 0
expect_empty ../err
verdict "by a process id: five looks, a line for each value"
awk -F '\t' '$3 == "proc_rss" { print $4, $5; exit }' ../out >../shown

"$build/vttop" "$pid" --count 1 --counter usr >../out 2>../err
expect [ -n "$(cat ../out)" ]
expect_no_line -v usr ../out
verdict "--counter: only those"

expect [ "$(grep -c . "/proc/$pid/task/$pid/children" 2>/dev/null)" -eq 0 ]
expect [ "$(ls "/proc/$pid/task" | wc -l)" -eq 1 ]
verdict "the program has no thread and no child"

"$build/vttop" "$pid" --count 1 >/dev/full 2>../err
expect [ $? -eq 1 ]
expect_line 'cannot write to standard output' ../err
verdict "a full standard output: status 1"

"$build/vttop" --help >/dev/full 2>../err
expect [ $? -eq 1 ]
expect_line 'cannot write to standard output' ../err
verdict "so is one of --help"

# the list of mappings, which stops the program from mapping memory, is not read where a sampler process names the file
if command -v strace >/dev/null && strace -o ../trace true 2>/dev/null; then
	# with a sanitizer: leaks cannot be looked for under strace, and its own list is read
	ASAN_OPTIONS=detect_leaks=0 strace -f -o ../trace -e trace=openat "$build/vttop" sh.stf --count 1 >../out \
		2>../err
	expect [ $? -eq 0 ]
	expect_line proc_rss ../out
	expect_line '/fd"\|fd"' ../trace
	grep -v '"/proc/self/maps"' ../trace | expect_not grep '/maps"' >../verify
	verdict "the program's list of mappings is not read"
else
	skip "the program's list of mappings is not read" "no strace, or it may not trace"
fi

# an allocation that fails: out of memory, or as if it had not
if ${CC:-cc} -shared -fPIC -o ../failnth.so "$src/tests/cli/lib/failnth.c" -ldl 2>../err &&
	FAIL_WHAT=malloc FAIL_COUNT=../count LD_PRELOAD=../failnth.so "$build/vttop" "$pid" --count 1 >../out \
	2>../err; then
	: >../verify
	n=0
	while n=$((n + 1)) && [ $n -le "$(cat ../count)" ] && [ $n -le 150 ]; do
		FAIL_WHAT=malloc FAIL_NTH=$n LD_PRELOAD=../failnth.so timeout 60 "$build/vttop" "$pid" --count 1 \
			>../out 2>../err
		rc=$?
		{ [ $rc -eq 0 ] && grep -q proc_rss ../out; } || { [ $rc -ne 0 ] && [ $rc -le 2 ] && grep -q 'out of '\
'memory' ../err; } || echo "malloc $n: $rc $(cat ../err)" >>../verify
	done
	expect [ $n -gt 5 ]
	expect_empty ../verify
	verdict "each allocation that fails is reported, or does not matter"
else
	skip "each allocation that fails is reported, or does not matter" \
		"no compiler for the library that makes them fail"
fi

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
expect [ $? -eq 0 ]
expect_line '^vttop: sh has ended; its trace: .*/my job/sh.stf$' ../err
verdict "it ends with the job and names the trace"

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
expect [ $? -eq 1 ]
expect_line 'no such program is recorded here' err
verdict "a job that has ended: status 1"
"$build/vttop" 1 >out 2>err
expect [ $? -eq 1 ]
expect_line '^vttop: 1: no such program' err
verdict "a process that is not recorded: status 1"
"$build/vttop" a b >out 2>err
expect [ $? -eq 2 ]
expect_line 'one job at a time' err
verdict "two names: wrong usage"
"$build/vttop" --period 0 >out 2>err
expect [ $? -eq 2 ]
expect_line period err
verdict "no period: wrong usage"

# a script: what it starts is not recorded; the sampler's own counters are last
"$vtrun" --sample-period 20ms --logfile-name script.stf -- \
	sh -c 'sleep 100 & child=$!; while ! [ -e stop2 ]; do :; done; kill $child; wait' 2>run.err &
run=$!
has_script()
{
	"$build/vttop" script.stf --count 1 >out 2>err && grep -q sampler_ out && grep -q proc_usr out
}
until_true has_script
expect_line '^vttop: sh has started other programs, which are not recorded: vtrun --follow-children records them$' err
expect awk -F '\t' '$3 ~ /sampler_/ { own = 1; next } own { print; bad = 1 } END { exit bad || !own }' out
verdict "a script's children are pointed at, and the sampler's own counters are the last lines"
: >stop2
wait "$run"

# the table: names in UTF-8 are not cut in the middle of a character, and the first line takes the whole width
utf8=$(locale -a 2>/dev/null | grep -i -m 1 'utf-*8$')
if command -v tmux >/dev/null && [ -n "$utf8" ] && grep -q "define HAVE_NCURSES 1" "$build/config.h"; then
	name=$(printf '\303\266%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 \
		31 32 33 34 35 36 37 38 39 40)
	cp "$(command -v cat)" "$name" && mkfifo gate
	"$vtrun" --counter proc_rss --counter proc_usr --counter proc_sys --logfile-name screen.stf -- "./$name" <gate \
		2>run.err &
	run=$!
	exec 3>gate # as long as this is open the program runs
	has_screen()
	{
		"$build/vttop" "$name" --count 1 2>/dev/null >out && grep -q proc_rss out
	}
	until_true has_screen
	ok "the job is found by the program's name" $?
	LC_ALL=$utf8 tmux -S "$dir/tmux" -f /dev/null -u new-session -d -x 120 -y 8 \
		"'$build/vttop' '$dir/screen.stf' --counter proc_ --period 0.2s" 3>&-
	shows_table()
	{
		tmux -S "$dir/tmux" capture-pane -p >screen 2>err
		grep -q '^OS:proc_rss .* [KM]B' screen || grep -q '^proc_rss .* [KM]B' screen
	}
	expect until_true shows_table
	expect head -n 1 screen >verify
	expect_line "^$name, [0-9.]* s, 1 of 1 process run$" screen
	verdict "the table has the whole name of the program, and its counter"
	tmux -S "$dir/tmux" capture-pane -e -p | sed -n 2p >verify
	grep -q "$(printf '\033\\[[0-9;]*7m')counter  " verify
	ok "the heading of the table is in reverse video" $?
	tmux -S "$dir/tmux" send-keys p
	shows_paused()
	{
		tmux -S "$dir/tmux" capture-pane -p >screen 2>err
		head -n 1 screen | grep -q ', display paused$'
	}
	expect until_true shows_paused
	expect cp screen verify
	expect [ "$(head -n 1 screen | LC_ALL=$utf8 wc -m)" -gt 80 ]
	verdict "a line of more than 79 columns is shown whole"
	tmux -S "$dir/tmux" send-keys p
	shows_all()
	{
		[ "$(rows | wc -w)" -eq 3 ]
	}
	rows() # rows: the names in the table, in one line
	{
		tmux -S "$dir/tmux" capture-pane -p 2>err | sed -n 's/.*\(proc_[a-z]*\) .*/\1/p' | tr '\n' ' '
	}
	shows_rows() # shows_rows NAMES
	{
		[ "$(rows)" = "$1" ]
	}
	all='' last=''
	until_true shows_all && all=$(rows) && last=$(echo "$all" | tr ' ' '\n' | tail -n 2 | head -n 1)
	tmux -S "$dir/tmux" send-keys Down Down Down Down Down
	until_true shows_rows "$last " && tmux -S "$dir/tmux" send-keys Up &&
		until_true shows_rows "$(echo "$all" | cut -d' ' -f2-)" &&
		tmux -S "$dir/tmux" send-keys Up Up Up && until_true shows_rows "$all"
	status=$?
	echo "$all: $(rows)" >verify
	ok "the arrows scroll from the first to the last counter" $status
	tmux -S "$dir/tmux" send-keys q
	has_ended()
	{
		! tmux -S "$dir/tmux" has-session 2>/dev/null
	}
	until_true has_ended
	ok "q ends it" $?
	# a terminal of 4 lines: title, heading, one counter, and the line of the keys
	LC_ALL=$utf8 tmux -S "$dir/tmux" -f /dev/null -u new-session -d -x 120 -y 4 \
		"exec '$build/vttop' '$dir/screen.stf' --counter proc_ --period 0.2s" 3>&-
	expect until_true shows_rows "${all%% *} "
	tmux -S "$dir/tmux" capture-pane -p | expect tail -n 1 >verify
	expect_text "$(tail -n 1 screen)" verify
	verdict "counters do not cover the line of the keys"
	kill -TERM "$(tmux -S "$dir/tmux" list-panes -F '#{pane_pid}')"
	until_true has_ended
	ok "a signal ends it" $?
	LC_ALL=$utf8 tmux -S "$dir/tmux" -f /dev/null -u new-session -d -x 120 -y 8 \
		"'$build/vttop' '$dir/screen.stf' --counter proc_ --count 2 --period 0.1s; cat" 3>&-
	shows_two()
	{
		tmux -S "$dir/tmux" capture-pane -p | grep -c "proc_rss" >verify
		grep -qx 2 verify
	}
	until_true shows_two
	ok "--count prints lines on a terminal, too" $?
	tmux -S "$dir/tmux" kill-server 2>/dev/null
	exec 3>&-
	wait "$run"
else
	skip "the table in a terminal" "no tmux, no UTF-8 locale or no ncurses"
fi
done_testing

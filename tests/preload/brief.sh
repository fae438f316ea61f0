#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Threads and children that live too shortly for a sample: they are counted, their CPU time is in the totals of the
# process, and a row of the table that threads have in turn never goes back. The program says what is true. TAP.
. "${top_srcdir:-.}/tests/preload/lib.sh"
VT_FORCE=on
export VT_FORCE

counted() # can the kernel's records of starts be had here?
{
	! grep -q '^INFO THREADS number of starts unknown' brief.prot
}

# within A B: they differ by 1 % at most
within()
{
	awk -v a="$1" -v b="$2" 'BEGIN { print a, b; exit !(a >= 0.99 * b && a <= 1.01 * b) }' >>"$dir/diff"
}

# totals COUNTER: the sum of the last values of all its rows
totals()
{
	"$build/stftool" brief.stf --print-counters --csv 2>>"$dir/diff" |
		awk -F, -v c="\"$1\"" '$2 == c { n += $15 } END { printf "%.0f\n", n }'
}

truth() # into $threads and $process, in ns
{
	read -r threads process <"$dir/out"
}

unseen() # in ns
{
	sed -n 's/^INFO THREADS .*[,;] CPU in no sampled thread \([0-9]*\)\.\([0-9]*\)s$/\1\2/p' brief.prot |
		awk '{ printf "%.0f\n", $1 * 1000 }'
}

fresh
options="--verbose 2 --sample-period 60s --counter proc_usr --counter proc_sys"
sampled "$build/tests/preload/programs/brief" 60 20 30
cp brief.prot "$dir/diff"
truth
if counted; then
	expect_line '^INFO THREADS 60 started, 60 in no sample, ' brief.prot
	expect_line '^INFO CHILDREN \(at least \)*30 started, ' brief.prot
	expect within "$(unseen)" "$threads"
	verdict "60 threads between two samples are counted, with their CPU time, and 30 children"
	expect_line 'INFO: 60 of 60 threads started and ended between two samples. .* used 1\.[0-9]* s of CPU' \
		"$dir/err"
	"$build/stftool" brief.stf --dump | expect_line '"*60 of 60 threads started and ended' -
	verdict "the message and the trace tell of them"
else
	skip "60 threads between two samples are counted" "perf_event_open(2) is refused"
	skip "the message and the trace tell of them" "perf_event_open(2) is refused"
fi
within "$(($(totals proc_usr) + $(totals proc_sys)))" "$((process / 1000))"
ok "the totals of the process contain them" $?

fresh
options="--sample-period 100ms --counter proc_usr --counter proc_sys --counter thread_run"
sampled "$build/tests/preload/programs/brief" 100 20 0
cp brief.prot "$dir/diff"
truth
within "$(($(totals proc_usr) + $(totals proc_sys)))" "$((process / 1000))"
ok "100 threads of 20 ms at 100 ms: in the totals within 1 %" $?
within "$(($(totals thread_run) + $(unseen)))" "$process"
ok "the rows of threads and the rest are all of it, within 1 %" $?
if counted; then
	grep -q '^INFO THREADS 100 started, ' brief.prot
	ok "100 threads were started" $?
else
	skip "100 threads were started" "perf_event_open(2) is refused"
fi
"$build/stftool" brief.stf --convert "$dir/brief.csv" --force >"$dir/diff" 2>&1
awk -F, '/OS:thread_run/ { row = $5; n[row]++; if ($7 + 0 < last[row]) { bad++; print }; last[row] = $7 + 0 }
	END { for (r in n) rows++; print rows " rows"; exit bad > 0 || rows < 2 }' "$dir/brief.csv" >>"$dir/diff"
ok "a row that threads have in turn never goes back" $?

# where containers refuse perf_event_open(2) nobody tells of the threads, but their CPU time is known
if [ -z "$sanitizer" ] && ${CC:-cc} -D_GNU_SOURCE "$src/tests/lib/perf_filter.c" -o "$dir/filter" 2>"$dir/err" &&
	"$dir/filter" 1 true; then
	fresh
	timeout -k 10 300 "$dir/filter" 1 "$build/vtrun" --verbose 2 --sample-period 60s --counter proc_usr \
		--counter proc_sys \
		-- "$build/tests/preload/programs/brief" 60 20 30 >"$dir/out" 2>"$dir/err"
	status=$?
	cp brief.prot "$dir/diff"
	truth
	expect_status 0
	expect within "$(unseen)" "$threads"
	expect within "$(($(totals proc_usr) + $(totals proc_sys)))" "$((process / 1000))"
	verdict "perf_event_open(2) is refused: the CPU time of threads that no sample saw is known"
	expect_line '^INFO THREADS number of starts unknown: perf_event_open: Operation not permitted; CPU ' brief.prot
	expect_line '^INFO CHILDREN number of starts unknown, CPU of those waited for [0-9.]*s$' brief.prot
	expect_line \
		'INFO: threads that started .* used 1\.[0-9]* s of CPU.* is unknown: perf_event_open: Operation not '\
'permitted' "$dir/err"
	verdict "and what is unknown, and why, is reported"
	"$dir/filter" 1 "$build/vtrun" --doctor >"$dir/out" 2>"$dir/err"
	expect grep -A1 '^limited .*software events .*seccomp forbids perf_event_open(2); containers: --security-opt' \
		"$dir/out" >"$dir/diff"
	expect_no_line 'sysctl' "$dir/diff"
	verdict "--doctor: what to do about it"
else
	skip "perf_event_open(2) is refused" "no seccomp here, or a sanitizer"
fi
# ---- a script: its work is that of others, and they start before the sampler process looks ----

brief=$build/tests/preload/programs/brief
fresh
# shellcheck disable=SC2016
sampled sh -c '"$1" 2 150 0; sleep 0.2; :' script "$brief"
used=$(sed -n 's/^INFO CHILDREN .*, CPU of those waited for \([0-9.]*\)s$/\1/p' sh.prot)
expect awk -v used="$used" 'BEGIN { exit !(used > 0.29) }'
expect_no_line '^INFO CHILDREN 0 ' sh.prot
expect_line "^Tickmark WARNING: sh used .* of CPU, the processes that it started .*: add --follow-children$" "$dir/err"
verdict "a script whose work others do: their CPU time, and how to record them"
fresh
options=--follow-children
# shellcheck disable=SC2016
sampled sh -c '"$1" 2 150 0; sleep 0.2; :' script "$brief"
options=
expect_no_line 'add --follow-children' "$dir/err"
verdict "with --follow-children there is nothing to advise"
fresh
# the stopped sampler process cannot read what is gone
# shellcheck disable=SC2016
(sampled sh -c 'until grep -q "^INFO SAMPLED" sh.prot 2>/dev/null; do sleep 0.05; done
	kill -STOP "$(sed -n "s/^INFO SAMPLED by process //p" sh.prot)"; kill -KILL $$')
kill -CONT "$(sed -n "s/^INFO SAMPLED by process //p" sh.prot)"
"$build/stftool" sh.stf --print-threads >"$dir/out" 2>&1
expect_line '^INFO CHILDREN .*, CPU of those waited for unknown$' sh.prot
verdict "where nobody can know the CPU time of children, it is unknown and not 0"

done_testing

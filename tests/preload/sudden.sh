#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Ends of which the library in the program hears nothing, where the sampler process samples and where a thread inside
# does: the sampler process, which waits for the end in both cases, makes the trace. Where the program cannot reach it
# any more, what the program says is true. TAP.
. "${top_srcdir:-.}/tests/preload/lib.sh"
expect made sudden
verdict "the program is compiled"

ended() # ended SAMPLER HOW STATUS ENDED: the trace is made of all raw files, and the protocol says how it ended
{
	fresh
	(exec timeout -k 5 60 "$build/vtrun" --sampler "$1" -- "$dir/sudden" "$2") >"$dir/out" 2>"$dir/err" </dev/null
	status=$?
	expect_status "$3"
	tries=0
	while [ $tries -lt 200 ] && { [ ! -e sudden.stf ] || [ -n "$(find . -name '*.raw')" ]; }; do
		sleep 0.1
		tries=$((tries + 1))
	done
	expect [ -z "$(find . -name '*.raw')" ]
	expect "$build/stftool" sudden.stf --verify >"$dir/verify" 2>&1
	expect_line "^INFO ENDED .*$4" sudden.prot
	expect_no_line 'wall 0.000000s' sudden.prot
	expect_no_line 'no trace\|took no sample' "$dir/err"
}

for sampler in process thread; do
	ended $sampler group 3 'exit status 3$'
	ended $sampler child 3 'exit status 3$'
	ended $sampler daemon 0 'exit status 0$'
	ended $sampler main 3 'exit status [03]'
	verdict "$sampler: exit_group, also of a child that shares the memory, daemon(), the end of main"
	ended $sampler 15 143 'by signal 15'
	ended $sampler 11 139 'by signal 11'
	ended $sampler 9 137 'by signal 9'
	ended $sampler abort 134 'by signal 6'
	verdict "$sampler: signals"
done

said() # said SAMPLER HOW: what it has said
{
	fresh
	chmod 755 . # not for another user
	timeout -k 5 60 "$build/vtrun" --sampler "$1" -- "$dir/sudden" "$2" >"$dir/out" 2>"$dir/err" </dev/null
	status=$?
	expect_status 3
}
trace_comes() # it comes when the program is gone
{
	tries=0
	while [ $tries -lt 200 ] && { [ ! -e sudden.stf ] || [ -n "$(find . -name '*.raw')" ]; }; do
		sleep 0.1
		tries=$((tries + 1))
	done
	expect "$build/stftool" sudden.stf --verify >"$dir/verify" 2>&1
}
# told HOW WHY: with a sampler process the trace comes later; with a thread inside, the command that is named makes it
told()
{
	said process "$1"
	expect_line "sudden.stf is made when sudden is gone, .*$2" "$dir/err"
	expect_no_line 'no trace\|took no sample' "$dir/err"
	trace_comes
	said thread "$1"
	command=$(sed -n 's/.*WARNING: no trace: .*[;:] \(stftool .* --merge .*\) makes the trace$/\1/p' "$dir/err")
	expect [ -n "$command" ]
	expect sh -c "$build/$command" >"$dir/merged" 2>&1
	trace_comes
}
told files 'without its last samples: it may not open a file'
verdict "no descriptor at the end: the trace comes, or the command that is named makes it"
if [ "$(id -u)" = 0 ]; then
	told user 'does not answer another user'
	verdict "another user at the end: the same"
else
	skip "another user at the end" "not root"
fi
done_testing

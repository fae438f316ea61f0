#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# tests/lib/tap.sh: each expect_... can fail, and then names the part that failed and shows what was there instead. TAP.
. "${top_srcdir:-.}/tests/lib/tap.sh"
cd "$dir" || exit 99
printf 'one\ntwo\n' >text
printf 'one\n2\n' >other
: >nothing

# told EXPECTED COMMAND...: in a script of its own, whose first verdict is of COMMAND; its output is in told
told()
{
	printf '%s\n' '. "${top_srcdir:-.}/tests/lib/tap.sh"' "cd '$dir' || exit 99" 'status=3' "$2" \
		'verdict "a verdict"' \
		'verdict "the next"' done_testing >script
	top_srcdir=$src top_builddir=$build sh ./script >told 2>&1
	status=$?
	expect_status "$1"
	expect_line -x "$([ "$1" -eq 0 ] || echo 'not ')ok 1 - a verdict" told
	expect_line -x 'ok 2 - the next' told
}

# each MET, UNMET and WORDS: the first holds, the second does not and the verdict says WORDS
each()
{
	told 0 "$1"
	expect_no_line 'not met' told
	told 1 "$2"
	expect_lines 1 '^# not met: ' told
	printf '%s\n' "$3" | while read -r words; do
		expect_line -F -e "$words" told
	done
	verdict "can fail and says why: $2"
}

each 'expect [ 3 -eq 3 ]' 'expect [ 3 -eq 4 ]' '# not met: [ 3 -eq 4 ] (status 1)'
each 'expect_not false' 'expect_not true' '# not met: it must fail: true'
each 'expect_status 3' 'expect_status 0' '# not met: exit status 0, but it is 3'
each 'expect_status 1 3' 'expect_status 1 30' '# not met: exit status 1 30, but it is 3'
each 'expect_empty nothing' 'expect_empty text' '#     two'
each 'expect_same text text' 'expect_same text other' '#     < two'
each 'expect_same text text' 'expect_same text none' '#     diff: none'
each "expect_text 'one
two' text" 'expect_text one text' "# not met: text says 'one', but it has:
#     two"
each 'expect_line ^tw text' 'expect_line ^wo text' '# not met: a line for: grep ^wo text, but the file has:
#     one'
each 'expect_line -Fx one text' 'expect_line -Fx on text' '#     two'
each 'echo two | expect_line -x two -' 'echo three | expect_line -x two -' '#     three'
each 'expect_line one text' 'expect_line one none' '# not met: a line for: grep one none'
each 'expect_lines 2 o text' 'expect_lines 1 o text' '# not met: 1 lines for: grep o text'
each 'expect_no_line three text' 'expect_no_line tw text' '# not met: no line for: grep tw text
#     two'
each 'echo a | expect_no_line b -' 'echo a | expect_no_line a -' '#     a'
each 'expect_no_line three text' 'expect_no_line three none' '# not met: grep three none can read its file'
each '(expect true)' '(expect false)' '# not met: false'
"$build/tests/cli/lib/make_stf" one a.stf && cp a.stf cut.stf && printf 'no trace' >cut.stf
each 'expect_trace a.stf' 'expect_trace cut.stf' '# not met: a sound trace cut.stf, but --verify says:
cut.stf'
each 'expect_trace a.stf' 'expect_trace a.stf none.stf' '# not met: a trace none.stf, but there are:
#     a.stf'
told 1 'expect false
expect_status 0
expect_line three text'
expect_lines 3 '^# not met: ' told
verdict "each part that failed is named"
told 1 'verdict() { ok "$1" 0; }; expect false'
verdict "ok passes only if each part held, too"

each 'wait_for 1 [ -e text ]' 'expect wait_for 1 [ -e none ]' '# waited 1 s in vain for: [ -e none ]'
(sleep 0.3; : >late) &
wait_for 20 [ -e late ]
ok "wait_for ends when its condition holds" $?
wait
done_testing

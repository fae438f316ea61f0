#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# STATE, SYMBOL and ACTIVITY (the guide's sections 2.5.2 and 2.12): what is recorded is what the lines say. TAP.
set -u
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/lib.sh"

# shellcheck disable=SC2086
${CC:-cc} $san -g -I"$include" -o "$dir/libraries" "$here/settings/programs/libraries.c" -L"$lib" \
	-lVTcs -Wl,-rpath,"$lib" || exit 99

tree() # tree NAME WANTED: with the configuration in $dir/conf
{
	rm -f "$dir"/t.*
	VT_CONFIG=$dir/conf VT_LOGFILE_NAME=$dir/t.stf VT_VERBOSE=0 timeout 100 "$dir/libraries" >"$dir/out" \
		2>"$dir/err" &&
		"$build/stftool" "$dir/t.stf" --dump | awk -f "$here/lib/tree.awk" | tr '\n' ' ' |
		sed 's/Application:/A:/g; s/lib/l/g; s/ $//' >"$dir/have"
	printf '%s' "$2" >"$dir/want"
	diff "$dir/want" "$dir/have" >"$dir/diff" 2>&1
	ok "$1" $?
}

: >"$dir/conf"
tree "without a line everything" \
	"A:main .A:work ..l1:f ...l1:g ..l2:f ...l2:g ....l3:f .....l3:g ....l4:f .....l4:g ..l4:f ...l4:g"
echo 'STATE lib*:* FOLD' >"$dir/conf"
tree "the guide's application developer" "A:main .A:work ..l1:f ..l2:f ..l4:f"
printf 'STATE *:* FOLD\nSTATE lib2:* UNFOLD\n' >"$dir/conf"
tree "the guide's lib2 developer" "A:main .l2:f ..l2:g ...l3:f ...l4:f"
printf 'STATE Application:* FOLD\nSTATE lib2:* UNFOLD\n' >"$dir/conf"
tree "the guide's lib2 developer in detail" "A:main .l2:f ..l2:g ...l3:f ....l3:g ...l4:f ....l4:g"
printf 'STATE *:* FOLD\nSTATE lib4:* UNFOLD CALLER Application:*\n' >"$dir/conf"
tree "the guide's application and lib4 developers" "A:main .l4:f ..l4:g"
printf 'ACTIVITY lib* OFF\nSYMBOL F ON\n' >"$dir/conf"
tree "ACTIVITY OFF, SYMBOL ON, the later line counts, upper and lower case alike" \
	"A:main .A:work ..l1:f ..l2:f ...l3:f ...l4:f ..l4:f"
printf 'STATE lib[12]:? OFF\n' >"$dir/conf"
tree "a list and a question mark" "A:main .A:work ..l3:f ...l3:g ..l4:f ...l4:g ..l4:f ...l4:g"
printf 'STATE **4** OFF\nSTATE *main 0:4\n' >"$dir/conf"
tree "** matches colons, * does not; levels are ON" "A:main .A:work ..l1:f ...l1:g ..l2:f ...l2:g ....l3:f .....l3:g"
printf 'STATE ** OFF\nACTIVITY lib4 ON CALLER lib2:*\n' >"$dir/conf"
tree "CALLER without folding: only what that one calls" "l4:f"
printf 'STATE lib1:f ENTRY traceoff\nSTATE lib2:g ENTRY traceon EXIT 0:N:2 traceoff\n' >"$dir/conf"
tree "triggers turn recording off and on; what was entered is left" \
	"A:main .A:work ..l1:f ..l2:g ...l3:f ....l3:g ...l4:f ....l4:g"
printf 'STATE lib3:f ENTRY begin_scope here:spot EXIT end_scope here:spot\nSTATE lib4:* OFF\n' >"$dir/conf"
tree "triggers begin and end scopes" \
	"A:main .A:work ..l1:f ...l1:g ..l2:f ...l2:g ....l3:f .....[spot .....l3:g ....]spot"
printf 'STATE lib1:f ENTRY 1:3 traceoff\nSTATE lib2:f ENTRY traceoff EXIT restore\n' >"$dir/conf"
tree "ranks of a trigger; restore" "A:main .A:work ..l1:f ...l1:g ..l2:f ..l4:f ...l4:g"
printf 'STATE lib1:f ENTRY 1:3,5 traceoff\nSTATE lib2:f ENTRY 7,0:0 traceoff EXIT none\n' >"$dir/conf"
tree "several triplets of ranks" "A:main .A:work ..l1:f ...l1:g ..l2:f"
: >"$dir/conf"
export VT_STATE='* OFF lib2:* ON lib4:f ON ENTRY begin_scope here:spot EXIT end_scope here:spot;**:g OFF *:work ON'
tree "several patterns in a variable, one after the other" "A:work .l2:f ..l4:f ...[spot ..]spot .l4:f ..[spot .]spot"
unset VT_STATE
printf 'START-PAUSED on\nSTATE lib4:f ENTRY traceon\n' >"$dir/conf"
tree "START-PAUSED until a trigger turns it on" "l4:f .l4:g l4:f .l4:g"

# a program without MPI is rank 0 of one, on host 0
everything="A:main .A:work ..l1:f ...l1:g ..l2:f ...l2:g ....l3:f .....l3:g ....l4:f .....l4:g ..l4:f ...l4:g"
printf 'PROCESS 0:N off\nSTATE lib4:f ENTRY traceon\n' >"$dir/conf"
tree "PROCESS off until a trigger turns it on" "l4:f .l4:g l4:f .l4:g"
printf 'PROCESS 0:N no\nSTATE lib4:f ENTRY traceon\n' >"$dir/conf"
tree "PROCESS no for good" ""
echo 'PROCESS OFF' >"$dir/conf"
tree "PROCESS without ranks is for all" ""
printf 'PROCESS off 0 on\nCLUSTER on\n' >"$dir/conf"
tree "and ranks after it are turned on" "$everything"
echo 'PROCESS off on' >"$dir/conf"
tree "a second state without ranks holds nothing" "$everything"
echo 'CLUSTER 0 off' >"$dir/conf"
tree "CLUSTER off" ""
printf 'PROCESS 1:N off\nCLUSTER 1 no\nPROCESS 0:N off\nPROCESS 0 on\n' >"$dir/conf"
tree "PROCESS and CLUSTER of others, and later words" "$everything"
echo 'PROCESS 0:x off' >"$dir/conf"
tree "a wrong word of PROCESS holds nothing" "$everything"
VT_CONFIG=$dir/conf VT_LOGFILE_NAME=$dir/t.stf timeout 100 "$dir/libraries" >"$dir/out" 2>"$dir/err"
grep -q "conf:1: PROCESS 0:x off: '0:x' is neither START" "$dir/err"
ok "and is named" $?

printf 'STATE lib1:* BANANA\nSTATE\nSYMBOL x ENTRY flyaway\n' >"$dir/conf"
VT_CONFIG=$dir/conf VT_LOGFILE_NAME=$dir/t.stf timeout 100 "$dir/libraries" >"$dir/out" 2>"$dir/err"
expect_line "conf:1: STATE lib1:\* BANANA: 'BANANA' is none of" "$dir/err"
expect_line 'conf:2: STATE needs a pattern' "$dir/err"
expect_line "conf:3: .*flyaway" "$dir/err"
verdict "wrong lines are named and left out"

printf 'COMPRESS-RAW-DATA banana\nTRACE-ON-DISK 5\n' >"$dir/conf"
VT_CONFIG=$dir/conf VT_CHECK_MAX_REQUESTS=5 VT_LOGFILE_NAME=$dir/t.stf timeout 100 "$dir/libraries" >"$dir/out" \
	2>"$dir/err"
expect_line 'conf:1: COMPRESS-RAW-DATA has no effect' "$dir/err"
expect_line 'conf:2: TRACE-ON-DISK has no effect' "$dir/err"
expect_line 'VT_CHECK_MAX_REQUESTS: CHECK-MAX-REQUESTS has no effect' "$dir/err"
expect_lines 3 'no effect' "$dir/err"
verdict "options without effect are named"
grep -q '^# configuration file (.*conf:2), has no effect in this version$' "$dir"/t*.prot
ok "and marked in the protocol" $?
echo 'ENTER-USERCODE on' >"$dir/conf"
tree "ENTER-USERCODE: the thread is a state" \
	"A:User_Code .A:main ..A:work ...l1:f ....l1:g ...l2:f ....l2:g .....l3:f ......l3:g .....l4:f ......l4:g \
...l4:f ....l4:g"
printf 'ENTER-USERCODE on\nSYMBOL User_Code OFF\nSYMBOL g OFF\n' >"$dir/conf"
tree "which a filter can reject" "A:main .A:work ..l1:f ..l2:f ...l3:f ...l4:f ..l4:f"
# any class named MPI is MPI to the rules
sed 's/"lib2:/"MPI:/' "$here/settings/programs/libraries.c" >"$dir/mpi.c"
# shellcheck disable=SC2086
${CC:-cc} $san -g -I"$include" -o "$dir/libraries" "$dir/mpi.c" -L"$lib" -lVTcs -Wl,-rpath,"$lib" || exit 99
echo 'INTERNAL-MPI off' >"$dir/conf"
tree "INTERNAL-MPI off: nothing inside MPI" "A:main .A:work ..l1:f ...l1:g ..MPI:f ..l4:f ...l4:g"

# COUNTERON and COUNTEROFF: each of the 24 entries and exits is read with the counter, or not
samples() # samples LEAST MOST: of the counter; one or two are of the start and the end
{
	n=$(VT_CONFIG=$dir/conf VT_LOGFILE_NAME=$dir/t.stf VT_FORCE=on VT_VERBOSE=0 timeout 100 "$dir/libraries" \
		>"$dir/out" 2>"$dir/err" && "$build/tests/vt/lib/samples" "$dir/t.stf" | grep -c ' OS:proc_minflt ')
	[ "$n" -ge "$1" ] && [ "$n" -le "$2" ]
}
# shellcheck disable=SC2086
${CC:-cc} $san -g -I"$include" -o "$dir/libraries" "$here/settings/programs/libraries.c" -L"$lib" \
	-lVTcs -Wl,-rpath,"$lib" || exit 99
counter='COUNTER proc_minflt on
SAMPLE-PERIOD 100s'
echo "$counter" >"$dir/conf"
samples 0 1000
all=$n
printf '%s\nSTATE ** COUNTEROFF\n' "$counter" >"$dir/conf"
samples 0 4
none=$n
[ "$all" -eq $((none + 24)) ]
ok "COUNTEROFF for all functions: $none samples instead of $all" $?
printf '%s\nSTATE lib4:* COUNTEROFF\n' "$counter" >"$dir/conf"
samples $((all - 8)) $((all - 8))
ok "COUNTEROFF for lib4, which has 8 events: $n samples" $?
printf '%s\nSTATE ** COUNTEROFF\nSTATE lib1:f COUNTERON\n' "$counter" >"$dir/conf"
samples $((none + 2)) $((none + 2))
ok "COUNTERON for one call among all that are off: $n samples" $?

# names of instrumented functions are known to the filter
# shellcheck disable=SC2086
expect ${CC:-cc} $san -O2 -g -finstrument-functions -o "$dir/prog" "$here/functions/programs/functions.c" \
	-ldl -lpthread >"$dir/out" 2>&1
VT_STATE='** OFF;Application:alph* ON' expect timeout 100 "$vtrun" --logfile-name "$dir/f.stf" --verbose 0 \
	-- "$dir/prog" 1 200 1 >"$dir/said" 2>"$dir/err"
"$build/stftool" "$dir/f.stf" --dump | expect awk -f "$here/lib/regions.awk" >"$dir/have"
expect_lines "$(grep -c '+ Application:alpha' "$dir/said")" '+ Application:alpha' "$dir/have"
expect_lines "$(grep -c '+ Application:alpha' "$dir/said")" + "$dir/have"
verdict "instrumented functions by their names, from a variable"
done_testing

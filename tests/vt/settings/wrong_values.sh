#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A wrong value of any option: one message that names the option, the value and what is right; the program runs as if
# the option were not
# there. On vtrun's command line nothing runs. The options are those of options.def and of the guide's section 3.2.3
# (options.sh). TAP.
set -u
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/lib.sh"
# shellcheck disable=SC2086
${CC:-cc} $san -g -I"$include" -o "$dir/prog" "$here/settings/programs/libraries.c" -L"$lib" \
	-lVTcs -Wl,-rpath,"$lib" || exit 99
cd "$dir" || exit 99

# OPTION, TAB, WRONG VALUE, TAB, what the message says is right; by the option's type
sed -n 's/^OPTION("\([A-Z-]*\)", \([A-Z]*\), .*/\1 \2/p' "$src/collector-plugin/settings/options.def" >types
sed -n '/, NAME, /!s/^OTHER("\([A-Z-]*\)", COLLECTOR, \([A-Z]*\), .*/\1 \2/p' \
	"$src/collector-plugin/settings/others.def" \
	>>types
awk '
	function wrong(value, right) { print $1 "\t" value "\t" right }
	$2 == "BOOL" { wrong("maybe", "on or off"); wrong("7", "on or off"); next }
	$2 == "COUNT" { wrong("many", "a whole number between"); wrong("-7", "a whole number between");
	wrong("1.5", "a whole number between"); wrong("99999999999", "a whole number between"); next }
	$2 == "LEVEL" { wrong("loud", "on, off or a level between"); wrong("-7", "on, off or a level between");
	wrong("99999999", "on, off or a level between"); next }
	$2 == "BYTES" { wrong("much", "a number of bytes like"); wrong("-7", "a number of bytes like");
	wrong("99EB", "a number of bytes like"); next }
	$2 == "TIME" { wrong("soon", "a time like"); wrong("-9999999s", "a time like"); wrong("1e99s", "a time like");
	next }
	$2 == "FRACTION" { wrong("much", "a fraction like"); wrong("-1", "a fraction like");
	wrong("7", "a fraction like"); next }' types >table
sed -i 's/-7\(	a whole number between\)/-77\1/' table # -1 may be "all"
sed 's/  */ /g; s/ | /	/g' >>table <<'END'
ACTIVITY | x banana | none of ON, OFF,
CHECK | LOCAL:** banana | only on or off can follow
CLUSTER | 0:x off | START[:STOP[:STEP]]
CLUSTER | 0 banana | on, off, no or discard
COUNTER | x banana | only on or off can follow
GROUP | odd | a name and members must follow
HANDLE-SIGNALS | banana | a list of signals from 1 to
HANDLE-SIGNALS | 3,99 | a list of signals from 1 to
LOGFILE-FORMAT | banana | none of STF,
PCTRACE | banana | none of on, off, LEVELS
PCTRACE | 16 | each 0 to 15
PCTRACE | 1:2:3 | SKIP:LEVELS
PROCESS | x | START[:STOP[:STEP]]
PROCESS | 2:1 off | START[:STOP[:STEP]]
PROCESS | 0 banana | on, off, no or discard
SAMPLER | banana | process nor thread
STATE | a:x 16 | none of ON, OFF,
STATE | a:x ENTRY 5:2 traceoff | START[:STOP[:STEP]]
STATE | a:x EXIT banana | is no action
STATE | a:x ENTRY | must be followed by an action
STATE | a:x ENTRY 1:1,0:x traceoff | no list of triplets
STATE | a:x CALLER | must be followed by a pattern
STATE | a:x OFF CALLER main | must be followed by a pattern
STATE | main OFF | matches nothing
SYMBOL | x | is without a rule
SYMBOL | x banana | none of ON, OFF,
THROTTLE | banana | CALLS:TIME, like
THROTTLE | 5:-1s | CALLS:TIME, like
TIME-WINDOWS | 5 | windows FROM:TO, like
TIME-WINDOWS | 5s:1s | that end after they begin
END
# these need a value; for the others an empty one is on, or the row above
for name in ACTIVITY CHECK CLUSTER COUNTER GROUP NMCMD PROCESS STATE SYMBOL; do
	printf '%s\t\t%s\n' $name "needs a value|needs a pattern|wants a pattern|a name and members must follow"
done >empty
awk '$2 == "TEXT" || $2 == "COUNT" || $2 == "TIME" || $2 == "BYTES" || $2 == "FRACTION" {
	print $1 "\t\tneeds a value|'"''"' is not " }' types >>empty
# whatever is given is right: what the file system, MPI or the list of clocks says of it is below
any="CHECK-JSON CHECK-SUPPRESS CURRENT-DIR FLUSH-PREFIX LEARN-FROM LOGFILE-NAME LOGFILE-PREFIX NMCMD PLUGIN"
any="$any PROGNAME PROTOFILE-NAME STOPFILE-NAME TIMER"
{
	cut -d' ' -f1 types
	sed -n "/^cat.*table/,/^END/p" "$here/settings/options.sh" | sed '1d;$d' | cut -d' ' -f1
} | sort -u >all
without=$(sed -n '/^These have none,/,/^\.Sh/p' "$src/doc/man/VT.3" | sed -n 's/^\.It Li //p' | tr -d ',')
for name in $(cat all); do
	case " $any $(echo "$without" | tr '\n' ' ') " in *" $name "*) continue ;; esac
	grep -q "^$name	" table || echo "$name has no wrong value"
done >diff
expect_empty diff
expect [ "$(wc -l <all)" -gt 70 ]
verdict "every option of $(wc -l <all) has a wrong value in the table, or any text is right"

tree() # what the program recorded
{
	"$build/stftool" prog.stf --dump 2>>err | awk -f "$here/lib/tree.awk" | tr '\n' ' '
}
options() # the protocol's lines that are no facts of the run
{
	grep -v '^#\|^INFO' prog.prot
}
judge() # judge WHERE-FORMAT COUNT: each row of rows has one message, its own; nothing else is changed
{
	grep -v 'Tickmark INFO\|^$' err >said
	awk -F'\t' -v form="$1" '
		function last_word(value) { sub(/.* /, "", value); return value }
		function spelt(s, dash) { s = form == "%s" ? s : toupper(s); gsub(/-/, dash, s); return s }
		NR == FNR { line[FNR] = $0; lines++; next }
		{ where = form == "conf" ? "conf:" FNR ": " : "VT_" spelt($1, "_"); found = 0
		  for (i = 1; i <= lines; i++) if (index(line[i], where ": ") || index(line[i], where) &&
		  form == "conf" || $1 == "COUNTER" && index(line[i], "COUNTER")) {
			n = split($3, right, "|"); good = 0
			for (k = 1; k <= n; k++) good += index(line[i], right[k]) > 0
			if (good && (form != "conf" || index(line[i], $1)) && index(line[i], last_word($2)) &&
			!used[i]) { used[i] = ++found; break } }
		  if (!found) print "no message for: " $0 }
		END { for (i = 1; i <= lines; i++) if (!used[i]) print "not of the table: " line[i] }' said rows >diff
	[ ! -s diff ] && [ "$(wc -l <said)" -eq "$(wc -l <rows)" ] && [ "$(tree)" = "$plain_tree" ] &&
		options | diff plain_options - >>diff
}

expect timeout 100 ./prog >out 2>err
plain_tree=$(tree) || not_met "plain_tree is known"
expect [ -n "$plain_tree" ]
expect options >plain_options
expect [ -s plain_options ]
expect_no_line WARNING err
verdict "the program without options"
# all of a file at once; PLUGIN and COUNTER have their own syntax there
rm -f prog.*
cat table empty >rows
cut -f1,2 rows | tr '\t' ' ' >conf
VT_CONFIG=conf expect timeout 100 ./prog >out 2>err
expect judge conf
verdict "a configuration file with $(wc -l <rows) wrong values: one message for each, and nothing is changed"
# variables have one value each: the first, second ... wrong one of each option
n=1
while [ $n -le 5 ]; do
	# what begins with VT_ and is empty, is a value like any other
	sort -s -t'	' -k1,1 table | awk -F'\t' -v n=$n '{ seen[$1]++ } seen[$1] == n' >rows
	[ -s rows ] || break
	rm -f prog.*
	awk -F'\t' '{ v = $1; gsub(/-/, "_", v); gsub(/\047/, "", $2);
		print "export VT_" v "=\047" $2 "\047" }' rows >variables
	# shellcheck disable=SC1091
	(. ./variables && exec timeout 100 ./prog) >out 2>err ||
		not_met '(. ./variables && exec timeout 100 ./prog) >out 2>err'
	expect judge VT_
	verdict "$(wc -l <rows) variables with a wrong value: one message for each, and nothing is changed"
	n=$((n + 1))
done
rm -f prog.*
printf 'LOGFILE-FORMAT ASCII\nVERBOSE 2\n' >conf
VT_CONFIG=conf VT_LOGFILE_FORMAT=banana VT_VERBOSE=loud expect timeout 100 ./prog >out 2>err
expect [ -s prog.avt ]
expect_line -x 'VERBOSE 2' prog.prot
expect_lines 2 'left out' err
verdict "a wrong variable leaves what the file says"
# vtrun's command line
while IFS='	' read -r name value right; do
	option=--$(echo "$name" | tr A-Z a-z)
	# a value of on or off is optional: a word that is none begins the program
	case $name:$value in
	PLUGIN:*) continue ;;
	*) set -- "$option=$value" ;;
	esac
	timeout 100 "$vtrun" "$@" -- touch ran </dev/null >out 2>err
	[ $? -eq 2 ] && [ ! -e ran ] && [ "$(wc -l <err)" -eq 1 ] && grep -qiF -e "$name" err &&
		grep -qF -e "${value##* }" err &&
		echo "$right" | tr '|' '\n' | grep -v '^$' >rights && grep -qFf rights err || { echo "$*: $(cat err)"; }
	rm -f ran
done <table >diff
[ ! -s diff ]
ok "the same on vtrun's command line: a message, and nothing runs" $?

# what only the run can see: a message that names it, and the trace is there all the same or the data are
alone() # alone OPTION VALUE MESSAGE
{
	rm -rf prog.* /tmp/.VT-flush-prog_0-*.wrong
	echo "$1 $2" >conf
	VT_CONFIG=conf expect timeout 100 ./prog >out 2>err
	expect_lines 1 WARNING err
	grep WARNING err | expect_line -F -e "$3" -
	expect [ -s prog.stf ]
	expect [ "$(tree)" = "$plain_tree" ]
	verdict "$1 $2: $3"
}
alone TIMER banana "TIMER banana: unknown timer 'banana'; VT_TIMER=LIST shows all"
alone PLUGIN /no/such.so "PLUGIN: /no/such.so: "
alone PLUGIN "" "PLUGIN wants the name of a shared object"
alone PROTOFILE-NAME /no/such/file "no protocol file: cannot create /no/such/file: No such file"
alone GROUP "odd 1:N:2" "GROUP odd 1:N:2 (conf:1): the program does not call MPI_Init"
alone COUNTER "no_such_counter on" "counter no_such_counter: no source has a counter of this name; vtcounters lists"
for name in CURRENT-DIR FLUSH-PREFIX LOGFILE-PREFIX; do
	rm -f prog.*
	echo "$name /no/such" >conf
	VT_CONFIG=conf timeout 100 ./prog >out 2>err &&
		raw=$(sed -n 's|.*cannot create /no/such/.VT-flush.*; the raw file is \(/.*\)$|\1|p' err) &&
		if [ $name = FLUSH-PREFIX ]; then [ "$(tree)" = "$plain_tree" ]; else
			grep -q "no trace: /no/such/.* What was recorded is in \
$raw" err && "$build/stftool" "$raw" --merge prog.stf >>out 2>&1 && [ "$(tree)" = "$plain_tree" ]
		fi
	ok "$name that does not exist: what was recorded is elsewhere, and the message says where" $?
	[ -z "$raw" ] || rm -f "$raw"
done
# shellcheck disable=SC2086
expect ${CC:-cc} $san -g -finstrument-functions -o called "$here/functions/programs/functions.c" -ldl -lpthread
expect timeout 100 "$vtrun" --logfile-name prog.stf --force --nmcmd /no/such/nm -- ./called 1 10 1 >out 2>err
expect_line 'WARNING: NMCMD /no/such/nm failed for .*/called: names of functions are from' err
"$build/stftool" prog.stf --dump 2>>err | expect_line '^DEFFUNCTION .*"alpha"' -
verdict "NMCMD that cannot run is named; the names are from the symbol table"
if [ -e "$lib/libVT.so" ] && [ "${MPIRUN:-no}" != no ]; then
	. "$src/tests/lib/launcher.sh"
	ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
	export ASAN_OPTIONS
	printf 'VERBOSE 9\nPROCESS 0:x off\nSYMBOL x banana\nGROUP odd nobody\nLOGFILE-RANK 9\n' >conf
	# shellcheck disable=SC2086
	expect "$MPICC" $san -g -o job "$here/mpi/programs/mpi_plain.c" -pthread >out 2>&1
	VT_CONFIG=$dir/conf expect timeout 300 "$MPIRUN" -np 3 "$vtrun" -- ./job >out 2>&1
	expect cp out err
	expect_lines 3 'left out' out
	expect_lines 1 'GROUP odd nobody .*this rule is ignored' out
	expect_lines 1 'LOGFILE-RANK 9: there are 3 ranks' out
	expect [ -s job.stf ]
	verdict "three ranks: each message comes once"
else
	skip "three ranks: each message comes once" "this build has no MPI, or there is no mpirun"
fi
done_testing

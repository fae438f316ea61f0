#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# vtreport: numbers compared with those that were put into the trace, hostile names, damage, what there is without
# records.
# shellcheck source=../../lib/tap.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/lib/tap.sh"
cd "$dir" || exit 99
find_vtrun

report() # report ARGUMENTS...: output in out and err, exit status in $status
{
	"$build/vtreport" "$@" >out 2>err </dev/null
	status=$?
}

make_trace() # make_trace NAME: of the ASCII form on standard input
{
	cat >"$1.avt"
	rm -f "$1.stf"*
	"$build/tests/cli/lib/text_stf" "$1.avt" "$1.stf" >out 2>err
}

row() # row NAME: the cells of a table's first row of that name after the heat map, with single blanks between them
{
	sed -n "/id=\"functions\"\|id=\"counters\"/,\$s|^<tr><th scope=\"row\">$1</th>||p" t.html |
		sed 's/<[^>]*>/ /g; s/  */ /g; s/^ //; s/ $//' | head -1
}

hostile='</script><script>alert(1)</script>\"&\x1b[31m'
make_trace t <<END
C ASCII trace
CLKPERIOD 1e-09
EVENTBITS 0
NCPUS 1 1
CPUNAMES "$hostile" "b"
DURATION 0 4000000000
DEFCLASS 1 "MPI" SELF "MPI" PARENT 0
DEFCLASS 2 "App" SELF "App" PARENT 0
DEFCLASS 4 "counter-display" SELF "counter-display" PARENT 0
DEFFUNCTION 1 "MPI_Send" CLASS 1
DEFFUNCTION 2 "$hostile" CLASS 2
DEFGROUP 2147483650 "All" NMEMBS 2 1 2
DEFCOUNTER 1 "written" CLASS 2 CPU 2147483650 TYPE 67 DIFF 1 UNIT "bytes" LOWER 0 UPPER 18446744073709551615
DEFCOUNTER 2 "$hostile" CLASS 2 CPU 2147483650 TYPE 65 DIFF 0 UNIT "$hostile" LOWER 0 UPPER 0
DEFCOMM 1 "MPI_COMM_WORLD" LEFT 0 FIRST 1 1 LAST 1 2 STRIDE 1 1
DEFCPU 1 HOST "$hostile" IP "" PID 1 TID 1 OFFSET 0 SKEW 1e-09
DEFCPU 2 HOST "h2" IP "" PID 2 TID 2 OFFSET 0 SKEW 1e-09
INFO CLASS 4 TEXT "\"App:written\" 0.0009765625 \"KB/s\""
0 ENTER CPU 1 FUNCTION 2
0 ENTER CPU 2 FUNCTION 2
0 SAMP CPU 1 DEF 1 UINT 8 18446744073700000000 DEF 2 INT 8 -5
1000000000 SENDMSG CPU 1 TO 2 COMM 1 TAG 1 LEN 2048 FUNCTION 1 PAIR 1
1000000000 ENTER CPU 1 FUNCTION 1
1000000000 SAMP CPU 1 DEF 1 UINT 8 18446744073700102400 DEF 2 INT 8 15
1500000000 RECVMSG CPU 2 FROM 1 COMM 1 TAG 1 LEN 2048 FUNCTION 1 PAIR 1
2000000000 LEAVE CPU 1
3000000000 SAMP CPU 1 DEF 1 UINT 8 18446744073700716800 DEF 2 INT 8 20
4000000000 LEAVE CPU 1
4000000000 LEAVE CPU 2
END
ok "a trace of the ASCII form" $?

report t.stf
expect_status 0
expect_text t.html out
expect_empty err
verdict "writes T.html and prints its name"

# 100 KB in the first second, 600 in the next two
row 'rank 0' >verify
[ "$(row 'rank 0')" = "3 100 KB/s 233.3 KB/s 300 KB/s 700 KB" ]
ok "a running total becomes a rate, weighted by time, in the unit that the trace states" $?

row MPI:MPI_Send >verify
expect_line '<p>12.5 % of the time in functions is MPI' t.html
expect [ "$(row MPI:MPI_Send)" = "1 1 s 12.5 % 1 s 1 s 0 1 s" ]
verdict "time in functions and the share of MPI"

grep -q '>0</th><td>1</td><td>1</td><td>2 KB</td>' t.html
ok "messages by sender and receiver" $?

expect_no_line 'alert(1)<' t.html
LC_ALL=C expect_no_line "$(printf '\033')" t.html
expect_line '&#60;/script&#62;' t.html
verdict "names of the trace are text, not markup"

# two samples 1 us apart, of a total in clock ticks of 10 ms: no rate of 1,000,000 %
make_trace soon <<END
C ASCII trace
CLKPERIOD 1e-06
EVENTBITS 0
NCPUS 1 1
DURATION 0 500000
DEFCLASS 2 "OS" SELF "OS" PARENT 0
DEFGROUP 2147483650 "All" NMEMBS 1 1
DEFCOUNTER 1 "usr" CLASS 2 CPU 2147483650 TYPE 67 DIFF 1 UNIT "us" LOWER 0 UPPER 18446744073709551615
0 SAMP CPU 1 DEF 1 UINT 8 0
100000 SAMP CPU 1 DEF 1 UINT 8 10000
200000 SAMP CPU 1 DEF 1 UINT 8 20000
300000 SAMP CPU 1 DEF 1 UINT 8 30000
300001 SAMP CPU 1 DEF 1 UINT 8 40000
400000 SAMP CPU 1 DEF 1 UINT 8 40000
500000 SAMP CPU 1 DEF 1 UINT 8 60000
END
report soon.stf
expect_status 0
expect_line 'minimum 100 thousand us/s, mean 120 thousand us/s, maximum 200 thousand us/s' soon.html
verdict "two samples in quick succession make no rate of their own"

# of 4094 steps the smallest value is AA, the largest /+, none //
sed -n 's|.*id="data">||; /^"0":/p' t.html >verify
expect_line '^"0":{"u":"KB/s","lo":100,"hi":300,"s":\[\["rank 0","AA[^"]*/+[^"]*//"' verify
expect_no_line '"[^"]*<' verify
verdict "the script gets the values, and no markup"

printf '%s' 'import base64,hashlib,re,sys
t=open(sys.argv[1],encoding="utf-8").read()
p=re.search(r"Content-Security-Policy\" content=\"([^\"]*)",t).group(1)
assert p.startswith("default-src \x27none\x27;"),p
for tag,name in (("style","style-src"),("script","script-src")):
    body=re.search("<%s>(.*?)</%s>"%(tag,tag),t,re.S).group(1)
    h=base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
    assert "%s \x27sha256-%s\x27;"%(name,h) in p,(name,h)
t=re.sub(r"<(style|script)[^>]*>.*?</\1>","",t,flags=re.S)
assert not re.search(r"<[^>]* (style|on[a-z]+)=",t)
assert not re.search(r"<[^>]* (href|src)=\"[^#]",t)
' >policy.py
printf '%s' 'import sys,xml.etree.ElementTree as e,re
t=open(sys.argv[1],encoding="utf-8").read()
s=re.findall(r"<svg class=\"chart\".*?</svg>\n",t,re.S)
assert s
for x in s:
    r=e.fromstring(x)
    assert r.get("role")=="img" and r[0].tag=="title" and r[0].text and r[1].tag=="desc" and r[1].text
    assert r.get("aria-labelledby")==r[0].get("id")+" "+r[1].get("id")
assert t.count("<table>")>=len(s)
' >pictures.py
for check in "policy the policy allows its own style and script, and nothing refers elsewhere" \
	"pictures every picture is well-formed, with title and description, and there is a table for each"; do
	if command -v python3 >/dev/null; then
		python3 "${check%% *}.py" t.html >verify 2>&1
		ok "${check#* }" $?
	else
		skip "${check#* }" "no python3"
	fi
done

report t.stf
expect_status 0
expect_empty err
verdict "an earlier report is replaced"
echo '<html><meta name="generator" content="Tick">mine' >t.html
report t.stf
expect_status 1
expect_line '^vtreport: t.html exists; --force replaces it' err
expect_line mine t.html
verdict "a page of somebody else's is kept"
report t.stf --force
expect_status 0
mkdir newest newest/folder.stf
for name in old "new er" "new er-1" "new er-2"; do
	"$build/stftool" t.stf --convert "newest/$name.stf" 2>err
done
touch -d '2001-01-01' newest/old.stf "newest/new er-1.stf"
touch -d '2003-03-03' "newest/new er.stf"
(cd newest && "$build/vtreport" >../out 2>../err)
expect_text 'new er-2.html' out
verdict "without a name the newest trace of the folder is taken"
(cd newest && "$build/vtreport" "new er.stf" >../out 2>../err)
expect_text 'new er.html' out
expect_text 'vtreport: note: new er-2.stf is of a later run' err
verdict "the trace that is named is shown, and a later one is mentioned"
(cd newest && rm -rf -- *.stf* && "$build/vtreport" >../out 2>../err)
expect [ $? -eq 2 ]
expect_line '^vtreport: no trace (.stf) is in this folder; ' err
verdict "a folder without a trace"
expect report t.stf --output u.html
expect_status 0
expect_same t.html u.html
verdict "--force, --output; the same trace gives the same report"

report t.stf --index --force
if grep -q 'this build has no xxhash' err; then
	skip "--index" "this build has no xxhash"
else
	# columns are cut a little differently, the numbers are the same
	expect_status 0
	expect [ "$(row 'rank 0')" = "3 100 KB/s 233.3 KB/s 300 KB/s 700 KB" ]
	expect [ -s t.stf.index ]
	verdict "--index: a file beside the trace, and the report"
	cp t.html i.html
	# each kind of record; the curves are cut differently, all tables are the same
	cp "$src"/tests/golden/every-big.stf* .
	report every-big.stf --output a.html && report every-big.stf --index --output b.html &&
		report every-big.stf --output c.html && [ ! -s err ] || echo "status $status" >c.html
	for page in a b c; do
		sed '/<svg class="chart"/,/<.svg>$/d; /id="data"/,$d' $page.html >$page.text
	done
	expect_same a.text b.text
	expect_same a.text c.text
	expect_line 'Table of the collective operations' a.text
	verdict "functions, messages and collective operations come back from the index"
	# without read permission of its records the trace is known from the index alone
	mv t.stf.c.0 kept 2>/dev/null || mv t.stf.msg kept 2>/dev/null
	report t.stf --force
	grep -q 'belongs to another state of the trace' err
	ok "an index of other files is not used, which is reported" $?
	mv kept t.stf.c.0 2>/dev/null
	report t.stf --index --force && report t.stf --force
	expect_status 0
	expect_same t.html i.html
	expect_empty err
	verdict "the report made of the index is the same"
	printf '%s\n' 'CLKPERIOD 1e-09' 'NCPUS 1 1' 'DEFCLASS 1 "App" SELF "App" PARENT 0' 'DEFFUNCTION 1 "f" CLASS 1' \
		'DEFCPU 1 HOST "h" IP "" PID 1 TID 1 OFFSET 0 SKEW 1' '5000 ENTER CPU 1 FUNCTION 1' >short.avt
	expect "$build/tests/cli/lib/text_stf" short.avt short.stf 2>verify
	expect report short.stf --index
	expect report short.stf --force
	expect_status 0
	expect_empty err
	verdict "the index of a trace of one event is used"
	touch -d '2020-01-01 UTC' t.stf.c.0
	report t.stf --force
	expect_status 0
	expect_line 'belongs to another state of the trace' err
	verdict "nor one of files of the same size that were written at another time"
	report t.stf --index --force
	size=$(wc -c <t.stf.index)
	for at in 4 100 400 1500 $((size / 2)) $((size - 100)); do
		cp t.stf.index whole
		byte=$(od -An -tu1 -j$at -N1 t.stf.index)
		printf "\\$(printf %03o $((byte ^ 16)))" | dd of=t.stf.index bs=1 seek=$at conv=notrunc 2>/dev/null
		report t.stf --force
		if [ "$status" -ne 0 ] || ! cmp -s t.html u.html || ! grep -q 'so the records were read' err; then
			echo "byte $at: status $status" >>verify
		fi
		mv whole t.stf.index
	done
	head -c $((size - 50)) t.stf.index >cut && mv cut t.stf.index
	report t.stf --force
	expect_same t.html u.html
	expect_line 'is damaged, so the records were read' err
	expect_empty verify
	verdict "a damaged index: the records are read, which is reported"
	rm t.stf.index
fi

report t.stf --window 1s:4s
cp t.window.html t.html
grep -c . t.html >verify
# the first sample of the window is that of 1 s, so 600 KB in 2 s are known; 1 s of the 6 in calls is MPI_Send
expect_status 0
expect_text t.window.html out
expect [ "$(row App:written)" = "300 KB/s" ]
expect_line 'from 1 s after the start on' t.html
expect [ "$(row MPI:MPI_Send)" = "1 1 s 16.67 % 1 s 1 s 0 1 s" ]
verdict "--window: rates and calls of that time only"
cp u.html t.html
rm -f t.window.html
report t.stf --window 5s:6s
expect_status 1
expect_line 'begins 5 s after the start, and the trace has 4 s' err
verdict "--window beyond the end"
for wrong in 1s 2s:1s -1s:2s a:b : 1s:1s; do
	report t.stf "--window=$wrong"
	[ "$wrong" = : ] || [ "$status" -eq 2 ] || echo "$wrong: $status" >>verify
done
[ ! -s verify ]
ok "--window: what is no window is refused" $?

if command -v gnuplot >/dev/null; then
	report t.stf --plot svg --counter written --keep
	expect_status 0
	expect_text t.written.svg out
	expect_empty err
	expect_line '<svg' t.written.svg
	expect_line 'Clocks: unknown' t.written.svg
	expect grep -c '^[0-9]' t.written.dat >verify
	expect [ -s t.written.gnuplot ]
	expect [ -z "$(find . -name 't.written.svg.*')" ]
	verdict "--plot svg --keep: a picture with the verdict, its script and data"
	# 100 KB/s in the first second, 300 KB/s then
	awk '/^[0-9]/ && $2 != "?" { want = $1 < 1 ? 100 : 300; if ($1 < 0.95 || $1 > 1.05) { n++; bad += $2 != want }
		} END { exit !n || bad }' t.written.dat
	ok "the data of the picture is what was put in" $?
	report t.stf --plot svg
	expect_status 1
	expect_line 'exists; --force replaces it' err
	verdict "an existing picture is kept"
	for format in png pdf; do
		report t.stf --plot $format --counter written --force
		case $format in
		png) head -c 4 t.written.png | tail -c 3 ;;
		*) head -c 4 t.written.pdf ;;
		esac >verify
		expect_line -Ex 'PNG|%PDF' verify
		expect_status 0
		expect_empty err
		verdict "--plot $format"
	done
	rm -f t.written.*
	(trap '' XFSZ && ulimit -f 20 && report t.stf --plot svg --counter written --keep && [ "$status" -eq 1 ] &&
		[ -s t.written.dat ] &&
		[ ! -e t.written.svg ] && grep -q 'cannot write '\
't.written.svg' err && [ -z "$(find . -name 't.written.svg*')" ])
	ok "a picture that does not fit on the disk is an error, and nothing is left of it" $?
	(cd . && gnuplot t.written.gnuplot 2>err) || not_met '(cd . && gnuplot t.written.gnuplot 2>err)'
	expect [ -s t.written.svg ]
	verdict "the kept script draws the picture"
	rm -f t.written.*
	mkdir hostile && cp t.stf* hostile/
	(cd hostile && "$build/vtreport" t.stf --plot txt >out 2>err </dev/null &&
		! LC_ALL=C grep -q "$(printf '\033')" out err && [ ! -s err ] &&
		grep -q 'App:written' out && grep -q 'alert(1)' out &&
		[ -z "$(find . -name '*.gnuplot' -o -name '*.dat')" ])
	ok "--plot txt draws in the terminal, hostile names too, and leaves nothing" $?
else
	skip "--plot" "no gnuplot"
fi
report t.stf --plot jpg
expect_status 2
expect report t.stf --keep
expect_status 2
verdict "another format, or --keep without --plot: wrong usage"

cp t.stf.c.0 keep
printf '\377\377' | dd of=t.stf.c.0 bs=1 seek=30 conv=notrunc 2>dd.err
report t.stf --force
expect_status 1
expect_line '^vtreport: t.stf is damaged: ' err
expect_line 'This trace is damaged' t.html
expect_line MPI_Send t.html
verdict "a damaged trace is named and shown, and the status says so"
: >t.stf.c.0
report t.stf --force
expect_status 1
expect_line 'This trace is damaged' t.html
verdict "a component that was cut off, too"
cp keep t.stf.c.0

make_trace e <<'END'
C ASCII trace
CLKPERIOD 1e-09
EVENTBITS 0
NCPUS 1
END
report e.stf
expect_status 0
expect_line 'No record was found' e.html
verdict "a trace without records"

make_trace one <<'END'
C ASCII trace
CLKPERIOD 1e-09
EVENTBITS 0
NCPUS 1
DEFCLASS 2 "App" SELF "App" PARENT 0
DEFGROUP 2147483650 "All" NMEMBS 1 1
DEFCOUNTER 1 "level" CLASS 2 CPU 2147483650 TYPE 67 DIFF 0 UNIT "" LOWER 0 UPPER 0
5 SAMP CPU 1 DEF 1 UINT 8 42
END
report one.stf
expect_status 0
expect_line 'level</th><td>42</td>' one.html
verdict "a trace of one record"

# a page of clocks read without its pictures: what a finding is, and the numbers of every curve
pictures_have_tables()
{
	[ "$(grep -o '<svg class="chart"' "$1" | wc -l)" -le "$(grep -c '<table>' "$1")" ]
}

# the line that a run prints is the command that shows it
"$vtrun" -- sh -c 'i=0; while [ $i -lt 1000 ]; do i=$((i + 1)); done' >run.out 2>&1
command=$(sed -n 's/.*Tickmark INFO: to see it in a browser, run: vtreport //p' run.out)
expect [ "$command" = "$PWD/sh.stf" ]
expect report "$command"
expect_status 0
expect_line 'OS:proc_usr' sh.html
expect_no_line 'Clocks: one process' sh.html
verdict "vtrun prints the command that shows its trace"

# a name with commands to the terminal and a line break: every message is one line of text, and the command finds the
# file
name=$(printf 'a\033[31mb\nc\302\2331md')
mkdir named && cp "$(command -v sleep)" "named/$name"
(cd named && "$vtrun" -- "./$name" 0 >../run.out 2>&1
	"$vtrun" -- "./no$name" >>../run.out 2>&1
	"$vtrun" "--no$name" >>../run.out 2>&1
	for program in vtreport stftool clkapply vttop timertestcs; do
		"$build/$program" "no$name" no >>../run.out 2>&1
	done
	"$build/timertestcs" --timer "$name" >>../run.out 2>&1
	sh "$src/tools/convert-stats" "no$name" >>../run.out 2>&1)
grep -v '^Tickmark INFO: \|^[a-z-]*: ' run.out >verify
LC_ALL=C expect_no_line "$(printf '[\033\233]')" run.out
expect_empty verify
expect grep -c . run.out >verify
expect [ "$(cat verify)" -ge 10 ]
verdict "messages about a hostile name are one line of text each"
command=$(sed -n 's/.*Tickmark INFO: to see it in a browser, run: vtreport //p' run.out)
(cd named && eval "\"$build/vtreport\" $command" >../out 2>../err) ||
	not_met '(cd named && eval "\"$build/vtreport\" $command" >../out 2>../err)'
expect [ -s "named/$name.html" ]
verdict "and the command that is printed finds its trace"

# the page's own command, as it would be pasted: nothing in a name is run
mkdir pasted && for part in "$dir"/t.stf*; do
	cp "$part" "pasted/a \$(touch ran)\"b'${part##*/t}"
done
report pasted/*.stf
command=$(sed -n 's/.*on a timeline: \(stftool .*\), and open.*/\1/p' pasted/*.html |
	sed "s/&#39;/'/g; s/&#34;/\"/g; s/&amp;/\&/g")
(cd pasted && eval "\"$build\"/$command" >../out 2>../err)
expect [ ! -e pasted/ran ]
expect [ -s "pasted/a \$(touch ran)\"b'.perfetto" ]
verdict "a command of the page is quoted for the shell"

# a clock of known drift
cat >k.clk <<'END'
TICKMARK-CLK 1
program "test"
master 0
ranks 2
global-period 1e-10
realtime-at-0 1763689000123456789
end 20000000000
clock-was-set 0
interpolation linear
max-drift 0.0005
max-wander 1e-06
rank 0
host "a"
timer "CPU"
nominal-hz 1000000000
piece 0 0 2000000000 20000000000 0 0
end-rank
rank 1
host "</h1><b>x"
timer "CPU"
nominal-hz 1000000000
wander 1e-06
node 1000 0 -20 20 1
node 2000201000 20000000000 19999999980 20000000020 1
piece 1000 0 2000200000 20000000000 0 0
end-rank
end-file
END
printf '# time[s] offset[s] halfwidth[s] latency[s]\n"0 <-> 1"\n0.1 2e-8 3e-8 1e-7\n0.2 -4e-8 1e-8 1e-7\n' >k.run.dat
printf '# pu_a pu_b low[s] high[s] limit[s]\n0 1 -2e-9 6e-9 1e-6\n' >k.matrix.dat
report k.clk
clock_row() { sed -n "s|^<tr><th scope=\"row\">[^<]*</th><td>$1</td>||p" k.html | sed 's/<[^>]*>/ /g; s/  */ /g; s/^ //;
	s/ $//' | head -1; }
clock_row 1 >verify
# 2 s on the axis are 2.0002 s of rank 1: 100 ppm, give or take 4 ns in 2 s
expect_status 0
clock_row 1 | expect_line '^1 CPU [0-9.]* [a-z]*s 100 ppm \(99.99[0-9]*\|100\) ppm 100 ppm 8.64 s 0 1.003 us$' -
expect_line 'rank 0 to within .* (bound)' k.html
expect_no_line '<b>x' k.html
verdict "a .clk file alone: the rate that was put in, and a bound"
cp k.html before && : >k.stf
expect [ "$("$build/vtreport" k.clk 2>err)" = k.clk.html ]
expect cmp -s k.html before
rm k.stf
verdict "beside a trace it does not take the name of the trace's page"
mkdir even && sed '/^rank 1/a shares-clock-of 0\nshared-within 0' k.clk >even/k.clk &&
	printf '# pu_a pu_b low[s] high[s] limit[s]\n0 1 -4e-9 4e-9 1e-6\n' >even/k.matrix.dat
report even/k.clk
expect_line '<p>No offset was found: 0 is in the interval of every pair' even/k.html
expect_no_line ' 1 ps' even/k.html
verdict "a matrix of equal clocks has no picture whose colours mean nothing"
# 100 ppm in 2 s are 200 us; without the pictures the numbers are there
sed -n '/<caption>Offset before correction/,/<.table>/s|^<tr><th scope="row">rank 1</th>||p' k.html |
	sed 's/<[^>]*>/ /g; s/  */ /g; s/ $//' >verify
expect_text " 320 0 s 0 s 100 us 200 us 200 us" verify
expect pictures_have_tables k.html
expect_no_line '</strong>[A-Za-z]' k.html
verdict "every picture has a table of its numbers, with the offset that was put in"
# a nominal frequency that is 1 ppm below what rank 0 counts against the system time
sed '/^rank 0/,/^end-rank/s/^nominal-hz .*/nominal-hz 999999000/' k.clk >pace.clk
"$build/vtreport" pace.clk >out 2>err
expect_line 'of the system time of rank 0, whose clock is 1 ppm fast against it: every curve contains that slope' \
	pace.html
expect_no_line 'system time of rank' k.html
verdict "a slope that the clocks of all ranks share is explained, and only where there is one"
expect_line '>rank 0</th><td>1</td><td>-40 ns</td><td>-50 ns</td><td>-30 ns</td>' k.html
expect_line '>unit 0</th><td>1</td><td>2 ns</td><td>-2 ns</td><td>6 ns</td>' k.html
verdict "offsets of pairs and cores that timertest left beside it"

# nine clocks that step by 1 ms to 9 ms between 1 s and 3 s of 4 s: more than have room for a name
{
	sed -n '1,/^rank 0/p' k.clk | sed 's/^ranks .*/ranks 10/; s/^end .*/end 40000000000/'
	printf 'host "a"\ntimer "CPU"\nnominal-hz 1000000000\npiece 0 0 4000000000 40000000000 0 0\nend-rank\n'
	for r in 1 2 3 4 5 6 7 8 9; do
		after=$((3000000000 + r * 1000000))
		printf 'rank %s\nhost "a"\ntimer "CPU"\nnominal-hz 1000000000\nsteps-possible 1\nwander 1e-06\n' $r
		printf \
			'part\nnode 0 0 -20 20 1 1\nnode 1000000000 10000000000 9999999980 10000000020 1 2\npiece 0 0 '\
'1000000000 10000000000 0 0\n'
		printf 'step 1000000000 %s 10000000000 30000000000 %se-3 1e-6 1\n' $after $r
		printf 'part\nnode %s 30000000000 29999999980 30000000020 1 3\nnode %s 40000000000 39999999980 '\
'40000000020 1 4\n' $after $((after + 1000000000))
		printf 'piece %s 30000000000 1000000000 10000000000 0 0\nend-rank\n' $after
	done
	echo end-file
} >steps.clk
report steps.clk
grep -o '<text class="[es] w"[^>]*>[^<]*' steps.html | sort | uniq -c >verify
expect_status 0
expect_lines 1 . verify
expect_line 'x="75.00%".*>9 steps, the largest of rank 9: 9 ms$' verify
expect_line 'class="between" x="25.00%" width="50.00%"' steps.html
verdict "steps of many clocks at the same time are one mark over the time in which they happened"
grep -o 'The clock of rank 1 on [^.]*' steps.html >verify
expect_line 'jumped by 1 ms between 1 s and 3 s; 9 steps in the whole run' verify
expect_line 'clock of rank 9 would be up to 9 ms off' steps.html
verdict "the first screen says between which times a clock stepped"
sed '/^end /s/ .*/ 30000000000/' steps.clk >late.clk
report late.clk
grep -q 'clock of rank 9 would be up to 9 ms off' late.html
ok "a step in the last moment of the run is in what correction took away" $?

# a disk: what was recorded of it decides what the report states
for counter in none psi_io disk_busy; do
	make_trace disk <<END
C ASCII trace
CLKPERIOD 1e-09
EVENTBITS 0
NCPUS 1 1
DURATION 0 4000000000
DEFCLASS 2 "OS" SELF "OS" PARENT 0
DEFCLASS 4 "counter-display" SELF "counter-display" PARENT 0
DEFGROUP 2147483650 "All" NMEMBS 1 1
DEFCOUNTER 1 "disk_io" CLASS 2 CPU 2147483650 TYPE 67 DIFF 1 UNIT "bytes" LOWER 0 UPPER 18446744073709551615
DEFCOUNTER 2 "$counter" CLASS 2 CPU 2147483650 TYPE 65 DIFF 0 UNIT "percent" LOWER 0 UPPER 100
INFO CLASS 4 TEXT "\"OS:disk_io\" 0.0009765625 \"KB/s\""
0 SAMP CPU 1 DEF 1 UINT 8 0 DEF 2 INT 8 90
4000000000 SAMP CPU 1 DEF 1 UINT 8 400000000 DEF 2 INT 8 90
END
	report disk.stf --force
	sed -n 's|.*<strong>\([^<]*\):</strong>\(.*\)</li>|\1:\2|p' disk.html >$counter.verify
done
expect_no_line 'of the node' none.verify
expect_line '^Storage of the node was busy: .* other programs included: .* 90.0 % of the time' psi_io.verify
expect_line '^Disks of the node were saturated: .* programs included: .* 90.0 % of the time.*>Read' disk_busy.verify
for counter in none psi_io disk_busy; do
	head -n 1 $counter.verify >first
	expect_line '^Not enough is recorded to say what makes it slow: ' first
done
verdict "counters of a node are marked as such, and do not lead; without others it is said that nothing is known"
cat none.verify psi_io.verify disk_busy.verify >verify

# rank 1 is killed after 4 s of 10 s, mpirun ends rank 0, which has waited for it
cat >killed.avt <<'END'
C ASCII trace
CLKPERIOD 1e-09
EVENTBITS 0
NCPUS 2 1 1
DURATION 0 10000000000
DEFCLASS 1 "MPI" SELF "MPI" PARENT 0
DEFCLASS 2 "A" SELF "x" PARENT 0
DEFCLASS 9 "ended" SELF "ended" PARENT 0
DEFFUNCTION 1 "MPI_Barrier" CLASS 1
DEFFUNCTION 2 "main" CLASS 2
0 ENTER CPU 1 FUNCTION 2
0 ENTER CPU 2 FUNCTION 2
3000000000 ENTER CPU 1 FUNCTION 1
4000000000 LEAVE CPU 2
9000000000 LEAVE CPU 1
10000000000 LEAVE CPU 1
INFO CLASS 9 TEXT "by signal 15 (Terminated)"
INFO CLASS 9 TEXT "by signal 9 (Killed)"
END
sed 's/^4000000000/9900000000/; /^INFO/d' killed.avt >waits.avt
for t in killed waits; do
	"$build/tests/cli/lib/text_stf" $t.avt $t.stf 2>err
	report $t.stf
	sed -n 's|.*<strong>\([^<]*\):</strong>\(.*\)</li>|\1:\2|p' $t.html >$t.verify
done
expect_line '^The program did not end normally: A process ended by signal 9 (Killed)' killed.verify
expect_no_line -E '^(Load|Time|Communication|Nothing|Not enough)' killed.verify
expect_line '^Time outside MPI differs: Rank 1 was outside MPI for 100 % .* Whether it worked, .* not rec' waits.verify
verdict "who was killed is named before who was ended for it; nothing about load then, and no guess without counters"
cat killed.verify waits.verify >verify

sed 's/^global-period.*/&/; s/^realtime-at-0 .*/realtime-at-0 1764121000123456789/; s/2000201000/2000401000/;
	s/2000200000/2000400000/' k.clk >m.clk
report m.clk k.clk
sed -n 's|^<tr><th scope="row">\(..clk\)</th>|\1 |p' clocks.html | sed 's/<[^>]*>/ /g; s/  */ /g' | grep '&#60;' >verify
# five days later twice as far off
expect_status 0
expect_text clocks.html out
expect_line '<h1>Clocks over 2 runs' clocks.html
expect_line '^k.clk 2025-11-21 01:36:40 UTC 2 2 s .* 100 ppm' verify
expect_line '^m.clk 2025-11-26 01:36:40 UTC 2 2 s .* 200 ppm' verify
expect_line 'Largest rates: .* rank [01] [-+]200 ppm (17.3 s a day) in m.clk' clocks.html
expect_line 'No rate is beyond the 1000 ppm by .* The rate of .* changed most from run to run: by 100 ppm' clocks.html
expect_line '^m.clk .* 17.28 s $' verify
expect_line '>days<\|days</text>' clocks.html
sed 's/^realtime-at-0 .*/realtime-at-0 1763689040123456789/' m.clk >n.clk
report n.clk k.clk
expect_no_line ' days</text>' clocks.html
verdict "several .clk files: the drift of each, by date"

# the same work with half the bytes in half the time
sed 's/^DURATION .*/DURATION 0 2000000000/; s/18446744073700102400/18446744073700051200/; s/^3000000000 SAMP.*//;
	s/^4000000000 \(LEAVE\)/2000000000 \1/' t.avt |
	make_trace half
report --compare t.stf half.stf
sed -n 's|^<tr><th scope="row">App:written</th>||p' comparison.html | sed 's/<[^>]*>/ /g; s/  */ /g; s/^ //' >verify
expect_status 0
expect_line '4 s before, 2 s after: -50 %' comparison.html
expect_line '^233.3 KB/s 50 KB/s -78.6 % ' verify
verdict "--compare: length, and means of both runs"
# five runs of 4 s before, five of 2 s after; rank 1 is in MPI all the time
sed 's/^0 ENTER CPU 2 FUNCTION 2/0 ENTER CPU 2 FUNCTION 1/' t.avt >mpi.avt
for i in 1 2 3 4 5; do
	sed "s/^4000000000 SAMP.*//; s/^4000000000/400${i}000000/; s/^DURATION .*/DURATION 0 400${i}000000/" mpi.avt |
		make_trace b$i
	sed "s/^DURATION .*/DURATION 0 200${i}000000/; s/^3000000000 SAMP.*//
		s/^4000000000 \(LEAVE\)/200${i}000000 \1/" mpi.avt | make_trace a$i
done
report --compare b1.stf b2.stf b3.stf b4.stf b5.stf -- a1.stf a2.stf a3.stf a4.stf a5.stf --force
sed -n '/id="finding-run-time"/{s/<[^>]*>//g;p;}' comparison.html >verify
expect_status 0
expect_line '^Shorter: 4.003 s before, 2.003 s after: -50 %. More than runs vary (p = 0.0079, 5 and 5 runs)' verify
expect_line 'class="g0" id="finding-run-time"' comparison.html
expect_line '<h1>Comparison of 5 and 5 runs' comparison.html
expect_line 'class="g0" id="finding-mpi"' comparison.html
verdict "--compare A... -- B...: the medians, and whether it is more than runs vary"
report --compare b1.stf a2.stf b3.stf a4.stf a5.stf -- a1.stf b2.stf a3.stf b4.stf b5.stf --force
sed -n '/id="finding-run-time"/{s/<[^>]*>//g;p;}' comparison.html >verify
expect_line '^As long: .* No more than runs vary (p = ' verify
expect_line 'class="g1" id="finding-run-time"' comparison.html
expect_no_line 'id="finding-mpi"' comparison.html
for words in '-- a1.stf' 'a1.stf --' 'a1.stf -- a2.stf -- b1.stf' 'a1.stf a2.stf b1.stf' 'a1.stf -- x.clk'; do
	# shellcheck disable=SC2086
	report --compare $words --force
	[ "$status" -eq 2 ] || not_met "$words: status $status"
done
verdict "chance is no change; one side alone is wrong usage"
report --compare t.stf
expect_status 2
expect_line 'needs two traces' err
verdict "--compare with one trace: wrong usage"

if [ -x "$build/vtrun" ]; then
	mkdir "my run's" && cd "my run's" || exit 99
	"$vtrun" -- sleep 0.2 2>../err && [ -f sleep.stf ] &&
		sed -n 's/.*in a browser, run: vtreport/vtreport/p' ../err >../out
	expect sh -c "PATH=$build:\$PATH; $(cat ../out)" >/dev/null
	expect [ -s sleep.html ]
	expect mv sleep.html by-hand.html
	verdict "vtrun's printed command makes the report, whatever the folder's name"
	expect "$vtrun" --report --force -- sleep 0.2 2>../err
	expect [ -s sleep.html ]
	expect_line "Writing report .*/my run's/sleep.html" ../err
	expect_no_line 'run: vtreport' ../err
	verdict "vtrun --report: the report is there when the program has ended"
	expect "$vtrun" --report --logfile-format CSV --force -- sleep 0.1 2>../err
	expect [ -s sleep.csv ]
	expect [ -s sleep.html ]
	verdict "with a second format: both are there"
	"$vtrun" --report --sampler thread --force -- sh -c 'sleep 0.2; exit 3' 2>../err
	expect [ $? -eq 3 ]
	expect [ -s sh.html ]
	verdict "the same with the sampler inside; the program's status stays"
	rm -f sh.*
	"$vtrun" -- sh -c 'sleep 0.2; kill -KILL $$' 2>../err
	# the sampler process writes the trace after the program is gone
	i=0
	until { grep -q 'INFO ENDED' sh.prot && "$build/stftool" sh.stf --verify; } >/dev/null 2>&1 ||
		[ $i -ge 600 ]; do
		i=$((i + 1))
		sleep 0.1
	done
	report sh.stf --force
	# on a busy machine the shell has waited for it before the sampler process sees its status
	how='(by signal 9 \(Killed\)|without exit, status unknown)'
	grep 'INFO ENDED' sh.prot >verify
	expect_status 0
	expect_line -E "The program did not end normally.*The program ended $how" sh.html
	expect_line -E "<strong>The program ended $how.</strong>" sh.html
	expect_no_line 'came to its end' sh.html
	verdict "a killed program: the first screen and the end of the run say so"
	report sleep.stf --force
	recorded='The first process recorded [0-9.]* [KM]*B; 0 records were lost'
	expect_line "The program ended by _\{0,1\}exit, exit status 0. $recorded" sleep.html
	expect_no_line 'not end normally' sleep.html
	verdict "one that ended says that it did"
	rm sleep.html && mkdir sleep.html && "$vtrun" --report --force -- sleep 0.1 2>../err
	expect [ $? -eq 0 ]
	expect [ -f sleep.stf ]
	expect_line 'WARNING: vtreport ended with status 1; to see why, run: vtreport' ../err
	verdict "a report that cannot be written: one message, the trace is there"
	cd .. || exit 99
else
	skip "vtrun --report" "vtrun was not built"
fi

report nosuch.stf
expect_status 1
expect_line '^vtreport: .*nosuch.stf' err
expect [ ! -e nosuch.html ]
verdict "no trace: one line, and no report"
mkdir meant && "$build/stftool" t.stf --convert meant/a.b.stf 2>err
echo 'int main(void);' | tee meant/a.b.c meant/a.b meant/a.b.prot >meant/other.c
for name in a.b.c a.b a.b.prot; do
	report meant/$name
	expect_status 1
	expect_text "vtreport: meant/$name is no trace; is it meant/a.b.stf?" err
done
report meant/other.c
expect_line '^vtreport: meant/other.c: no STF trace' err
"$build/stftool" meant/a.b.c --print-threads >out 2>err
expect_text "stftool: meant/a.b.c is no trace; is it meant/a.b.stf?" err
verdict "another file of the run: is its trace meant?"
# who makes the newest trace is not known for certain: a process of that number lives, its raw file says nothing
mkdir awaited && "$build/stftool" t.stf --convert awaited/older.stf 2>err
cd awaited || exit 99
echo none >raw
printf 'INFO PROCESS 0 "%s" "127.0.0.1" 0\nINFO SAMPLED by process 1\nINFO RAWFILE "raw"\n' "$(uname -n)" >newer.prot
timeout 60 "$build/vtreport" >out 2>../err
expect [ $? -eq 0 ]
expect_line '^vtreport: waiting for process 1, which makes newer.stf$' ../err
expect_line '^vtreport: newer.stf: process 1, which makes it, has not done so within 10 s$' ../err
expect [ -s older.html ]
rm -f newer.prot older.html && mkfifo older.prot
timeout 60 "$build/vtreport" older.stf >out 2>../err
expect [ $? -eq 0 ]
cd .. || exit 99
verdict "the newest trace is waited for with a word and a limit, and then the older one is taken; no pipe is read"
report t.stf --nosuch
expect_status 2
expect_line -- '--nosuch' err
verdict "an unknown option: wrong usage"
done_testing

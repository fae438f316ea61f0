# SPDX-License-Identifier: BSD-3-Clause
# Draws plots/timertest.gnuplot from made-up data (plots_data.awk) and checks what a script can
# check: exit status, silence on stderr, files that are there and hold the title. It cannot tell
# whether a person can read them; for that, KEEP=DIR sh tests/cli/timertest/plots.sh leaves the pictures in DIR.

top_srcdir=${top_srcdir:-$(cd "$(dirname "$0")/../../.." && pwd)}
top_builddir=${top_builddir:-$top_srcdir}
GNUPLOT=${GNUPLOT:-gnuplot}
body=$top_srcdir/plots/timertest.gnuplot
data=$top_srcdir/tests/cli/timertest/plots_data.awk
all="run transform error raw matrix histogram"
awk() { LC_ALL=C command awk "$@"; } # numbers with a point, in any locale
n=0
failed=0

if test -n "$KEEP"; then
	tmp=$(cd "$KEEP" && pwd) || exit 1
	rm -rf "$tmp/moved"
else
	tmp=$(mktemp -d) || exit 1
	trap 'rm -rf "$tmp"' EXIT
	trap 'exit 1' HUP INT TERM
fi

# note TEXT...: why the current test fails
note() { printf '# %s\n' "$*"; bad=1; }
# done_with NAME: prints its line
done_with()
{
	n=$((n + 1))
	if test "$bad" = 0; then echo "ok $n - $1"; else echo "not ok $n - $1"; failed=1; fi
	bad=0
}
skip() { n=$((n + 1)); echo "ok $n - $1 # SKIP $2"; }
bad=0

# make_data OUT [awk options]: writes OUT.*.dat and OUT.gnuplot as timertest does
make_data()
{
	out=$1
	shift
	mkdir -p "$(dirname "$out")"
	awk "$@" -v out="$out" -f "$data" || note "plots_data.awk failed"
	cat "$body" >> "$out.gnuplot"
}

# draw ARG...: runs gnuplot, sets status
draw()
{
	"$GNUPLOT" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	status=$?
}

# expect STATUS: and nothing on stderr if it is 0
expect()
{
	test "$status" = "$1" || note "exit status $status, want $1"
	if test "$1" = 0 && test -s "$tmp/err"; then
		note "stderr is not empty:"
		sed 's/^/# /' "$tmp/err"
	fi
}

# drawn OUT FORMAT GRAPHS...: each is there, begins as its format does and is reported
drawn()
{
	base=$1 format=$2
	shift 2
	for graph; do
		file=$base.$graph.$format
		if ! test -s "$file"; then
			note "$graph.$format is missing or empty"
			continue
		fi
		case $format in
		svg) grep -q '</svg>' "$file" || note "$graph.svg is not complete" ;;
		png) test "$(dd if="$file" bs=1 skip=1 count=3 2>/dev/null)" = PNG || note "$graph.png is no PNG" ;;
		esac
		grep -F -q "$(basename "$file"): " "$tmp/out" || note "$graph.$format is not reported"
	done
}

# undrawn OUT FORMAT GRAPHS...: none is there and each has a reason
undrawn()
{
	base=$1 format=$2
	shift 2
	for graph; do
		test ! -e "$base.$graph.$format" || note "$graph.$format should not be there"
		grep -q "^$graph: not drawn: .....*" "$tmp/out" || note "no reason for $graph"
	done
}

# one_set NAME DRAWN UNDRAWN TITLE-IN-SVG TITLE-IN-TEXT
one_set()
{
	for format in svg png txt; do
		draw -e "tm_format=\"$format\"" "$tmp/$1/t.gnuplot"
		expect 0
		drawn "$tmp/$1/t" $format $2
		undrawn "$tmp/$1/t" $format $3
		for graph in $2; do
			case $format in
			svg) grep -F -q "$4" "$tmp/$1/t.$graph.svg" || note "$graph.svg lacks its title $4" ;;
			txt) grep -F -q "$5" "$tmp/$1/t.$graph.txt" || note "$graph.txt lacks its title $5" ;;
			esac
		done
		done_with "$1 $format"
	done
}

header=$top_builddir/plots/timertest_gnuplot.h
if test -f "$header" && test -n "$CC"; then
	printf \
		'#include <stdio.h>\n#include "%s"\nint main(void) { return fputs(timertest_gnuplot, stdout) == EOF; '\
'}\n' \
		"$header" > "$tmp/embed.c"
	# strict C, for there "??" is no longer two question marks
	$CC -std=c11 -o "$tmp/embed" "$tmp/embed.c" || note "timertest_gnuplot.h does not compile"
	"$tmp/embed" > "$tmp/embed.out"
	cmp "$body" "$tmp/embed.out" || note "the embedded script is not the script"
	done_with "embedded script"
else
	skip "embedded script" "no $header or no compiler"
fi

if test "$GNUPLOT" = no || ! command -v "$GNUPLOT" >/dev/null 2>&1; then
	skip "pictures" "gnuplot is not installed"
	echo "1..$n"
	exit $failed
fi

make_data "$tmp/pair/t" -v ranks=2
one_set pair "$all" "" "CPU on 2 ranks, 6 s, host vm" "CPU on 2 ranks, 6 s, host vm"
test "$(grep -o 'residual (' "$tmp/pair/t.raw.svg" | wc -l)" = 2 || note "not one label in each row"
done_with "the samples: only the first picture of a row has the label"
make_data "$tmp/short/t" -v ranks=2 -v secs=1 -v step=1
one_set short "$all" "" "CPU on 2 ranks, 1 s, host vm" "CPU on 2 ranks, 1 s, host vm"
make_data "$tmp/wobble/t" -v ranks=4 -v secs=600 -v wobble=1 -v pus=8 -v host=node
one_set wobble "$all" "" "CPU on 4 ranks" "CPU on 4 ranks"
make_data "$tmp/unfit/t" -v ranks=2 -v steps='1.5 2.5' -v sizes='1 3.0e-06' -v verdict='NOT fit' \
	-v \
	reason="the clock of \`id\` 'node_7' stepped by 3 us, limit 75 ns: stamps in between are only known to within \
the step; find out who sets the clock, or take another"
one_set unfit "$all" "" "verdict: NOT fit: the clock of \`id\` 'node_7' stepped by 3 us, limit 75 ns" \
	"verdict: NOT fit: the clock of \`id\` 'node_7' stepped by 3 us, limit 75 ns"
for graph in $all; do
	grep -F -q "or take another" "$tmp/unfit/t.$graph.svg" || note "$graph.svg lacks the end of the reason"
done
done_with "the whole reason is in each picture"
grep -F -q "rank 1 stepped by 3 us" "$tmp/unfit/t.run.svg" || note "the size of the step is not there"
sed '/^tm_step_sizes/d' "$tmp/unfit/t.gnuplot" >"$tmp/unfit/old.gnuplot" &&
	gnuplot -e 'tm_format="svg"' "$tmp/unfit/old.gnuplot" >"$tmp/old.out" 2>&1
grep -F -q "a clock stepped" "$tmp/unfit/t.run.svg" || note "a script without sizes does not mark the step"
done_with "a step is marked in the application run, with its size"
sed -e '/^tm_step_sizes/s/.*/&\ntm_step_counts = "31"/' "$tmp/unfit/t.gnuplot" >"$tmp/unfit/many.gnuplot" &&
	gnuplot -e 'tm_format="svg"' "$tmp/unfit/many.gnuplot" >"$tmp/old.out" 2>&1
grep -F -q "31 steps, the largest: rank 1 stepped by 3 us" "$tmp/unfit/t.run.svg" || note "how many steps is not there"
done_with "steps at the same time are one mark, with the largest of them"
# a script of an older timertest has no tm_latency
largest=$(awk 'NF == 5 { a = $2 < 0 ? -$2 : $2; if (a > most) { most = a; l = $4 } }
	END { printf "%.3g", l * 1e9 }' "$tmp/unfit/t.run.dat")
test "$(grep -o 'latency [0-9.]* [mun]*s' "$tmp/unfit/t.run.svg")" = "latency $largest ns" ||
	note "not the latency of the largest offset, $largest ns"
done_with "the picture has one latency, that of the largest offset"
make_data "$tmp/long/t" -v ranks=2
TITLE="sim:base=clock_monotonic,offset=0ms,drift=00ppm,step=0ms@1500ms,tick=3ns,origin=14624600727706,wobble=9ppm on \
4 ranks"
export TITLE
make_data "$tmp/long/t" -v ranks=2
unset TITLE
one_set long "$all" "" "sim:base=clock_monotonic" "sim:base=clock_monotonic"
# again where gnuplot counts bytes
for locale in C.UTF-8 C; do
	LC_ALL=$locale gnuplot -e 'tm_format="svg"' "$tmp/long/t.gnuplot" >"$tmp/long.out" 2>&1 ||
		note "no picture in $locale"
	for graph in $all; do
		# the first line of the title: at most 100 characters
		LC_ALL=C.UTF-8 awk '/sim:base=clock/ { gsub(/<[^>]*>/, ""); sub(/^[ \t]*/, ""); if (length > 100) {
			print length ": " $0; exit 1 } }' "$tmp/long/t.$graph.svg" ||
			note "$graph.svg in $locale: the title is too long"
	done
done
done_with "a long name of a clock is cut so that the title fits"
make_data "$tmp/single/t" -v ranks=1 -v pus=1 -v onebin=1
one_set single histogram "run transform error raw matrix" "CPU on 1 ranks" "CPU on 1 ranks"
# the columns of bins, and an impulse where a column would be too narrow to be seen
cp -R "$tmp/single" "$tmp/narrow"
echo "1000001 4.0e-04 4.1e-04 5" >>"$tmp/narrow/t.histogram.dat"
draw -e 'tm_format="svg"' "$tmp/narrow/t.gnuplot"
expect 0
impulses() { grep -o "<path stroke='rgb(  0, 114, 178)' .*/>" "$1/t.histogram.svg" | grep -o M | wc -l; }
test "$(impulses "$tmp/single") $(impulses "$tmp/narrow")" = "0 1" ||
	note "impulses: $(impulses "$tmp/single") and $(impulses "$tmp/narrow")"
done_with "only a narrow column of the histogram becomes an impulse"
make_data "$tmp/many/t" -v ranks=64 -v secs=40 -v step=10 -v pus=64
one_set many "$all" "" "CPU on 64 ranks" "CPU on 64 ranks"
for text in smallest largest "worst pair" "pairs with the largest offset"; do
	grep -F -q "$text" "$tmp/many/t.run.txt" || note "no '$text' in the text of many pairs"
done
done_with "as text, many pairs have the smallest, the largest and the worst one"
make_data "$tmp/ten/t" -v ranks=5
draw -e 'tm_format="svg"' "$tmp/ten/t.gnuplot"
expect 0
grep -q 't.run.svg: application run, 10 pairs$' "$tmp/out" || note "10 pairs are not drawn one by one"
done_with "10 pairs are drawn one by one"
HOST="h\"o_s't 1 ümlaut" TITLE="a \"quoted\" 'ti_tle' \\n {x}^2 µs <&> \$HOME \`id\`"
export HOST TITLE
make_data "$tmp/names/t" -v ranks=3
one_set names "$all" "" "a \"quoted\" 'ti_tle' \\n {x}^2 µs &lt;&amp;> \$HOME \`id\`" \
	"a \"quoted\" 'ti_tle' \\n {x}^2 µs <&> \$HOME \`id\`"
grep -F -q "(h'o_s't 1 ümlaut1)" "$tmp/names/t.transform.svg" || note "host name in transform.svg"
done_with "host name with quotes, spaces and UTF-8"
unset HOST TITLE

# without an UTF-8 locale: the same letters, no complaint
for locale in C xx_YY.UTF-8 C.UTF-8; do
	LC_ALL=$locale
	export LC_ALL
	draw "$tmp/names/t.gnuplot"
	unset LC_ALL
	expect 0
	grep -F -q "µs" "$tmp/names/t.run.svg" || note "UTF-8 is lost in the locale $locale"
done
done_with "locales with and without UTF-8"

rm -f "$tmp"/pair/*.svg "$tmp"/pair/*.png
draw "$tmp/pair/t.gnuplot"
expect 0
drawn "$tmp/pair/t" svg $all
drawn "$tmp/pair/t" png $all
test ! -e "$tmp/pair/t.run.pdf" || note "pdf was not asked for"
done_with "svg and png by default"

# timertest --output "DIR/BASE" from where it ran; then moved; then called from elsewhere
odd="$tmp/o d'd \$x"
(cd "$tmp" && make_data "o d'd \$x/<b a;\`id\`e" -v ranks=2 -v tmdir="o d'd \$x/")
(cd "$tmp" && draw "o d'd \$x/<b a;\`id\`e.gnuplot"; echo $status > "$tmp/status")
status=$(cat "$tmp/status")
expect 0
drawn "$odd/<b a;\`id\`e" svg $all
done_with "names with spaces, quotes and signs, from where the program ran"
mv "$odd" "$tmp/moved"
rm -f "$tmp"/moved/*.svg
(cd "$tmp/moved" && draw "./<b a;\`id\`e.gnuplot"; echo $status > "$tmp/status")
status=$(cat "$tmp/status")
expect 0
drawn "$tmp/moved/<b a;\`id\`e" svg $all
done_with "moved, from the folder itself"
rm -f "$tmp"/moved/*.svg
(cd / && draw "$tmp/moved/<b a;\`id\`e.gnuplot"; echo $status > "$tmp/status")
status=$(cat "$tmp/status")
expect 0
drawn "$tmp/moved/<b a;\`id\`e" svg $all
done_with "moved, from another folder"

# from here on the script has to fail
for part in run transform samples error histogram matrix; do
	rm -rf "$tmp/gap"
	cp -R "$tmp/pair" "$tmp/gap"
	rm -f "$tmp"/gap/t.*.svg "$tmp"/gap/t.*.png "$tmp/gap/t.$part.dat"
	draw "$tmp/gap/t.gnuplot"
	expect 1
	grep -q "^timertest.gnuplot: .*t.$part.dat is missing" "$tmp/err" || note "no word about $part.dat"
	graph=$part
	test $part != samples || graph=raw
	test ! -e "$tmp/gap/t.$graph.svg" || note "$graph.svg from nothing"
	for other in $all; do
		test $other = $graph || test -s "$tmp/gap/t.$other.svg" || note "$other.svg is lost with $part.dat"
	done
	done_with "$part.dat is missing"
done
for part in run transform samples error histogram matrix; do
	cp "$tmp"/pair/t.*.dat "$tmp/gap/"
	head -n 1 "$tmp/pair/t.$part.dat" > "$tmp/gap/t.$part.dat"
	draw "$tmp/gap/t.gnuplot"
	expect 1
	grep -q "t.$part.dat holds no data" "$tmp/err" || note "no word about $part.dat"
done
done_with "a header line only, where there should be data"
rm -f "$tmp"/gap/*.dat
draw "$tmp/gap/t.gnuplot"
expect 1
grep -q "^timertest.gnuplot: no data: t" "$tmp/err" || note "no word about the missing data"
done_with "no data at all"
draw -e 'tm_format="jpeg"' "$tmp/pair/t.gnuplot"
expect 2
grep -q 'tm_format "jpeg": not one of svg, png, pdf, txt, all' "$tmp/err" || note "no word about the format"
done_with "unknown format"
draw "$body"
expect 2
grep -q "no variables" "$tmp/err" || note "no word about the variables"
done_with "script without its variables"
# a full disk shows itself as an empty file
if test -c /dev/full; then
	rm -f "$tmp/pair/t.run.svg"
	ln -s /dev/full "$tmp/pair/t.run.svg"
	draw "$tmp/pair/t.gnuplot"
	rm -f "$tmp/pair/t.run.svg"
	test "$status" != 0 || note "exit status 0 on a full disk"
	grep -q "t.run.svg" "$tmp/err" || note "no word about the lost picture"
	done_with "full disk"
else
	skip "full disk" "no /dev/full"
fi

echo "1..$n"
exit $failed

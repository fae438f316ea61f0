#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# calibsim as its users run it: figures, bad weather, files, wrong input. TAP.
# shellcheck source=../lib/tap.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/lib/tap.sh"
GNUPLOT=${GNUPLOT:-gnuplot}

run()
{
	"$build/calibsim" "$@" >"$dir/out" 2>"$dir/err" </dev/null
	status=$?
}

has()
{
	grep -Eq -- "$1" "$dir/out"
}

run --domains 16:256 --sessions 3 --output "$dir/s"
[ $status -eq 0 ] && has '^ +16 tree +5 +40 ' && has '^ +256 tree +9 ' && has '^ +256 star +255 +255 ' &&
	has '^verdict: 0 of 1964 bounds were wrong; the tree took at most [0-9.]+ times as long for twice as many domains$'
ok "16 to 256 domains: 5 and 9 rounds as a tree, no bound is wrong" $?
# growth of the tree's time: a round more each time, never the O(n) of the star
awk '$2 == "tree" && $7 ~ /x$/ { n++; if ($7 + 0 > 1.35) worse++ }
     $2 == "star" && $7 ~ /x$/ { s++; if ($7 + 0 < 1.7) better++ }
     END { exit !(n == 4 && !worse && s == 4 && !better) }' "$dir/out"
ok "the tree's time grows by at most 1.35 for twice as many, the star's doubles" $?
cp "$dir/out" "$dir/first"
run --domains 16:256 --sessions 3 --output "$dir/s"
[ $status -eq 2 ] && grep -q "s.scale.dat exists; --force replaces it" "$dir/err"
ok "existing files are not replaced" $?
run --domains 16:256 --sessions 3 --output "$dir/s" --force
cmp -s "$dir/first" "$dir/out"
ok "the same seed gives the same figures" $?
run --domains 16:256 --sessions 3 --seed 2
! cmp -s "$dir/first" "$dir/out" && [ $status -eq 0 ]
ok "another one gives others" $?

head -n 1 "$dir/s.scale.dat" | grep -q '^# domains\[1\] rounds\[1\] .*duration\[s\] ' && [ "$(grep -c '^[0-9]' "$dir/s.scale.dat")" -eq 10 ]
ok "the data has columns with units" $?
if command -v "$GNUPLOT" >/dev/null; then
	"$GNUPLOT" "$dir/s.gnuplot" >"$dir/out" 2>"$dir/err" </dev/null &&
		[ ! -s "$dir/err" ] && [ "$(grep -c ': ' "$dir/out")" -eq 3 ] && [ -s "$dir/s.duration.svg" ] &&
		[ -s "$dir/s.error.svg" ] && [ -s "$dir/s.hops.svg" ]
	ok "three pictures are drawn, in silence" $?
else
	count=$((count + 1))
	echo "ok $count - three pictures are drawn # SKIP gnuplot is not installed"
fi

run --domains 64 --topology tree --network dead=5 --patience 1s
[ $status -eq 0 ] && has 'exchanges came to nothing \(the first: rank 5 did not answer rank [0-9]+ within ' &&
	has 'nothing is known of 1 rank$'
ok "a dead node is named, and costs no other its bound" $?
run --domains 64 --topology tree,star --network stall=9@10s/3s,outliers=20ppm,outlier=8ms,loss=0.001,shuffle=1
[ $status -eq 0 ] && has '^verdict: 0 of 252 bounds were wrong'
ok "a node that sleeps for seconds, preemptions and losses: no bound is wrong" $?
run --domains 64 --topology tree --network asym=50us
[ $status -eq 0 ] && has '^verdict: 0 of 126 bounds were wrong'
ok "an asymmetry that nobody can see is inside the bound" $?
run --domains 16 --topology tree --clocks 'offset={rank}ms,drift={rank}0ppm,wobble={rank%3}0ppm/40s,tick=1ns' --sessions 2
[ $status -eq 1 ] && has '^verdict: [1-9][0-9]* of 30 bounds were wrong'
ok "clocks that break what is assumed of them are counted, exit status 1" $?
run --domains 32 --brief --topology tree --sessions 4
[ $status -eq 0 ]
ok "brief sessions" $?

# wrong input: one line, status 2
wrong() # wrong NAME PATTERN ARGUMENTS...
{
	name=$1 pattern=$2
	shift 2
	run "$@"
	[ $status -eq 2 ] && grep -Eq -- "^calibsim: $pattern" "$dir/err" && [ "$(wc -l <"$dir/err")" -eq 1 ] && [ ! -s "$dir/out" ]
	ok "$name" $?
}
wrong "no domains" "--domains '1': up to [0-9]+ numbers from 2 to 1000000" --domains 1
wrong "domains that are no number" "--domains '16:many'" --domains 16:many
wrong "an unknown topology" "--topology 'ring': tree, star and auto are known" --topology ring
wrong "one session" "--sessions: '1' is not a whole number between" --sessions 1
wrong "an argument" "'16': no arguments are known, options only" 16
wrong "a directory that is not there" "cannot create $dir/none/x.scale.dat: No such file" --domains 16 --output "$dir/none/x"
run --domains 16 --network speed=3
[ $status -eq 2 ] && grep -q "^calibsim: simulated link: cannot use 'speed=3'" "$dir/err"
ok "an unknown key of the network" $?

done_testing

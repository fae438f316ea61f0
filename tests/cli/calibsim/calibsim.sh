#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# calibsim as its users run it: figures, bad conditions, files, wrong input. TAP.
# shellcheck source=../../lib/tap.sh source-path=SCRIPTDIR
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
expect_status 0
expect has '^ +16 tree +5 +40 '
expect has '^ +256 tree +9 '
expect has '^ +256 star +255 +255 '
expect has \
	'^verdict: 0 of 1964 bounds were wrong; the tree took at most [0-9.]+ times as long for twice as many domains$'
verdict "16 to 256 domains: 5 and 9 rounds as a tree, no bound is wrong"
# growth of the tree's time: a round more each time, never the O(n) of the star
awk '$2 == "tree" && $7 ~ /x$/ { n++; if ($7 + 0 > 1.35) worse++ }
     $2 == "star" && $7 ~ /x$/ { s++; if ($7 + 0 < 1.7) better++ }
     END { exit !(n == 4 && !worse && s == 4 && !better) }' "$dir/out"
ok "the tree's time grows by at most 1.35 for twice as many, the star's doubles" $?
cp "$dir/out" "$dir/first"
run --domains 16:256 --sessions 3 --output "$dir/s"
expect_status 2
expect_line "s.scale.dat exists; --force replaces it" "$dir/err"
verdict "existing files are not replaced"
run --domains 16:256 --sessions 3 --output "$dir/s" --force
cmp -s "$dir/first" "$dir/out"
ok "the same seed gives the same figures" $?
run --domains 16:256 --sessions 3 --seed 2
expect_not cmp -s "$dir/first" "$dir/out"
expect_status 0
verdict "another one gives others"

head -n 1 "$dir/s.scale.dat" | expect_line '^# domains\[1\] rounds\[1\] .*duration\[s\] ' -
expect_lines 10 '^[0-9]' "$dir/s.scale.dat"
verdict "the data has columns with units"
if command -v "$GNUPLOT" >/dev/null; then
	expect "$GNUPLOT" "$dir/s.gnuplot" >"$dir/out" 2>"$dir/err" </dev/null
	expect_empty "$dir/err"
	expect_lines 3 ': ' "$dir/out"
	expect [ -s "$dir/s.duration.svg" ]
	expect [ -s "$dir/s.error.svg" ]
	expect [ -s "$dir/s.hops.svg" ]
	verdict "three pictures are drawn, in silence"
else
	count=$((count + 1))
	echo "ok $count - three pictures are drawn # SKIP gnuplot is not installed"
fi

run --domains 64 --topology tree --network dead=5 --patience 1s
expect_status 0
expect has 'pairs? failed \(the first: rank 5 did not answer rank [0-9]+ within '
expect has 'nothing is known of 1 rank$'
verdict "a dead node is named, and costs no other its bound"
run --domains 64 --topology tree,star --network stall=9@10s/3s,outliers=20ppm,outlier=8ms,loss=0.001,shuffle=1
expect_status 0
expect has '^verdict: 0 of 252 bounds were wrong'
verdict "a node that sleeps for seconds, preemptions and losses: no bound is wrong"
run --domains 64 --topology tree --network asym=50us
expect_status 0
expect has '^verdict: 0 of 126 bounds were wrong'
verdict "an asymmetry that no round trip can show is inside the bound"
run --domains 16 --topology tree --clocks 'offset={rank}ms,drift={rank}0ppm,wobble={rank%3}0ppm/40s,tick=1ns' \
	--sessions 2
expect_status 1
expect has '^verdict: [1-9][0-9]* of 30 bounds were wrong'
verdict "clocks that break what is assumed of them are counted, exit status 1"
run --domains 32 --brief --topology tree --sessions 4
[ $status -eq 0 ]
ok "brief sessions" $?

run --domains 16:64 --topology tree --sessions 2
expect has '^milder than assumed: rates change by at most 0.0[0-9]+ ppm during the run, the bounds assume up to 1 ppm$'
expect has '^milder than real networks: no traffic of others'
expect has '^milder than real networks: delays have no heavy tail'
expect has '^milder than real machines: no process is ever held up'
verdict "it says in which respects its default is milder than reality"
hard=queue=150ns,load=0.6,dist=pareto,shape=1.5,outliers=200ppm,outlier=500us
run --domains 16,256 --network $hard --clocks 'offset={rank}ms,drift={rank%89}ppm,wobble=0.9ppm/{rank%13}7s,tick=1ns' \
	--sessions 4
expect_status 0
expect_not has 'milder'
expect has '^verdict: 0 of 1080 bounds were wrong'
verdict "queues of others, heavy tails and outliers, rates that change as much as assumed: no bound is wrong"
run --domains 16 --topology tree --clocks 'drift=0.1%,wobble=3ppm/40s,tick=1ns' --sessions 5
expect has '^harder than assumed: rates change by up to 3 ppm during the run, the bounds assume at most 1 ppm$'
expect has '^harder than assumed: clocks are up to 1000 ppm off, the bounds assume at most 500 ppm$'
verdict "and where it is harder than the bounds assume"

# a recorded drift: 0.4 ppm of change, to and fro each minute
awk 'BEGIN { print "# known"; for (t = 0; t <= 300; t += 5) printf "%d %.12e\n", t,
	4e-6 * (1 - cos(t / 10)) }' >"$dir/drift.txt"
run --domains 16 --topology tree --clocks 'offset={rank}ms,tick=1ns' --sessions 7 --drift-recording "$dir/drift.txt"
expect_status 0
expect has "^clocks: .*, with the drift of $dir/drift.txt$"
expect has '^milder than assumed: rates change by at most 0\.(3|4)[0-9]* ppm'
expect has '^verdict: 0 of 30 bounds were wrong'
verdict "clocks drift as recorded"
odd=$dir/$(printf 'dr\377ft.txt')
cp "$dir/drift.txt" "$odd"
run --domains 8 --sessions 2 --json - --drift-recording "$dir/drift.txt"
if grep -q 'no jansson' "$dir/err"; then
	skip "--json" "this build has no jansson"
else
	expect_status 0
	expect has '^ "schema": "calibsim/1",$'
	verdict "--json"
	run --domains 8 --sessions 2 --json - --drift-recording "$odd"
	expect_status 2
	expect_line '^calibsim: --json: out of memory, or an option is not UTF-8$' "$dir/err"
	verdict "--json with a name that is not UTF-8"
fi
run --domains 16 --topology tree --clocks 'offset={rank}ms,tick=1ns' --sessions 7 --drift-recording "$dir/drift.txt" \
	--max-wander 0.01ppm
expect_status 0
expect has '^harder than assumed: rates change by up to 0\.'
expect has '^verdict: 0 of 30 bounds were wrong'
verdict "sessions in between contradict a wrong assumption, and the bounds widen"
run --domains 16 --topology tree --clocks 'offset={rank}ms,tick=1ns' --sessions 2 --apart 30s \
	--drift-recording "$dir/drift.txt" --max-wander 0.01ppm
expect_status 1
expect has '^harder than assumed: rates change by up to 0\.'
expect has '^verdict: [1-9]'
verdict "without them the bounds break, and a warning is printed before"
run --domains 16 --topology tree --network loss=1 --patience 100ms
expect_status 1
expect has '^verdict: nothing is known of any clock, so no bound was tried'
verdict "when nothing is known no bound has held"

# a recording of real clocks, which are driven by one counter: steady, and calibsim says so
run --domains 16 --topology tree --clocks 'offset={rank}ms,tick=1ns' --sessions 7 \
	--drift-recording "$src/tests/golden/clock-drift.txt"
expect_status 0
expect has '^milder than assumed: rates change by at most 0\.00[0-9]+ ppm during the run'
expect has '^verdict: 0 of 30 bounds were wrong'
verdict "a recording of this project drives the clocks"

# a swing that curves follow and lines do not: its largest distance from a chord of 5 s is 190 ns
run --domains 8 --topology tree --sessions 13 --apart 5s \
	--clocks 'offset={rank}ms,wobble={rank%7}00ppb/60s,tick=7.{rank}ns' --compare-splines
if grep -q 'this build has no GSL' "$dir/err"; then
	ok "interpolations of GSL # SKIP this build has no GSL" 0
else
	expect_status 0
	expect awk 'function ns(s) { sub(/,/, "", s); return s ~ /us$/ ? s * 1e3 : s + 0 }
		/between the first session and the last/ { for (i = 1; i <= NF; i++) { v[$i] = ns($(i + 1)) } }
		END { exit !(v["Tickmark"] > 0 && v["Tickmark"] < 60 && v["line"] > 150 && v["line"] < 230 &&
		v["cubic"] < 120 && v["Akima"] < 120) }' "$dir/out"
	verdict "Tickmark and the interpolations of GSL through the same sessions"
	run --domains 8 --sessions 4 --compare-splines
	expect_status 2
	expect_line '^calibsim: --compare-splines: curves need at least 5 sessions' "$dir/err"
	verdict "too few sessions for a curve"
fi

# wrong input: one line, status 2
wrong() # wrong NAME PATTERN ARGUMENTS...
{
	name=$1 pattern=$2
	shift 2
	run "$@"
	expect_status 2
	expect_line -E -- "^calibsim: $pattern" "$dir/err"
	expect [ "$(wc -l <"$dir/err")" -eq 1 ]
	expect_empty "$dir/out"
	verdict "$name"
}
wrong "no domains" "--domains '1': up to [0-9]+ numbers from 2 to 1000000" --domains 1
wrong "domains that are no number" "--domains '16:many'" --domains 16:many
wrong "an unknown topology" "--topology 'ring': tree, star and auto are known" --topology ring
wrong "one session" "--sessions: '1' is not a whole number between" --sessions 1
wrong "an argument" "'16': one argument too many" 16
wrong "a directory that is not there" "cannot create $dir/none/x.scale.dat: No such file" --domains 16 \
	--output "$dir/none/x"
wrong "an unknown key of the network" "simulated link: cannot use 'speed=3'" --network speed=3
wrong "more messages lost than there are" "simulated link: loss=2: from 0 to 1 is possible" --network loss=2
wrong "a tail without a mean" "simulated link: shape=1: from 1.01 to 100 is possible" --network dist=pareto,shape=1
wrong "a link that is more than busy" "simulated link: load=120%: from 0 to 0.95 is possible" \
	--network queue=1us,load=120%
wrong "traffic without a time that it takes" "simulated link: load=0.5 needs queue=" --network load=0.5
wrong "a delay of minutes" "simulated link: delay=2m: from 0 to 1 s is possible" --network delay=2m
wrong "a clock with half the rate" "timer sim: '0.6' is no value for drift" --clocks drift=0.6
wrong "a drift of more than assumed possible" "--max-drift: '0.2' is not" --max-drift 0.2
wrong "a recording that is not there" "cannot read $dir/none: No such file" --drift-recording "$dir/none"
printf '0 0\n1 x\n' >"$dir/bad.txt"
wrong "a recording that is none" "$dir/bad.txt:2: two numbers are expected" --drift-recording "$dir/bad.txt"

done_testing

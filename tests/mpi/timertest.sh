#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# timertest as its users run it: over real messages, with clocks whose truth is known, with the guide's
# lines, with wrong input, on two hosts. TAP. Needs mpirun for most; says so where it is missing.
# shellcheck source=lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/mpi/lib.sh"

# run NP ARGUMENTS...: output in $dir/out and $dir/err, exit status in $status
run()
{
	np=$1
	shift
	if [ "$np" = cs ]; then
		"$build/timertestcs" "$@" >"$dir/out" 2>"$dir/err" </dev/null
	elif [ "$np" = alone ]; then
		ASAN_OPTIONS=$no_leaks "$build/timertest" "$@" >"$dir/out" 2>"$dir/err" </dev/null
	else
		ASAN_OPTIONS=$no_leaks timeout 300 "$mpirun" -np "$np" "$build/timertest" "$@" >"$dir/out" \
			2>"$dir/err" </dev/null
	fi
	status=$?
}

# begin NAME NP ARGUMENTS...: the same beside what follows, with its files as $dir/NAME.*; for simulated clocks, whose
# limits are far beyond what one run does to another
begin()
{
	name=$1
	shift
	(
		into=$dir/$name
		dir=$into.d
		mkdir "$dir" && run "$@" --output "$into"
		echo "$status" >"$dir/status"
	) &
	echo $! >"$dir/$name.pid"
}

# result NAME: waits for it; then its output is in $dir/out and $dir/err, its exit status in $status
result()
{
	wait "$(cat "$dir/$1.pid")"
	cp "$dir/$1.d/out" "$dir/$1.d/err" "$dir"
	status=$(cat "$dir/$1.d/status")
}

has() # has EXTENDED-REGULAR-EXPRESSION
{
	grep -Eq -- "$1" "$dir/out"
}

# Every child rank's true error is inside its bound, and at most LIMIT, which is far beyond what a quiet machine shows
# and far below what the clocks are wrong by; more is allowed where the bound says that the machine was too busy for it.
# truth_ok RANKS LIMIT-NS
truth_ok()
{
	awk -v ranks="$1" -v limit="$2" '
	function ns(s) {
		gsub(/[,;]/, "", s)
		return s ~ /ps$/ ? s * 1e-3 : s ~ /ns$/ ? s + 0 : s ~ /us$/ ? s * 1e3 : s ~ /ms$/ ? s * 1e6 : s * 1e9
	}
	/^true error of rank/ { n++; e = ns($12); b = ns($20); if (e > worst) worst = e
		if (e > limit && b <= limit) broken++
		if ($0 !~ /inside its bound everywhere$/) broken++ }
	END { printf "# true error at most %.1f ns, limit %s\n", worst, limit
	      exit !(n == ranks - 1 && !broken && worst > 0) }' "$dir/out"
}

# step_ok NS SECONDS: a step of the clock of rank 1 was found, that big within what is certain of it, and at that time
# (the clock counts from the first session, which lasts)
step_ok()
{
	awk -v size="$1" -v at="$2" '
	function ns(s) {
	return s ~ /ps$/ ? s * 1e-3 : s ~ /ns$/ ? s + 0 : s ~ /us$/ ? s * 1e3 : s ~ /ms$/ ? s * 1e6 : s * 1e9 }
	/^clock of rank 1 stepped against that of rank 0 by .*: the map is split there$/ {
		off = ns($12) - size
		most = ns($14) + 1e-3 * (size < 0 ? -size : size)
		found += off <= most && -off <= most && $16 <= at + 1 && $19 >= at - 1
	}
	END { exit !found }' "$dir/out"
}

# ---- one process, without MPI ----

number='[0-9]+'
time='-?[0-9]+\.[0-9]+(s|ms|us|ns|ps)'
run cs --timer gettimeofday --performance-time 200ms --output "$dir/cs"
ok "timertestcs ends well" "$(judged; echo $?)"
# the guide's example, line by line
lines=0
while read -r pattern; do
	has "^$pattern\$" || { lines=1; echo "# missing: $pattern"; }
done <<EOT
performance: $number calls in [0-9]+\.[0-9]{3}s wall clock time = $time/call = $number calls/s
measured clock period/frequency vs\. nominal:
$time/[01]\.[0-9]{3}MHz vs\. 1\.000us/1\.000MHz
overhead for sampling loop: $number clock ticks \(= $time\)
for 10000000 iterations = $number ticks/iteration
average increase: $number clock ticks = [0-9.]+(s|ms|us|ns) = ([0-9.]+MHz|unknown)
median increase: $number clock ticks = [0-9.]+(s|ms|us|ns) = ([0-9.]+MHz|unknown)
< 0 ticks = 0\.00s : 0
< 1 ticks = $time *:.*
>= 1 ticks = $time *:.*
>= 501 ticks = $time *:.*
>= 1001 ticks = $time *:.*
>= 5001 ticks = $time *:.*
effective tick: $time .*
EOT
ok "the guide's lines" $lines
# the clock may just be slewed, by a tenth at most
awk 'function us(s) { sub(/:.*/, "", s);
	return s ~ /ns$/ ? s * 1e-3 : s ~ /us$/ ? s + 0 : s ~ /ms$/ ? s * 1e3 : s * 1e6 }
	/^(<|>=) [0-9]+ ticks = / { n++; wrong += us($5) < 0.9 * $2 || us($5) > 1.12 * $2 }
	/^effective tick: / { n++; wrong += us($3) < 0.9 || us($3) > 1.12 }
	END { exit wrong || n != 14 }' "$dir/out"
ok "a tick is a microsecond" $?
grep -Eq ': #{20} [0-9]+$' "$dir/out"
ok "the longest bar has 20 characters" $?
# a rate is that against some clock, whose own error counts in what is stated of it; a process that got no core cannot
# follow it
for try in 1 2 3; do
	has '^frequency: unknown' || break
	run cs --timer gettimeofday --performance-time 2s --output "$dir/cs" --force
done
expect has '^frequency by clock_monotonic_raw: [01]\.[0-9]+ MHz \+- [0-9.e+-]+ ppm, '
expect has '^reference: clock_monotonic_raw.*; its own error is not known, 500 ppm are assumed$'
expect awk '/^measured-bound-ppm / { n++; least = $2 + 0 } END { exit !(n == 1 && least >= 500) }' "$dir/cs.clk"
verdict "the reference of the frequency is named, and its error is in the bound"
for suffix in stf stf.dcl clk gnuplot histogram.dat matrix.dat; do
	[ -s "$dir/cs.$suffix" ] || lines=1
done
ok "its files are there" $lines

cp "$dir/cs.stf" "$dir/first.stf" && cp "$dir/cs.clk" "$dir/first.clk"
run cs --timer CPU --performance-time 200ms --output "$dir/cs" --quiet
expect judged
expect_same "$dir/cs.stf" "$dir/first.stf"
expect_same "$dir/cs.clk" "$dir/first.clk"
for suffix in stf clk gnuplot matrix.dat; do
	expect [ -s "$dir/cs-1.$suffix" ]
done
tail -n 1 "$dir/err" >"$dir/last"
expect_line "^timertestcs: earlier results have the name .* these are in $dir/cs-1.stf and $dir/cs-1.clk$" "$dir/last"
rm "$dir/cs-1.stf"
run cs --timer CPU --performance-time 200ms --output "$dir/cs" --quiet
expect [ -s "$dir/cs-2.stf" ]
verdict "existing results are not replaced, also a .clk alone: the next free name is taken, and named last"
rm -f "$dir"/cs-[12].*
run cs --timer sundial --performance-time 200ms --output "$dir/cs"
expect_status 2
expect_line "unknown timer 'sundial'" "$dir/err"
expect_no_line exists "$dir/err"
verdict "beside an existing trace an unknown timer is what is reported"
run cs --timer CPU --performance-time 200ms --output "$dir/cs" --force --quiet
expect judged
expect [ "$(wc -l <"$dir/out")" -eq 1 ]
expect has '^verdict: CPU is .*fit for tracing on 1 rank: '
verdict "--force replaces it, --quiet prints the verdict only"

# wrong input: one line, status 2, no files
wrong() # wrong NAME PATTERN ARGUMENTS...
{
	name=$1 pattern=$2
	shift 2
	rm -f "$dir"/wrong*
	run cs --output "$dir/wrong" --performance-time 100ms "$@"
	expect_status 2
	expect_line -E -- "^timertestcs: $pattern" "$dir/err"
	expect [ "$(wc -l <"$dir/err")" -eq 1 ]
	expect_empty "$dir/out"
	expect [ -z "$(ls "$dir" | grep wrong)" ]
	verdict "$name"
}
wrong "unknown timer" "unknown timer 'sundial'; VT_TIMER=LIST shows all" --timer sundial
wrong "bad simulation" "timer sim: .*drift" --timer sim:drift=fast
wrong "seconds that are no number" "'ten' is no number of seconds" ten
wrong "three arguments" "'3': only two arguments" 1 2 3
wrong "a bad option value" "--sync-max-messages: '0' is not a whole number between" --sync-max-messages 0
wrong "a number with a dash" "-5: numbers are given without a dash: 'timertest 30 10' tests for 30 s" -5
if "$build/timertestcs" --timer CPU --json /dev/full --performance-time 10ms --output "$dir/probe" 2>&1 |
	grep -q "has no jansson"; then
	skip "an existing JSON file and one that cannot be written end it before the run" "this build has no jansson"
else
	echo old >"$dir/old.json"
	wrong "an existing JSON file is not replaced" \
		"$dir/old.json exists; --force replaces it, --json gives another name" --json "$dir/old.json"
	[ "$(cat "$dir/old.json")" = old ]
	ok "and keeps what it had" $?
	for try in 1 2; do
		run cs --timer CPU --performance-time 50ms --output "$dir/json$try" --json "$dir/result.json" --quiet
		expect judged
	done
	verdict "a JSON file of timertest is replaced"
	begin=$(date +%s)
	wrong "a JSON file that cannot be written" "cannot create $dir/none/x.json: No such file" \
		--json "$dir/none/x.json" --performance-time 20s
	[ $(($(date +%s) - begin)) -lt 15 ]
	ok "is noticed before the run" $?
fi
wrong "unwritable directory" "cannot create $dir/none/wrong.stf: No such file" --output "$dir/none/wrong"
wrong "no base name" "--output '$dir/': a name for the files is missing" --output "$dir/"
VT_TIMER_SKIP=many
export VT_TIMER_SKIP
wrong "a bad variable" "VT_TIMER_SKIP: 'many' is not a whole number"
unset VT_TIMER_SKIP

# Ctrl-C: a background job of this shell would ignore it
interrupt() # interrupt SIGNAL SECONDS COMMAND...
{
	signal=$1 after=$2
	shift 2
	timeout --preserve-status -k 20 -s "$signal" "$after" "$@" >"$dir/out" 2>"$dir/err" </dev/null
	status=$?
}
interrupt INT 2 "$build/timertestcs" --timer CPU --performance-time 60s --output "$dir/int"
expect_status 130
expect [ "$(wc -l <"$dir/err")" -eq 1 ]
expect [ -z "$(ls "$dir" | grep '^int')" ]
expect_line -E '^timertestcs: interrupted by SIGINT after [0-9]+ s: there is no result, and no file was written$' \
	"$dir/err"
verdict "Ctrl-C: a line, status 130, no file"
interrupt TERM 2 "$build/timertestcs" --timer CPU --performance-time 60s --output "$dir/int"
expect_status 143
expect_line 'interrupted by SIGTERM' "$dir/err"
verdict "SIGTERM: a line, status 143"

if mkdir "$dir/full" && mount -t tmpfs -o size=16k none "$dir/full" 2>/dev/null; then
	run cs --timer CPU --performance-time 100ms --output "$dir/full/t"
	expect_status 2
	expect_line "No space left on device" "$dir/err"
	expect [ -z "$(ls "$dir/full")" ]
	verdict "a full disk is reported, and no partial file is left"
else
	skip "a full disk is reported, and no partial file is left" "a tmpfs cannot be mounted here"
fi

run cs --timer LIST
expect_status 0
expect has '^gettimeofday '
expect has '^MPI_Wtime +- +- +unavailable: this program has no MPI'
expect has '^sim:'
verdict "LIST names every timer, with a reason where one is not there"

if [ ! -x "$build/timertest" ]; then
	skip "timertest" "this build has no MPI"
	done_testing
fi

# ---- several ranks ----

run alone --timer CPU --performance-time 100ms --output "$dir/alone"
expect judged
expect has '^one process, so no messages: clock offsets were not measured$'
verdict "timertest without mpirun"

run 1 --timer 'sim:base=CPU,tick=7ns' --performance-time 100ms --output "$dir/one"
expect judged
expect has '^verdict: sim is '
verdict "np 1"

# for 14 s: what shorter runs show of a rate has a larger margin than what is assumed
learn()
{
	rm -rf "$dir/learned.d"
	begin learned 2 14 0.1 --timer 'sim:base=CPU,drift={rank}0ppm,tick=3ns' --timer-skip 0 --burst 1 \
		--learn-drift --max-wander 100ppm \
		--performance-time 100ms --force
}
learn
begin two 2 6 2 --timer 'sim:base=CPU,offset={rank}ms,drift={rank}50ppm,tick=7.{rank}ns,noise=2ns,seed={rank}' \
	--performance-time 200ms --learn-drift
begin spline 2 6 1 --timer 'sim:base=CPU,drift={rank}0ppm,wobble={rank}ppm/8s,tick=3ns' --timer-skip 0 \
	--performance-time 200ms
result two
ok "np 2, simulated clocks 1 ms and 100 ppm apart" "$(judged; echo $?)"
truth_ok 2 10000
ok "np 2, true error" $?
# what messages prove alone, and what follows with the assumptions: both are named, both are true, and the second says
# more
awk 'function ns(s) { gsub(/[,;]/, "", s);
	return s ~ /ps$/ ? s * 1e-3 : s ~ /ns$/ ? s + 0 : s ~ /us$/ ? s * 1e3 : s ~ /ms$/ ? s * 1e6 : s * 1e9 }
	/^bound of rank 1 between its sessions: [^ ]* at most, proven by messages and the largest drift alone; [^ ]* '\
'at most, if what is assumed holds$/ {
		proven = ns($8); assumed = ns($19); n++ }
	/^true error of rank 1/ { error = ns($12) }
	END { printf "# proven %g ns, assumed %g ns, error %g ns\n", proven, assumed, error
		exit !(n == 1 && error > 0 && error <= assumed && assumed <= proven && proven > 1e5) }' "$dir/out"
ok "np 2, the proven and the assumed bound are stated" $?
has '^learned drift of rank 1: none \(it takes 8 sessions, and there are [2-7]\)$'
ok "np 2, why no drift was learned is printed" $?
expect has '^2\. recording messages 0 <-> 1\.\.\.$'
grep -A1 '^maximum clock offset during run:$' "$dir/out" | expect_line -E "^0 <-> 1 $time \(latency $time\)\$" -
expect has "^to produce graph showing trace timing, run: gnuplot $dir/two\.gnuplot\$"
expect has "^to see all pictures in a browser, run: vtreport $dir/two\.stf\$"
expect has '^\[1 \(.*\)\] performance: '
verdict "np 2, the guide's lines"
tail -n 1 "$dir/out" |
	grep \
	-Eq \
	'^verdict: sim is (NOT |not known to be )?fit for tracing on 2 ranks: offset -?[0-9.]+ [mun]?s \+- [0-9.]+ '\
'[mun]?s, latency [0-9.]+ [mun]?s'
ok "np 2, the verdict is the last line" $?

result spline
expect truth_ok 2 10000
expect has '^clock map of rank 1: ([0-9]+) of \1 sessions'
verdict "np 2, wobble followed by the spline"
expect_line -x "tm_interpolation = 'cubic'" "$dir/spline.gnuplot"
expect_line 'set label 2 tm_interpolation' "$dir/spline.gnuplot"
verdict "np 2, the graph of the interpolation error names the curve of this run"

# more than the busiest machine hides; step times count from the first session
begin step 2 6 1 --timer 'sim:base=CPU,drift={rank}0ppm,step={rank}0ms@3500ms,tick=3ns' --performance-time 100ms
begin back 2 6 1 --timer 'sim:base=CPU,drift={rank}0ppm,step=-{rank}s@3500ms,tick=3ns' --performance-time 100ms
result step
expect_status 1
expect step_ok 10000000 3.5
expect_line \
	-E \
	'^verdict: sim is NOT fit .*stepped against that of rank 0 by (9\.[0-9]+|10(\.[0-9]+)?) ms between '\
'[0-9]+\.[0-9]+ s and [0-9]+\.[0-9]+ s' "$dir/out"
verdict "np 2, a step of 10 ms is found, with its size and time"
# the 6th column is sample minus map
awk '/^[0-9]/ && $4 == 1 { n++; far += $6 > 1e-3 || $6 < -1e-3 }
	END { print n + 0 " samples, " far + 0 " far from the map";
	exit !(n > 50 && far == 0) }' "$dir/step.samples.dat"
ok "np 2, raw samples are compared with the map on their own side of the step" $?

truth_ok 2 11000000
ok "np 2, the bound covers the step" $?
result back
expect truth_ok 2 1100000000
expect step_ok -1000000000 3.5
expect [ "$(grep -c '^part$' "$dir/back.clk")" -ge 2 ]
expect [ "$(head -n 1 "$dir/back.clk")" = "TICKMARK-CLK 2" ]
verdict "np 2, a clock that goes back by a second splits the map"

# a wander of ten times what is assumed: what the report calls broken is not called fit
run 2 3 1 --timer 'sim:base=CPU,wobble={rank}0ppm/1s' --performance-time 100ms --output "$dir/broken"
if has 'BOUND BROKEN: an assumption of it does not hold'; then
	expect_status 1
	expect has '^verdict: sim is NOT fit .*; BOUND BROKEN: the simulated clock of rank 1 is off by'
	expect_line "^tm_verdict = 'NOT fit'\$" "$dir/broken.gnuplot"
	expect_line "^tm_reason = 'BOUND BROKEN: " "$dir/broken.gnuplot"
	verdict "np 2, a broken bound is not fit, in the pictures too"
else
	skip "np 2, a broken bound is not fit, in the pictures too" \
		"this time the machine was so busy that the bound was too wide to break"
fi
# What the scheduler does is not the clock's fault, and says nothing about it.
if taskset -c 0 true 2>/dev/null; then
	ASAN_OPTIONS=$no_leaks timeout 300 "$mpirun" -np 2 taskset -c "$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//')" \
		"$build/timertest" 1 1 \
		--timer CPU --performance-time 100ms --output "$dir/core" >"$dir/out" 2>"$dir/err" </dev/null
	status=$?
	[ $status -eq 3 ] && has '^verdict: CPU is not known to be fit .*ranks 0 and 1 share one core' &&
		case $("$mpirun" --version 2>/dev/null) in *'Open MPI'*) \
		[ "$(grep -c '^timertest: exit status 3 is the result above; what mpirun prints now' "$dir/err")" \
		-eq 1 ] ;; esac
	ok "np 2 on one core: status 3, with the reason" $?
else
	skip "np 2 on one core: status 3, with the reason" "there is no taskset"
fi

# a rate that swings by a tenth: the clocks part during a burst by more than its messages take
run 2 2 1 --timer 'sim:base=CPU,wobble={rank}0%/1s,tick=3ns' --performance-time 100ms --output "$dir/wild"
expect_status 1
expect_not has ' \+- -'
expect has 'certainly in \['
verdict "np 2, a clock that swings by a tenth is not fit, and no interval is turned round"
case $("$mpirun" --version 2>/dev/null) in
*'Open MPI'*)
	expect_status 1
	expect_lines 1 '^timertest: exit status 1 is the result above; what mpirun prints now' "$dir/err"
	verdict "np 2, status 1: one line explains what mpirun prints after it"
	;;
*) skip "np 2, status 1: one line explains what mpirun prints after it" "only Open MPI is known to print such lines" ;;
esac

# A rate that swings by 1 % each 17 ms moves the clock to and fro by 27 us: a burst begins half a millisecond and more
# after a session and is off by microseconds by then, in one direction or the other. And it may wander: the bound is
# wide.
begin order 2 4 1 --timer 'sim:base=CPU,drift={rank}0ppm,wobble={rank}%/17ms,tick=3ns' --max-wander 5% \
	--performance-time 100ms
# a session each 0.9 s, but where none of the first lasted less than 45 ms
target()
{
	rm -rf "$dir/target.d"
	begin target 2 5 5 --timer 'sim:base=CPU,drift={rank}0ppm,tick=3ns' --target-bound 10ms --max-wander 2% \
		--performance-time 100ms --force
}
target
result order
expect truth_ok 2 1000000
expect has \
	'^reversed messages: [0-9]+ of [0-9]+ without correction, [1-9][0-9]* after correction, 0 after moving '\
'[1-9][0-9]* stamps, none beyond its bound, by at most '
verdict "np 2, reversed messages are counted and repaired within the bound"

# a tick of 10 us, in which several messages are sent and received: their order is that of the event counter
run 2 1 1 --timer 'sim:base=CPU,tick=10us' --performance-time 100ms --output "$dir/tick"
"$build/stftool" "$dir/tick.stf" --dump --matched-vtf >"$dir/dump" 2>>"$dir/err"
expect [ "$(grep -c ' MESSAGE ' "$dir/dump")" -gt 100 ]
grep ' MESSAGE ' "$dir/dump" | expect_no_line ' TIME -' -
verdict "np 2, no message of a coarse clock is received before it was sent"
expect_lines 2 '^INFO CLASS [0-9]* TEXT "process [01] 0 [0-9.e-]*' "$dir/dump"
expect "$build/stftool" "$dir/tick.stf" --verify 2>>"$dir/err"
verdict "np 2, the trace says the bound of each process's clock"

for try in 1 2 3; do
	[ $try = 1 ] || target
	result target
	has ', a session was due every (8|9)[0-9][0-9]\.[0-9]ms$' && break
done
expect truth_ok 2 10000000
expect has '^target bound 10\.0ms: (NOT )?kept, the largest bound is .* \(rank 1\), a session was due every [0-9.]+m?s$'
expect [ "$(grep -c '^session middle used 1' "$dir/target.clk")" -ge 4 ]
verdict "np 2, sessions as often as a target bound needs"
run 2 2 1 --timer 'sim:base=CPU,drift={rank}0ppm,tick=3ns' --target-bound 1ns --performance-time 100ms \
	--output "$dir/target" --force
has '^target bound 1\.0ns: cannot be kept, a session alone is certain to \+-'
ok "np 2, a target bound that no session reaches" $?

run 2 1 1 --performance-time 100ms --output "$dir/default"
expect has \
	'^timer: (CPU, because no other was named, and on each node it is proven|clock_monotonic, because no other '\
'was named, and CPU is not proven)'
name=$(sed -n 's/^timer: \([A-Za-z_]*\), because.*/\1/p' "$dir/out") || not_met "name is known"
expect_line "^timer \"$name\"" "$dir/default.clk"
verdict "np 2, without --timer: the cheapest one that is proven"
run 2 1 1 --timer gettimeofday --performance-time 100ms --output "$dir/default" --force
expect_not has '^timer: '
expect_line '^timer "gettimeofday"' "$dir/default.clk"
verdict "np 2, gettimeofday where it is named"

# rank 1 runs fast by 10 ppm: its rate must be among those that were learned; a machine that was too busy shows none
learned=1
for try in 1 2 3; do
	[ $try = 1 ] || learn
	result learned
	has '^learned drift of rank 1: none ' && continue
	has '^learned drift of rank 1, an estimate: its rate stays within \+-[0-9.]+ ppm for ' && awk '
		$1 == "piece" && !scale { scale = $5 / $4 }
		$1 == "learned-rate" { n++; rate = scale / (1 + 10e-6); good += $2 < rate && rate < $3 }
		END { exit !(n == 1 && good == 1) }' "$dir/learned.clk"
	learned=$?
	break
done
ok "np 2, what the run shows of the rate is printed, and is in the .clk file" $learned

run 4 3 1 --timer 'sim:base=CPU,offset={rank}s,drift={rank}0ppm,tick=7.3ns' --performance-time 100ms \
	--output "$dir/four"
ok "np 4" "$(judged; echo $?)"
truth_ok 4 10000
ok "np 4, true error" $?
run 4 3 1 --timer 'sim:base=CPU,offset={rank}s,drift={rank}0ppm,tick=7.3ns' --performance-time 100ms --sync itc \
	--output "$dir/four" --force
truth_ok 4 1000000000
ok "np 4, the guide's round robin: whatever its error, inside its bound" $?
grep -q '^"2 <-> 3"$' "$dir/four.run.dat"
ok "np 4, every pair has its bursts" $?

run 9 1 1 --timer 'sim:base=CPU,offset={rank}s,drift={rank}ppm,tick=7.3ns' --performance-time 20ms --output "$dir/nine"
expect [ "$(wc -l <"$dir/out")" -le 20 ]
expect has '^timer sim, 9 ranks on 1 node, 1 s, [0-9]+ clock sessions$'
# rank 8 counts from 8 s
expect has '^offset before correction: at most 8\.000s \+- [0-9.]+[num]s \(.*, rank 8\)$'
expect has '^drift against rank 0: (at most [78](\.[0-9]+)? ppm fast|not shown by so short a run, at most )'
expect has '^steps of clocks: none$'
expect has '^offset after correction: at most .* \(rank [0-8] on .*, rank [0-8] on .*\), limit .*, latency '
expect has "^all that was found, and a line for each node: $dir/nine\.txt "
expect tail -n 1 "$dir/out" | expect_line '^verdict: sim is ' -
verdict "np 9: one screen, with the rank that is farthest off"
cp "$dir/nine.txt" "$dir/out"
expect has '^\[8 \(.*\)\] performance: '
expect has '^node +ranks +offset +ppm slow '
expect awk -v host="$(hostname)" '$1 == host && $2 == 9 && NF == 11 { n++ } END { exit n != 1 }' "$dir/out"
expect awk '/^"/ { pairs += !($0 in seen); seen[$0] = 1 } END { exit pairs != 36 }' "$dir/nine.run.dat"
expect_lines 1 '^[0-9]*\. recording messages of 36 pairs, \(up to \)\{0,1\}[0-9]* at a time' "$dir/out"
expect_not has '^[0-9]+\. recording messages [0-9]+ <->'
verdict "np 9: each of 36 pairs has its burst, and one line speaks for all"
truth_ok 9 100000
ok "np 9, true error" $?
# where the shell puts the output, a file of that name is left alone and all is printed
cd "$dir" || exit 99
run 5 1 1 --timer clock_monotonic --performance-time 20ms --burst 1 --output here
cp "$dir/out" here.txt
for suffix in stf stf.dcl stf.msg stf.msg.anc clk gnuplot; do
	rm -f "here.$suffix"
done
before=$(cat here.txt)
run 5 1 1 --timer clock_monotonic --performance-time 20ms --burst 1 --output here --force
expect has '^\[4 \(.*\)\] performance: '
expect [ "$(cat here.txt)" = "$before" ]
expect [ -s here.stf ]
rm here.txt
run 5 1 1 --timer clock_monotonic --performance-time 20ms --burst 1 --output here --force --quiet
expect_lines 1 . "$dir/out"
expect_line '^\[4 (.*)\] performance: ' here.txt
run 5 1 1 --timer clock_monotonic --performance-time 20ms --burst 1 --output here --force --verbose 2
expect has '^\[4 \(.*\)\] performance: '
expect has '^[0-9]+\. recording messages 3 <-> 4'
cd - >/dev/null || exit 99
verdict "np 5: the file of all lines replaces its own like, and nothing else"
run 2 2 1 --timer clock_monotonic --performance-time 100ms --output "$dir/shared"
expect has '^clock map of rank 1: that of rank 0, whose clock it shares, which a reading lags by at most '
expect_lines 0 '^sample' "$dir/shared.clk"
verdict "a kernel clock is shared by the ranks of a host"
run 2 2 1 --timer clock_monotonic --synced-host off --performance-time 100ms --output "$dir/shared" --force
expect has '^clock map of rank 1: [0-9]+ of '
expect [ "$(grep -c '^sample' "$dir/shared.clk")" -gt 0 ]
verdict "SYNCED-HOST off exchanges messages all the same"
run 2 2 1 --timer CPU --performance-time 100ms --output "$dir/shared" --force
if has \
	'^clock map of rank 1: that of rank 0, whose clock it shares, proven to within [0-9.]+(ns|us) by the core '\
'matrix$'; then
	expect_lines 0 '^sample' "$dir/shared.clk"
	expect_line '^shared-within [0-9]' "$dir/shared.clk"
	verdict "a counter that the core matrix proves to be one clock is shared"
else
	has \
		'^(core matrix of .*: (not measured|[0-9]+ pairs? of .* ([1-9][0-9]* apart|[1-9][0-9]* not known|'\
'[1-9][0-9]* contradictory))|^clock map of rank 1: [0-9]+ of '
	ok "a counter that the core matrix does not prove to be one clock is calibrated" $?
fi
run 2 1 1 --timer CPU --synced-cluster on --performance-time 100ms --output "$dir/shared" --force
[ "$(grep -c '^sample' "$dir/shared.clk")" -eq 0 ]
ok "SYNCED-CLUSTER on exchanges none" $?

run 2 --timer sundial --performance-time 100ms --output "$dir/wrong"
expect_status 2
expect_lines 1 "unknown timer 'sundial'" "$dir/err"
expect [ -z "$(ls "$dir" | grep wrong)" ]
verdict "an unknown timer on two ranks: one line, status 2, no file"
run 2 --timer 'sim:tick={rank}ns' --performance-time 100ms --output "$dir/wrong"
expect_status 2
expect_line "^timertest: rank 0: timer sim: '0ns' is no value for tick" "$dir/err"
verdict "trouble of one rank ends all, with its number"
run 2 x --output "$dir/wrong"
expect_status 2
expect_lines 1 "is no number of seconds" "$dir/err"
verdict "a bad argument on two ranks is reported once"

# mpirun answers Ctrl-C with a SIGTERM to every rank, a status of its own, and often with SIGKILL before a rank can say
# anything
files=0 lines=0
for try in 1 2 3 4; do
	interrupt INT 5 "$mpirun" -np 2 "$build/timertest" --timer CPU --performance-time 60s --output "$dir/int"
	[ $status -ne 0 ] && [ -z "$(ls "$dir" | grep '^int')" ] || files=1
	lines=$(grep \
		-Ec '^timertest: interrupted by SIG(INT|TERM) after [0-9]+ s: there is no result, and no file was '\
'written' "$dir/err")
	[ "$lines" -eq 0 ] || break
done
ok "Ctrl-C under mpirun: no file" $files
if [ "$lines" -eq 0 ]; then
	skip "Ctrl-C under mpirun: one line" \
		"this time mpirun killed rank 0 before it could print, in $try of $try runs"
else
	[ "$lines" -eq 1 ]
	ok "Ctrl-C under mpirun: one line" $?
fi

VT_TIMER=LIST VT_VERBOSE=2
export VT_TIMER VT_VERBOSE
run 2
unset VT_TIMER VT_VERBOSE
expect_status 0
expect_lines 1 '^MPI_Wtime  *1.000ns' "$dir/out"
expect has "^$(hostname):\$"
verdict "VT_TIMER=LIST with VT_VERBOSE=2: once per node"

run 2 1 1 --timer gettimeofday --synced-host off --performance-time 100ms --output "$dir/json" --json -
if grep -q 'built without jansson\|has no jansson' "$dir/err"; then
	skip "--json" "this build has no jansson"
elif [ "$PYTHON3" = no ]; then
	skip "--json" "no python3 to read it with"
else
	"$PYTHON3" - "$dir/out" $status "$dir/json.gnuplot" <<'EOT'
import json, sys
j = json.load(open(sys.argv[1]))
v = j["verdict"]
assert j["schema"] == "timertest/1" and len(j["ranks"]) == 2
assert v["status"] == {0: "fit", 1: "unfit", 3: "unknown"}[int(sys.argv[2])] and v["exit_status"] == int(sys.argv[2])
# the tick of a microsecond is longer than a message takes: the same sentence everywhere
assert v["reason"] == v["reasons"][0]["text"] and v["reason"] in v["text"] and v["reasons"][0]["value"] == v["status"]
assert "tm_reason = '%s'" % v["reason"].replace("'", "''") in open(sys.argv[3]).read()
u = j["ranks"][1]["sync"]["before_correction"]
assert u["low_s"] <= u["offset_s"] <= u["high_s"] and abs(u["offset_s"]) < 1 and j["ranks"][0]["sync"]["before_correction"]["low_s"] is None
assert j["ranks"][1]["sync"]["bound_between_proven_s"] >= j["ranks"][1]["sync"]["bound_between_assumed_s"] > 0
assert j["ranks"][0]["sync"]["bound_between_proven_s"] is None
assert j["bursts"] and j["bursts"][0]["low_s"] <= j["bursts"][0]["offset_s"] <= j["bursts"][0]["high_s"]
assert j["ranks"][0]["timer"]["effective_tick_s"] > 0 and j["ranks"][1]["sync"]["bound_s"] > 0
EOT
	ok "--json - is JSON and nothing else" $?
fi

# one latency per run: the picture says that of the verdict
run 2 1 1 --performance-time 100ms --output "$dir/latency"
latency=$(sed -n 's/^verdict: .* latency \([0-9.]* [mun]*s\|below resolution\)\(;.*\)*$/\1/p' "$dir/out")
if [ -n "$latency" ] && grep -q "^tm_latency = '$latency'\$" "$dir/latency.gnuplot"; then
	if command -v gnuplot >/dev/null 2>&1; then
		gnuplot -e 'tm_format="svg"' "$dir/latency.gnuplot" >"$dir/out" 2>&1 &&
			[ "$(grep -o 'latency [0-9.]* [mun]*s\|latency below resolution' "$dir/latency.run.svg")" = \
			"latency $latency" ]
	fi
else
	false
fi
ok "verdict and picture: the same latency, once" $?

# ---- two hosts with different monotonic clocks ----

ASAN_OPTIONS=$no_leaks sh "$src/tests/mpi/netns.sh" -o 1000 -- "$mpirun" -np 2 "$build/timertest" 3 1 \
	--timer clock_monotonic \
	--performance-time 100ms --output "$dir/hosts" >"$dir/out" 2>"$dir/err" </dev/null
status=$?
if [ $status -eq 77 ]; then
	skip "two hosts" "$(tail -n 1 "$dir/err")"
else
	ok "two hosts" "$(judged; echo $?)"
	expect has '^\[1 \(node1\)\] '
	expect has '^clock map of rank 1: [0-9]+ of '
	verdict "two hosts: the ranks exchange messages"
	# both count on from the same moment, 1000 s apart; the words between are the bound
	awk '/^clock of rank 1 \(node1\) before correction: / { n++; off = $8; bound = $NF
		sub(/s$/, "", off) || off = 0
		in_s = bound ~ /ns$/ ? 1e-9 : bound ~ /us$/ ? 1e-6 : bound ~ /ms$/ ? 1e-3 : 1
		bound = (bound + 0) * in_s + 1e-6
		if (off - 1000 > bound || 1000 - off > bound) { printf "# %s, bound %s\n", off, bound; wrong++ } }
	END { exit n != 1 || wrong }' "$dir/out"
	ok "two hosts: the 1000 s before correction are printed, with their bound" $?
	# both clocks tick alike and are 1000 s apart by construction: when node1 shows L, node0 shows 1000 s less
	awk '/^rank /{r=$2} /^end-rank/{r=-1} /^piece/{L[r]=$2; G[r]=$3; len[r]=$4; rise[r]=$5} /^global-period/{p=$2}
	/^node /{n++; at[n]=$2; said[n]=$3; low[n]=$4; high[n]=$5}
	END { for (k = 1; k <= n; k++) {
			truth = G[0] + (at[k] - 1e12 - L[0]) * rise[0] / len[0]
			printf "# session %d: %+.9f s off, certain to lie in [%+.9f, %+.9f] s\n", k,
			(said[k] - truth) * p,
				(low[k] - truth) * p, (high[k] - truth) * p
			wrong += low[k] > truth || high[k] < truth || (high[k] - low[k]) * p > 10
		}
		exit !(n >= 3 && !wrong) }' "$dir/hosts.clk"
	ok "two hosts: 1000 s are found, inside what is certain" $?
fi

done_testing

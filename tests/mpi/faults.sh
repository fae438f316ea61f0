#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Bad conditions over real messages: a rank that is stopped for seconds, for good, or killed; ranks with different
# timers; ranks synchronised as a tree. No hang, no wrong bound, no half results. TAP. Needs mpirun.
# shellcheck source=lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/mpi/lib.sh"
ASAN_OPTIONS=$no_leaks
export ASAN_OPTIONS
clocks='sim:base=CPU,offset={rank}ms,drift={rank}0ppm,tick=7.3ns'

if [ ! -x "$build/timertest" ] || ! command -v "$mpirun" >/dev/null; then
	skip_all "this build has no MPI"
fi

# Every rank but the master printed its true error, and none was outside of its bound.
all_inside() # all_inside RANKS
{
	[ "$(grep -c '^true error of rank .*inside its bound everywhere$' "$dir/out")" -eq $(($1 - 1)) ] &&
		! grep -q 'BOUND BROKEN' "$dir/out"
}

has()
{
	grep -Eq -- "$1" "$dir/out"
}

run() # run NP ARGUMENTS...
{
	np=$1
	shift
	timeout 300 "$mpirun" -np "$np" "$build/timertest" "$@" >"$dir/out" 2>"$dir/err" </dev/null
	status=$?
}

# ---- trees ----

for np in 3 6; do
	run $np 2 1 --verbose 2 --topology tree --burst 2 --performance-time 50ms --timer "$clocks" \
		--output "$dir/tree$np"
	all_inside "$np"
	ok "np $np as a tree: every bound holds" $?
done
# by the narrowest ways, which are longer than the plan's where messages were held up
expect has '^tree: [0-9]+ exchanges a session, at most [1-5] between a rank and the master; '
expect [ "$(grep -c '^edge ' "$dir/tree6.clk")" -gt 20 ]
verdict "the exchanges of the tree are printed, and are in the correction data"
run 2 1 1 --topology ring --output "$dir/ring"
expect_status 2
expect_line "^timertest: --topology 'ring': auto, star and tree are known\$" "$dir/err"
verdict "an unknown topology"

# ---- different timers ----

if starts_several; then
	one="--performance-time 50ms --burst 5 --output $dir/mixed"
	# shellcheck disable=SC2086
	timeout 300 "$mpirun" -np 1 "$build/timertest" 1 1 --timer CPU $one : \
		-np 1 "$build/timertest" 1 1 --timer clock_monotonic $one : \
		-np 1 "$build/timertest" 1 1 --timer CPU $one >"$dir/out" 2>"$dir/err" </dev/null
	status=$?
	expect_line 'rank 0 with CPU, rank 1 with clock_monotonic (replaced by that of rank 0)$' "$dir/err"
	expect_lines 1 'different timers' "$dir/err"
	expect has '^verdict: CPU is '
	expect_not has '^verdict: .*NOT fit .*reads'
	expect_lines 3 '^timer "CPU"' "$dir/mixed.clk"
	verdict "a rank with another timer takes that of rank 0, and one message says so"
else
	skip "a rank with another timer takes that of rank 0, and one message says so" "$several_why"
fi

# ---- ranks that stop ----

# The ranks leave their process ids; the signal comes when the first messages have been recorded.
cat >"$dir/wrap" <<'EOF'
#!/bin/sh
echo $$ >"$PIDS/${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"
exec "$@"
EOF
chmod +x "$dir/wrap"

# Waits for $job. mpirun itself sometimes waits for ever for ranks that are all gone: after 20 s of that it is ended.
wait_for_job()
{
	alone=0
	while [ $alone -lt 200 ] && kill -0 $job 2>/dev/null; do
		sleep 0.1
		alone=$((alone + 1))
		for pid in $(cat "$dir"/pids/*); do
			! kill -0 "$pid" 2>/dev/null || alone=0
		done
	done
	[ $alone -lt 200 ] || kill $job
	wait $job
	status=$?
}

# during SIGNAL RANK SECONDS MPIRUN-OPTION ARGUMENTS...: sends it, and SIGCONT so many seconds later (0: never)
during()
{
	signal=$1 rank=$2 stopped=$3 option=$4
	shift 4
	# what the run before printed must not be taken for this one's
	rm -rf "$dir/pids" "$dir/out" && mkdir "$dir/pids" && : >"$dir/out"
	PIDS=$dir/pids
	export PIDS
	# shellcheck disable=SC2086
	timeout -k 5 200 "$mpirun" $option -np 4 "$dir/wrap" "$build/timertest" --timer "$clocks" \
		--performance-time 50ms --burst 2 "$@" >"$dir/out" 2>"$dir/err" </dev/null &
	job=$!
	until has '^1\. recording messages' || ! kill -0 $job 2>/dev/null; do
		sleep 0.05
	done
	pid=$(cat "$dir/pids/$rank")
	kill "-$signal" "$pid"
	begin=$(date +%s)
	if [ "$stopped" != 0 ]; then
		sleep "$stopped"
		kill -CONT "$pid"
	fi
	wait_for_job
	took=$(($(date +%s) - begin))
}

for shape in star tree; do
	during STOP 2 2 '' 5 0.2 --topology $shape --output "$dir/nap.$shape"
	expect judged
	expect all_inside 4
	verdict "a rank that stands still for 2 s, $shape: it is waited for, and every bound holds"
done

# On a busy machine a rank that is well may have to wait for its core for some 100 ms. The run would last for 100 s.
during STOP 2 0 '' 100 0.2 --patience 1s --output "$dir/stop"
# mpirun ends the stopped process with the others
expect [ $status -ne 0 ]
expect [ $status -ne 124 ]
expect [ $took -lt 60 ]
expect_line -E '^timertest: rank [0-9]: rank 2 did not .*is it stopped, or has it died\? \(--patience\)$' "$dir/err"
verdict "a rank that is stopped for good is named, and the run ends"
! ls "$dir"/stop.* >/dev/null 2>&1
ok "and leaves no files" $?

during KILL 2 0 '' 100 0.2 --output "$dir/kill"
expect [ $status -ne 0 ]
expect [ $status -ne 124 ]
expect [ $took -lt 60 ]
expect_not ls "$dir"/kill.* >/dev/null 2>&1
verdict "a rank that is killed: the run ends, without files"

# where the launcher lets the others live, they have to find out themselves
# and those who wait where all meet wait for twelve times as long, one after another; the run would last for 100 s
name="a rank that is killed behind a launcher that does not mind: it is named, and the run ends"
case $("$mpirun" --version 2>/dev/null) in
*'Open MPI'*)
	during KILL 2 0 --enable-recovery 100 0.2 --patience 1s --output "$dir/alone"
	[ $status -ne 124 ] && [ $took -lt 80 ] && grep -Eq '^timertest: rank [0-9]: rank 2 did not ' "$dir/err" &&
		! ls "$dir"/alone.* >/dev/null 2>&1
	rc=$?
	echo "# it took $took s"
	[ $rc -eq 0 ]
	ok "$name" $?
	;;
*) ok "$name # SKIP this MPI ends all ranks with the first, also with -disable-auto-cleanup" 0 ;;
esac

done_testing

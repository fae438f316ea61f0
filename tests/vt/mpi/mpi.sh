#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2012
# libVT under an MPI launcher: one corrected trace of all ranks, with every value, whatever the program calls and
# however it ends; and the program as it is without. TAP.
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"

# ---- values ----

# what each rank said that it recorded is in the trace, no more and no less
comes_back() # comes_back RANKS PROGRAM ARGUMENTS...
{
	SAY=$dir/say run "$@"
	rc=$?
	cat say.* 2>/dev/null | awk '{ for (i = 6; i <= 8; i++) $i = tolower($i) } 1' | LC_ALL=C sort >want
	samples "${2#./}.stf" | LC_ALL=C sort >have
	[ $rc -eq 0 ] && [ -s want ] && one_trace "${2#./}" "$1" && diff want have >>out
}

# those of the same MPI
mpicxx=$(echo "$MPICC" | sed 's/mpicc\([^/]*\)$/mpicxx\1/')
mpifort=$(echo "$MPICC" | sed 's/mpicc\([^/]*\)$/mpifort\1/')
for language in C C++; do
	compiler=$MPICC
	[ $language = C ] || compiler=$mpicxx # to which each source is one in C++
	if ! command -v "$compiler" >/dev/null; then
		skip "every format, scope and target from $language" "no $compiler here"
		continue
	fi
	mpi_compile "$compiler" api/programs/kinds.c kinds -DWITH_MPI -D_GNU_SOURCE -lVT -pthread
	ok "a VT program in $language compiles" $?
	for n in 1 2 4; do
		for threads in 0 2; do
			comes_back $n ./kinds $threads
			ok \
				"$language: every format, scope and target comes back from $n ranks with $threads \
threads more in each" $?
		done
	done
done
if [ "${FC:-no}" != no ] && command -v "$mpifort" >/dev/null &&
	mpi_compile "$mpifort" mpi/fortran/mpi_kinds.f90 fkinds -lVT; then
	for n in 1 2 4; do
		comes_back $n ./fkinds
		ok "Fortran: every format, scope and target comes back from $n ranks" $?
	done
else
	skip "every format, scope and target from Fortran" "no mpifort, or no Fortran compiler, here"
fi
clean
SAY=$dir/say timeout 300 "$MPIRUN" -np 2 ./kinds 1 >out 2>&1
rc=$?
cat say.* 2>/dev/null | LC_ALL=C sort >want
samples kinds.stf | LC_ALL=C sort >have
expect [ $rc -eq 0 ]
expect one_trace kinds 2
expect_same want have
verdict "linked with -lVT and not started by vtrun it is recorded too"
mpi_compile "$MPICC" api/programs/kinds.c kinds -DWITH_MPI -D_GNU_SOURCE -lVTnull -pthread
SAY=$dir/say run 2 ./kinds 1
rc=$?
cat say.* 2>/dev/null | LC_ALL=C sort >want
samples kinds.stf | LC_ALL=C sort >have
expect [ $rc -eq 0 ]
expect one_trace kinds 2
expect_same want have
verdict "linked with -lVTnull and started by vtrun, as well"
if [ "${FC:-no}" != no ] && command -v "$mpifort" >/dev/null &&
	mpi_compile "$mpifort" mpi/fortran/mpi_fortran.f90 ring -lVT; then
	run 3 ./ring && one_trace ring 3 && samples ring.stf | awk '{ print $1, $NF }' >have
	expect [ "$(wc -l <have)" -eq 30 ]
	expect [ "$(sort -u have | wc -l)" -eq 30 ]
	verdict "MPI and VT from Fortran"
else
	skip "MPI and VT from Fortran" "no mpifort, or no Fortran compiler, here"
fi

# ---- the program's locale ----

mpi_compile "$MPICC" mpi/programs/mpi_locale.c locale -lVT
mkdir -p "$dir/locales"
if command -v localedef >/dev/null && { localedef -c -i de_DE -f UTF-8 "$dir/locales/de_DE.UTF-8" >out 2>&1 ||
	[ -e "$dir/locales/de_DE.UTF-8/LC_NUMERIC" ]; }; then
	for by in vtrun itself; do
		clean
		# an MPI on several hosts passes no variables of its own accord, so the ranks set them
		run_in='LOCPATH=$1/locales LC_ALL=de_DE.UTF-8; export LOCPATH LC_ALL; shift; exec "$@"'
		if [ $by = vtrun ]; then
			set -- "$vtrun" --
		else
			set --
		fi
		timeout 100 "$MPIRUN" -np 2 sh -c "$run_in" - "$dir" "$@" ./locale >out 2>&1
		rc=$?
		"$build/stftool" locale.stf --print-clock --print-counters >there 2>&1
		"$build/stftool" locale.stf --dump >dump 2>&1
		grep -Eh '(^|[^0-9])[0-9]+,[0-9]' locale.prot there dump >commas
		cat commas >>out
		expect [ $rc -eq 0 ]
		expect_lines 2 '^0,5$' out
		expect_line '1234\.5' dump
		expect_empty commas
		expect_not grep 'Tickmark.*[0-9],[0-9]' out
		verdict "started by $by: no number is written as the program's locale has it"
	done
else
	skip "no number is written as the program's locale has it" "localedef has no de_DE (Debian: locales)"
fi

# ---- time ----
# On one node; hosts.sh has two, whose clocks really differ.

mpi_compile "$MPICC" clocks/programs/mpi_pingpong.c pp -lVT
for sync in '' sync; do
	for timer in CPU clock_monotonic; do
		# shellcheck disable=SC2086
		VT_TIMER=$timer expect run 4 ./pp $sync
		expect one_trace pp 4
		expect in_order pp.stf pp.clk 1200
		verdict \
			"no message of a ping-pong is reversed by more than the stated bound: timer \
$timer${sync:+, with VT_timesync}"
	done
done
# The four end one after the other, and none counts the node again for that.
node_is_read_once() # of the run before
{
	"$build/xstftool" pp.stf 2>out | awk '$1 == "CLKPERIOD" { unit = $2 }
		$1 == "DURATION" { seconds = ($3 - $2) * unit } / SAMP CPU .* DEF "OS:cpu_usr" / { n++; print }
		END { print n, "samples in", seconds, "s"; exit !(n >= 1 && n <= seconds + 2) }' >node && return
	cut -c 1-80 node | sed 's/^/# /'
	return 1
}
node_is_read_once
ok "the node's counters come once a second and at both ends, from one rank" $?
# Whoever comes while the first is about to listen waits for it. A sampler of its own would read the node as well.
clean
# shellcheck disable=SC2086
expect ${CC:-cc} -shared -fPIC "$here/mpi/programs/mpi_late.c" -o liblate.so -ldl
expect timeout 300 "$MPIRUN" -np 4 env LD_PRELOAD="$dir/liblate.so" "$vtrun" -- ./pp >out 2>&1
expect one_trace pp 4
expect node_is_read_once
verdict "and from one sampler where ranks come before the first one listens"
# Each rank's account is for those who ask; the worst of them, which rank 0 prints, must be one of them.
VT_VERBOSE=2 expect run 4 ./pp
expect_lines 4 'INFO: sampler used [0-9]' out
expect awk '
	/INFO: sampler used [0-9]/ { rank = substr($1, 2) + 0; cpu[rank] = $6; tick[rank] = $11;
	sub(",", "", tick[rank]) }
	/INFO: sampler used at most/ { n++; said_cpu = $8; cpu_rank = $11 + 0; said_tick = $14; tick_rank = $16 + 0;
	ranks = $(NF - 1) }
	END {
		for (r in cpu) {
			bad += cpu[r] + 0 > said_cpu + 0
		}
		exit !(n == 1 && ranks == 4 && !bad && cpu[cpu_rank] == said_cpu && tick[tick_rank] == said_tick)
	}' out
verdict "one line says how much the sampler of the worst rank used"

# Clocks that wander, each rank's own, over one that all can read: with sessions in between they stay together.
mpi_compile "$MPICC" clocks/programs/mpi_truth.c truth -lVT
wander() # wander TENTHS MODE: the largest error of a rank, in nanoseconds, in error
{
	clean
	# shellcheck disable=SC2016
	timeout 120 "$MPIRUN" -np 3 sh -c 'r=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
		VT_TIMER=sim:base=clock_monotonic,offset=$((r * 37))ms,drift=$((r * 20))ppm,wobble=$((r * 200))ppm/1s
		export VT_TIMER
		exec "$0" -- ./truth "$@"' "$vtrun" "$@" >out 2>&1 && one_trace truth 3
	rc=$?
	"$build/tests/vt/lib/truth" truth.stf truth.clk >truths 2>&1
	inside=$?
	cat truths >>out
	awk '/error/ { e = $4 < 0 ? -$4 : $4; if (e > worst) worst = e }
		END { printf "%d\n", worst * 1000 }' truths >error
	return $rc
}
# How much better depends on how soon the threads get a core: only CALM machines are held to it.
wander 10 single
alone=$(cat error)
VT_VERBOSE=2 VT_SYNC_PERIOD=50ms expect wander 10 multiple
expect [ $inside -eq 0 ]
expect_line -x 'INFO SESSIONS by a thread inside the program: SYNC-PERIOD 50ms' truth.prot
expect [ "$(sed -n 's/.* \([0-9]*\) clock sessions in the background$/\1/p' out)" -ge 1 ]
{ [ -z "${CALM:-}" ] || [ "$(($(cat error) * 5))" -lt "$alone" ]; } ||
	not_met '{ [ -z "${CALM:-}" ] || [ "$(($(cat error) * 5))" -lt "$alone" ]; }'
verdict "SYNC-PERIOD: sessions in the background, and the truth inside the bound"
echo "# error $alone ns without, $(cat error) ns with"
VT_SYNC_PERIOD=50ms expect wander 5 multiplesync
expect [ $inside -eq 0 ]
{ [ -z "${CALM:-}" ] || [ "$(($(cat error) * 5))" -lt "$alone" ]; } ||
	not_met '{ [ -z "${CALM:-}" ] || [ "$(($(cat error) * 5))" -lt "$alone" ]; }'
verdict "and VT_timesync beside them"

# ---- programs that know nothing of it ----

mpi_compile "$MPICC" mpi/programs/mpi_plain.c plain -pthread
for what in '' thread twice; do
	# shellcheck disable=SC2086
	timeout 300 "$MPIRUN" -np 4 ./plain $what 2>&1 | LC_ALL=C sort >without
	# shellcheck disable=SC2086
	run 4 ./plain $what && diff without output >>out && one_trace plain 4 &&
		for r in 0 1 2 3; do
			"$build/tests/vt/lib/samples" plain.stf | grep -qE "^$r:0 [A-Za-z_]+:" ||
				echo "no counter of rank $r" >>out
		done && ! grep -q '^no counter' out
	ok "the same output and counters of all ranks${what:+: $what}" $?
done

# ---- options ----

expect run 4 ./plain --itc-args --logfile-name named.stf --stf-procs-per-file 2 --itc-args-end
expect one_trace named 4
expect ls named.stf.c.1* >>out 2>&1
verdict "--itc-args on the program's command line, several files"
VT_LOGFILE_FORMAT=SINGLESTF run 2 ./plain && one_trace plain.single 2
expect [ -s plain.single.stf ]
expect "$build/stftool" plain.single.stf --verify >>out 2>&1
verdict "LOGFILE-FORMAT SINGLESTF"
mpi_compile "$MPICC" api/programs/kinds.c kinds -DWITH_MPI -D_GNU_SOURCE -lVT -pthread
SAY=$dir/say VT_PROCESS='0:N off 1:N:2 on' run 4 ./kinds
samples kinds.stf | cut -d' ' -f1 | grep : | grep -v g: | cut -d: -f1 | sort -u | tr '\n' ' ' >have
expect_text '1 3 ' have
expect one_trace kinds 4
verdict "PROCESS leaves out the even ranks"
VT_PROCESS='0:N off 1:N:2 on' run 4 ./plain wait 5
"$build/tests/vt/lib/samples" plain.stf -t 2>>out |
	awk '$2 ~ /^[0-9]+:0$/ { last[$2] = $1 } END { for (r in last) print r, last[r] }' >have
# while MPI_Init lasted the sampler did not know it yet; the program runs for half a second after it
cat have >>out
expect awk '{ last[$1] = $2 } END { exit !(last["0:0"] + 0.4 < last["1:0"] && last["2:0"] + 0.4 < last["3:0"]) }' have
expect one_trace plain 4
verdict "and counters of a rank that is off are not sampled"
SAY=$dir/say VT_PROCESS='0:1 discard' run 4 ./kinds
samples kinds.stf | cut -d' ' -f1 | grep : | grep -v g: | cut -d: -f1 | sort -u | tr '\n' ' ' >have
expect_text '2 3 ' have
expect one_trace kinds 4
verdict "PROCESS discard leaves out two ranks"
SAY=$dir/say VT_CLUSTER='0 off' run 2 ./kinds
samples kinds.stf | cut -d' ' -f1 | grep : | expect_no_line -v g: -
expect one_trace kinds 2
verdict "CLUSTER leaves out all ranks of a host"
SAY=$dir/say VT_CLUSTER='1:N off' run 2 ./kinds
cat say.* 2>/dev/null | LC_ALL=C sort >want
samples kinds.stf | LC_ALL=C sort >have
expect [ -s want ]
expect_same want have
expect one_trace kinds 2
verdict "and none of those of another"
for unify in on off; do
	SAY=$dir/say VT_UNIFY_COUNTERS=$unify run 4 ./kinds && one_trace kinds 4
	"$build/xstftool" kinds.stf 2>>out | grep -c '^DEFCOUNTER ' >counters.$unify
done
# those of the ranks' own, not of what each host has once
echo "$(cat counters.on) counters, $(cat counters.off) when off" >>out
expect [ "$(cat counters.on)" -gt 0 ]
expect [ "$(cat counters.off)" -gt "$(($(cat counters.on) * 3))" ]
verdict "UNIFY-COUNTERS off: each rank defines its own"
for unify in on off; do
	VT_GROUP='odd 1:N:2' VT_UNIFY_GROUPS=$unify run 4 ./plain && one_trace plain 4
	"$build/xstftool" plain.stf 2>>out | grep -c '^DEFGROUP odd ' >groups.$unify
done
expect [ "$(cat groups.on)" -eq 1 ]
expect [ "$(cat groups.off)" -eq 4 ]
verdict "UNIFY-GROUPS off: each rank defines its own"
# shellcheck disable=SC2086
"$MPICC" $san -g -I"$src/include" "$here/mpi/programs/mpi_unify.c" -o unify -L"$lib" -lVT -Wl,-rpath,"$lib" >out 2>&1
have=
for unify in on off; do
	VT_UNIFY_SYMBOLS=$unify run 4 ./unify && one_trace unify 4 && have="$have \
$("$build/stftool" unify.stf --dump | grep -c '^DEFFUNCTION.*"work"')"
	VT_UNIFY_SCLS=$unify run 4 ./unify && one_trace unify 4 && have="$have \
$("$build/stftool" unify.stf --dump | grep -c '^DEFSCL.* LINE 1 7 ')"
done
echo "functions and source locations, unified and not:$have" >>out
[ "$have" = ' 1 1 4 4' ]
ok "UNIFY-SYMBOLS off, UNIFY-SCLS off: each rank defines its own" $?
VT_SYNC_PERIOD=1s expect run 2 ./plain
expect one_trace plain 2
expect_lines 1 'WARNING: SYNC-PERIOD 1s: .*MPI_THREAD_MULTIPLE' out
expect_no_line '^INFO SESSIONS' plain.prot
verdict "where MPI does not let them, the reason is reported once"
SAY=$dir/say VT_LOGFILE_RANK=2 run 4 ./kinds
rc=$?
cat say.* 2>/dev/null | LC_ALL=C sort >want
samples kinds.stf | LC_ALL=C sort >have
expect [ $rc -eq 0 ]
expect one_trace kinds 4
expect_same want have
expect_line '^\[2\] Tickmark INFO: Writing tracefile ' out
expect_lines 1 'Writing tracefile' out
verdict "LOGFILE-RANK writes the trace"
VT_LOGFILE_RANK=2 expect run 2 ./plain
expect one_trace plain 2
expect_lines 1 'WARNING: LOGFILE-RANK 2: there are 2 ranks' out
verdict "LOGFILE-RANK that is none"
VT_GROUP='odd 1:N:2' run 4 ./plain
"$build/xstftool" plain.stf 2>>out | grep '^DEFGROUP odd ' >have
expect [ "$(wc -l <have)" -eq 1 ]
expect_line ' 0:1 .*0:3' have
expect_no_line -E ' [0-9]+:[02]( |$)' have
verdict "GROUP, once for all ranks"
VT_STATE='MPI:MPI_Bcast ENTRY 1:3:2 traceoff' expect run 4 ./plain
expect one_trace plain 4
"$build/stftool" plain.stf --dump 2>>out | expect awk '
	$2 == "ENTER" && $4 <= 4 { n[$4 - 1]++ } END { exit !(n[1] > 0 && n[1] == n[3] && n[0] > n[1] &&
	n[0] == n[2]) }'
verdict "a trigger of ranks 1 and 3"
expect run 2 ./plain
expect_line '^INFO NUMPROCS 2$' plain.prot
expect_lines 2 '^INFO PROCESS ' plain.prot
expect_line -E '^INFO CLUSTERDEF [^" ]+ 0:[0-9]+ 1:[0-9]+$' plain.prot
expect_line '^INFO BINMODE ' plain.prot
verdict "the protocol names all processes"
VT_VERBOSE=2 VT_TIMER=clock_monotonic expect run 3 ./plain
expect_line '^INFO SYNCED-HOST on found' plain.prot
expect_line '^INFO SYNCED-CLUSTER off found$' plain.prot
expect_line 'INFO: SYNCED-HOST on (found.*: 0 of 2 ranks exchange messages' out
VT_VERBOSE=2 VT_TIMER=clock_monotonic VT_SYNCED_HOST=off expect run 3 ./plain
expect_line '^INFO SYNCED-HOST off given$' plain.prot
expect_line 'INFO: SYNCED-HOST off (given).*: 2 of 2 ranks exchange messages' out
verdict "what was found of SYNCED-HOST is reported"
# at most so many exchanges of a pair, so long; a first batch of 24 is always made. On a busy machine the default can
# leave out more of them
exchanged() # exchanged VARIABLE=VALUE...: exchanges of the first session and the last
{
	(export VT_SYNCED_HOST=off "$@" && run 2 ./plain) && one_trace plain 2 &&
		sed -n 's/^session .* samples \([0-9]*\) .*/\1/p' plain.clk | tr '\n' ' '
}
for try in 1 2 3 4 5; do
	all=$(exchanged VT_SYNC_MAX_MESSAGES=100) && [ "${all%% *}" -gt 24 ] && break
done && [ "$(exchanged VT_SYNC_MAX_MESSAGES=30)" = "24 24 " ] && [ "$(exchanged VT_SYNC_MAX_DURATION=1us)" = "24 24 " \
	] && [ "$(exchanged VT_SYNC_MAX_DURATION=0)" = "24 24 " ] &&
	[ "$(exchanged VT_SYNC_MAX_DURATION=-1s)" = "24 24 " ] &&
	[ -z "$(exchanged VT_SYNCED_CLUSTER=on)" ] && grep -q '^INFO SYNCED-CLUSTER on given$' plain.prot
ok "SYNC-MAX-MESSAGES, SYNC-MAX-DURATION and SYNCED-CLUSTER: ${all}exchanges, 24 with either limit, none of one clock" \
	$?
VT_SYNC_MAX_MESSAGES=70 expect run 2 ./plain
expect_line '^SYNC-MAX-MESSAGES 70$' plain.prot
expect_no_line '^SYNC-MAX-MESSAGES 100$' plain.prot
grep -A1 '^# default$' plain.prot | grep -v '^--' | sed -n 's/^\(# \)\{0,1\}\([A-Z][-A-Z]*\).*/\2/p' |
	expect grep \
	-cxE \
	'CLUSTER|GROUP|PROCESS|SYNC-MAX-DURATION|SYNC-PERIOD|SYNCED-CLUSTER|SYNCED-HOST|TIMER-SKIP|UNIFY-COUNTERS|'\
'UNIFY-GROUPS' >have
expect [ "$(cat have)" -eq 10 ]
verdict "and the job's options that were not given"
# How many threads of a rank were seen, helpers of MPI among them, differs from run to run.
ranks_of_groups()
{
	awk '$1 == "DEFGROUP" && ($2 == "low" || $2 == "both") {
		split("", seen)
		line = $2
		for (i = 5; i <= NF; i++) { sub(/^[0-9]+:/, "", $i); if (!seen[$i]++) line = line " " $i }
		print line
	}'
}
printf 'GROUP low 0\nGROUP both low,1\n' >conf
for config in conf protocol; do
	VT_CONFIG=$dir/$config run 2 ./plain && one_trace plain 2 && "$build/xstftool" plain.stf 2>>out |
		ranks_of_groups >"groups.$config"
	cp plain.prot protocol
done
cat groups.* >>out
expect_text 'low 0
both "low" 1' groups.conf
expect_same groups.conf groups.protocol
verdict "the protocol as a configuration file: the same once more, groups of groups too"

# ---- ends that are none ----

# written RANKS: the sampler process makes one sound trace of so many ranks, and says in the protocol how it ended
written()
{
	wait_for 60 [ -e plain.stf ]
	wait_for 60 no_raw_files
	! ls .VT-flush-*.raw >>out 2>&1 && "$build/stftool" plain.stf --verify >>out 2>&1 &&
		grep -q '^INFO ENDED' plain.prot &&
		[ "$("$build/xstftool" plain.stf 2>>out | sed -n 's/^NCPUS //p' | wc -w)" -eq "$1" ]
}
run 4 ./plain abort
rc=$?
expect [ $rc -eq 7 ]
expect written 4
verdict "MPI_Abort: its exit status, and a trace"
run 4 ./plain exit
rc=$?
expect [ $rc -ne 0 ]
expect written 4
verdict "a rank that exits early"
for moment in 0 0.3 0.6; do
	clean
	# it runs for half a minute unless it is killed; mpirun itself sometimes waits for ever for ranks that are all
	# gone
	timeout -k 5 100 "$MPIRUN" -np 4 "$vtrun" -- ./plain wait 300 >out 2>&1 &
	launcher=$!
	tries=0
	until [ "$(ls .VT-flush-*.raw 2>/dev/null | wc -l)" -eq 4 ] || [ $tries -ge 250 ]; do
		tries=$((tries + 1))
		sleep 0.1
	done
	sleep $moment
	victim=$(ls .VT-flush-*_2-*.raw 2>/dev/null | sed 's/.*-\([0-9]*\)\.raw$/\1/')
	[ -n "$victim" ] && kill -9 "$victim"
	wait $launcher
	written 4
	ok "SIGKILL of one rank $moment s after all have begun" $?
done

# ---- threads, signal handlers and descriptors ----

if [ -n "$san" ]; then
	skip "threads, signal handlers and descriptors of a rank" "sanitizers have some of their own"
elif "$MPICC" "$here/mpi/programs/mpi_beside.c" -o beside >out 2>&1 &&
	"$MPICC" "$here/mpi/programs/mpi_beside.c" -o besidevt -Wl,--no-as-needed -L"$lib" \
	-lVT -Wl,-rpath,"$lib" >out 2>&1; then
	timeout 100 "$MPIRUN" -np 2 ./beside 2>/dev/null | grep -E '^(rank|child) ' | sort >without
	for how in vtrun -lVT; do
		clean
		if [ $how = vtrun ]; then
			timeout 100 "$MPIRUN" -np 2 "$vtrun" -- ./beside >out 2>&1
		else
			timeout 100 "$MPIRUN" -np 2 ./besidevt >out 2>&1
		fi
		expect [ -s without ]
		grep -E '^(rank|child) ' out | sort | expect diff without - >>out
		expect ls beside*.stf >>out
		verdict \
			"$how: a rank and its child have the threads, signal handlers and descriptors that they have \
without"
	done
fi

done_testing

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Counters at state changes against what is true then: every enabled counter of thread and process, at every event of
# every thread, with values that are right and never go back. TAP.
if [ -e "${top_builddir:-.}/.libs/libVT.so" ] && [ "${MPIRUN:-no}" != no ]; then
	. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"
else
	. "${top_srcdir:-.}/tests/vt/lib/lib.sh"
	cd "$dir" || exit 99
fi
VT_LOGFILE_PREFIX=$dir VT_LOGFILE_NAME=t.stf VT_FLUSH_PREFIX=$dir VT_FORCE=on VT_SAMPLE_BUDGET=100% VT_CONFIG=$dir/conf
export VT_LOGFILE_PREFIX VT_LOGFILE_NAME VT_FLUSH_PREFIX VT_FORCE VT_SAMPLE_BUDGET VT_CONFIG

# Counters of this machine by scope that can be had, but the collector's own.
there() # there SCOPE PATTERN
{
	"$build/vtcounters" "$2" 2>&1 | awk -v scope="$1" '$1 ~ /^[a-zA-Z].*[^:]$/ &&
		index(" " $0 " ", " " scope " ") { print $1 }'
}

pages() # pages "COMMAND..." THREADS ROUNDS PAGES [HOW]: samples in have
{
	rm -f t.* .VT-flush-* out have
	# shellcheck disable=SC2086
	timeout 300 $1 "$2" "$3" "$4" ${5:-} >out 2>&1 && "$build/tests/vt/lib/samples" t.stf -t >have 2>>out
}
held() # held THREADS ROUNDS COUNTERS: to the rules of events.awk
{
	awk -v threads="$1" -v rounds="$2" -v counters="$3" -f "$here/lib/events.awk" have >>out 2>&1
}

# shellcheck disable=SC2086
${CC:-cc} -std=gnu11 $san -g -D_GNU_SOURCE -I"$src/include" "$here/api/programs/pages.c" -L"$lib" \
	-lVTcs -Wl,-rpath,"$lib" -pthread \
	-ldl -o prog >out 2>&1
ok "a program that knows what it counts compiles" $?

# ---- the values ----

known="proc_minflt"
[ -n "$(there process perf_page_faults:process)" ] && known="$known perf_page_faults:process"
# a sanitizer's own run-time library may not find libsde's symbols
grep -q '^#define HAVE_PAPI ' "$build/config.h" && [ -z "$san" ] && ldconfig -p 2>/dev/null | grep -q libsde.so.1 &&
	known="$known sde:::pages::touched"
echo "# $known"
# shellcheck disable=SC2086
{
	printf 'COUNTER %s on\n' $known
	printf 'SAMPLE-PERIOD 2ms\n'
} >conf
for threads in 1 2 8; do
	for with in "" "$vtrun"; do
		expect pages "$with ./prog" "$threads" 100 10
		expect held "$threads" 100 "$known"
		verdict \
			"$threads threads: each event has each counter of the process, and what was touched by \
then${with:+ (vtrun)}"
		sed -n 's/^process/# &/p' out | head -n 9
	done
done
case $known in
*perf*)
	for with in "" "$vtrun"; do
		expect pages "$with ./prog" 1 100 10 fork
		expect held 1 100 "$known"
		expect "$build/stftool" t.stf --verify >>out 2>&1
		verdict "a child process is not counted with it, and what it calls not recorded${with:+ (vtrun)}"
	done
	# what the background thread reads then is its own copy
	expect pages "$vtrun ./prog" 2 100 10 close
	expect awk '/PERF_DATA:perf_page_faults:process/ { n++; last = $NF }
		END { print n " samples, the last is 0x" last; exit !(n > 2 && last >= "00000000000007d0") }' have >>out
	verdict "a program that closes every descriptor: counted to its end"
	;;
*)
	skip "counts that begin with their opening" "no software events of the kernel here"
	;;
esac
if [ -e "$lib/libVT.so" ] && [ "${MPIRUN:-no}" != no ]; then
	mpi_compile "$MPICC" api/programs/pages.c mpages -DWITH_MPI -D_GNU_SOURCE -lVT -pthread -ldl
	for n in 1 2 4; do
		threads=$((n == 2 ? 1 : 2))
		expect pages "$MPIRUN -np $n $vtrun -- ./mpages" $threads 50 10
		expect held $threads 50 "$known"
		expect_lines $((n * $(echo "$known" | wc -w))) '^process' out
		verdict "the same at MPI calls of $n ranks with $threads threads"
	done
else
	skip "the same at MPI calls" "this build has no MPI, or there is no mpirun"
fi

# ---- all of them, more often, less often ----

process=$(there process 'proc_*' | tr '\n' ' ') thread=$(there thread 'thread_*' | tr '\n' ' ')
echo "# of the process: $process"
echo "# of threads: $thread"
# shellcheck disable=SC2086
{
	printf 'COUNTER %s on\n' $process $thread
	printf 'SAMPLE-PERIOD 1ms\n'
} >conf
# each thread has a sample of each at each of its own
each_thread() # each_thread THREADS EVENTS
{
	awk -v threads="$1" -v events="$2" -v names="$thread" '
		{ k = $3; sub(/^[A-Za-z_]*:/, "", k); n[$2 " " k]++ ; if ($5 == 1 && $NF "" < last[$2 " " k]) { bad++;
		print $2 " " k " goes back at " $1 }
		  last[$2 " " k] = $NF "" }
		END {
			m = split(names, name, " ")
			for (t = 0; t < threads; t++) { for (i = 1; i <= m; i++) {
				if (n["0:" t " " name[i]] < events) { bad++;
				print "thread " t ": " n["0:" t " " name[i]] + 0 " samples of " name[i] }
			} }
			exit bad > 0 || m == 0
		}' have >>out
}
expect [ -n "$process" ]
expect [ -n "$thread" ]
expect pages "./prog" 4 400 1
expect held 4 400 "$process"
expect each_thread 4 400
verdict "all counters of process and threads at each event, and no total goes back"
standard=$(there process 'proc_*' | grep -xE 'proc_(usr|sys|rss|minflt|majflt|nvcsw|nivcsw|read|write)' | tr '\n' ' ')
printf 'SAMPLE-PERIOD 60s\nCOUNTER-MIN-INTERVAL 0\n' >conf
expect pages "$vtrun -- ./prog" 2 200 1
expect held 2 200 "$standard"
verdict "COUNTER-MIN-INTERVAL 0: each event for the standard counters as well"
few() # few MOST: samples of each standard counter
{
	awk -v names="$standard" -v most="$1" '{ k = $3; sub(/^[A-Za-z_]*:/, "", k); n[k]++ }
		END { m = split(names, name, " "); for (i = 1; i <= m; i++) { print name[i] ": " n[name[i]];
		bad += n[name[i]] > most || n[name[i]] < 1 }; exit bad > 0 }' have >>out
}
printf 'SAMPLE-PERIOD 60s\nCOUNTER-MIN-INTERVAL 100s\n' >conf
expect pages "$vtrun -- ./prog" 2 200 1
expect few 4
verdict "COUNTER-MIN-INTERVAL 100s: once, beside the first and the last of the background thread"
printf 'SAMPLE-PERIOD 60s\nCOUNTER-MIN-INTERVAL -1\n' >conf
expect pages "$vtrun -- ./prog" 2 200 1
expect few 3
verdict "COUNTER-MIN-INTERVAL -1: at none"
printf 'COUNTER proc_minflt on\nSAMPLE-PERIOD 2ms\nTIME-WINDOWS 1000s:2000s\n' >conf
expect pages "$vtrun -- ./prog" 2 50 1
expect_line ' Pages:go ' have
expect_not grep ' OS:proc_minflt ' have >>out
verdict "TIME-WINDOWS: no samples at events outside, but what the program says"

# ---- threads that the sampler has found before they called ----

printf 'COUNTER thread_minflt on\nSAMPLE-PERIOD 2ms\n' >conf
rm -f t.* out
# shellcheck disable=SC2086
${CC:-cc} -std=gnu11 $san -g -D_GNU_SOURCE -I"$src/include" "$here/api/programs/found.c" -L"$lib" \
	-lVTcs -Wl,-rpath,"$lib" -pthread \
	-o found >out 2>&1 && timeout 300 ./found >>out 2>&1 && "$build/tests/vt/lib/samples" t.stf >have 2>>out
# what each had in the end: a sanitizer has pages of its own, and a thread
awk -v more="$san" '$2 == "OS:thread_minflt" { if ($NF "" < last[$1]) { bad++; print $1 " goes back" };
	last[$1] = $NF ""; n[$1]++ }
	END {
		for (t in n) { print t ": " n[t] " samples, the last is 0x" last[t] }
		silent = 0
		for (t in n) { silent += t != "0:0" && t != "0:1" && t != "0:7" && last[t] >= "0000000000001388" }
		exit !(bad == 0 && last["0:1"] < "0000000000000400" && last["0:7"] >= "0000000000000bb8" &&
		(more != "" || last["0:7"] < "0000000000001000") && silent == 1)
	}' have >>out
ok "what the sampler read of a thread before its first call is stored under its number, and nobody else's" $?
grep 'samples, the last' out | sed 's/^/# /'

# ---- the node: one process of a job reads its counters ----

printf 'COUNTER cpu_usr on\nCOUNTER proc_usr on\nOS-COUNTER-DELAY 10ms\nSAMPLE-PERIOD 10ms\nVERBOSE 0\n' >conf
node() # node RAW: how many samples of the node are in it
{
	"$build/stftool" "$1" --merge n.stf --force >>out 2>&1 && "$build/tests/vt/lib/samples" n.stf 2>>out |
		grep -c '^node OS:cpu_usr '
}
# They read one after the other: whoever does is killed, and another one goes on.
rm -f .VT-flush-* out
readers='' pids=''
for _ in 1 2 3; do
	PMIX_NAMESPACE=events$$ "$vtrun" -- ./prog 1 1 1 wait >>out 2>&1 &
	pids="$pids $!"
done
for left in 3 2 1; do
	reader='' tries=0
	while [ -z "$reader" ] && [ "$tries" -lt 300 ]; do
		sleep 0.1
		tries=$((tries + 1))
		for pid in $pids; do
			[ "$(node .VT-flush-prog_0-"$pid".raw)" -gt 3 ] 2>/dev/null && reader="$reader $pid"
		done
	done
	echo "$left processes: $reader" >>out
	for pid in $reader; do
		kill -9 "$pid"
		wait "$pid" 2>/dev/null
		pids=$(echo "$pids " | sed "s/ $pid / /")
	done
	readers="$readers $(echo "$reader" | wc -w)"
done
for pid in $pids; do
	kill -9 "$pid"
done
[ "$readers" = " 1 1 1" ]
ok "of three processes of a job one reads the node's counters, another when that is killed, then the third" $?
if [ -x mpages ]; then
	# MPI_Init comes late, and at different times, and the program takes the place of a shell
	# shellcheck disable=SC2016
	printf '#!/bin/sh\nsleep 0.$((${OMPI_COMM_WORLD_RANK:-$PMI_RANK} %% 4 * 2))\nexec ./mpages "$@"\n' >late
	chmod +x late
	expect pages "$MPIRUN -np 4 $vtrun -- ./late" 2 50 1
	expect awk '{ end = $1 } $2 == "node" && $3 == "OS:cpu_usr" { n++ }
		END { print n " samples of the node in " end " s"; exit !(n >= 3 && n <= end / 0.01 + 8) }' have >>out
	verdict "and of four ranks with threads, that call MPI_Init early or late"
	grep 'samples of the node' out | sed 's/^/# /'
else
	skip "and of four ranks" "this build has no MPI, or there is no mpirun"
fi

done_testing

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The first screen, of real programs: each has one trouble, its page names it first, and no other page does. Each runs
# with a large share of the processors; where it did not get them, the page must say so instead.
# shellcheck source=../../lib/tap.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/lib/tap.sh"
cd "$dir" || exit 99
find_vtrun
programs=$src/tests/cli/vtreport/findings
"${CC:-cc}" -g -O1 -finstrument-functions -pthread -I"$src" "$programs/alone.c" -o alone 2>err || skip_all "no compiler"
team=1
"${CC:-cc}" -g -O1 -fopenmp -pthread -I"$src" "$programs/team.c" -o team 2>err || team=
mpi=1
[ -n "${MPICC:-}" ] && "$MPICC" -g -O1 ${team:+-fopenmp} -finstrument-functions \
	-finstrument-functions-exclude-function-list=main -I"$src" "$programs/job.c" -o job 2>err || mpi=
[ -n "${MPIRUN:-}" ] || mpi=
. "${top_srcdir:-.}/tests/lib/launcher.sh"
vtrun_options=
VT_VERBOSE=0
export VT_VERBOSE

favoured() # favoured COMMAND...: before other programs of this machine, where that is permitted
{
	setsid -w sh -c '{ echo -19 >/proc/self/autogroup; } 2>/dev/null
		renice -n -19 -p $$ >/dev/null 2>&1; exec "$@"' sh "$@"
}

page() # page PROGRAM KIND: its report, after the job is over; the findings in found, in their order
{
	rm -f t.stf* t.prot t.clk t.html
	if [ "$1" = job ]; then
		favoured "$MPIRUN" -np 2 "$vtrun" --deadlock-timeout 1s --logfile-name t.stf -- ./job "$2" >out 2>err
	else
		# shellcheck disable=SC2086
		favoured "$vtrun" $vtrun_options --logfile-name t.stf -- "./$1" "$2" "${operand:-./bytes}" >out 2>err
	fi
	# of a process that was killed the sampler process writes the trace
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		"$build/vtreport" t.stf --force >report.out 2>report.err && break
		sleep 0.2
	done
	sed -n 's/.*<li class="g[0-3]" id="finding-\([^"]*\)".*/\1/p' t.html >found
}

# finds PROGRAM KIND FIRST [ALSO]: its first finding is FIRST, and besides only ALSO and what concerns the node. Where
# other programs took its processors the page says that, or of threads that it cannot tell.
finds()
{
	shared='^cpu-shared$'
	[ "$1" != team ] || shared='^cpu-shared$\|^not-recorded$'
	for try in 1 2 3; do
		page "$1" "$2"
		[ "$3" != cpu-shared ] && grep -q -e "$shared" -e '^sampling-costs$' found || break
	done
	sed 's/<[^>]*>//g' t.html | grep -n -m 12 ':' >verify
	if [ "$3" != cpu-shared ] && grep -q "$shared" found; then
		skip "$1 $2: $3" "other programs took its processors in $try runs, which its page says"
		return
	fi
	expect [ "$(head -n 1 found)" = "$3" ]
	also=$(echo "${4:-} psi_cpu psi_io psi_mem cpu_iowait disk_busy" | tr ' ' '\n')
	expect [ -z "$(grep -vxF -e "$3" -e "$also" found)" ]
	expect_no_line 'balanced' t.html
	cat found >>verify
	verdict "$1 $2: $3"
}

says() # says WHAT PATTERN: the first finding has it
{
	sed -n '/<li class="g[0-3]" id="finding-/{s/<[^>]*>//g;p;q;}' t.html >verify
	grep -qE "$2" verify
	ok "$1" $?
}

finds alone works nothing-found
finds alone sleeps asleep
finds alone sleep-all asleep
says "only what is recorded of several threads" \
	'The first thread sleeps.*Whether its other threads were ready to run is not recorded'
finds alone lock threads-wait "system-time asleep"
finds alone calls recording-costs
finds alone writes asleep system-time
[ "$(head -n 1 found)" != asleep ] ||
	says "what it waited for" 'sleeps or waits, perhaps for input or output.* It read and wrote [0-9.]+ [KMG]B/s'
operand='./alone works' finds alone starts children asleep
if [ -n "$team" ]; then
	finds team even nothing-found
	finds team serial serial-part
	finds team uneven threads-uneven
	[ "$(head -n 1 found)" != threads-uneven ] ||
		says "which thread, where, and what it costs" \
			'for OMP 1, most at [^ ]*team.c:[0-9]*. With even work .* up to (2[0-9]|3[0-5]) % shorter'
else
	skip "threads of OpenMP" "no compiler for it"
fi
if [ -n "$team" ]; then
	finds team once nothing-found
	finds team beside nothing-found asleep
	finds team critical threads-in-turn
	[ "$(head -n 1 found)" != threads-in-turn ] || says "where they wait" 'waited in critical_wait'
fi
vtrun_options="--counter proc_rss --sample-period 10ms"
finds alone grows memory-grows
says "how fast it grows, without the CPU time" 'memory of the program grew .* That is 1[0-9]*(\.[0-9]*)? MB/s'
vtrun_options=
cat >faults.avt <<'END'
CLKPERIOD 1e-03
NCPUS 1 1
DEFCLASS 1 "OS" SELF "OS" PARENT 0
DEFCOUNTER 1 "proc_majflt" CLASS 1 CPU 2 TYPE 67 DIFF 1 UNIT "faults" LOWER 0 UPPER 18446744073709551615
0 SAMP CPU 2 DEF 1 UINT 8 0
9000 SAMP CPU 2 DEF 1 UINT 8 900
END
rm -f t.*
"$build/tests/cli/lib/text_stf" faults.avt t.stf >out 2>err && "$build/vtreport" t.stf >report.out 2>report.err
says "a counter that the first process lacks" 'Process 1 waited for 100 pages a second'

made() # made FILE: the page of a trace from text
{
	rm -f t.*
	"$build/tests/cli/lib/text_stf" "$1" t.stf >out 2>err && "$build/vtreport" t.stf >report.out 2>report.err
	sed 's/<[^>]*>//g' t.html >text
	sed -n 's/.*<li class="g[0-3]" id="finding-\([^"]*\)".*/\1/p' t.html >found
}

sed 's/^9000 .*/3000 SAMP CPU 2 DEF 1 UINT 8 900\n&/' faults.avt >start.avt
made start.avt
expect_no_line 'major-faults' found
verdict "pages that are read at the start of a program do not say that memory is short"
# of a run of 20 ms the sampler saw the last one
cat >short.avt <<'END'
CLKPERIOD 1e-03
NCPUS 1
DEFCLASS 1 "OS" SELF "OS" PARENT 0
DEFCLASS 2 "counter-display" SELF "counter-display" PARENT 0
DEFCOUNTER 1 "main_run" CLASS 1 CPU 1 TYPE 67 DIFF 1 UNIT "ns" LOWER 0 UPPER 18446744073709551615
DEFCOUNTER 2 "main_wait" CLASS 1 CPU 1 TYPE 67 DIFF 1 UNIT "ns" LOWER 0 UPPER 18446744073709551615
DEFCOUNTER 3 "proc_usr" CLASS 1 CPU 1 TYPE 67 DIFF 1 UNIT "us" LOWER 0 UPPER 18446744073709551615
DEFCOUNTER 4 "sampler_cpu" CLASS 1 CPU 1 TYPE 67 DIFF 1 UNIT "us" LOWER 0 UPPER 18446744073709551615
INFO CLASS 2 TEXT "\"OS:main_run\" 1e-07 \"percent\""
INFO CLASS 2 TEXT "\"OS:main_wait\" 1e-07 \"percent\""
INFO CLASS 2 TEXT "\"OS:proc_usr\" 1e-04 \"percent\""
INFO CLASS 2 TEXT "\"OS:sampler_cpu\" 1e-04 \"percent\""
0 SAMP CPU 1 DEF 1 UINT 8 18000000 DEF 2 UINT 8 0 DEF 3 UINT 8 18000 DEF 4 UINT 8 0
1 SAMP CPU 1 DEF 1 UINT 8 18000000 DEF 2 UINT 8 0 DEF 3 UINT 8 18000 DEF 4 UINT 8 800
END
made short.avt
expect [ "$(cat found)" = not-recorded ]
expect_line 'The run is too short to say' text
verdict "a run without enough samples does not sleep"

ranks() # ranks N: the head of a trace of that many ranks with functions of MPI
{
	printf 'CLKPERIOD 1e-03\nNCPUS'
	yes ' 1' | head -n "$1" | tr -d '\n'
	echo '
DEFCLASS 1 "MPI" SELF "MPI" PARENT 0
DEFCLASS 2 "Application" SELF "Application" PARENT 0
DEFCLASS 3 "ended" SELF "ended" PARENT 0
DEFCLASS 4 "OS" SELF "OS" PARENT 0
DEFFUNCTION 1 "MPI_Init" CLASS 1
DEFFUNCTION 2 "MPI_Finalize" CLASS 1
DEFFUNCTION 3 "MPI_Recv" CLASS 1
DEFFUNCTION 4 "MPI_Barrier" CLASS 1
DEFFUNCTION 5 "MPI_File_sync" CLASS 1
DEFFUNCTION 6 "solve" CLASS 2'
	echo "DEFCOMM 1 \"W\" LEFT 0 FIRST 1 1 LAST 1 $1 STRIDE 1 1"
	r=1
	while [ "$r" -le "$1" ]; do
		printf 'DEFCOUNTER %d "proc_rss" CLASS 4 CPU %d TYPE 67 DIFF 0 UNIT "bytes" ' "$r" "$r"
		echo 'LOWER 0 UPPER 18446744073709551615'
		r=$((r + 1))
	done
}

state() # state RANK FUNCTION FROM TO
{
	echo "$3 ENTER CPU $(($1 + 1)) FUNCTION $2"
	echo "$4 LEAVE CPU $(($1 + 1))"
}

{
	ranks 4
	for r in 0 1 2 3; do
		echo "INFO CLASS 3 TEXT \"process $r: by signal 15 (Terminated)\""
	done
	for r in 0 1 2 3; do
		state $r 1 $r 100
	done | sort -n
	for r in 0 1 2; do
		echo "$((1000 + r * 500)) ENTER CPU $((r + 1)) FUNCTION 3"
	done
	echo "2500 ENTER CPU 4 FUNCTION 4"
	for r in 0 1 2 3; do
		echo "9000 SAMP CPU $((r + 1)) DEF $((r + 1)) UINT 8 1"
		echo "9000 LEAVE CPU $((r + 1))"
	done
} >still.avt
made still.avt
expect_line 'stood still.*All were in MPI for 6.5 s or longer' text
expect_line 'Ranks 0, 1 and 2 were in MPI_Recv for the last 7 s to 8 s\.' text
expect_line 'Rank 3 was in MPI_Barrier for the last 6.5 s\.' text
expect_no_line 'makes? the others wait\|network without delay' text
verdict "a run that stood still until somebody ended it, and where each rank was"
sed 's/^2500 ENTER.*/8000 ENTER CPU 4 FUNCTION 4/' still.avt >late.avt
made late.avt
expect_no_line 'stood still' text
expect_line 'did not end normally' text
verdict "and one in which a rank had worked shortly before"
sed '/ENTER CPU . FUNCTION 3$/d; /TEXT "process/d' still.avt >failed.avt
for case in '3 none' '0 found'; do
	awk -v status="${case% *}" '{ print } /^DEFCLASS 3 / {
		print "INFO CLASS 3 TEXT \"process 0: in MPI_Finalize, exit status " status "\""
		print "INFO CLASS 3 TEXT \"process 1: in MPI_Finalize, then by signal 9 (Killed)\""
	}' failed.avt >killed.avt
	made killed.avt
	if [ "${case#* }" = none ]; then
		expect_no_line 'did not end normally' text
	else
		expect_line 'ended by signal 9 (Killed) after MPI_Finalize' text
	fi
done
verdict "a rank that is killed after MPI_Finalize: by the launcher if another one has failed, else the run is bad"
sed '/ENTER/s/FUNCTION [34]$/FUNCTION 5/' still.avt >write.avt
made write.avt
expect_no_line 'stood still' text
sed '/SAMP/d' still.avt >unsampled.avt
made unsampled.avt
expect_no_line 'stood still' text
verdict "nor one that wrote its files, or of which it is not known how long it was in its last call"
{
	long=of_a_library_that_wraps_it_with_a_very_long_name_of_more_than_ninety_letters_in_all
	ranks 6 | sed "s/\"MPI_Recv\"/\"MPI_Recv_$long\"/"
	for f in 7 8 9; do
		echo "DEFFUNCTION $f \"MPI_Wait_${f}_$long\" CLASS 1"
	done
	echo 'INFO CLASS 3 TEXT "process 0: by signal 15 (Terminated)"
DEFCLASS 5 "deadlock" SELF "deadlock" PARENT 0'
	for r in 3 4 5; do
		echo "INFO CLASS 5 TEXT \"process $r: #0 MPI_Wait\""
		place="a_function_of_the_program_with_a_long_name_too at long_$r.c:12"
		echo "INFO CLASS 5 TEXT \"process $r: #1 $place\""
	done
	for r in 0 1 2 3 4 5; do
		state $r 1 $r 100
	done | sort -n
	for r in 0 1 2 3 4 5; do
		echo "2000 ENTER CPU $((r + 1)) FUNCTION $((r < 3 ? 3 : r + 4))"
	done
	for r in 0 1 2 3 4 5; do
		echo "9000 SAMP CPU $((r + 1)) DEF $((r + 1)) UINT 8 1"
		echo "9000 LEAVE CPU $((r + 1))"
	done
} >names.avt
made names.avt
sed -n '/<li class="g[0-3]" id="finding-ended-badly"/{s/<[^>]*>//g;p;}' t.html >verify
expect_line 'Rank 4 was in .*in_all for the last 7 s (a_function.*, long_4.c:12)\. 1 more is not listed\.' verify
verdict "places with long names: whole sentences, and how many ranks are left out"
# the places of all processes are found in one pass: of this trace that takes a second, else minutes
awk 'BEGIN {
	n = 20000
	printf "CLKPERIOD 1e-03\nNCPUS"
	for (r = 0; r < n; r++) {
		printf " 1"
	}
	print "\nDEFCLASS 1 \"MPI\" SELF \"MPI\" PARENT 0\nDEFCLASS 3 \"ended\" SELF \"ended\" PARENT 0"
	print "DEFCLASS 5 \"deadlock\" SELF \"deadlock\" PARENT 0\nDEFFUNCTION 3 \"MPI_Recv\" CLASS 1"
	for (r = 0; r < n; r++) {
		print "INFO CLASS 3 TEXT \"process " r ": by signal 15 (Terminated), deadlock\""
		print "INFO CLASS 5 TEXT \"process " r ": #0 MPI_Recv\""
		print "INFO CLASS 5 TEXT \"process " r ": #1 main at x/r.c:12\""
	}
	for (t = 0; t < 2; t++) {
		for (r = 1; r <= n; r++) {
			print t * 9000 " " (t ? "LEAVE CPU " r : "ENTER CPU " r " FUNCTION 3")
		}
	}
}' >large.avt
rm -f t.*
"$build/tests/cli/lib/text_stf" large.avt t.stf >out 2>err &&
	timeout 40 "$build/vtreport" t.stf >report.out 2>report.err
expect_line 'Ranks 0, 1, 2, 3 and 19996 more were in MPI_Recv for the last 9 s (main, r.c:12)' t.html
verdict "a job of 20000 ranks that stood still"
{
	ranks 1
	echo 'INFO CLASS 3 TEXT "process 0: by exit, exit status 3"'
	state 0 1 0 1000
	state 0 3 2000 2001
	state 0 6 2500 3000
	echo "3001 SAMP CPU 1 DEF 1 UINT 8 1000"
} >left.avt
made left.avt
expect_line 'by exit before MPI_Finalize, exit status 3, .* outside MPI, after MPI_Recv' text
verdict "a function that had returned before exit is not where it ended"
{
	ranks 2
	{
		for r in 0 1; do
			state $r 1 $r 100
			state $r 6 200 3000
			state $r 5 $((3000 + r * 10)) 8000
			state $r 2 $((8000 + r * 200)) 8300
		done
	} | sort -s -n -k 1,1
} >files.avt
made files.avt
expect_line 'Input and output by MPI:.*most of it MPI_File_sync' text
expect_no_line 'The largest wait' text
verdict "time in files of MPI is not explained by a short wait elsewhere"
sed '/FUNCTION 2$/d; /^8300 /d' files.avt | sed '/^DEFCOUNTER 2/a\
INFO CLASS 3 TEXT "process 0: in MPI_Finalize"\
INFO CLASS 3 TEXT "process 1: in MPI_Finalize"' >unended.avt
made unended.avt
expect_line 'serialisation [0-9.]* % &times; transfer' text
verdict "a run that ended well, but whose MPI_Finalize was not recorded, has its efficiencies"
# one rank after the other has work for all of them: each waits for the same time, now for this one and now for that one
{
	ranks 16
	for r in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
		state $r 1 0 100
		for late in 0 1; do
			t=$((100 + late * 2000))
			if [ $r -eq $late ]; then
				state $r 6 $t $((t + 1950))
			else
				state $r 3 $t $((t + 1960))
				pair=$((late * 16 + r + 1))
				message="COMM 1 TAG 0 LEN 8 PAIR $pair"
				echo "$((t + 1950)) SENDMSG CPU $((late + 1)) TO $((r + 1)) $message"
				echo "$((t + 1960)) RECVMSG CPU $((r + 1)) FROM $((late + 1)) $message"
			fi
		done
		state $r 2 4100 4101
	done | sort -s -n -k 1,1
} >alike.avt
made alike.avt
expect_line 'finding-communication' t.html
expect_line 'The largest wait: rank [0-9]* in MPI_Recv, late sender' text
verdict "of 16 ranks that wait alike the wait of one is named"

# rounds WORK RUN: four ranks, 20 rounds of a second; in each they work for these ms, and the others wait for rank 2.
# RUN: the ms in which they have a processor; empty: no counters
rounds()
{
	echo 'CLKPERIOD 1e-03
NCPUS 1 1 1 1
DEFCLASS 1 "MPI" SELF "MPI" PARENT 0
DEFCLASS 2 "Application" SELF "Application" PARENT 0
DEFCLASS 3 "OS" SELF "OS" PARENT 0
DEFCLASS 4 "counter-display" SELF "counter-display" PARENT 0
DEFFUNCTION 1 "MPI_Init" CLASS 1
DEFFUNCTION 2 "MPI_Finalize" CLASS 1
DEFFUNCTION 3 "MPI_Recv" CLASS 1
DEFFUNCTION 4 "work" CLASS 2
DEFCOMM 1 "W" LEFT 0 FIRST 1 1 LAST 1 4 STRIDE 1 1
INFO CLASS 4 TEXT "\"OS:main_run\" 1e-07 \"percent\""
INFO CLASS 4 TEXT "\"OS:main_wait\" 1e-07 \"percent\""'
	for r in 0 1 2 3; do
		for c in run wait; do
			printf 'DEFCOUNTER %d "main_%s" CLASS 3 CPU %d ' $((2 * r + ${#c} - 2)) $c $((r + 1))
			echo 'TYPE 67 DIFF 1 UNIT "ns" LOWER 0 UPPER 18446744073709551615'
		done
	done
	echo "$1" | tr ' ' '\n' | awk -v run="$2" '
		{ work[NR - 1] = $1 }
		END {
			split(run, used, " ")
			for (r = 0; r < 4; r++) {
				print "0 ENTER CPU " r + 1 " FUNCTION 1\n1 LEAVE CPU " r + 1
				for (t = 0; t < 20; t++) {
					from = t * 1000 + 1
					print from " ENTER CPU " r + 1 " FUNCTION 4"
					print from + work[r] " LEAVE CPU " r + 1
					if (r == 2) {
						continue
					}
					pair = t * 4 + r + 1
					message = " COMM 1 TAG 0 LEN 8 PAIR " pair
					print from + work[2] " SENDMSG CPU 3 TO " r + 1 message
					print from + work[r] " ENTER CPU " r + 1 " FUNCTION 3"
					print from + work[2] + 1 " RECVMSG CPU " r + 1 " FROM 3" message
					print from + work[2] + 1 " LEAVE CPU " r + 1
				}
				for (t = 0; run && t <= 20; t++) {
					printf "%d SAMP CPU %d DEF %d UINT 8 %.0f DEF %d UINT 8 0\n",
						t * 1000 + 1, r + 1, 2 * r + 1, t * used[r + 1] * 1e6, 2 * r + 2
				}
				print "20001 ENTER CPU " r + 1 " FUNCTION 2\n20002 LEAVE CPU " r + 1
			}
		}' | sort -s -n -k 1,1
}
rounds '200 200 950 200' '' >unknown.avt
made unknown.avt
expect_line '<li class="g1" id="finding-slow-rank"' t.html
expect_line 'Rank 2 makes the others wait.*Whether it worked, slept or waited for a processor is not recorded' text
verdict "a rank of which no counter says that it worked is named with that doubt"
rounds '200 600 950 200' '1000 300 1000 1000' >two.avt
made two.avt
expect_line imbalance found
expect_line asleep found
expect_no_line slow-rank found
verdict "a rank that is named by one finding is not named again, after another one that names another rank"
rounds '800 800 950 800' '150 150 150 150' >all.avt
made all.avt
expect_line 'Every rank sleeps or waits' text
expect_line 'Rank 2 makes the others wait' text
verdict "a rank is not left out because all of them sleep"

# in_turn CLASS US: for 4 s of 10 one of two threads waits in a function of this class. US: the CPU time of each second
in_turn()
{
	cat <<END
CLKPERIOD 1e-03
NCPUS 2
DEFCLASS 1 "OS" SELF "OS" PARENT 0
DEFCLASS 2 "OMP" SELF "OMP" PARENT 0
DEFCLASS 3 "counter-display" SELF "counter-display" PARENT 0
DEFCLASS 4 "Application" SELF "Application" PARENT 0
DEFFUNCTION 1 "parallel" CLASS 2
DEFFUNCTION 2 "lock_wait" CLASS $1
DEFCOUNTER 3 "proc_usr" CLASS 1 CPU 1 TYPE 67 DIFF 1 UNIT "us" LOWER 0 UPPER 18446744073709551615
DEFCOUNTER 4 "proc_sys" CLASS 1 CPU 1 TYPE 67 DIFF 1 UNIT "us" LOWER 0 UPPER 18446744073709551615
INFO CLASS 3 TEXT "\"OS:proc_usr\" 1e-04 \"percent\""
INFO CLASS 3 TEXT "\"OS:proc_sys\" 1e-04 \"percent\""
END
	t=0
	while [ $t -le 10 ]; do
		[ -z "$2" ] || echo "$((t * 1000)) SAMP CPU 1 DEF 3 UINT 8 $((t * $2)) DEF 4 UINT 8 0"
		if [ $t -lt 10 ]; then
			echo "$((t * 1000 + 1)) ENTER CPU 1 FUNCTION 1
$((t * 1000 + 1)) ENTER CPU 65537 FUNCTION 1
$((t * 1000 + 100)) ENTER CPU 65537 FUNCTION 2
$((t * 1000 + 500)) LEAVE CPU 65537
$((t * 1000 + 999)) LEAVE CPU 65537
$((t * 1000 + 999)) LEAVE CPU 1"
		fi
		t=$((t + 1))
	done
}
in_turn 2 1590000 >turns.avt
made turns.avt
expect_line threads-in-turn found
in_turn 4 1590000 >turns.avt
made turns.avt
expect_no_line threads-in-turn found
in_turn 2 1000000 >turns.avt
made turns.avt
expect_no_line threads-in-turn found
in_turn 2 '' >turns.avt
made turns.avt
expect_no_line threads-in-turn found
verdict "threads in turn: not by a function of the program, without a processor, or in an unknown time"
# so many functions that they are not counted for each process
{
	in_turn 2 1990000 | sed '1,/^INFO/!d' | sed '/^NCPUS/s/.*/NCPUS 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2/'
	awk 'BEGIN { for (i = 3; i < 100100; i++) print "DEFFUNCTION " i " \"f" i "\" CLASS 4" }'
	in_turn 2 1990000 | sed '1,/^INFO/d; /SAMP/!d'
	awk 'BEGIN {
		for (p = 0; p < 20; p++) {
			for (k = 0; k < 2; k++) {
				print "1 ENTER CPU " k * 65536 + p + 1 " FUNCTION 1\n9999 LEAVE CPU " k * 65536 + p + 1
			}
			print "100 ENTER CPU " 65536 + p + 1 " FUNCTION 2\n300 LEAVE CPU " 65536 + p + 1
		}
	}' | sort -s -n -k 1,1
} >many.avt
made many.avt
expect [ -s t.html ]
expect_no_line threads-in-turn found
verdict "what the threads of all processes waited is not what those of the first one waited"
# 2 threads and 10 regions of a second, on a busy node: the second thread begins each one 0.15 s late, and the first one
# sleeps until then; it is also woken 0.15 s after the last one has come to the barrier
{
	echo 'CLKPERIOD 1e-03
NCPUS 2
DEFCLASS 1 "OS" SELF "OS" PARENT 0
DEFCLASS 2 "OMP" SELF "OMP" PARENT 0
DEFCLASS 3 "counter-display" SELF "counter-display" PARENT 0
DEFFUNCTION 1 "parallel" CLASS 2
DEFFUNCTION 2 "implicit_barrier" CLASS 2
DEFCOUNTER 1 "main_run" CLASS 1 CPU 1 TYPE 67 DIFF 1 UNIT "ns" LOWER 0 UPPER 18446744073709551615
DEFCOUNTER 2 "main_wait" CLASS 1 CPU 1 TYPE 67 DIFF 1 UNIT "ns" LOWER 0 UPPER 18446744073709551615
DEFCOUNTER 3 "proc_usr" CLASS 1 CPU 1 TYPE 67 DIFF 1 UNIT "us" LOWER 0 UPPER 18446744073709551615
DEFCOUNTER 4 "proc_sys" CLASS 1 CPU 1 TYPE 67 DIFF 1 UNIT "us" LOWER 0 UPPER 18446744073709551615
INFO CLASS 3 TEXT "\"OS:main_run\" 1e-07 \"percent\""
INFO CLASS 3 TEXT "\"OS:main_wait\" 1e-07 \"percent\""
INFO CLASS 3 TEXT "\"OS:proc_usr\" 1e-04 \"percent\""
INFO CLASS 3 TEXT "\"OS:proc_sys\" 1e-04 \"percent\""'
	t=0
	while [ $t -lt 10 ]; do
		at() { echo "$((t * 1000 + $1)) $2"; }
		us=$((t * 700000))
		at 0 "SAMP CPU 1 DEF 1 UINT 8 ${us}000 DEF 2 UINT 8 0 DEF 3 UINT 8 $us DEF 4 UINT 8 0"
		at 1 'ENTER CPU 1 FUNCTION 1'
		at 151 'ENTER CPU 65537 FUNCTION 1'
		at 840 'ENTER CPU 65537 FUNCTION 2'
		at 850 'ENTER CPU 1 FUNCTION 2'
		for cpu in 1 1 65537 65537; do
			at 999 "LEAVE CPU $cpu"
		done
		t=$((t + 1))
	done
	echo "10000 SAMP CPU 1 DEF 1 UINT 8 7000000000 DEF 2 UINT 8 0 DEF 3 UINT 8 7000000 DEF 4 UINT 8 0"
} >team.avt
rm -f t.*
"$build/tests/cli/lib/text_stf" team.avt t.stf >out 2>err && "$build/vtreport" t.stf >report.out 2>report.err
expect [ -s t.html ]
expect_no_line 'finding-asleep' t.html
verdict "a thread that waits for its team to begin, or to end, a region does not sleep"
three_nodes() # three_nodes KHZ IDLE: the frequency of node2, those of the others are 3 GHz; all are idle for IDLE %
{
	echo "CLKPERIOD 1e-03
NCPUS 1 1 1
DEFCLASS 1 \"OS\" SELF \"OS\" PARENT 0
DEFCLASS 2 \"counter-display\" SELF \"counter-display\" PARENT 0
DEFGROUP 2147483650 \"node1\" NMEMBS 1 1
DEFGROUP 2147483651 \"node2\" NMEMBS 1 2
DEFGROUP 2147483652 \"node3\" NMEMBS 1 3
DEFCOUNTER 1 \"cpu_freq\" CLASS 1 CPU 2147483650 TYPE 67 DIFF 0 UNIT \"kHz\" LOWER 0 UPPER 18446744073709551615
DEFCOUNTER 2 \"cpu_idle\" CLASS 1 CPU 2147483650 TYPE 67 DIFF 1 UNIT \"ticks\" LOWER 0 UPPER 18446744073709551615
INFO CLASS 2 TEXT \"\\\"OS:cpu_idle\\\" 1 \\\"percent\\\"\""
	for t in 0 1 2 3 4 5; do
		for node in 0 1 2; do
			f=3000000
			[ "$node" -ne 1 ] || f=$1
			echo "${t}000 SAMP CPU $((2147483650 + node)) DEF 1 UINT 8 $f DEF 2 UINT 8 $((t * $2))"
		done
	done
}
for case in '1900000 10 one' '2800000 10 none' '1900000 90 none'; do
	# shellcheck disable=SC2086
	set -- $case
	three_nodes "$1" "$2" >nodes.avt
	rm -f t.*
	"$build/tests/cli/lib/text_stf" nodes.avt t.stf >out 2>err && "$build/vtreport" t.stf >report.out 2>report.err
	case $3 in
	one) says "a node whose processors are slower" 'node2 ran at 1.90 GHz on average, .* nodes at 3.00 GHz' ;;
	*)
		expect_no_line 'slow-processor' t.html
		verdict "at $1 kHz, idle for $2 %: no such node"
		;;
	esac
done
finds alone dies ended-badly
says "how, when, and in which function" \
	'ended (by signal 6 \(Aborted\)|without exit, status unknown), .* m?s after the start, in give_up for the last'
head_line() # head_line TITLE PATTERN: the head of the page has it
{
	sed 's/<dt>/\n/g' t.html | sed -n "s|^$1</dt><dd>\\(.*\\)</dd>.*|\\1|p" | head -1 | grep -qEx "$2" ||
		not_met "$1 is no $2"
}
rm -f t.*
"$vtrun" --logfile-name t.stf -- sh -c 'exit 3' >out 2>err
expect [ $? -eq 3 ]
"$build/vtreport" t.stf >report.out 2>report.err
head_line Ended 'normally, by _?exit'
head_line 'Exit status' 3
verdict "the head of the page: the exit status"
rm -f t.*
"$vtrun" --logfile-name t.stf -- sleep 1 >out 2>err
"$build/vtreport" t.stf >report.out 2>report.err
expect_line 'finding-asleep' t.html
expect_no_line -E 'See in Functions|end of the timeline' t.html
verdict "a page without functions does not point to them"
if [ -z "$mpi" ]; then
	skip "jobs" "no MPI"
	done_testing
fi
finds job even nothing-found
SLURM_JOB_ID=4711 USER=somebody page job even
head_line When '20[0-9-]* [0-9:]* UTC'
head_line Size '2 ranks, [0-9]+ threads?(; 2 of them made recorded calls, the others may be .*)?'
head_line Command './job even'
head_line User somebody
head_line 'Batch job' 'Slurm 4711'
head_line CPUs '[0-9,-]* of [0-9]*.*'
head_line MPI '[A-Z].*[0-9].*'
head_line Ended 'normally, in MPI_Finalize'
head_line 'Exit status' '0 of 2 ranks'
verdict "the head of the page: when, what, its user, its CPUs"
VT_VERBOSE=1 page job even
# a rank whose sampler slowed down says so itself
cat out err | grep -v "slowed down, because" >said
expect_lines 1 'INFO: sampler used' said
expect_line 'sampler used at most .* 2 ranks' said
expect_no_line 'started and ended between two samples' said
verdict "one line for all ranks"
VT_ENVIRONMENT=off SLURM_JOB_ID=4711 page job even
expect_no_line -E 'Slurm|<dt>Command' t.html
verdict "ENVIRONMENT off: no command, no user, no job"
finds job uneven imbalance
[ "$(head -n 1 found)" != imbalance ] ||
	says "which rank, and what it costs" \
		'Rank 1 has.* work.* In compute it spent .*Rank 0 waits longest, in MPI_Barrier.*up to [23][0-9] %'
finds job late-end imbalance
[ "$(head -n 1 found)" != imbalance ] || says "a rank that is ready early" 'Rank 0 waits longest, in MPI_Finalize'
finds job slower slow-rank
[ "$(head -n 1 found)" != slow-rank ] ||
	says "a rank that is a little slower" 'Rank 1 makes the others wait: .* it was in compute.* 1[0-9] % shorter'
finds job sleeper asleep
[ "$(head -n 1 found)" != asleep ] ||
	says "who waits, and where it is" 'Rank 0 sleeps or waits.* In sleep_s it spent 1.*rank 1 was in MPI_Barrier'
finds job late asleep
[ "$(head -n 1 found)" != asleep ] || says "a late sender" 'Rank 0 sleeps or waits.*rank 1 was in MPI_Recv'
finds job talk communication
[ "$(head -n 1 found)" != communication ] ||
	says "the share and the call" '9[0-9] % of the time.*most of it MPI_Sendrecv'
finds job turns communication
[ "$(head -n 1 found)" != communication ] || says "what to do about waits at a barrier" 'Leave the barrier out'
[ "$(head -n 1 found)" != communication ] ||
	{ head_line Who 'no single rank makes the others wait.*'; verdict "they wait, although for no single rank"; }
finds job turns-sum communication
[ "$(head -n 1 found)" != communication ] || says "and at an operation of all" 'without blocking .MPI_Iallreduce'
finds job small small-messages "communication recording-costs"
finds job meet small-messages "communication recording-costs"
finds job self small-messages "communication recording-costs"
rate=$(tail -n 1 out)
said=$(sed -n 's/.*each rank takes part in \([0-9]*\) collective operations a second.*/\1/p' t.html)
expect [ "${said:-0}" -gt $((rate * 7 / 10)) ]
expect [ "${said:-0}" -lt $((rate * 14 / 10)) ]
echo "said $said, rank $rate" >verify
verdict "operations of several communicators: what each rank takes part in"
if [ -n "$team" ]; then
	page job hybrid
	"$build/stftool" t.stf --analyze | sed -n '/^waits,/{n;n;p;q;}' >verify
	expect_line 'wait at OpenMP barrier' verify
	sed -n '/<li class="g[0-3]" id="finding-communication"/{s/<[^>]*>//g;p;}' t.html >verify
	expect_line 'MPI_Sendrecv' verify
	expect_no_line 'The largest wait: [^.]* in [^M]' verify
	verdict "the largest wait in communication is one of MPI, not of OpenMP"
fi
LATE_RANK=1 finds job even start
[ "$(head -n 1 found)" != start ] ||
	says "which rank came late" 'Rank 1 came late to MPI_Init: *Rank 0 waited for it in MPI_Init for (1.[5-9]|2)'
finds job grows memory-grows system-time
finds job deadlock ended-badly
says "where each rank was" 'deadlock.*Ranks 0 and 1 were in MPI_Recv.*_other, job.c:[0-9]'
finds job killed ended-badly
says "which rank was the first" 'Rank 1 was the first: it ended (by signal 9 \(Killed\)|without exit)'
finds job exits ended-badly
says "an exit before MPI_Finalize is none that was meant" \
	'Rank 1 was the first: it ended by exit before MPI_Finalize, exit status 3'
# four programs that compute beside two ranks
cat >busy <<'END'
#!/bin/sh
for _ in 1 2 3 4; do
	./alone works &
done
"$@"
wait
END
chmod +x busy
run=$MPIRUN
MPIRUN=./beside
printf '#!/bin/sh\nexec ./busy "%s" "$@"\n' "$run" >beside
chmod +x beside
finds job even cpu-shared
says "what they got" 'ready to run for (9[0-9]|100) % of the time, but had a processor for [0-9]+ %'
says "what involuntary switches are" 'Each rank lost the processor [0-9]+ times a second, [0-9]+ times in all: '
if [ "$(nproc)" -gt 1 ] && cpu=$(taskset -cp $$ 2>/dev/null | sed 's/.*: \([0-9]*\).*/\1/') && [ -n "$cpu" ]; then
	# after mpirun, which binds its ranks itself
	printf '#!/bin/sh\nexec taskset -c %s "%s" "$@"\n' "$cpu" "$vtrun" >bound
	chmod +x bound
	unbound=$vtrun vtrun=./bound
	finds job even cpu-shared
	says "that all have one processor" "All were bound to CPU $cpu of "
	vtrun=$unbound
else
	skip "ranks that are bound to one processor" "no taskset, or one processor"
fi
finds job uneven cpu-shared imbalance
expect_line imbalance found
expect_line -E 'Rank 1 has the most work: outside MPI it used about 1\.[56].* s of CPU time, the other one' t.html
verdict "uneven work is named by CPU time where the processors are shared"
finds job turns cpu-shared communication
sed -n 's/.*class="g\([0-3]\)" id="finding-communication".*/\1/p' t.html >verify
expect_line 1 verify
verdict "waits are a note there"
done_testing

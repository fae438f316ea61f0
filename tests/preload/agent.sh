#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The sampler is a process of its own: the program has no thread, no descriptor and no signal handler for it, ends as it
# would, and no sampler is left. TAP.
. "${top_srcdir:-.}/tests/preload/lib.sh"
VT_VERBOSE=0
export VT_VERBOSE

# shellcheck disable=SC2016
# without a child that the shell would catch signals for meanwhile
seen='while read -r line; do case $line in Threads:*|SigIgn:*|SigCgt:*) echo "$line" ;; esac; done </proc/$$/status; '\
'ls /proc/$$/fd; env | grep -E "LD_PRELOAD|TICKMARK"; :'
for shell in sh bash; do
	if ! command -v $shell >/dev/null; then
		skip "$shell: threads, signals, descriptors and environment" "no $shell"
		continue
	fi
	fresh
	timeout 300 $shell -c "$seen; $shell -c 'env | grep LD_PRELOAD'" >"$dir/plain" 2>&1 </dev/null
	sampled $shell -c "$seen; $shell -c 'env | grep LD_PRELOAD'"
	if [ -n "$sanitizer" ]; then
		skip "$shell: threads, signals, descriptors and environment" "the sanitizer is preloaded"
	else
		diff "$dir/plain" "$dir/out" >"$dir/diff"
		ok "$shell: threads, signals, descriptors and environment are those without" $?
	fi
	expect valid $shell.stf
	expect_line '^INFO SAMPLED by process [0-9]' $shell.prot
	expect_line '^INFO ENDED by' $shell.prot
	verdict "$shell: a valid trace by another process, and how it ended"
done

# a forked child keeps neither the raw file's memory nor its place on the disk, and the end of a child that no library
# sees ends nothing
if made agent/child; then
	fresh
	sampled "$dir/child"
	expect_text "1 0 0" "$dir/out"
	expect valid child.stf
	expect_line '^INFO ENDED by exit' child.prot
	verdict "children of fork() and of clone() have nothing of the raw file mapped"
fi

# What a child of a fork writes for us is on one or two pages, since each is copied first: 2 page faults more than
# without, 10 where it is all over
if [ -n "$sanitizer" ]; then
	skip "a fork has few more page faults" "the sanitizer is preloaded"
elif made agent/faults; then
	fresh
	plain=$("$dir/faults")
	sampled "$dir/faults"
	echo "# page faults of a child of a fork: $plain, $(cat "$dir/out") under vtrun"
	expect [ "$(cat "$dir/out")" -le $((plain + 8)) ]
	expect valid faults.stf
	verdict "a fork has few more page faults"
fi

# What the sampler does is not in the program's counters: it waits about once a sample, the program about 50 times
if made agent/waits; then
	fresh
	options="--sample-period 1ms --sample-budget 1"
	sampled "$dir/waits"
	options=
	samples=$(sed -n 's/^INFO SAMPLER .* ticks \([0-9]*\) .*/\1/p' waits.prot)
	echo "# $samples samples; the program waited $(cat "$dir/out") times"
	expect [ "$samples" -gt 200 ]
	expect [ "$(cat "$dir/out")" -ge 50 ]
	expect [ "$(cat "$dir/out")" -lt $((50 + samples / 4)) ]
	expect valid waits.stf
	verdict "what the sampler does is not counted as the program's"
fi

fresh
options="--sampler thread"
sampled sh -c 'grep ^Threads: /proc/$$/status'
options=
expect [ "$(awk '{ print $2 }' "$dir/out")" -eq 2 ]
expect valid sh.stf
expect_line '^INFO SAMPLED by a thread inside the program: SAMPLER thread$' sh.prot
expect_line -x 'INFO ENDED by _exit, exit status [0-9]*' sh.prot
verdict "SAMPLER thread: a thread inside, and the protocol says so"

if made agent/last_thread; then
	fresh
	timeout -k 1 20 "$build/vtrun" --sampler thread -- "$dir/last_thread" >"$dir/out" 2>"$dir/err" </dev/null
	expect [ $? -eq 4 ]
	expect valid last_thread.stf
	expect_line -x 'INFO ENDED by exit of its last thread, exit status 4' last_thread.prot
	verdict "SAMPLER thread: a program whose last thread ends by a system call ends, with its status and a trace"
fi

# what the sampling cost is in the protocol of both
for how in process thread; do
	fresh
	options="--sampler $how"
	sampled sleep 1
	options=
	expect valid sleep.stf
	expect grep '^INFO SAMPLER ' sleep.prot >"$dir/diff"
	expect awk '{ for (i = 1; i < NF; i++) { v[$i] = $(i + 1) + 0 } }
		END { exit !(v["ticks"] > 1 && v["longest-tick"] > 0 && v["period"] >= 0.1) }' "$dir/diff"
	verdict "SAMPLER $how: ticks, the longest one and their period are in the protocol"
done

# as if no library were there; vtrun asks the dynamic linker what a program of a job loads, and must not run the program
# for that
if made agent/first; then
	fresh
	sampled "$dir/first"
	expect_status 0
	expect valid first.stf
	verdict "errno is 0 when the program begins"
	fresh
	PMI_RANK=0 && export PMI_RANK
	sampled "$dir/first"
	unset PMI_RANK
	expect_status 0
	expect_text once runs
	verdict "a program that a launcher starts runs once"
fi
if [ -n "$sanitizer" ]; then
	skip "LD_PRELOAD of the user" "the sanitizer is preloaded"
else
	fresh
	LD_PRELOAD=libm.so.6 timeout -k 10 300 "$build/vtrun" -- sh -c 'echo "$LD_PRELOAD"; sh -c "echo \$LD_PRELOAD"' \
		>"$dir/out" 2>"$dir/err" </dev/null
	expect [ "$(tr '\n' ' ' <"$dir/out")" = "libm.so.6 libm.so.6 " ]
	expect valid sh.stf
	verdict "the program and its children have the user's own LD_PRELOAD"
fi

# without the library of such a thread
if [ -n "$sanitizer" ] || installed libVTinside.so; then
	skip "a thread inside without libVTinside.so" "the sanitizer is preloaded, or it is installed"
else
	fresh
	mkdir -p alone/.libs
	cp -L "$build/vtrun" alone && cp -L "$build/.libs/libVTcs.so" alone/.libs
	VT_VERBOSE=1 alone/vtrun -- sh -c 'echo hello; exit 6' >"$dir/out" 2>"$dir/err" </dev/null
	expect [ $? -eq 6 ]
	expect_text hello "$dir/out"
	expect_line 'WARNING: there is no .*/libVTinside.so: no counters are read' "$dir/err"
	expect_line 'WARNING: no trace: there is no .*/vtsampler\. What was recorded is in .*; stftool .* --merge' \
		"$dir/err"
	expect "$build/stftool" sh.prot --merge sh.stf >"$dir/verify" 2>&1
	expect "$build/stftool" sh.stf --verify >"$dir/verify" 2>&1
	verdict "without libVTinside.so and vtsampler: a message, and stftool makes the trace"
fi

# Another sampler process makes the trace.
fresh
"$build/vtrun" -- sh -c 'until [ -e go ]; do sleep 0.05; done; exit 7' >"$dir/out" 2>"$dir/err" </dev/null &
pid=$!
appears sh.prot
ticks 3 sh.prot
first=$(sampler sh.prot)
kill -KILL "$first"
echo >go
wait $pid
expect [ $? -eq 7 ]
expect_empty "$dir/err"
expect valid sh.stf
expect [ "$(sampler sh.prot)" != "$first" ]
expect "$build/stftool" sh.stf --dump >"$dir/out" 2>"$dir/err"
expect_line 'no samples since the sampler process before this one was killed' "$dir/out"
verdict "the sampler process is killed: another one makes the trace, and says so"

# the last thread ends by itself
if made agent/last -pthread; then
	fresh
	timeout -k 5 20 "$build/vtrun" -- "$dir/last" >"$dir/out" 2>"$dir/err"
	status=$?
	expect_status 0
	expect_text hello "$dir/out"
	expect trace_complete last.stf
	expect valid last.stf
	verdict "a program whose last thread ends with pthread_exit() ends"
fi

# exec from a small stack
if made agent/small -pthread; then
	fresh
	sampled "$dir/small"
	if [ "$status" -eq 77 ]; then
		skip "exec from a small stack" "no stack of 20 KB here"
	else
		expect_status 0
		expect_text became "$dir/out"
		expect valid small.stf
		verdict "exec from a thread with 20 KB of stack"
		# when vtrun has ended
		expect_line '^INFO BEFORE-EXEC "small"$' small.prot
		expect_line '^INFO PROGRAM "echo"$' small.prot
		expect_line '^INFO ENDED by exit, exit status 0$' small.prot
		verdict "the protocol has both programs and how the second one ended"
	fi
fi

# what a handler on a small stack calls first, and how it ends the program
if [ -n "$sanitizer" ]; then
	skip "the end in a handler with 8 KB of stack" "the sanitizer needs more"
elif made agent/handler_ends -finstrument-functions; then
	for how in _exit exit quick_exit fork; do
		for options in '' '--follow-children' '--statistics on --summary'; do
			fresh
			sampled "$dir/handler_ends" "$how"
			expect_status 3 77
			[ "$status" = 77 ] || expect trace_complete handler_ends.stf
			[ "$status" = 77 ] || expect valid handler_ends.stf
		done
	done
	options=
	verdict "a program that ends in a handler with 8 KB of stack ends with its status"
fi

# an exec that the library does not see, without its environment: only what is recorded inside ends
if [ -n "$sanitizer" ] || ! made agent/unseen; then
	skip "an exec that the library does not see" "the sanitizer is preloaded, or there is no compiler"
else
	fresh
	sampled "$dir/unseen"
	expect_status 0
	expect trace_complete unseen.stf
	expect valid unseen.stf
	sed -n 's/^INFO SAMPLER .* wall \([0-9.]*\)s .*/\1/p' unseen.prot |
		expect awk '{ wall = $1 } END { exit !(wall > 0.85) }'
	expect_line '^INFO ENDED without' unseen.prot
	verdict "an exec that the library does not see: the sampler goes on to the end of the second program"
fi

# the first process of a container, with which a sampler process would end
fresh
if unshare --pid --fork --mount-proc true 2>/dev/null; then
	timeout -k 10 300 unshare --pid --fork --mount-proc "$build/vtrun" -- sh -c 'echo $$; exit 6' >"$dir/out" \
		2>"$dir/err" </dev/null
	expect [ $? -eq 6 ]
	expect_text 1 "$dir/out"
	expect valid sh.stf
	expect_line '^INFO SAMPLED by a thread inside the program: .*process 1' sh.prot
	expect_line '^INFO ENDED by' sh.prot
	verdict "as process 1 a thread inside samples, and the protocol says so and how it ended"
else
	skip "as process 1 a thread inside samples" "no process namespaces here"
fi

# a PID namespace whose /proc is that of the machine: its numbers are strangers'
fresh
if unshare --pid --fork true 2>/dev/null; then
	# vtrun is not its first process
	timeout -k 10 300 unshare --pid --fork sh -c '"$@"; exit $?' - "$build/vtrun" --counter proc_write --counter \
		thread_write --counter perf_page_faults:process -- dd if=/dev/zero of=/dev/null bs=1000 count=300000 \
		>"$dir/out" 2>"$dir/err" </dev/null
	expect [ $? -eq 0 ]
	expect valid dd.stf
	expect_line '^INFO SAMPLED by a thread inside the program: .*PID namespace' dd.prot
	"$build/stftool" dd.stf --print-counters --csv >"$dir/out" 2>"$dir/err"
	for counter in proc_write thread_write; do
		expect awk -F, -v name="\"$counter\"" '$2 == name && $15 > most { most = $15 }
			END { exit !(most >= 300000000 && most < 301000000) }' "$dir/out"
	done
	verdict "below another /proc the program's own numbers are read, not a stranger's"
else
	skip "below another /proc the program's own numbers are read" "no process namespaces here"
fi

# programs that must have one thread
fresh
if unshare -Ur true 2>/dev/null; then
	sampled unshare -Ur true
	[ "$status" -eq 0 ]
	ok "unshare -Ur" $?
else
	skip "unshare -Ur" "no user namespaces here"
fi

# none is left
fresh
sampled sh -c 'sleep 0.3'
pid=$(sampler sh.prot)
tries=0
while grep -q '^State:[^ZX]*$' "/proc/$pid/status" 2>/dev/null && [ $tries -lt 100 ]; do
	tries=$((tries + 1))
	sleep 0.1
done
expect [ -n "$pid" ]
expect [ $tries -lt 100 ]
verdict "the sampler ends when the trace is written"
# A program that comes when the sampler of its job has just decided to end is sampled all the same: killed, it has a
# trace. A sampler that is held at that point shows it; the programs of a job that its launcher names share one.
fresh
mkdir late
if [ -n "$sanitizer" ]; then
	skip "a program that comes while the sampler ends" "the sanitizer is preloaded"
elif cp "$build"/.libs/libVT*.so* "$build/vtrun" late/ &&
	made_library agent/late -ldl; then
	printf '#!/bin/sh\nLD_PRELOAD=%s exec %s "$@"\n' "$dir/late.so" "$build/vtsampler" >late/vtsampler
	chmod +x late/vtsampler
	(
		OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1 PMIX_NAMESPACE=late$$ LATE_ENDS=$PWD/ends \
			LATE_CAME=$PWD/came
		export OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE PMIX_NAMESPACE LATE_ENDS LATE_CAME
		late/vtrun -- true
		appears ends || exit 1
		late/vtrun -- sh -c ': >came; until [ -e go ]; do sleep 0.1; done; kill -KILL $$' &
		appears came && appears sh.prot && late/vtrun -- sleep 0.1
		: >go
		wait $!
		[ $? -eq 137 ]
	) >"$dir/out" 2>"$dir/err" </dev/null && trace_complete sh.stf && valid sh.stf && grep -q '^INFO ENDED' sh.prot
	ok "a program that comes while the sampler of its job ends, and is killed, has a trace" $?
	expect [ -n "$(sampler sh.prot)" ]
	expect [ "$(sampler sh.prot)" = "$(sampler true.prot)" ]
	expect [ "$(sampler sh.prot)" = "$(sampler sleep.prot)" ]
	verdict "and the next one finds the same sampler"
fi

# A program does not wait for a sampler that does not answer, here a stopped one; what is not sampled meanwhile is
# counted
fresh
(
	OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1 PMIX_NAMESPACE=held$$
	export OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE PMIX_NAMESPACE
	"$build/vtrun" -- sh -c 'until [ -e go ]; do sleep 0.1; done' &
	appears sh.prot
	held=$(sampler sh.prot)
	kill -STOP "$held"
	"$build/vtrun" -- bash -c ': >came; until [ -e go ]; do sleep 0.1; done' &
	appears came
	ran=$?
	sleep 0.5
	kill -CONT "$held"
	appears bash.prot
	ticks 3 sh.prot
	: >go
	wait
	exit $ran
) >"$dir/out" 2>"$dir/err" </dev/null
rc=$?
for trace in *.stf; do "$build/stftool" "$trace" --dump; done >dump 2>>"$dir/err"
expect [ $rc -eq 0 ]
expect [ "$(sed -n 's/.*no samples of the first \([0-9.]*\) s: the sampler process was not ready.*/\1/p' dump | awk '
	$1 > 0.4 && $1 < 60' | wc -l)" -eq 1 ]
verdict "a sampler that does not answer does not hold the program up, and what it missed is counted"

# The counters of its threads are open when the program begins, or it is counted how much is missing: a sampler that
# pauses after its answer
fresh
mkdir late
if [ -n "$sanitizer" ]; then
	skip "the first page faults of a program" "the sanitizer is preloaded"
elif ! "$build/vtcounters" perf_page_faults 2>&1 | grep -q '^perf_page_faults .*thread'; then
	skip "the first page faults of a program" "no software events of the kernel here"
elif cp "$build"/.libs/libVT*.so* "$build/vtrun" late/ &&
	made_library agent/pauses -ldl && made agent/burst; then
	printf '#!/bin/sh\nLD_PRELOAD=%s exec %s "$@"\n' "$dir/pauses.so" "$build/vtsampler" >late/vtsampler
	chmod +x late/vtsampler
	tries=0 whole=0 wrong=0
	# the sampler is there when the second program comes; where it had no core for 2 ms the program went on, which
	# is counted
	while [ $whole -lt 2 ] && [ $tries -lt 20 ]; do
		tries=$((tries + 1))
		rm -f ./*.stf* ./*.prot .VT-flush-*
		# shellcheck disable=SC2016
		late/vtrun --counter perf_page_faults --keep-raw-events on -- sh -c 'sleep 0.7; exec "$0"' \
			"$dir/burst" >>"$dir/out" 2>>"$dir/err" </dev/null
		"$build/stftool" .VT-flush-burst_*.raw --merge burst.stf >>"$dir/out" 2>>"$dir/err"
		got=$("$build/stftool" burst.stf --print-counters --csv 2>>"$dir/err" | awk -F, '
			$2 == "\"perf_page_faults\"" && $15 > m { m = $15 } END { print m + 0 }')
		"$build/stftool" burst.stf --dump 2>>"$dir/err" | grep -q 'no samples of the first' && continue
		whole=$((whole + 1))
		[ "$got" -ge 2000 ] || wrong=$((wrong + 1))
		echo "# $got page faults of 2000" >>"$dir/diff"
	done
	if [ $whole -eq 0 ]; then
		skip "the first page faults of a program" "this time the sampler process was never ready in time"
	else
		[ $wrong -eq 0 ]
		ok "a program begins when the counters of its threads are open, $whole times" $?
	fi
fi

# without /dev/null the sampler has nothing of the program's output either
if [ -n "$sanitizer" ] || ! bwrap --ro-bind / / --tmpfs /dev --bind "$dir" "$dir" true 2>"$dir/diff"; then
	skip "a container without /dev" "no bubblewrap that works (Debian: bubblewrap), or the sanitizer is preloaded"
else
	fresh
	cat >sampled.sh <<'END'
# the first two lines of output: how many descriptors of the sampler are the program's, and that all is over
tries=0
until s=$(sed -n 's/^INFO SAMPLED by process \([0-9]*\)$/\1/p' sh.prot 2>/dev/null) && [ -n "$s" ] || [ $tries -ge 300 ]; do
	tries=$((tries + 1))
	sleep 0.1
done
n=0
for f in /proc/$s/fd/*; do
	[ "$(readlink "$f")" != "$1/out" ] || n=$((n + 1))
done
echo "sampler $s has $n"
END
	timeout 100 bwrap --ro-bind / / --tmpfs /dev --proc /proc --bind "$dir" "$dir" "$build/vtrun" -- sh sampled.sh \
		"$dir" >"$dir/out" 2>"$dir/out2"
	grep -q '^sampler [0-9][0-9]* has 0$' "$dir/out"
	ok "a container without /dev: the sampler keeps no copy of the program's output" $?
fi

# vtrun looks whether there is a sampler before its process comes: connects, and says nothing
if command -v "${PYTHON3:-python3}" >/dev/null; then
	cat >probe.py <<'END'
import os, socket, sys, time
name = '\0tickmark-probe-%d' % os.getpid()
s = socket.socket(socket.AF_UNIX)
s.bind(name)
s.listen(8)
pid = os.fork()
if pid == 0:
    os.dup2(s.fileno(), 3)
    os.set_inheritable(3, True)
    os.execv(sys.argv[1], sys.argv[1:2])
s.close()
for i in range(3):
    with socket.socket(socket.AF_UNIX) as c:
        c.connect(name)  # refused where it has given up
    time.sleep(0.3)
for i in range(100):
    if os.waitpid(pid, os.WNOHANG)[0]:
        sys.exit(0)
    time.sleep(0.1)
sys.exit('it does not end without processes')
END
	"${PYTHON3:-python3}" probe.py "$build/vtsampler" >"$dir/out" 2>"$dir/err"
	ok "a sampler whose first callers say nothing waits for processes, and ends when none comes" $?
else
	skip "a sampler whose first callers say nothing" "no python3"
fi
done_testing

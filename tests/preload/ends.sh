#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Unwanted ends: SIGKILL at random moments (KILLS of them), a full disk, folders that cannot be written,
# a process that is stopped; the program ends as it would, and what was recorded becomes a valid trace. TAP.
. "${top_srcdir:-.}/tests/preload/lib.sh"
kills=${KILLS:-15}

# ---- SIGKILL ----

# A program that lives for long enough, killed 0 to 0.4 s after its start, and every other time so long after the raw
# file is there: then, and when main has been seen to begin, something must have been recorded.
fresh
cat >kill.py <<'END'
import os, random, signal, struct, subprocess, sys, time
SAMPLER = 1888 # where the head has the process id of the sampler
build, rounds, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
random.seed(seed)
bad = 0
def raw_files():
    return [f for f in os.listdir('.') if f.startswith('.VT-flush')]
def sampler_of(raw):
    try:
        with open(raw[0], 'rb') as f:
            return struct.unpack_from('i', f.read(4096), SAMPLER)[0]
    except (IndexError, OSError, struct.error):
        return 0
for i in range(rounds):
    for f in os.listdir('.'):
        if f != 'kill.py':
            os.unlink(f)
    # every third time the sampler process dies as well, then the raw file is what is left
    both = i % 3 == 2
    p = subprocess.Popen([build + '/vtrun', '--sample-period', '10ms', '--verbose', '0', '--counter', '**', '--', 'sh', '-c', ': >began; while :; do :; done'])
    give_up = time.monotonic() + 60
    while i % 2 and not raw_files() and time.monotonic() < give_up:
        time.sleep(0.001)
    wait = random.random() * 0.4
    time.sleep(wait)
    began = raw_files() != []
    sampler = sampler_of(raw_files()) if both else 0
    if sampler:
        os.kill(sampler, signal.SIGKILL)
    p.send_signal(signal.SIGKILL)
    p.wait()
    give_up = time.monotonic() + (10 if began and not sampler else 0)
    while raw_files() and time.monotonic() < give_up:
        time.sleep(0.01)
    raw = raw_files()
    if not raw and not os.path.exists('sh.stf'):
        # killed before the library began
        if began or os.path.exists('began'):
            print('# nothing after', wait)
            bad += 1
        continue
    if raw:
        # the sampler process is dead, or did not see the program before it was killed
        r = subprocess.run([build + '/stftool'] + raw + ['--merge', 'sh.stf'], capture_output=True, text=True)
        if r.returncode or 'killed' not in r.stderr or (i % 2 == 0 and not sampler and os.path.exists('began')):
            print('#', i, wait, sampler, r.stderr)
            bad += 1
    elif 'INFO ENDED by signal 9' not in open('sh.prot').read() and 'INFO ENDED without exit' not in open('sh.prot').read():
        print('#', i, wait, 'the protocol does not say how it ended')
        bad += 1
    v = subprocess.run([build + '/stftool', 'sh.stf', '--verify'], capture_output=True, text=True)
    if v.returncode:
        print('#', i, wait, v.stderr)
        bad += 1
sys.exit(bad != 0)
END
if command -v "${PYTHON3:-python3}" >/dev/null; then
	"${PYTHON3:-python3}" kill.py "$build" "$kills" "${SEED:-20261121}" >"$dir/out" 2>"$dir/err"
	ok "SIGKILL at $kills random moments: a valid trace each time, that says so" $?
else
	skip "SIGKILL at random moments" "no python3"
fi

# Nothing older than a block is lost. How often and how late the sampler gets a core is the machine's affair, so the
# number of times that it woke up is what the samples are compared with; some of them are for other things than a
# sample.
fresh
VT_FLUSH_PID=off "$build/vtrun" --timer clock_monotonic --sample-period 10ms --verbose 0 -- sleep 300 &
pid=$!
appears sleep.prot
ticks 250 sleep.prot
woke=$(switches sleep.prot)
kill -9 $pid
wait $pid 2>/dev/null
expect trace_complete sleep.stf
expect "$build/stftool" sleep.stf --print-counters --csv >"$dir/verify"
expect awk -F, -v woke="$woke" '$2 ~ /sampler_cpu/ { n = $9 } END { print n " samples, woke up " woke " times";
	exit !(woke >= 250 && n >= 0.9 * woke) }' "$dir/verify" >"$dir/diff"
verdict "at 10 ms: for each time that the sampler woke up before the kill there is a sample"
valid sleep.stf
ok "and the trace is valid" $?

# ---- a full disk ----

fresh
if mkdir small && mount -t tmpfs -o size=600k none small 2>/dev/null; then
	mounted=$dir/run/small
	cd small || exit 99
	options="--sample-period 1ms --sample-budget 1 --counter ** --os-counter-delay 1ms"
	for seconds in 1 5 25 125; do
		rm -f ./* "$dir/full."*
		sampled sh -c "sleep $seconds; echo done; exit 5"
		# until the raw file is cut, not the trace alone
		"$build/stftool" .VT-flush-* --merge "$dir/full.stf" >"$dir/merged" 2>&1
		! grep -q 'records are missing' "$dir/merged" || break
	done
	options=
	expect_status 5
	expect_text done "$dir/out"
	verdict "a full disk: the program ends as always"
	grep -q 'no trace\|No space left' "$dir/err"
	ok "a full disk: said" $?
	expect [ -n "$(ls .VT-flush-* 2>/dev/null)" ]
	expect_line 'No space left on device; [0-9]* records are missing' "$dir/merged"
	expect valid "$dir/full.stf"
	verdict "a full disk: what fitted makes a valid trace elsewhere, which says what is missing"
	"$build/stftool" "$dir/full.stf" --print-clock >"$dir/out" 2>&1
	grep -q 'missing.*No space left' "$dir/out"
	ok "a full disk: it is in the trace" $?
	rm -f ./* .VT-flush-* && mount -o remount,size=64k "$mounted"
	sampled sh -c 'echo done; exit 5'
	expect_status 5
	expect_text done "$dir/out"
	expect_line \
		'process 0: no place for records from 0.000000 s on: No space left on device; [1-9][0-9]* records are '\
'missing' "$dir/err"
	verdict "a disk that is full from the beginning: said as that, and the program ends as always"
	# with room for the raw file, but for neither the trace nor the protocol
	cd "$dir" && umount "$mounted" && mount -t tmpfs -o size=600k,nr_inodes=2 none "$mounted" && cd "$mounted" ||
		exit 99
	sampled sh -c 'echo done; exit 5'
	from=$(sed -n 's/.*no trace: .*; stftool \([^ ]*\) --merge .*/\1/p' "$dir/err")
	expect_status 5
	expect [ ! -e sh.prot ]
	expect [ -s "$from" ]
	expect "$build/stftool" "$from" --merge "$dir/none.stf" >"$dir/out" 2>&1
	expect valid "$dir/none.stf"
	verdict "no place for the protocol: the command that is printed names the raw file"
	cd "$dir" || exit 99
	umount "$mounted"
	mounted=
else
	skip "a full disk" "no right to mount a tmpfs"
fi

# FLUSH-LIMIT does the same without a full disk; on a busy machine it takes longer until there is so much
for seconds in 1 5 25 125; do
	fresh
	options="--sample-period 1ms --sample-budget 1 --counter ** --os-counter-delay 1ms --flush-limit 1100KB \
--mem-blocksize 16KB"
	sampled sleep $seconds
	options=
	"$build/stftool" sleep.stf --print-clock >"$dir/diff" 2>&1
	! grep -q 'FLUSH-LIMIT' "$dir/diff" || break
done
expect_status 0
expect valid sleep.stf
expect_line 'FLUSH-LIMIT' "$dir/diff"
verdict "FLUSH-LIMIT: a valid trace, which says that it ended early"

# ---- folders ----

fresh
mkdir ro
chmod 555 ro
if [ "$(id -u)" -eq 0 ]; then
	# root may write anywhere but where nothing can be written
	(cd /proc && VT_VERBOSE=1 "$build/vtrun" -- sh -c 'echo here; exit 4') >"$dir/out" 2>"$dir/err"
	status=$?
else
	(cd ro && VT_VERBOSE=1 "$build/vtrun" -- sh -c 'echo here; exit 4') >"$dir/out" 2>"$dir/err"
	status=$?
fi
expect_status 4
expect_text here "$dir/out"
expect_line 'raw file is /' "$dir/err"
expect_line 'no trace' "$dir/err"
verdict "a folder that cannot be written: the program runs, the raw file is elsewhere, both are reported"
raw=$(sed -n 's/.*What was recorded is in \([^ ;]*\).*/\1/p' "$dir/err")
expect [ -n "$raw" ]
expect "$build/stftool" "$raw" --merge ro.stf --delete-raw-data >"$dir/out" 2>&1
expect valid ro.stf
expect [ ! -e "$raw" ]
verdict "and makes a trace"

# a trace that exists is never replaced unasked
fresh
sampled sleep 0.1
cp sleep.stf first.copy
sampled sleep 0.1
expect_same sleep.stf first.copy
expect valid sleep-1.stf
verdict "a second run leaves the first trace alone"
options=--force
sampled sleep 0.1
options=
cmp -s sleep.stf first.copy
expect [ $? -eq 1 ]
expect valid sleep.stf
verdict "--force replaces it"

# nor a protocol, which may hold the command for a trace that is still missing
fresh
options=--keep-raw-events
sampled sleep 0.1
cp sleep.prot first.copy
sampled sleep 0.1
options=
expect_same sleep.prot first.copy
expect_line -x '#   stftool sleep-1.prot --merge sleep-1.stf' sleep-1.prot
verdict "nor the protocol of a run without a trace"

# a protocol whose raw file is gone is a leftover, and does not change the name
fresh
sampled sleep 0.1
expect rm sleep.stf*
sampled sleep 0.1
expect valid sleep.stf
expect [ ! -e sleep-1.prot ]
verdict "a left protocol changes nothing"
rm sleep.stf
sampled sleep 0.1
expect valid sleep-1.stf
verdict "a left component of a trace has its name still"
rm sleep-1.* sleep.stf*
sampled sleep 0.1
# a job of another host may run: its raw file cannot be seen from here
sed 's/^INFO PROCESS 0 "[^"]*"/INFO PROCESS 0 "far away"/' sleep.prot >other
echo '# The program was running when this was written.' >>other
mv other sleep.prot && rm sleep.stf*
sampled sleep 0.1
expect valid sleep-1.stf
expect_line '"far away"' sleep.prot
verdict "the protocol of a job that runs elsewhere stays"
fresh
echo mine >sleep.clk
sampled sleep 0.1
expect [ ! -e sleep.stf ]
expect valid sleep-1.stf
expect_text mine sleep.clk
verdict "a correction that exists has the name, too"

# names of a folder that do not fit
fresh
deep=
for i in 1 2 3 4 5 6; do
	deep=$deep$(printf '%0180d' $i)/
done
mkdir -p "$deep" &&
	(cd "$deep" && exec timeout 100 "$build/vtrun" --logfile-name "tickmark-test-$$.stf" -- sh -c 'exit 3') \
	>"$dir/out" 2>"$dir/err"
expect [ $? -eq 3 ]
expect_line 'the current folder has a name of more than 1023 bytes: the trace is in /tmp$' "$dir/err"
expect valid "/tmp/tickmark-test-$$.stf"
verdict "a folder with a name of more than 1023 bytes: a message says where the trace is"
rm -f "/tmp/tickmark-test-$$".*

# no descriptor left for the sampler
fresh
(ulimit -n 10 && exec timeout 100 "$build/vtrun" -- sh -c 'sleep 0.3; exit 3') >"$dir/out" 2>"$dir/err"
expect [ $? -eq 3 ]
expect_line 'too many open files: ulimit -n$' "$dir/err"
expect_no_line 'mounted?' "$dir/err"
verdict "too few descriptors are said as that"

# ---- what others have left in the folder ----

# a pipe by the name of a raw file, one that is empty, one that is cut short, and a folder: none is waited for, read or
# removed
fresh
options=--keep-raw-events
sampled true
options=
mkfifo .VT-flush-pipe_0-1.raw && mkdir .VT-flush-folder_0-1.raw && : >.VT-flush-empty_0-1.raw
cut=$(ls .VT-flush-true_*.raw)
truncate -s 5000 "$cut"
ls -i .VT-flush-* >"$dir/before"
sampled sh -c 'exit 6'
ls -i .VT-flush-* >"$dir/after"
expect_status 6
expect [ -f "$cut" ]
expect valid sh.stf
expect_same "$dir/before" "$dir/after"
verdict "foreign raw files, a pipe and a folder by such a name: a valid trace, and they stay"

# ---- stopped ----

fresh
VT_FLUSH_PID=off "$build/vtrun" --verbose 0 -- sh -c 'until [ -e go ]; do sleep 0.1; done' >"$dir/out" 2>"$dir/err" &
pid=$!
appears sh.prot
ticks 3 sh.prot
begin=$(date +%s)
kill -STOP $pid
sleep 2.2
ticks 3 sh.prot
kill -CONT $pid
ticks 3 sh.prot
: >go
wait $pid
"$build/stftool" sh.stf --dump >"$dir/out" 2>&1
# at least as long as it was stopped, but for a period; no longer than all this took
sed -n 's/.*the process was stopped for \([0-9.]*\) '\
's.*/\1/p' "$dir/out" | expect awk -v most=$(($(date +%s) - begin + 1)) '
	$1 >= 1.5 && $1 <= most { n++ } END { exit n != 1 }'
expect valid sh.stf
verdict "a process that was stopped: it is in the trace, for how long"

# ---- above its budget ----

fresh
options="--sample-period 1ms --sample-budget 0.00001"
sampled sleep 3.5
options=
expect_status 0
expect valid sleep.stf
expect_line 'INFO: sampler used .*: slowed down, because it was above SAMPLE-BUDGET$' "$dir/err"
verdict "above its budget the sampler slows down, and the user reads it"
tail -n 1 "$dir/err" | grep -q 'sleep\.stf'
ok "and the last line still names the trace" $?
"$build/stftool" sleep.stf --dump >"$dir/out" 2>&1
grep -q '% of a core is above SAMPLE-BUDGET 0\.00%; SAMPLE-PERIOD is 0\.002 s from here on' "$dir/out"
ok "the trace says when and to what" $?
grep '^INFO SAMPLER' sleep.prot >"$dir/out"
grep -q ' slowed-down [1-9] times$' "$dir/out"
ok "and in the protocol" $?
fresh
options="--sample-period 100ms --sample-budget 0.5"
sampled sleep 1.2
options=
expect_no_line 'slowed down' "$dir/err"
expect_line '^INFO SAMPLER.* slowed-down 0 times$' sleep.prot
verdict "within it, it does not"

# ---- the trace of a killed program is made after its end ----

# the sampler process is stopped before the program dies, so that the next command finds no trace for a while
for reader in "stftool sh.stf --print-threads" vtreport; do
	fresh
	# shellcheck disable=SC2016
	sampled sh -c 'until grep -q "^INFO SAMPLED" sh.prot 2>/dev/null; do sleep 0.05; done
		kill -STOP "$(sed -n "s/^INFO SAMPLED by process //p" sh.prot)"; kill -SEGV $$'
	expect [ ! -e sh.stf ]
	sampler=$(sed -n "s/^INFO SAMPLED by process //p" sh.prot)
	(sleep 0.7 && kill -CONT "$sampler") &
	[ "$reader" != vtreport ] || reader="vtreport sh.stf"
	# shellcheck disable=SC2086
	expect "$build/"$reader >"$dir/out" 2>&1
	expect valid sh.stf
	wait $!
	verdict "${reader%% *} waits for the trace of a program that was killed just now"
done
fresh
(sampled sleep 3) &
until grep -q '^INFO SAMPLED' sleep.prot 2>/dev/null; do sleep 0.05; done
begin=$(date +%s)
expect_not "$build/stftool" sleep.stf --print-threads >"$dir/out" 2>&1
expect [ $(($(date +%s) - begin)) -lt 2 ]
expect_line '^stftool: sleep.stf: its program, process [0-9]*, still runs; the trace is made at its end' "$dir/out"
wait $!
expect valid sleep.stf
verdict "of a program that still runs, stftool says so at once"

# ---- the last words on a terminal ----

if command -v script >/dev/null && script -qec true "$dir/out" >/dev/null 2>&1; then
	for signal in SEGV KILL; do
		fresh
		# shellcheck disable=SC2016
		cat >last.sh <<-END
			'$build/vtrun' -- sh -c 'sleep 0.2; kill -$signal \$\$'
			'$build/stftool' sh.stf --verify
			sleep 1
		END
		script -qec "sh last.sh" "$dir/typescript" >"$dir/out" 2>&1 </dev/null
		# the shell may have taken the status before anybody else could read it
		expect_line 'Tickmark WARNING: sh ended \(by signal [0-9]* (\|without exit, status unknown\)' "$dir/out"
		expect_line 'Tickmark INFO: Writing tracefile .*/sh.stf: ' "$dir/out"
		expect_line 'stftool: sh.stf: .* 0 faults' "$dir/out"
		verdict "SIG$signal on a terminal: how it ended and where the trace is"
	done
else
	skip "the last words on a terminal" "no script(1)"
fi

# ---- the last words in a file or a pipe ----

has_trace() # has_trace: of the program that a signal ended
{
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		"$build/stftool" sh.stf --verify >"$dir/out" 2>&1 && ! ls .VT-flush-* >/dev/null 2>&1 && break
		sleep 0.1
	done
	sleep 0.2 # the lines come after the trace
	expect_line 'sh.stf: .* 0 faults' "$dir/out"
}
for signal in SEGV KILL; do
	fresh
	"$build/vtrun" -- sh -c "sleep 0.2; kill -$signal \$\$" 2>err
	has_trace
	expect_line 'Tickmark INFO: Writing tracefile .*/sh.stf: ' err
	verdict "SIG$signal with standard error in a file: where the trace is"
	fresh
	printf '%s\n' "'$build/vtrun' -- sh -c 'sleep 0.2; kill -$signal \$\$'" 'sleep 2' 'echo over >&2' >last.sh
	echo "in its place" >err
	sh last.sh 2>err
	has_trace
	expect_line 'Tickmark INFO: Writing tracefile .*/sh.stf: ' err
	expect [ "$(tail -n 1 err)" = over ]
	verdict "SIG$signal: what follows in that file comes after it"
	for to in err '&-'; do
		fresh
		: >data
		eval "\"\$build/vtrun\" -- sh -c 'exec 2>data; sleep 0.2; kill -$signal \$\$'" "2>$to"
		has_trace
		expect_empty data
	done
	verdict "but nothing in a file that the program opened in its place"
	fresh
	cat >last.sh <<-END
		'$build/vtrun' -- sh -c 'sleep 0.2; kill -$signal \$\$'
		sleep 2
		echo over
	END
	sh last.sh 2>&1 | cat >err
	has_trace
	expect_line 'Tickmark INFO: Writing tracefile .*/sh.stf: ' err
	expect [ "$(tail -n 1 err)" = over ]
	verdict "SIG$signal with standard error in a pipe that a script has, too: where the trace is"
done

# ---- killed ----

for signal in TERM INT HUP SEGV XCPU KILL; do
	fresh
	# shellcheck disable=SC2016
	sampled sh -c 'until [ -s sh.prot ]; do sleep 0.1; done; kill -'"$signal"' $$; sleep 5'
	expect [ "$status" -gt 128 ]
	expect trace_complete sh.stf
	expect valid sh.stf
	expect_line -E '^INFO ENDED (by signal|without exit, status unknown)' sh.prot
	verdict "SIG$signal: a valid trace, and the protocol says how it ended"
done

# ---- the run after one whose sampler was killed, too ----

fresh
# shellcheck disable=SC2016
"$build/vtrun" --verbose 0 -- sh -c 'until [ -s sh.prot ]; do sleep 0.1; done; : >go; while :; do sleep 0.1; done' \
	>"$dir/out" 2>"$dir/err" &
pid=$!
appears go
kill -KILL "$(sampler sh.prot)" $pid
wait $pid
raw=$(ls .VT-flush-sh_*.raw)
expect [ ! -e sh.stf ]
expect [ -n "$raw" ]
expect_line "^INFO RAWFILE \".*/$raw\"$" sh.prot
verdict "SIGKILL of both: the protocol names the raw file"
sampled sleep 0.2
sed -n 's/.*an earlier run left raw files; \(stftool .*\) makes its trace$/\1/p' "$dir/err" >"$dir/command"
expect_status 0
expect valid sleep.stf
expect [ -e "$raw" ]
expect [ -s "$dir/command" ]
verdict "the next run says what to type"
(PATH=$build:$PATH && . "$dir/command") >"$dir/out" 2>&1 ||
	not_met '(PATH=$build:$PATH && . "$dir/command") >"$dir/out" 2>&1'
expect valid FILE.stf
expect "$build/stftool" "$raw" --merge sh.stf --delete-raw-data >"$dir/out" 2>&1
expect valid sh.stf
expect [ ! -e "$raw" ]
expect_line killed "$dir/out"
verdict "and that makes a valid trace"
sampled sleep 0.2
! grep -q 'earlier run' "$dir/err"
ok "then there is nothing more to say" $?

# the program's own limit on file sizes kills writers with SIGXFSZ
fresh
(
	ulimit -f 100
	sampled sleep 0.3
	[ "$status" -eq 0 ]
)
ok "a limit on the size of files does not end the program" $?

# from within: then our own last lines and the protocol are too long, too
fresh
sampled sh -c 'ulimit -f 0; exit 5'
expect_status 5
trace_complete sh.stf && expect valid sh.stf
verdict "nor does a limit that the program sets"

# nobody reads the standard error any more
fresh
{
	sleep 0.2
	"$build/vtrun" --summary -- sh -c 'ulimit -n 3; exit 5'
	echo $? >"$dir/out"
} 2>&1 | true
expect_line '^5$' "$dir/out"
verdict "our messages into a closed pipe do not end the program"
done_testing

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Unwanted ends: SIGKILL at random moments (KILLS of them), a full disk, folders that cannot be written,
# a process that is stopped; the program ends as it would, and what was recorded becomes a valid trace. TAP.
. "${top_srcdir:-.}/tests/preload/lib.sh"
kills=${KILLS:-15}

# ---- SIGKILL ----

# A program that lives for long enough, killed 0 to 0.4 s after its start, and every other time so long after the raw file
# is there: then, and when main has been seen to begin, something must have been recorded.
fresh
cat >kill.py <<'END'
import os, random, signal, struct, subprocess, sys, time
SAMPLER = 1888 # where the head has the process id of the sampler
build, rounds, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
random.seed(seed)
bad = 0
def raw_files():
    return [f for f in os.listdir('.') if f.startswith('VT-flush')]
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

# Nothing older than a block is lost. How often and how late the sampler gets a core is the machine's affair, so the number of times that it
# woke up is what the samples are compared with; some of them are for other things than a sample.
fresh
VT_FLUSH_PID=off "$build/vtrun" --timer clock_monotonic --sample-period 10ms --verbose 0 -- sleep 300 &
pid=$!
appears sleep.prot
ticks 250 sleep.prot
woke=$(switches sleep.prot)
kill -9 $pid
wait $pid 2>/dev/null
trace_complete sleep.stf && "$build/stftool" sleep.stf --print-counters --csv >"$dir/verify" &&
	awk -F, -v woke="$woke" '$2 ~ /sampler_cpu/ { n = $9 } END { print n " samples, woke up " woke " times"; exit !(woke >= 250 && n >= 0.9 * woke) }' "$dir/verify" >"$dir/diff"
ok "at 10 ms: for each time that the sampler woke up before the kill there is a sample" $?
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
		"$build/stftool" VT-flush-* --merge "$dir/full.stf" >"$dir/merged" 2>&1
		! grep -q 'records are missing' "$dir/merged" || break
	done
	options=
	[ "$status" -eq 5 ] && [ "$(cat "$dir/out")" = done ]
	ok "a full disk: the program ends as always" $?
	grep -q 'no trace\|No space left' "$dir/err"
	ok "a full disk: said" $?
	[ -n "$(ls VT-flush-* 2>/dev/null)" ] &&
		grep -q 'No space left on device; [0-9]* records are missing' "$dir/merged" && valid "$dir/full.stf"
	ok "a full disk: what fitted makes a valid trace elsewhere, which says what is missing" $?
	"$build/stftool" "$dir/full.stf" --print-clock >"$dir/out" 2>&1
	grep -q 'missing.*No space left' "$dir/out"
	ok "a full disk: it is in the trace" $?
	rm -f ./* && mount -o remount,size=64k "$mounted"
	sampled sh -c 'echo done; exit 5'
	[ "$status" -eq 5 ] && [ "$(cat "$dir/out")" = done ] &&
		grep -q 'process 0: no place for records from 0.000000 s on: No space left on device; [1-9][0-9]* records are missing' "$dir/err"
	ok "a disk that is full from the beginning: said as that, and the program ends as always" $?
	# with room for the raw file, but for neither the trace nor the protocol
	cd "$dir" && umount "$mounted" && mount -t tmpfs -o size=600k,nr_inodes=2 none "$mounted" && cd "$mounted" || exit 99
	sampled sh -c 'echo done; exit 5'
	from=$(sed -n 's/.*no trace: .*; stftool \([^ ]*\) --merge .*/\1/p' "$dir/err")
	[ "$status" -eq 5 ] && [ ! -e sh.prot ] && [ -s "$from" ] && "$build/stftool" "$from" --merge "$dir/none.stf" >"$dir/out" 2>&1 && valid "$dir/none.stf"
	ok "no place for the protocol: the command that is printed names the raw file" $?
	cd "$dir" || exit 99
	umount "$mounted"
	mounted=
else
	skip "a full disk" "no right to mount a tmpfs"
fi

# FLUSH-LIMIT does the same without a full disk; on a busy machine it takes longer until there is so much
for seconds in 1 5 25 125; do
	fresh
	options="--sample-period 1ms --sample-budget 1 --counter ** --os-counter-delay 1ms --flush-limit 1100KB --mem-blocksize 16KB"
	sampled sleep $seconds
	options=
	"$build/stftool" sleep.stf --print-clock >"$dir/diff" 2>&1
	! grep -q 'FLUSH-LIMIT' "$dir/diff" || break
done
[ "$status" -eq 0 ] && valid sleep.stf && grep -q 'FLUSH-LIMIT' "$dir/diff"
ok "FLUSH-LIMIT: a valid trace, which says that it ended early" $?

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
[ "$status" -eq 4 ] && [ "$(cat "$dir/out")" = here ] && grep -q 'raw file is /' "$dir/err" && grep -q 'no trace' "$dir/err"
ok "a folder that cannot be written: the program runs, the raw file is elsewhere, both are reported" $?
raw=$(sed -n 's/.*What was recorded is in \([^ ;]*\).*/\1/p' "$dir/err")
[ -n "$raw" ] && "$build/stftool" "$raw" --merge ro.stf --delete-raw-data >"$dir/out" 2>&1 && valid ro.stf && [ ! -e "$raw" ]
ok "and makes a trace" $?

# a trace that exists is never replaced unasked
fresh
sampled sleep 0.1
cp sleep.stf first.copy
sampled sleep 0.1
cmp -s sleep.stf first.copy && valid sleep-1.stf
ok "a second run leaves the first trace alone" $?
options=--force
sampled sleep 0.1
options=
cmp -s sleep.stf first.copy
[ $? -eq 1 ] && valid sleep.stf
ok "--force replaces it" $?

# nor a protocol, which may hold the command for a trace that is still missing
fresh
options=--keep-raw-events
sampled sleep 0.1
cp sleep.prot first.copy
sampled sleep 0.1
options=
cmp -s sleep.prot first.copy && grep -qx '#   stftool sleep-1.prot --merge sleep-1.stf' sleep-1.prot
ok "nor the protocol of a run without a trace" $?

# names of a folder that do not fit
fresh
deep=
for i in 1 2 3 4 5 6; do
	deep=$deep$(printf '%0180d' $i)/
done
mkdir -p "$deep" && (cd "$deep" && exec timeout 100 "$build/vtrun" --logfile-name "tickmark-test-$$.stf" -- sh -c 'exit 3') >"$dir/out" 2>"$dir/err"
[ $? -eq 3 ] && grep -q 'the current folder has a name of more than 1023 bytes: the trace is in /tmp$' "$dir/err" && valid "/tmp/tickmark-test-$$.stf"
ok "a folder with a name of more than 1023 bytes: a message says where the trace is" $?
rm -f "/tmp/tickmark-test-$$".*

# no descriptor left for the sampler
fresh
(ulimit -n 10 && exec timeout 100 "$build/vtrun" -- sh -c 'sleep 0.3; exit 3') >"$dir/out" 2>"$dir/err"
[ $? -eq 3 ] && grep -q 'too many open files: ulimit -n$' "$dir/err" && ! grep -q 'mounted?' "$dir/err"
ok "too few descriptors are said as that" $?

# ---- what others have left in the folder ----

# a pipe by the name of a raw file, one that is empty, one that is cut short, and a folder: none is waited for, read or removed
fresh
options=--keep-raw-events
sampled true
options=
mkfifo VT-flush-pipe_0-1.dat && mkdir VT-flush-folder_0-1.dat && : >VT-flush-empty_0-1.dat
cut=$(ls VT-flush-true_*.dat)
truncate -s 5000 "$cut"
ls -i VT-flush-* >"$dir/before"
sampled sh -c 'exit 6'
ls -i VT-flush-* >"$dir/after"
[ "$status" -eq 6 ] && [ -f "$cut" ] && valid sh.stf && cmp "$dir/before" "$dir/after" >"$dir/diff"
ok "foreign raw files, a pipe and a folder by such a name: a valid trace, and they stay" $?

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
sed -n 's/.*the process was stopped for \([0-9.]*\) s.*/\1/p' "$dir/out" | awk -v most=$(($(date +%s) - begin + 1)) '
	$1 >= 1.5 && $1 <= most { n++ } END { exit n != 1 }' && valid sh.stf
ok "a process that was stopped: it is in the trace, for how long" $?

# ---- above its budget ----

fresh
options="--sample-period 1ms --sample-budget 0.00001"
sampled sleep 3.5
options=
[ "$status" -eq 0 ] && valid sleep.stf && grep -q 'INFO: sampler used .*: slowed down, because it was above SAMPLE-BUDGET$' "$dir/err"
ok "above its budget the sampler slows down, and the user reads it" $?
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
! grep -q 'slowed down' "$dir/err" && grep -q '^INFO SAMPLER.* slowed-down 0 times$' sleep.prot
ok "within it, it does not" $?

# ---- killed ----

for signal in TERM INT HUP SEGV XCPU KILL; do
	fresh
	# shellcheck disable=SC2016
	sampled sh -c 'until [ -s sh.prot ]; do sleep 0.1; done; kill -'"$signal"' $$; sleep 5'
	[ "$status" -gt 128 ] && ! grep -q Tickmark "$dir/err" && trace_complete sh.stf && valid sh.stf && grep -Eq '^INFO ENDED (by signal|without exit, status unknown)' sh.prot
	ok "SIG$signal: nothing is printed, a valid trace, and the protocol says how it ended" $?
done

# ---- the run after one whose sampler was killed, too ----

fresh
# shellcheck disable=SC2016
"$build/vtrun" --verbose 0 -- sh -c 'until [ -s sh.prot ]; do sleep 0.1; done; : >go; while :; do sleep 0.1; done' >"$dir/out" 2>"$dir/err" &
pid=$!
appears go
kill -KILL "$(sampler sh.prot)" $pid
wait $pid
raw=$(ls VT-flush-sh_*.dat)
[ ! -e sh.stf ] && [ -n "$raw" ] && grep -q "^INFO RAWFILE \".*/$raw\"$" sh.prot
ok "SIGKILL of both: the protocol names the raw file" $?
sampled sleep 0.2
sed -n 's/.*an earlier run was killed; \(stftool .*\) makes its trace$/\1/p' "$dir/err" >"$dir/command"
[ "$status" -eq 0 ] && valid sleep.stf && [ -e "$raw" ] && [ -s "$dir/command" ]
ok "the next run says what to type" $?
(PATH=$build:$PATH && . "$dir/command") >"$dir/out" 2>&1 && valid FILE.stf && "$build/stftool" "$raw" --merge sh.stf \
	--delete-raw-data >"$dir/out" 2>&1 && valid sh.stf && [ ! -e "$raw" ] && grep -q killed "$dir/out"
ok "and that makes a valid trace" $?
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
done_testing

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Options of vtrun from all sources, the protocol file, targets that cannot be sampled. TAP.
. "${top_srcdir:-.}/tests/preload/lib.sh"

# ---- precedence and origin ----

fresh
cat >c.conf <<'END'
# a comment
SAMPLE-PERIOD 50l
COUNTER "cpu_*" on
os-counter-delay 1m+30s
LOGFILE-NAME "my trace.stf"
END
VT_SAMPLE_PERIOD=20ms
export VT_SAMPLE_PERIOD
options="--config c.conf --mem-blocksize 8KB"
sampled sleep 0.3
unset VT_SAMPLE_PERIOD
options=
expect_status 0
expect valid "my trace.stf"
verdict "a name with a blank from the configuration file"
awk '/^#/ { from = $0 } /^SAMPLE-PERIOD/ { print from ": " $0 } /^MEM-BLOCKSIZE/ { print from ": " $0 }
	/^OS-COUNTER-DELAY/ { print from ": " $0 } /^MEM-MAXBLOCKS/ { print from ": " $0 }
	/^LOGFILE-NAME/ { print from ": " $0 }' \
	"my trace.prot" >"$dir/out"
cat >"$dir/want" <<'END'
# configuration file (c.conf:5): LOGFILE-NAME "my trace.stf"
# command line (--mem-blocksize): MEM-BLOCKSIZE 8192
# default: MEM-MAXBLOCKS 4096
# configuration file (c.conf:4): OS-COUNTER-DELAY 90s
# environment (VT_SAMPLE_PERIOD): SAMPLE-PERIOD 0.02s
END
diff "$dir/want" "$dir/out" >"$dir/diff"
ok "the protocol says what came from where" $?
awk '/cpu_idle/ { c = 1 } /disk_io/ { d = 1 } END { exit !(c && !d) }' "$dir/counters"
ok "COUNTER of the file chose the counters" $?
expect_line '^INFO NUMPROCS 1$' "my trace.prot"
expect_line '^INFO CLUSTERDEF [^" ]* 0:[0-9]*$' "my trace.prot"
expect_line '^INFO PROCESS 0 "[^"]*" "[^"]*" [0-9]*$' "my trace.prot"
expect_line '^INFO BINMODE ' "my trace.prot"
verdict "the protocol has the guide's INFO entries"
for o in $(sed -n 's/^OPTION("\([A-Z-]*\)".*/\1/p' "$src/collector-plugin/settings/options.def"); do
	grep -q "^\(# \)*$o\( \|$\)" "my trace.prot" || echo "$o is not in the protocol"
	echo "$o" >>"$dir/options"
done >"$dir/diff"
[ ! -s "$dir/diff" ] && grep -qx COUNTER "$dir/options"
ok "the protocol has every option" $?

# the protocol as a configuration file gives the same options again
mv "my trace.prot" first.prot
options="--config first.prot --force"
sampled sleep 0.3
options=
sed -n '/^[A-Z]/p' first.prot | grep -v '^INFO\|^FORCE' | sort >"$dir/a"
sed -n '/^[A-Z]/p' "my trace.prot" | grep -v '^INFO\|^FORCE' | sort >"$dir/b"
expect_same "$dir/a" "$dir/b"
expect_empty "$dir/out"
expect_no_line left "$dir/err"
verdict "the protocol works as a configuration file"

# ---- what is wrong is named, and the job runs on ----

fresh
printf 'SAMPLE-PERIOT 1s\nMEM-BLOCKSIZE much\nCHECK-MAX-REQUESTS on\nVERBOSE 1 2\nSYNC-PERIOD often\nTIMER-SKIP -1\n' \
	>bad.conf
VT_OS_COUNTER_DALAY=3s VT_UNIFY_GROUPS=perhaps
export VT_OS_COUNTER_DALAY VT_UNIFY_GROUPS
VT_SAMPLE_PERIOD=soon VT_COUNTER='cpu_idle maybe' VT_TIME_WINDOWS=5:1 VT_LOGFILE_FORMAT=OTF3 VT_SAMPLER=me
export VT_SAMPLE_PERIOD VT_COUNTER VT_TIME_WINDOWS VT_LOGFILE_FORMAT VT_SAMPLER
options="--config bad.conf"
sampled sh -c 'exit 9'
options=
unset VT_OS_COUNTER_DALAY VT_UNIFY_GROUPS VT_SAMPLE_PERIOD VT_COUNTER VT_TIME_WINDOWS VT_LOGFILE_FORMAT VT_SAMPLER
[ "$status" -eq 9 ]
ok "wrong options: the program runs" $?
for line in 'bad.conf:1: unknown option SAMPLE-PERIOT; did you mean SAMPLE-PERIOD?' \
	"bad.conf:2: 'much' is not a number of bytes" \
	'bad.conf:4: more than one value for VERBOSE' \
	'VT_OS_COUNTER_DALAY: unknown option OS-COUNTER-DALAY; did you mean OS-COUNTER-DELAY?' \
	"VT_SAMPLE_PERIOD: 'soon' is not a time" 'not "maybe": left out' \
	"VT_TIME_WINDOWS: '5:1' is not a list of windows" \
	"VT_LOGFILE_FORMAT: 'OTF3' is none of STF, SINGLESTF, ASCII," "VT_SAMPLER: 'me' is neither process nor thread" \
	"bad.conf:5: 'often' is not a time" \
	"bad.conf:6: '-1' is not a whole number between 0 and 1000000000 (TIMER-SKIP): left out" \
	"VT_UNIFY_GROUPS: 'perhaps' is not on or off (UNIFY-GROUPS)"; do
	grep -qF -- "$line" "$dir/err"
	ok "named: $line" $?
done
grep -q 'CHECK-MAX-REQUESTS has no effect in this version' "$dir/err"
ok "an option of the guide that does nothing is named" $?
fresh
VT_CONFIG=/no/such.conf
export VT_CONFIG
sampled sh -c 'exit 9'
unset VT_CONFIG
expect_status 9
expect_line 'cannot open /no/such.conf' "$dir/err"
verdict "a configuration file that is missing: said, and the program runs"

# ---- formats of others ----

fresh
"$build/tests/lib/exchange_table" | sed -n 's/^| \([A-Z0-9]*\) | `\([^`]*\)`.*/\1 \2/p; s/^missing //p' >"$dir/a"
grep -o 'X("[A-Z0-9]*", "[a-z0-9.]*")' "$src/collector-plugin/settings/formats.h" |
	tr -d '",)' | sed 's/^X(//; /^ASCII /d' |
	awk 'NR == FNR { if (NF == 1) missing[$1] = 1; next } { print $1 ($1 in missing ? "" : " " $2) }' "$dir/a" - |
	sort >"$dir/b"
sort -o "$dir/a" "$dir/a"
expect [ -s "$dir/a" ]
expect_same "$dir/a" "$dir/b"
verdict "vtrun knows the formats that stftool writes"
options="--logfile-format csv"
sampled sleep 0.2
expect_status 0
expect [ -s sleep.stf ]
head -n 1 sleep.csv | expect_line '^time,bound,host' -
expect_line 'sleep.csv: CSV has no place for: ' "$dir/err"
expect cp sleep.csv first.csv
expect "$build/stftool" sleep.stf --convert again.csv 2>/dev/null
expect_same again.csv sleep.csv
verdict "--logfile-format CSV: the table beside the trace, and what it has no place for"
sampled sleep 0.2
expect [ -s sleep-1.stf ]
expect [ -s sleep-1.csv ]
expect_same sleep.csv first.csv
verdict "a second run replaces neither"
options="--logfile-name=my.run.jsonl --sampler=thread"
sampled sh -c 'sleep 0.2; echo out; exit 3'
expect_status 3
expect_text out "$dir/out"
expect [ -s my.run.stf ]
expect_line '"type":"sample"' my.run.jsonl
expect [ ! -e my.run.jsonl.stf ]
verdict "the suffix of --logfile-name says the format, made by the program itself"
ln -s /dev/full full.avt
options="--logfile-name=full.avt --force"
sampled sh -c 'exit 4'
expect_status 4
expect [ -s full.stf ]
{ [ -f full.avt ] || grep -q 'full.avt was not written; ' "$dir/err"; } || not_met '{ [ -f full.avt ] || grep -q ...'
verdict "a format that fails does the program no harm, and the trace stays"
options=

# ---- a wrong word on the command line: nothing runs ----

fresh
refused() # refused MESSAGE OPTION...
{
	message=$1
	shift
	"$build/vtrun" "$@" -- touch ran >"$dir/out" 2>"$dir/err"
	expect [ $? -eq 2 ]
	expect [ ! -e ran ]
	expect [ "$(wc -l <"$dir/err")" -eq 1 ]
	expect_line -F -- "$message" "$dir/err"
	verdict "refused: $*"
}
refused "unknown option '--sampel-period'; did you mean --sample-period?" --sampel-period 3s
refused "unknown option '--sync-periot'; did you mean --sync-period?" --sync-periot 3s
refused "unknown option '-x'" -x
refused "'soon' is not a time like 2s, 1m+30s or 10ms between 0.001 s and 1000000 s" --sample-period soon
refused "--sync-period: 'soon' is not a time" --sync-period soon
refused "--sample-period needs a value" --sample-period
refused 'not "maybe"' --counter cpu_idle maybe
refused "'5:1' is not a list of windows" --time-windows 5:1
refused "'OTF3' is none of STF, SINGLESTF, ASCII," --logfile-format=OTF3
refused "'me' is neither process nor thread" --sampler me
refused "--trace-collectives and --trace-pt2pt exclude each other" --trace-pt2pt --trace-collectives
refused "'soon' is not a time" --estimate soon
"$build/vtrun" printf '%s ' --help -V --sampel >"$dir/out" 2>/dev/null
[ "$(cat "$dir/out")" = "--help -V --sampel " ]
ok "words after the program's name belong to the program" $?
"$build/vtrun" printf '%s ' a --itc-args --sampel-period 3s --verbose 0 --help --itc-args-end b >"$dir/out" 2>"$dir/err"
expect_text "a b " "$dir/out"
expect_line \
	-F \
	"vtrun: --itc-args: unknown option '--sampel-period'; did you mean --sample-period? (--help=all shows all): \
left out" "$dir/err"
expect_line -F "vtrun: --itc-args: unknown option '--help'" "$dir/err"
verdict "--itc-args: wrong words are left out, and the program runs"

# ---- what cannot be run or sampled ----

fresh
sampled /no/such/program
expect_status 127
expect_line '^vtrun: cannot run /no/such/program: No such file' "$dir/err"
verdict "no such program: 127"
printf '#!/%s\n' "$(printf '%0300d' 0)" >long && printf 'exit 3\n' >none && chmod +x long none
sampled ./long
expect_status 126
expect_line '^vtrun: \./long: its #! line has no interpreter, or one whose name is too long' "$dir/err"
expect_no_line 'has no #! line' "$dir/err"
verdict "an interpreter whose name is too long is said as that"
sampled ./none
expect_status 126
expect_line '^vtrun: \./none has no #! line: start it as sh \./none' "$dir/err"
verdict "a script without one, too"
echo x >plain
sampled ./plain
[ "$status" -eq 126 ]
ok "not executable: 126" $?
"$build/vtrun" --sample-period 1s prog >"$dir/out" 2>"$dir/err"
expect [ $? -eq 2 ]
expect_line 'put -- between' "$dir/err"
verdict "options without --: 2, and the way out"
"$build/vtrun" --logfile-name "$dir/no.stf" sh -c 'exit 7' >"$dir/out" 2>"$dir/err"
expect [ $? -eq 7 ]
"$build/vtrun" --logfile-name "$dir/no dashes.stf" echo -- >"$dir/out" 2>"$dir/err"
expect [ $? -eq 2 ]
expect_line "^vtrun: 'echo': put -- between" "$dir/err"
"$build/vtrun" --statistics yes ./plain >"$dir/out" 2>"$dir/err"
expect [ $? -eq 2 ]
expect_line "^vtrun: 'yes': put -- between" "$dir/err"
"$build/vtrun" --logfile-name "$dir/no.stf" --statistics /bin/echo said >"$dir/out" 2>"$dir/err"
expect [ $? -eq 0 ]
expect_line '^said$' "$dir/out"
verdict "without -- a word that can be run, and no later --, is the program; not a wrong value"
"$build/vtrun" >"$dir/out" 2>"$dir/err"
[ $? -eq 2 ]
ok "no program: 2" $?
printf '#include <stdio.h>\nint main(void) { puts("static"); return 7; }\n' >s.c
if ${CC:-cc} -static s.c -o s 2>/dev/null; then
	sampled ./s
	expect_status 7
	expect_text static "$dir/out"
	expect_line 'recorded from outside only: it is statically linked' "$dir/err"
	expect trace_complete s.stf
	expect valid s.stf
	verdict "a static program is recorded from outside, with a message"
else
	skip "a static program" "no static libc"
fi
if [ "$(id -u)" -eq 0 ]; then
	cp /bin/true suid
	chown 65534 suid
	chmod 4755 suid
	sampled ./suid
	expect_status 0
	expect_line 'runs unsampled: it is setuid' "$dir/err"
	verdict "a setuid program: said, and it runs"
else
	skip "a setuid program" "not root"
fi

# ---- what it shows ----

expect "$build/vtrun" --list >"$dir/out" 2>"$dir/err"
expect_line '^cpu_idle  *node  *ticks  *percent' "$dir/out"
expect "$build/vtrun" --estimate >"$dir/estimate"
n=$(sed -n 's/.*: \([0-9]*\) counters of the process.*/\1/p' "$dir/estimate") || not_met "n is known"
expect [ "$(awk '$2 == "process"' "$dir/out" | wc -l)" -eq "$n" ]
expect_line '^Tickmark:sampler_cpu ' "$dir/out"
expect_no_line '^clock_' "$dir/out"
verdict "--list: without clocks, unless they are asked for"
expect "$build/vtrun" --list --counter sde:::nolib::X >"$dir/out" 2>"$dir/err"
expect_line '^a thread inside the program reads the counters: sde:::nolib::X$' "$dir/out"
VT_SYNC_PERIOD=2s expect "$build/vtrun" --list >"$dir/out"
expect_line '^a thread inside each program of an MPI job makes clock sessions: SYNC-PERIOD 2s$' "$dir/out"
VT_SYNC_PERIOD=0s expect "$build/vtrun" --list >"$dir/out"
expect_no_line '^a thread' "$dir/out"
expect "$build/vtrun" --list >"$dir/out"
expect_no_line '^a thread' "$dir/out"
verdict "--list names what needs a thread inside the program"
expect "$build/vtrun" --counter no_such_counter on --list >"$dir/out" 2>"$dir/err"
expect_line 'no_such_counter  *cannot be recorded: ' "$dir/out"
verdict "--list says why not"
fresh
options="--sample-period 10ms --keep-raw-events"
sampled sleep 1.01
"$build/vtrun" --sample-period 10ms --compress-trace off --estimate 1s >"$dir/out" 2>&1
bytes=$("$build/stftool" .VT-flush-* --merge e.stf --compress-trace off --verbose 0 && stat -c %s e.stf.c.0)
estimate=$(awk '/^trace/ { print $2 * 1e6 }' "$dir/out")
# a busy machine takes fewer samples than the hundred that were asked for
ticks=$(sed -n 's/^INFO SAMPLER .* ticks \([0-9]*\) .*/\1/p' sleep.prot)
options=
awk -v a="$estimate" -v b="$bytes" -v n="$ticks" 'BEGIN { print a, b, n; b *= 100 / n; exit !(n > 10 && a > b / 2 &&
	a < b * 2) }' >>"$dir/out"
ok "--estimate is right within a factor of two" $?
if grep -q '^#define HAVE_ZSTD 1' "$build/config.h"; then
	"$build/vtrun" --sample-period 10ms --estimate 1s >"$dir/out" 2>&1
	bytes=$("$build/stftool" .VT-flush-* --merge e.stf --force --verbose 0 && stat -c %s e.stf.c.0.zst)
	awk -v b="$bytes" -v n="$ticks" '/^trace/ { a = $2 * 1e6; print a, b, n; exit !(n > 10 && a > b * 100 / n &&
		/at most/) }' "$dir/out" >"$dir/diff"
	ok "--estimate of a compressed trace is not exceeded" $?
else
	skip "--estimate of a compressed trace is not exceeded" "this build has no zstd"
fi
expect "$build/vtrun" --apptainer >"$dir/out" 2>&1
expect_line \
	"^apptainer exec --bind $build/.libs/libVTcs.so.*--bind $build/.*vtrun:.*--bind \
$build/.libs/libVTinside.so.*--bind $build/.libs/libVTsystem.so.* -- PROGRAM" "$dir/out"
verdict "--apptainer names the library"

fresh
"$build/vtrun" --doctor >"$dir/out" 2>"$dir/err"
expect [ $? -eq 0 ]
expect_empty "$dir/err"
expect_line '^works .*sampler process .*vtsampler starts and answers' "$dir/out"
expect_line '^works .*folder ' "$dir/out"
expect_line 'CPU time of the node .*cpu_usr' "$dir/out"
expect_line '^[a-z]* *NVIDIA GPU  *nvml_busy' "$dir/out"
tail -n 1 "$dir/out" | expect_line '^[0-9]* work, [0-9]* limited, 0 fail$' -
expect [ -z "$(ls)" ]
verdict "--doctor: what works here"
"$build/vtrun" --doctor --logfile-prefix /proc >"$dir/out" 2>&1
expect [ $? -eq 1 ]
grep -A1 '^FAILS .*folder .*/proc' "$dir/out" | expect_line -- '-> .*--logfile-prefix' -
verdict "--doctor: a folder that cannot be written to, and what to do"

if unshare --pid --fork true 2>/dev/null; then
	# without --mount-proc: the numbers below /proc are those of the namespace above
	unshare --pid --fork "$build/vtrun" --doctor >"$dir/out" 2>"$dir/err"
	grep -A1 '^limited *other processes .*/proc belongs to a PID namespace above' "$dir/out" |
		expect_line -- '-> .*mount -t proc' -
	verdict "--doctor: below the /proc of another PID namespace"
else
	skip "--doctor: below the /proc of another PID namespace" "no PID namespaces for this user"
fi

# What apptainer does with that line, as far as it concerns the sampler: the two binds, a root of its own, the
# environment as it is.
fresh
mkdir out
# shellcheck disable=SC2046
inside() # inside COMMAND...
{
	set -- $("$build/vtrun" --apptainer | sed -n 's/^apptainer exec //; t words; d; :words;
		s/--bind \([^:]*\):\([^ ]*\)/--ro-bind \1 \2/g; s/ IMAGE.*//p') "$@"
	bwrap --ro-bind /usr /usr --symlink usr/lib /lib --symlink usr/lib64 /lib64 --symlink usr/bin /bin \
		--ro-bind-try /etc/ld.so.cache /etc/ld.so.cache \
		--proc /proc --dev /dev --ro-bind /sys /sys --tmpfs /tmp --tmpfs /home --bind out /home/out \
		--chdir /home/out "$@"
}
if [ -z "$sanitizer" ] && inside true 2>"$dir/err"; then
	inside "$build/vtrun" -- sh -c 'sleep 0.3; exit 5' >"$dir/out" 2>"$dir/err"
	expect [ $? -eq 5 ]
	expect valid out/sh.stf
	verdict "--apptainer: in a container of these binds a program is sampled"
else
	skip "--apptainer: in a container of these binds a program is sampled" "no bubblewrap that works (Debian: \
bubblewrap): $(head -n 1 "$dir/err")"
fi

# ---- the library ----

# a sanitizer refers to the calls of zstd that are ours
allowed=${sanitizer:+^libzstd}
readelf -d "$build/.libs/libVTcs.so" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
	grep -v '^libc\.\|^libm\.\|^ld-linux\|san\.so' | grep -v "${allowed:-@}" >"$dir/diff"
[ ! -s "$dir/diff" ]
ok "libVTcs.so needs libc alone" $?
nm -D --defined-only "$build/.libs/libVTcs.so" | awk '{ print $3 }' | sort >"$dir/a"
sort "$build/collector-plugin/libVTcs.sym" >"$dir/b"
# not every name of the list is defined in each library
comm -23 "$dir/a" "$dir/b" >"$dir/diff"
expect_empty "$dir/diff"
expect [ "$(comm -12 "$dir/a" "$dir/b" | wc -l)" -gt 50 ]
verdict "libVTcs.so exports what the lists say"
LD_PRELOAD=$build/.libs/libVTcs.so${sanitizer:+:$sanitizer} true >"$dir/out" 2>"$dir/err" && [ ! -s "$dir/err" ] &&
	[ -z "$(ls true.* .VT-flush-true* 2>/dev/null)" ]
ok "preloaded by hand it does nothing" $?

# ---- TIME-WINDOWS ----
fresh
options="--time-windows 0.5s:1.4s --sample-period 20ms --timer clock_monotonic" # whose trace counts nanoseconds
sampled sleep 1.7
options=
"$build/stftool" sleep.stf --dump >"$dir/out" 2>&1
# the trace's clock is the timer's as measured, the window's as the kernel states it: up to a hundredth apart
awk '$2 == "SAMP" { if (min == "" || $1 < min) min = $1; if ($1 > max) max = $1 }
	END { print min, max; exit !(min >= 0.495e9 && max <= 1.414e9 && max > 0.6e9) }' "$dir/out" >"$dir/verify"
ok "TIME-WINDOWS: samples from within only" $?
done_testing

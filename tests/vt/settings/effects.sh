#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Options that no other script sees at work: each changes what is recorded, or where. TAP.
set -u
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/lib.sh"

# shellcheck disable=SC2086
${CC:-cc} $san -g -I"$include" -o "$dir/effects" "$here/settings/programs/effects.c" -L"$lib" \
	-lVTcs -Wl,-rpath,"$lib" || exit 99
mkdir "$dir/run" "$dir/run/below"
cd "$dir/run" || exit 99

# with STATES LINE...: the program with those lines of configuration; the trace t.stf as text in dump
with()
{
	states=$1
	shift
	rm -f ./*.* below/*
	printf '%s\n' 'COUNTER Effects:* on' "$@" >conf
	VT_CONFIG=conf timeout 100 "$dir/effects" "$states" "${nap:-0}" >"$dir/out" 2>"$dir/err" || return 1
	[ ! -e t.stf ] || "$build/stftool" t.stf --dump >dump 2>>"$dir/err"
}
numbers() # how many states, the first and the last number
{
	"$build/tests/vt/lib/samples" t.stf 2>>"$dir/err" | awk '$2 == "Effects:number" { if (!n++) { first = $NF }
		last = $NF } END { print n + 0, first, last }' >have
	read -r n first last <have
}
state() # the name of the state with a path
{
	"$build/xstftool" t.stf | sed -n 's/^DEFFUNCTION \(.*outer[^ ]*\) .*/\1/p'
}

expect with 1 'TIMER list' 'LOGFILE-NAME t.stf'
expect_lines 1 'Tickmark INFO: clock_monotonic  *1.000ns  *node' "$dir/err"
expect_no_line 'WARNING: TIMER' "$dir/err"
expect [ -s t.stf ]
verdict "TIMER LIST: all timers, and the default one is taken"
expect with 1 'TIMER LIST' 'SAMPLER thread'
expect_line 'WARNING: TIMER LIST: .*timertest --timer=LIST does' "$dir/err"
verdict "TIMER LIST where a thread inside samples: a message"
# Slurm has one number for all the mpiruns of a batch job: the launcher's name of the job comes first
job_of() # job_of VARIABLE=VALUE...: the job in the protocol of a rank with these variables
{
	rm -f ./*.*
	env OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1 "$@" timeout 100 "$dir/effects" 1 0 >"$dir/out" 2>"$dir/err"
	sed -n 's/^INFO JOB "\(.*\)"$/\1/p' effects.prot
}
expect [ "$(job_of SLURM_JOB_ID=77 PMIX_NAMESPACE=step.1)" = step.1 ]
expect [ "$(job_of SLURM_JOB_ID=77 OMPI_MCA_ess_base_jobid=9)" = 9 ]
expect [ "$(job_of PBS_JOBID=66 LSB_JOBID=55)" = 66 ]
expect [ "$(job_of SLURM_JOB_ID=77)" = 77 ]
verdict "the job is the launcher's, and only without one the batch job"
# and launchers use names again: what tells one launch from the next follows
expect [ "$(job_of PMIX_NAMESPACE=5.1 OMPI_MCA_orte_precondition_transports=0123456789abcdef-fedcba9876543210)" = \
	5.1.0123456789abcdef ]
# Open MPI 5 and later have no such number, but a port; of several hosts each has another
prte=prterun-vm-2@1 uri='prterun-vm-2@0.0;tcp4://10.78.0.1:51757'
expect [ "$(job_of PMIX_NAMESPACE=$prte PMIX_SERVER_URI4="$uri" OMPI_COMM_WORLD_LOCAL_SIZE=1)" = $prte.51757 ]
expect [ "$(job_of PMIX_NAMESPACE=$prte PMIX_SERVER_URI2="$uri" OMPI_COMM_WORLD_LOCAL_SIZE=2)" = $prte ]
expect [ "$(job_of PMIX_NAMESPACE=slurm.pmix.7.3 PMIX_SERVER_URI4='slurm.pmix.7.3.0;tcp4://10.78.0.1:51757' \
	OMPI_COMM_WORLD_LOCAL_SIZE=1)" = slurm.pmix.7.3 ]
long=prterun-$(printf '%060d' 7)
expect [ "$(job_of PMIX_NAMESPACE="$long-12345@2" PMIX_SERVER_URI4="$uri" OMPI_COMM_WORLD_LOCAL_SIZE=1)" = \
	"$(printf '%038d' 7)-12345@2.51757" ]
expect [ "$(job_of SLURM_JOB_ID=77 SLURM_STEP_ID=3)" = 77.3 ]
expect [ "$(job_of SLURM_JOB_ID=77 SLURM_STEP_ID=3 SLURM_RESTART_COUNT=1)" = 77.3.1 ]
expect [ "$(job_of SLURM_JOB_ID=77 SLURM_STEP_ID=3 SLURM_RESTART_COUNT=2 PMIX_NAMESPACE=slurm.pmix.77.3)" = \
	slurm.pmix.77.3.3.2 ]
expect [ "$(job_of SLURM_JOB_ID=77 SLURM_STEP_ID=3 PMIX_NAMESPACE=other)" = other ]
verdict "a launch has another name than the one before it"
# MPICH's launcher has no variable for it. The process at the other end of the socket PMI_FD, here not the parent, has
# the name.
cat >"$dir/proxy.py" <<'END'
import os, socket, subprocess, sys
own, rank = socket.socketpair()
local, *command = sys.argv[3:]
os.environ.update(PMI_FD=str(rank.fileno()), PMI_RANK='0', PMI_SIZE='2', MPI_LOCALNRANKS=local)
print(os.getpid(), flush=True)
sys.exit(subprocess.call(['sh', '-c', '"$@"; exit $?', 'sh'] + command, pass_fds=[rank.fileno()]))
END
printf 'int main(void) { return 0; }\n' >"$dir/plain.c" && ${CC:-cc} "$dir/plain.c" -o "$dir/plain" || exit 99
# hydra_job RANKS_HERE VARIABLE=VALUE...: the job in the protocol of a rank that this launcher started, with "ITS" for
# the pid
hydra_job() # in a subshell, and a folder of its own: the sampler process of the last one may still write there
{
	cd "$(mktemp -d "$dir/hydra.XXXXXX")" || exit
	timeout 100 "${PYTHON3:-python3}" "$dir/proxy.py" --control-port ahost:4321 "$@" "$vtrun" -- "$dir/plain" \
		>"$dir/out" 2>"$dir/err"
	sed -n 's/^INFO JOB "\(.*\)"$/\1/p' plain.prot | sed "s/-$(head -n 1 "$dir/out")-/-ITS-/"
}
if command -v "${PYTHON3:-python3}" >/dev/null; then
	expect [ "$(hydra_job 2 env SLURM_JOB_ID=77)" = hydra-4321-ITS-ahost ]
	expect [ "$(hydra_job 1 env SLURM_JOB_ID=77)" = hydra-4321-0-ahost ]
	expect [ "$(hydra_job 2 env PMIX_NAMESPACE=step.1)" = step.1 ]
	hydra_job 2 env PMI_FD=0 | expect_line -E '^[0-9]+-[0-9]+$' -
	verdict "of MPICH's launcher it is the port, and its process here where that has all ranks"
else
	skip "the job of MPICH's launcher" "no python3"
fi
expect with 1 'PROGNAME name'
expect [ -s name.stf ]
expect [ -s name.prot ]
expect [ ! -e effects.stf ]
verdict "PROGNAME"
expect with 1 'PROTOFILE-NAME own' 'LOGFILE-NAME t.stf'
expect_line '^PROTOFILE-NAME own$' own
expect [ -s t.stf ]
expect [ ! -e t.prot ]
verdict "PROTOFILE-NAME"
expect with 1 "CURRENT-DIR $PWD/below" 'LOGFILE-NAME t.stf'
expect [ -s below/t.stf ]
expect [ ! -e t.stf ]
verdict "CURRENT-DIR"
expect with 1 'LOGFILE-PREFIX below' 'LOGFILE-NAME t.stf'
expect [ -s below/t.stf ]
expect [ ! -e t.stf ]
verdict "LOGFILE-PREFIX"
expect with 1 'LOGFILE-NAME t.stf' 'KEEP-RAW-EVENTS on' 'FLUSH-PREFIX below'
expect [ ! -e t.stf ]
expect ls below/.VT-flush-effects_0-[0-9]*.raw >"$dir/out"
expect with 1 'LOGFILE-NAME t.stf' 'KEEP-RAW-EVENTS on' 'FLUSH-PID off'
expect [ ! -e t.stf ]
expect [ -s .VT-flush-effects_0.raw ]
verdict "KEEP-RAW-EVENTS, FLUSH-PREFIX, FLUSH-PID"
lines=$(for level in 0 1 2 3 4; do
	with 1 'LOGFILE-NAME t.stf' "VERBOSE $level" && wc -l <"$dir/err"
done | tr '\n' ' ')
echo "$lines" | awk '{ exit !(NF == 5 && $1 == 0 && $2 > 0 && $3 > $2 && $4 > $3 && $5 > $4) }'
ok "VERBOSE 0 to 4: $lines lines" $?
expect with 1 'LOGFILE-NAME t.stf' "PLUGIN $build/tests/unit/.libs/plugin_template.so 7" 'COUNTER mine_reads on'
"$build/tests/vt/lib/samples" t.stf 2>>"$dir/err" | expect_line ':mine_reads ' -
verdict "PLUGIN"
if grep -q '^#define HAVE_ZSTD 1' "$build/config.h"; then
	bytes=$(for words in off on ''; do
		with 20000 'LOGFILE-NAME t.stf' ${words:+"COMPRESS-TRACE $words"} &&
			"$build/stftool" t.stf --verify >/dev/null && cat t.stf* | wc -c
	done)
	echo "$bytes" | tr '\n' ' ' | awk '{ exit !(NF == 3 && $2 * 2 < $1 && $3 * 2 < $1) }'
	status=$?
	ok "COMPRESS-TRACE off, on, and by default: $(echo "$bytes" | tr '\n' ' ')bytes" $status
else
	skip "COMPRESS-TRACE" "this build has no zstd"
fi
expect with 1 'LOGFILE-NAME t.avt' 'EXTENDED-VTF on'
expect cp t.avt extended
expect with 1 'LOGFILE-NAME t.avt' 'EXTENDED-VTF off'
expect_line '^DEFFUNCTION ' t.avt
expect [ "$(wc -l <t.avt)" -lt "$(wc -l <extended)" ]
verdict "EXTENDED-VTF off: a trace in ASCII lacks $(($(wc -l <extended) - $(wc -l <t.avt))) records that VTF does not \
know"
nap=1
expect with 1 'LOGFILE-NAME t.stf' 'ENVIRONMENT on'
expect_line '^DEFCLASS [0-9]* "sampler"' dump
expect with 1 'LOGFILE-NAME t.stf' 'ENVIRONMENT off'
expect_no_line '^DEFCLASS [0-9]* "sampler"' dump
verdict "ENVIRONMENT"
nap=0
for level in 0 1 2 on; do
	case $level in
	0) want=Application:outer ;;
	1 | on) want=outer:middle ;;
	*) want=outer:middle:inner ;;
	esac
	expect with 1 'LOGFILE-NAME t.stf' "DETAILED-STATES $level"
	have=$(state) || not_met "have is known"
	expect [ "$have" = "$want" ]
	verdict "DETAILED-STATES $level: $have"
done

# 20,000 states take more than 4 blocks of 4 KB
none=0000000000000000
few='LOGFILE-NAME t.stf
MEM-BLOCKSIZE 4096
MEM-MAXBLOCKS 4'
expect with 20000 "$few"
expect numbers
expect [ "$n $first $last" = "20000 $none 0000000000004e1f" ]
verdict "MEM-MAXBLOCKS with AUTOFLUSH: nothing is lost"
expect with 20000 "$few" 'AUTOFLUSH off'
expect numbers
expect [ "$n" -gt 0 ]
expect [ "$n" -lt 20000 ]
expect [ "$first" = $none ]
expect [ "$last" != 0000000000004e1f ]
expect_line 'MEM-MAXBLOCKS were full and AUTOFLUSH is off' dump
verdict "AUTOFLUSH off: what fits into MEM-MAXBLOCKS, the oldest, and a line says so"
before=$n
expect with 20000 "$few" 'AUTOFLUSH off' 'MEM-MAXBLOCKS 8'
expect numbers
expect [ "$n" -gt "$before" ]
verdict "MEM-MAXBLOCKS 8: more of it"
expect with 20000 "$few" 'AUTOFLUSH off' 'MEM-BLOCKSIZE 8192'
expect numbers
expect [ "$n" -gt "$before" ]
verdict "MEM-BLOCKSIZE 8192: more of it"
expect with 20000 "$few" 'AUTOFLUSH off' 'MEM-OVERWRITE on'
expect numbers
expect [ "$n" -gt 0 ]
expect [ "$n" -lt 20000 ]
expect [ "$first" != $none ]
expect [ "$last" = 0000000000004e1f ]
expect_line 'blocks were overwritten by newer ones (MEM-OVERWRITE)' dump
verdict "MEM-OVERWRITE: the newest"
# blocks of 4 KB that are in memory after 50,000 states of the program: what of the raw file's mapping is
in_memory() # in_memory LINE...
{
	rm -f ./*.* below/*
	printf '%s\n' 'COUNTER Effects:* on' 'LOGFILE-NAME t.stf' "FLUSH-PREFIX $PWD" 'MEM-BLOCKSIZE 4096' "$@" >conf
	VT_CONFIG=conf "$dir/effects" 50000 60 >"$dir/out" 2>"$dir/err" &
	pid=$!
	# until the program sleeps, all of it is recorded
	# (it sleeps for moments before that, too: both looks have to see it)
	tries=0 asleep=0
	while [ $asleep -lt 2 ] && [ $tries -lt 60 ]; do
		tries=$((tries + 1))
		sleep 0.5
		asleep=$((asleep + 1))
		grep -q nanosleep "/proc/$pid/wchan" 2>/dev/null || asleep=0
	done
	blocks=$(awk '/VT-flush/ { m = 1; next } /^[0-9a-f]+-/ { m = 0 } m && /^Rss:/ { n += $2 }
		END { print int(n / 4) }' "/proc/$pid/smaps")
	kill -9 $pid
	wait $pid 2>/dev/null
	[ "${blocks:-0}" -gt 0 ]
}
if [ "$(awk '/^MMUPageSize/ { print $2; exit }' /proc/self/smaps 2>/dev/null)" = 4 ]; then
	few='' all=''
	expect in_memory
	few=$blocks
	expect in_memory 'MEM-FLUSHBLOCKS -1'
	all=$blocks
	expect in_memory 'MEM-FLUSHBLOCKS 4000'
	expect [ "$few" -gt 0 ]
	expect [ "$few" -lt 30 ]
	expect [ "$all" -gt 120 ]
	expect [ "$blocks" -gt 120 ]
	expect in_memory 'MEM-FLUSHBLOCKS 60'
	expect [ "$blocks" -gt 55 ]
	expect [ "$blocks" -lt 75 ]
	verdict \
		"MEM-FLUSHBLOCKS: so many full blocks are in memory before they are flushed; the default $few, -1 all \
$all, 60 $blocks"
	expect in_memory 'MEM-MINBLOCKS 50'
	expect [ "$blocks" -gt 45 ]
	expect [ "$blocks" -lt 65 ]
	verdict "MEM-MINBLOCKS 50: a flush leaves as many: $blocks"
else
	skip "MEM-FLUSHBLOCKS" "no /proc/PID/smaps with pages of 4 KB"
	skip "MEM-MINBLOCKS" "no /proc/PID/smaps with pages of 4 KB"
fi
# the node is read at the start and the end, too; what a busy machine delays is tried for longer
nodes()
{
	with 1 'LOGFILE-NAME t.stf' 'COUNTER cpu_usr on' 'SAMPLE-BUDGET 1' "$@" &&
		n=$("$build/tests/vt/lib/samples" t.stf 2>>"$dir/err" | grep -c ' OS:cpu_usr ')
}
for nap in 1 5 25; do
	nodes 'SAMPLE-PERIOD 50ms' 'OS-COUNTER-DELAY 50ms' && [ "$n" -gt 5 ] && break
done && often=$n && nodes 'SAMPLE-PERIOD 50ms' 'OS-COUNTER-DELAY 100s' && [ "$n" -gt 0 ] && [ "$n" -le 3 ]
ok "OS-COUNTER-DELAY 50ms, 100s: the node is read ${often:-0} times, $n times" $?
# the sampler says it at its next sample, which a busy machine may delay
for nap in 1 5 25; do
	with 200000 'LOGFILE-NAME t.stf' 'MEM-INFO 1MB' &&
		grep -q 'Tickmark INFO: [1-9][0-9]* MB recorded in ' "$dir/err" && break
done && nap=2 && with 200000 'LOGFILE-NAME t.stf' 'MEM-INFO 0' && ! grep -q ' MB recorded in ' "$dir/err"
ok "MEM-INFO" $?
done_testing

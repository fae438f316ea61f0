#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs that do wrong things: their calls fail as without us, and the trace is sound and has what was right. TAP.
# shellcheck source=../lib/mpi_lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"
VT_COUNTER='** off'
export VT_COUNTER

mpi_compile "$MPICC" mpi/programs/mpi_bad.c bad
# a whole trace with the ten messages, and the one with which rank 1 asks to be killed, or with so many: sound PATTERN
sound()
{
	i=0
	# of a job that was killed the sampler processes write it, soon after
	while [ ! -s bad.stf ] && [ $i -lt 600 ]; do
		sleep 0.1
		i=$((i + 1))
	done
	"$build/stftool" bad.stf --verify >>out 2>&1 && "$build/stftool" bad.stf --dump >dump 2>>out &&
		grep -q "^INFO .*\"${1:-1[01]} messages were matched\"" dump
}

timeout 100 "$MPIRUN" -np 2 ./bad errors 2>/dev/null | LC_ALL=C sort >plain
run 2 ./bad errors
expect sound
expect [ "$(grep -c ' fails' output)" -ge 30 ]
expect_same plain output
verdict "calls with wrong arguments or handles fail as they do without us"
run 2 ./bad leak
expect sound
expect [ "$(grep -c ENTER dump)" -gt 2000 ]
verdict "a thousand requests that nobody completes"
run 2 ./bad abort
expect [ $? -ne 0 ]
expect sound
verdict "MPI_Abort in the middle"
run 2 ./bad kill
expect [ $? -ne 0 ]
expect sound
verdict "a rank that is killed inside MPI_Recv"

# events of a trace that are the program's: what it enters, leaves, sends and receives. Not the end of a state for which
# the merge has no record.
events()
{
	awk '$2 ~ /^(ENTER|LEAVE|SENDMSG|RECVMSG)$/ { n++ } /^INFO .* states (were open|seem to last)/ {
		gsub(/"/, ""); n -= $5 } END { print n + 0 }' dump
}
# Each rank makes 300,000 calls, whose records take 4.4 MB.
if mkdir small && mount -t tmpfs -o size=6m none small 2>/dev/null; then
	mounted=$dir/small
	run 2 ./bad many && sound '[0-9]*' && made=$(events)
	clean
	(cd small && timeout 300 "$MPIRUN" -np 2 "$vtrun" -- ../bad many) >out 2>&1
	status=$?
	cp out lost
	expect_status 0
	expect_lines 2 '^[01] ends$' out
	expect_lines 2 'WARNING: no place for more records in .*: No space left' out
	verdict "a disk that is full in the middle: the job ends as always, one message of each rank"
	clean
	if ls small/.VT-flush-* >/dev/null 2>&1; then
		"$build/stftool" small/.VT-flush-* --merge bad.stf >out 2>&1
	else
		mv small/bad.stf* .
	fi
	# the sampler processes may have lost some records, too
	expect sound '[0-9]*'
	have=$(events) || not_met "have is known"
	missing=$(sed -n 's/.*process \([01]\): no place for records.* \([0-9]*\) records are missing.*/\1 \2/p' lost \
		out |
		LC_ALL=C sort -u | awk '{ n += $2 } END { print n + 0; exit NR != 2 }') || not_met "missing is known"
	expect [ "$have" -gt 1000 ]
	expect [ "$missing" -gt 100000 ]
	expect [ "$made" -gt 1600000 ]
	expect [ $((have + missing)) -ge "$made" ]
	expect [ $((have + missing)) -le $((made + 100)) ]
	verdict "and what fitted is a valid trace: ${have:-0} of ${made:-0} events, ${missing:-0} records are missing"
	umount "$mounted"
	mounted=
else
	skip "a disk that is full in the middle" "no right to mount a tmpfs"
	skip "and what fitted is a valid trace" "no right to mount a tmpfs"
fi

# A launcher may give a job the name of one that was killed together with its sampler process, and that left its raw
# files. It may give nothing else either, as that of Open MPI 5 on several hosts.
again() # again OUT NUMBER: such a job, until both ranks have made their calls; with the launcher's number, or without
{
	# shellcheck disable=SC2016
	timeout -k 5 100 "$MPIRUN" -np 2 \
		sh \
		-c \
		'own=$PMIX_NAMESPACE random=$OMPI_MCA_orte_precondition_transports PMIX_NAMESPACE=again
		[ "$1" = with ] || unset OMPI_MCA_orte_precondition_transports PMIX_SERVER_URI2 PMIX_SERVER_URI3 \
			PMIX_SERVER_URI4
		exec "$0" --logfile-name again.stf -- env PMIX_NAMESPACE="$own" \
			OMPI_MCA_orte_precondition_transports="$random" ./plain wait 900' "$vtrun" "$2" >"$1" 2>&1 &
	launcher=$! tries=0
	until [ "$(grep -c 'error class' "$1")" -eq 2 ] || [ $tries -ge 600 ]; do
		sleep 0.1
		tries=$((tries + 1))
	done
}
ranks() # their process ids
{
	find . -name '.VT-flush-plain_*.raw' | sed -n 's/.*-\([0-9]*\)\.raw$/\1/p'
}
processes() # processes TRACE
{
	"$build/stftool" "$1" --verify >>out 2>&1 && "$build/xstftool" "$1" 2>>out | sed -n 's/^NCPUS //p' | wc -w
}
kill_and_repeat() # kill_and_repeat NUMBER TRACE: such a job, killed, and then another, whose trace that is
{
	clean
	again first "$1"
	killed=$(ranks)
	# shellcheck disable=SC2046,SC2086
	kill -9 $(sampler again.prot) $killed
	wait $launcher
	cksum .VT-flush-* >sums
	again second "$1"
	# shellcheck disable=SC2046
	kill -9 $(ranks | grep -vwF "$killed")
	wait $launcher
	tries=0
	until { [ -s "$2" ] && [ "$(ranks | wc -l)" -le 2 ]; } || [ $tries -ge 600 ]; do
		sleep 0.1
		tries=$((tries + 1))
	done
	cat first second >>out
	expect [ "$(echo "$killed" | wc -w)" -eq 2 ]
	cksum .VT-flush-* | expect diff sums - >>out
	expect [ "$(processes "$2")" -eq 2 ]
}
if [ $mpi = openmpi ]; then
	mpi_compile "$MPICC" mpi/programs/mpi_plain.c plain -pthread
	kill_and_repeat with again-1.stf
	verdict "the raw files of a killed job are neither merged nor removed by the next job of that name"
	"$build/stftool" again.prot --merge old.stf >>out 2>&1
	[ "$(processes old.stf)" -eq 2 ]
	ok "and its own command still makes its trace" $?
	kill_and_repeat without again.stf
	verdict "nor where the launcher gives two launches the same name and no number"
	"$build/stftool" .VT-flush-* --merge old.stf >>out 2>&1
	expect [ "$(processes old.stf)" -eq 2 ]
	verdict "and they still make a trace"
else
	for name in "the raw files of a killed job and the next job of that name" \
		"and its own command still makes its trace" \
		"where the launcher gives two launches the same name and no number" "and they still make a trace"; do
		skip "$name" "MPICH's launcher names a job by its process, which a test cannot give again"
	done
fi
done_testing

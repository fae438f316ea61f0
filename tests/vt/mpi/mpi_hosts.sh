#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Several hosts (tests/mpi/netns.sh, which share their files): the sampler process of the host of the rank that writes
# the trace makes that of one host, also where it does not see the raw files of the others; and when a host is killed
# the raw files make it. TAP.
# shellcheck source=../lib/mpi_lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"
needs_hosts
mpi_compile "$MPICC" clocks/programs/mpi_truth.c truth -lVT
VT_TIMER=clock_monotonic VT_VERBOSE=2
VT_COUNTERS_ONLY=on
export VT_TIMER VT_VERBOSE VT_COUNTERS_ONLY

program=truth
# Waits until all raw files are there, and gives them second names, which outlive the job.
cat >keep <<'END'
tries=0
until [ "$(ls .VT-flush-"$program"_*.raw 2>/dev/null | wc -l)" -eq "$1" ] || [ $tries -ge 1000 ]; do
	tries=$((tries + 1))
	sleep 0.05
done
for f in .VT-flush-"$program"_*.raw; do
	ln "$f" "kept/$f"
done
END

job() # job HOSTS RANKS COMMAND...: ranks round the hosts
{
	hosts=$1 ranks=$2
	shift 2
	clean
	rm -rf kept
	mkdir kept
	[ -n "${VT_FLUSH_PREFIX:-}" ] || [ -e here ] || program=$program sh keep "$ranks" &
	launch "$hosts" "$ranks" "$@"
	rc=$?
	wait $!
	return $rc
}

# The trace is, record for record, what one process makes of the same raw files.
as_one()
{
	mkdir one && "$build/stftool" \
		kept/.VT-flush-"$program"_*.raw --merge "one/$program.stf" --clock "$program.clk" \
		${VT_STF_PROCS_PER_FILE:+--stf-procs-per-file "$VT_STF_PROCS_PER_FILE"} \
		${VT_STF_USE_HW_STRUCTURE:+--stf-use-hw-structure "$VT_STF_USE_HW_STRUCTURE"} >>out 2>&1 &&
		"$build/xstftool" "$program.stf" >have 2>>out
	"$build/xstftool" "one/$program.stf" >want 2>>out
	rm -rf one
	[ -s want ] && diff want have >>out
}

expect job 2 4 "$vtrun" -- ./truth 3
expect one_trace truth 4
expect "$build/tests/vt/lib/truth" truth.stf truth.clk >>out 2>&1
expect as_one
verdict "two hosts: the trace is that of one process"
VT_STF_PROCS_PER_FILE=1 VT_LOGFILE_RANK=2 expect job 3 6 "$vtrun" -- ./truth 2
expect one_trace truth 6
expect ls truth.stf.c.5* >>out 2>&1
VT_STF_PROCS_PER_FILE=1
expect as_one
verdict "three hosts, a file for each rank, and another rank that writes"
unset VT_STF_PROCS_PER_FILE

mpi_compile "$MPICC" mpi/programs/mpi_messages.c messages
program=messages
rm -f truth.*
VT_COUNTERS_ONLY=off expect job 2 4 "$vtrun" -- ./messages 10 1
expect one_trace messages 4
expect_no_line -P 'WARNING: (?!counter cgroup_throttled)' out
expect same_messages messages.stf
expect as_one
verdict "messages between two hosts: what was sent, and the trace is that of one process"
program=truth

# Raw files in a folder of each host's own: the writer gets them.
cat >apart <<'END'
folder=$1 kept=$2 ranks=$3
shift 3
if [ "$OMPI_COMM_WORLD_LOCAL_RANK" = 0 ]; then
	mount -t tmpfs tmpfs "$folder" && mkdir "$folder/second" && : >"$folder/ready"
	(
		tries=0
		until [ "$(ls "$folder"/.VT-flush-*.raw 2>/dev/null | wc -l)" -eq "$ranks" ] || [ $tries -ge 1000 ]; do
			tries=$((tries + 1))
			sleep 0.05
		done
		ln "$folder"/.VT-flush-*.raw "$folder/second"
	) &
fi
until [ -e "$folder/ready" ]; do
	sleep 0.05
done
VT_FLUSH_PREFIX=$folder "$@"
status=$?
wait
if [ "$OMPI_COMM_WORLD_LOCAL_RANK" = 0 ]; then
	cp "$folder"/second/.VT-flush-* "$kept"
	ls -A "$folder" | grep VT-flush >>"$kept/left"
fi
exit $status
END
mkdir private
# None is left there, nor beside the trace.
private() # private HOSTS RANKS SECONDS/10
{
	: >here
	job "$1" "$2" sh apart "$dir/private" "$dir/kept" $(($2 / $1)) "$vtrun" -- ./truth "$3" &&
		one_trace truth "$2" && [ ! -s kept/left ]
	rc=$?
	cat kept/left >>out 2>/dev/null
	rm -f here
	return $rc
}

if [ $mpi = openmpi ]; then
	expect private 2 4 3
	expect_no_line -P 'WARNING: (?!counter cgroup_throttled)' out
	expect as_one
	verdict "raw files that only their own host can see"
	VT_LOGFILE_RANK=2 expect private 3 6 2
	expect as_one
	verdict "the same on three hosts, and another rank that writes"
	VT_COUNTERS_ONLY=off expect private 2 4 2
	expect_no_line -P 'WARNING: (?!counter cgroup_throttled)' out
	expect as_one
	verdict "the same with messages"
else
	# launch, in mpi_lib.sh
	skip "raw files that only their own host can see" \
		"MPICH does not always come back to the script that keeps the folder"
fi
# each rank alone sees its raw files: that of rank 2 goes to the writer, on the same host
VT_FLUSH_PREFIX=$dir/private
export VT_FLUSH_PREFIX
# shellcheck disable=SC2016
expect job 2 3 unshare --mount sh -c 'mount -t tmpfs tmpfs "$0/private" && exec "$1/vtrun" -- ./truth 2' "$dir" "$build"
expect one_trace truth 3
verdict "raw files that only their own rank can see"
unset VT_FLUSH_PREFIX
# a folder of the same name on each host; rank 0 brings its trace out
mkdir here
# shellcheck disable=SC2016
expect job 2 3 unshare \
	--mount sh \
	-c \
	'mount -t tmpfs tmpfs "$0/here" && cd here && "$1/vtrun" -- ../truth 2 && if [ -e truth.stf ]; then cp '\
'truth.* ..; fi' "$dir" "$build"
expect one_trace truth 3
verdict "folders of the same name that are not one"

rmdir here

# A rank is gone at some moment of the merge: what there is makes the trace.
# The trace is packed so hard that this takes a while.
cat >doomed <<'END'
if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ]; then
	me=$$
	(
		until ls truth.stf.c.1*.tmp-* >/dev/null 2>&1 || ! kill -0 $me; do
			sleep 0.01
		done
		sleep "$1"
		kill -9 $me
	) 2>/dev/null &
fi
exec "$2" -- ./truth 3 much
END
for moment in 0 0.2; do
	VT_COMPRESS_TRACE=19 job 2 4 sh doomed $moment "$vtrun"
	if ls .VT-flush-*.raw >/dev/null 2>&1; then
		# shellcheck disable=SC2046
		timeout 300 "$build/stftool" $(ls .VT-flush-*.raw) --merge saved.stf >>out 2>&1 &&
			"$build/stftool" saved.stf --verify >>out 2>&1 &&
			[ "$("$build/xstftool" saved.stf 2>>out | sed -n 's/^NCPUS //p' | wc -w)" -eq 4 ]
	else
		one_trace truth 4
	fi
	rc=$?
	# the files of a merge that was killed are gone with the next
	find . -name '*.tmp-*' | grep . >>out && rc=1
	ok "a rank of the second host is killed $moment s after the merge began" $rc
	echo "# $(grep -c 'Writing tracefile' out) traces were complete"
done
done_testing

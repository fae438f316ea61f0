#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The table of endings: programs that end in twelve ways, and jobs of four ranks on one host and on two that end in
# seven; and both, killed
# as they begin. Each has to leave a verified trace that is complete 5 s after its end, and no raw file. Prints a line
# for each: how many of how many.
# ENDINGS (20) and ENDINGS_JOBS (10): how often; ENDINGS_BUILD: a folder that is built already (default: a new one),
# also one for MPICH.
# Arguments: only the rows with one of these names, as the table has them, patterns allowed: SIGTERM '1 host*'.
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/lib.sh"
need gcc
need g++
if [ -n "${ENDINGS_BUILD:-}" ]; then
	cd "$ENDINGS_BUILD" || exit 99
else
	configured endings CC=gcc
	step "endings: make" make -j"$jobs"
fi
[ $# -gt 0 ] || set -- '*'
rows=$(printf '%s\n' "$@")
build=$PWD each=${ENDINGS:-20} each_job=${ENDINGS_JOBS:-10}
MPICC=$(sed -n 's/^MPICC = //p' Makefile) MPIRUN=$(sed -n 's/^MPIRUN = //p' Makefile)
case $("$MPIRUN" --version 2>/dev/null) in
*'Open MPI'*) spread="--map-by node --oversubscribe" ;;
*) spread= ;; # MPICH does both by itself
esac
cd "$work" || exit 99
step "endings: the program" gcc -g "$top/tests/ci/series/endings.c" -o endings -pthread
cat >uncaught.cc <<'END'
#include <unistd.h>
int main() { usleep(150000); throw 1; }
END
step "endings: the program in C++" g++ -g uncaught.cc -o uncaught
failed=0

left() # left TRACE: waits for the trace, and until there are no raw files; prints the ms that it took
{
	from=$(date +%s%N)
	tries=0
	until { [ -e "$1" ] && ! ls VT-* >/dev/null 2>&1; } || [ $tries -ge 100 ]; do
		tries=$((tries + 1))
		sleep 0.05
	done
	took=$((($(date +%s%N) - from) / 1000000))
	[ -e "$1" ] && ! ls VT-* >/dev/null 2>&1 && "$build/stftool" "$1" --verify >verify 2>&1
}

row() # row NAME GOOD ALL LONGEST
{
	printf '%-34s %3d of %3d   longest wait %5d ms\n' "$1" "$2" "$3" "$4" | tee -a table
	[ "$2" -eq "$3" ] || failed=1
}

wanted() # wanted NAME: is its row among the arguments?
{
	printf '%s\n' "$rows" | while read -r pattern; do
		# shellcheck disable=SC2254 # a pattern
		case $1 in $pattern) echo yes ;; esac
	done | grep -q yes
}

# ending NAME COMMAND...: `each` times, under vtrun
ending()
{
	name=$1 n=0 good=0 longest=0
	shift
	wanted "$name" || return 0
	while [ $n -lt "$each" ]; do
		n=$((n + 1))
		rm -rf run && mkdir run && cd run || exit 99
		timeout -k 5 100 "$build/vtrun" -- "$@" >out 2>&1 </dev/null
		left "$(basename "$1").stf" && grep -q '^INFO ENDED' ./*.prot && good=$((good + 1))
		longest=$((took > longest ? took : longest))
		cd .. || exit 99
	done
	row "$name" $good "$each" $longest
}

for how in SIGTERM SIGINT SIGKILL SIGSEGV SIGXCPU abort _exit exit return exec pthread_exit; do
	ending $how "$work/endings" $how
done
ending "uncaught exception" "$work/uncaught"

# begins NAME TRACE COMMAND...: killed 10, 20, ... ms after its start. There is a verified trace; or nothing, where
# nothing had begun; or a raw file that the sampler process had not got yet, of which stftool makes the trace, as the
# next run says
begins()
{
	name=$1 trace=$2 n=0 good=0 longest=0
	shift 2
	wanted "$name" || return 0
	while [ $n -lt "$each" ]; do
		n=$((n + 1))
		rm -rf run && mkdir run && cd run || exit 99
		KILLED_AFTER=$(printf '0.%03d' $((n * 10))) timeout -k 5 100 "$@" >out 2>&1 </dev/null
		if left "$trace"; then
			longest=$((took > longest ? took : longest))
			good=$((good + 1))
		elif [ ! -e "$trace" ] && merges; then
			good=$((good + 1))
		fi
		cd .. || exit 99
	done
	row "$name" $good "$each" $longest
}

merges() # each raw file that is left
{
	for raw in .VT-flush-*.raw; do
		[ ! -e "$raw" ] || { "$build/stftool" "$raw" --merge raw.stf --force &&
			"$build/stftool" raw.stf --verify; } >verify 2>&1 || return 1
	done
}

cat >killed.sh <<'END'
# rank 1 of a job, or the only process, is killed
if [ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-1}}" = 1 ]; then
	(exec >/dev/null 2>&1 && sleep "$KILLED_AFTER" && kill -9 $$) &
fi
exec "$@"
END
begins "SIGKILL as it begins" sleep.stf sh ../killed.sh "$build/vtrun" -- sleep 1

# job HOSTS NAME HOW [SIGNAL TO MPIRUN]
job()
{
	hosts=$1 name="$1 host(s): $2" how=$3 signal=${4:-} n=0 good=0 longest=0
	wanted "$name" || return 0
	while [ $n -lt "$each_job" ]; do
		n=$((n + 1))
		rm -rf run && mkdir run && cd run || exit 99
		# shellcheck disable=SC2086
		set -- "$MPIRUN" -np 4 $spread "$build/vtrun" -- ../mpi "$how"
		if [ -n "$signal" ]; then
			# a second after all have begun, which takes long on a busy machine
			set -- sh -c 'signal=$1; shift; "$@" & i=0
				until [ "$(ls .VT-flush-*.raw 2>/dev/null | wc -l)" -ge 4 ] || [ $i -ge 600 ]; do '\
'i=$((i + 1)); sleep 0.1; done
				sleep 1; kill -"$signal" $!; wait $!' sh "$signal" "$@"
		fi
		if [ "$hosts" -gt 1 ]; then
			# the samplers live as long as the namespaces
			set -- sh "$top/tests/mpi/netns.sh" -n "$hosts" -o 30 -- sh -c '"$@"; i=0
				while ls VT-* >/dev/null 2>&1 && [ $i -lt 100 ]; do i=$((i + 1)); sleep 0.1; done; '\
'sleep 0.1' sh "$@"
		fi
		timeout -k 5 100 "$@" >out 2>&1 </dev/null
		left mpi.stf && [ "$("$build/xstftool" mpi.stf 2>/dev/null | sed -n 's/^NCPUS //p' | wc -w)" -eq 4 \
			] && good=$((good + 1))
		longest=$((took > longest ? took : longest))
		cd .. || exit 99
	done
	row "$name" $good "$each_job" $longest
}

if [ "${MPIRUN:-no}" != no ] && [ -e "$build/.libs/libVT.so" ]; then
	. "$top/tests/lib/launcher.sh"
	OMPI_MCA_mpi_yield_when_idle=1
	export OMPI_MCA_mpi_yield_when_idle
	step "endings: the MPI program" "$MPICC" -g -DWITH_MPI "$top/tests/ci/series/endings.c" -o mpi -pthread
	# shellcheck disable=SC2086
	begins "a job: SIGKILL of one as it begins" mpi.stf "$MPIRUN" -np 4 $spread sh ../killed.sh "$build/vtrun" \
		-- ../mpi wait
	all="1"
	why=$(sh "$top/tests/mpi/netns.sh" -- true 2>&1) && all="1 2" || echo "SKIPPED: two hosts: $why"
	for hosts in $all; do
		job "$hosts" "SIGKILL of one" SIGKILL
		job "$hosts" "SIGKILL of all" all-SIGKILL
		job "$hosts" abort abort
		job "$hosts" MPI_Abort MPI_Abort
		job "$hosts" "exit without MPI_Finalize" all-exit
		job "$hosts" "SIGINT to mpirun" wait INT
		job "$hosts" "SIGTERM to mpirun" wait TERM
	done
else
	echo "SKIPPED: jobs: no MPI"
fi
[ -s table ] || { echo "no row has such a name: $rows"; exit 1; }
exit $failed

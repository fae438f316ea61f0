# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# What the tests of libVT under MPI share; to be sourced. Everything runs in $dir, whose files are a run's.
. "${top_srcdir:-.}/tests/vt/lib/lib.sh"
if [ ! -e "$lib/libVT.so" ] || [ "${MPIRUN:-no}" = no ]; then
	skip_all "this build has no MPI, or there is no mpirun"
fi
cd "$dir" || exit 99
. "${src:?}/tests/lib/launcher.sh"
OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_mpi_yield_when_idle
# Open MPI keeps memory at its end
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
export ASAN_OPTIONS

needs_hosts() # several of them, or all is skipped
{
	why=$(sh "$src/tests/mpi/netns.sh" -- true 2>&1)
	[ $? -ne 77 ] || skip_all "$why"
}

mpi_compile() # mpi_compile COMPILER SOURCE PROGRAM ARGUMENTS...
{
	cc=$1 from=$2 to=$3
	shift 3
	# shellcheck disable=SC2086
	"$cc" $san -g -I"$src/include" -I"$src" "$here/$from" -o "$dir/$to" "$@" -L"$lib" -Wl,-rpath,"$lib" -lm >out \
		2>&1
}

# launch HOSTS RANKS COMMAND...: on so many hosts (tests/mpi/netns.sh; packets between them take $delay), ranks round
# them, with the
# variables that the tests set; MPICH needs to be told neither. MPICH 4.0 over TCP at times never comes out of
# PMPI_Finalize, without
# us too: 3 of 20 runs of 100 messages and nothing else, 5 of 20 where a rank comes 0.1 s later (pmodels/mpich pull
# request 6596).
# The trace is there by then.
case $("$MPIRUN" --version 2>/dev/null) in
*'Open MPI'*) mpi=openmpi limit=330 ;;
*) mpi=mpich limit=60 ;;
esac
launch()
{
	hosts=$1 ranks=$2
	shift 2
	if [ $mpi = openmpi ]; then
		for name in TIMER VERBOSE COUNTERS_ONLY FLUSH_PREFIX LOGFILE_RANK STF_USE_HW_STRUCTURE \
			STF_PROCS_PER_FILE COMPRESS_TRACE; do
			set -- -x "VT_$name" "$@"
		done
		set -- --map-by node -x ASAN_OPTIONS "$@"
	fi
	timeout $limit sh "$src/tests/mpi/netns.sh" -n "$hosts" -o 1000 ${delay:+-d "$delay"} -- "$MPIRUN" \
		-np "$ranks" "$@" >out 2>&1
	rc=$?
	if [ $rc -eq 124 ] && [ $mpi = mpich ] && grep -q ' Tickmark INFO: Writing tracefile ' out; then
		echo "# MPICH did not come out of PMPI_Finalize"
		rc=0
	fi
	return $rc
}

clean() # forgets the run before
{
	rm -f ./*.stf* ./*.prot ./*.clk .VT-flush-* say say.* out
}

# run N PROGRAM ARGUMENTS...: under vtrun; output in out, without the collector's own lines in output
run()
{
	n=$1
	shift
	clean
	timeout "${LIMIT:-300}" "$MPIRUN" -np "$n" "$vtrun" -- "$@" >out 2>&1
	status=$?
	grep -v ' Tickmark ' out | LC_ALL=C sort >output
	return $status
}

# One trace with all ranks, sound, and its clock correction beside it.
one_trace() # one_trace NAME RANKS
{
	[ "$(find . -name '*.stf' | wc -l)" -eq 1 ] && [ -s "$1.clk" ] && ! ls .VT-flush-* >/dev/null 2>&1 &&
		"$build/stftool" "$1.stf" --verify >>out 2>&1 &&
		"$build/stftool" "$1.stf" --print-threads >threads 2>>out &&
		[ "$("$build/xstftool" "$1.stf" 2>>out | sed -n 's/^NCPUS //p' | wc -w)" -eq "$2" ]
}

# messages TRACE: FROM TO BYTES TAG COMMUNICATOR of each message, ranks from 0
messages()
{
	"$build/stftool" "$1" --matched-vtf --dump 2>>out | awk '
	$1 == "DEFCOMM" { split($0, part, "\""); name[$2] = part[2] }
	$2 == "MESSAGE" {
		for (i = 3; i < NF; i++) { v[$i] = $(i + 1) }
		print (v["FROM"] - 1) % 65536, (v["TO"] - 1) % 65536, v["LEN"], v["TAG"], name[v["COMM"]]
	}' | LC_ALL=C sort
}

# same_messages TRACE: as in truth.*; none has another length at its other end, none is ambiguous, none is left alone
same_messages()
{
	messages "$1" >have
	grep -hv operations truth.* | LC_ALL=C sort >want
	"$build/stftool" "$1" --dump >dump 2>>out
	grep -E '^INFO .*(messages|operations)' dump >>out
	[ "$(wc -l <want)" -gt "${2:-100}" ] && cmp want have >>out 2>&1 && "$build/stftool" "$1" --verify >>out 2>&1 &&
		! grep \
		-E \
		'^INFO .*(mixed up|ambiguous|whose (receiving|sending) was not|not in this trace|lack members|'\
'different functions)' dump >>out
}

samples() # samples TRACE...: of the program's own counters
{
	"$build/tests/vt/lib/samples" "$@" 2>>out | grep -vE ' (Tickmark|OS|PERF_DATA|sampler):'
}

# The events of mpi_pingpong.c, N of them, in the order that their values say: none has a stamp before the one before by
# more
# than what the correction states of the two ranks. On a clock that they share that is nothing, on a busy machine, where
# a clock is not proven to be shared and messages take long, it is more than a fast message takes.
in_order() # in_order TRACE CLK N
{
	"$build/tests/vt/lib/truth" "$2" >bounds 2>>out && samples "$1" -t | grep -F ' '\
'Messages:event ' >have && [ "$(wc -l <have)" -eq "$3" ] &&
		LC_ALL=C sort -k 9,9 have | awk '
		FILENAME == "bounds" { bound[$1] = $2; largest = $2 > largest ? $2 : largest; next }
		{ r = $2 + 0; most = r == rank ? 0 : bound[r] + bound[rank] + 1e-9 }
		n++ && $1 < stamp - most { printf "%s is %g us ahead of %s, the bounds are %g us\n", $NF,
		(stamp - $1) * 1e6, value, most * 1e6; wrong = 1 }
		n > 1 && stamp - $1 > back { back = stamp - $1 }
		{ stamp = $1; rank = r; value = $NF }
		END { printf "# %d events, reversed by %g us at most, the largest bound is %g us\n", n, back * 1e6,
		largest * 1e6; exit wrong || n == 0 }
		' bounds - >order
	rc=$?
	cat order >>out
	grep '^# ' order
	return $rc
}

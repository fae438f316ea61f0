#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# VT_CONFIG_RANK: the configuration file that only one rank can read is that of all. TAP.
# shellcheck source=../lib/mpi_lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"
mpi_compile "$MPICC" mpi/programs/mpi_plain.c plain -pthread
[ -x plain ] || echo "Bail out! $(cat out)"

# As on hosts of which one has the file: the others have its name at most.
cat >each <<'END'
#!/bin/sh
rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
case $CASE in
only*) [ "$rank" = "${CASE#only}" ] || VT_CONFIG=$PWD/nowhere.conf ;;
unset*) [ "$rank" = "${CASE#unset}" ] || unset VT_CONFIG ;;
other*) [ "$rank" = "${CASE#other}" ] || VT_CONFIG=$PWD/other.conf ;;
esac
export VT_CONFIG
exec "$@"
END
chmod +x each
printf \
	'COUNTER proc_maxrss on\nLOGFILE-NAME named.stf\nCOUNTER thread_run on\nSAMPLE-PERIOD 7ms\nUNIFY-COUNTERS '\
'off\nVERBOSE 2\n' >one.conf
printf 'COUNTER proc_minflt on\nLOGFILE-NAME wrong.stf\n' >other.conf
job() # job CASE ARGUMENTS OF VTRUN...: three ranks
{
	CASE=$1
	export CASE
	shift
	clean
	VT_CONFIG=$dir/one.conf timeout 300 "$MPIRUN" -np 3 ./each "$vtrun" "$@" -- ./plain >out 2>&1
}

# Both counters of each rank and none else of theirs, defined by each rank for itself, in the trace of that name.
everywhere()
{
	one_trace named 3 && "$build/tests/vt/lib/samples" named.stf 2>>out |
		awk '$1 !~ /^[0-9]+:/ || $2 ~ /^Tickmark:/ { next } { print $1, $2 }' |
		LC_ALL=C sort -u >have
	cat have >>out
	[ "$(grep -c ' OS:proc_maxrss$' have)" -eq 3 ] && [ "$(grep -c '^[012]:0 OS:thread_run$' have)" -eq 3 ] &&
		! grep -v -e proc_maxrss -e thread_run have &&
		[ "$("$build/xstftool" named.stf | grep '^DEFCOUNTER ' | grep -c 'OS:proc_maxrss')" -eq 3 ]
}

VT_CONFIG_RANK=2
export VT_CONFIG_RANK
expect job only2
expect everywhere
expect_line -F "($dir/one.conf of rank 2:2)" named.prot
expect_line -x 'LOGFILE-NAME named.stf' named.prot
verdict "a file that only rank 2 can read is that of all ranks, and the protocol says so"
expect job unset2
expect everywhere
verdict "and where the others do not know of one"
expect job other2
expect everywhere
expect_lines 2 'INFO: the options are those of .*one.conf of rank 2' out
verdict "and where they have another one"
VT_CONFIG_RANK='' expect job only0
expect everywhere
expect_line -F "($dir/one.conf:2)" named.prot
verdict "rank 0 reads it without VT_CONFIG_RANK"
VT_SAMPLE_PERIOD=9ms expect job only2
expect everywhere
expect_line -x 'SAMPLE-PERIOD 0.009s' named.prot
expect_line -xF '# environment (VT_SAMPLE_PERIOD)' named.prot
verdict "variables come before it"
VT_SAMPLE_PERIOD=9ms expect job only2 --sample-period 11ms
expect everywhere
expect_line -x 'SAMPLE-PERIOD 0.011s' named.prot
expect_line -xF '# command line (--sample-period)' named.prot
verdict "and the command line before those"
VT_CONFIG_RANK=3 expect job only0
expect everywhere
expect_lines 1 'WARNING: VT_CONFIG_RANK 3: want a rank from 0 to 2' out
verdict "a rank that is none"
VT_CONFIG_RANK=1 expect job only2
expect one_trace plain 3
expect_lines 1 'WARNING: VT_CONFIG_RANK 1: that rank has no configuration file' out
verdict "a rank without a file"
# rank 0 begins anew with what rank 2 says, and so it does with another timer; its program keeps its name
mpi_compile "$MPICC" mpi/programs/mpi_plain.c linked -pthread -Wl,--no-as-needed -lVT
echo 'SAMPLE-PERIOD 7ms' >two.conf
clean
CASE=only2 VT_CONFIG=$dir/two.conf expect timeout 300 "$MPIRUN" -np 3 ./each ./linked >out 2>&1
expect one_trace linked 3
expect ls -A >>out
expect [ ! -e .stf ]
expect_line -x 'SAMPLE-PERIOD 0.007s' linked.prot
expect_line -x 'INFO PROGRAM "linked"' linked.prot
verdict "a program that is linked with -lVT and not started by vtrun"

# ranks 0 and 1 begin with all calls for files, and begin anew with what rank 2 has: the calls that were redirected are
# the program's again
mpi_compile "$MPICC" mpi/programs/mpi_system.c files
calls() # calls RULES WANT [WORD]: the states of class SYSTEM of all ranks
{
	echo 'ACTIVITY SYSTEM ON' >other.conf
	printf '%s' "$1" >one.conf
	clean
	CASE=other2 VT_CONFIG_RANK=2 VT_CONFIG=$dir/one.conf timeout 300 "$MPIRUN" -np 3 ./each "$vtrun" -- ./files \
		${3:+"$3"} >out 2>&1 &&
		one_trace files 3 && "$build/stftool" files.stf --dump >dump && awk -f "$here/lib/tree.awk" dump |
		sed 's/^\.*//' | grep ^SYSTEM | sort | uniq -c |
		awk '{ print $1, $2 }' >have
	status=$?
	printf '%s' "$2" | diff - have >diff && [ $status -eq 0 ]
}
case $(uname -m) in
x86_64 | aarch64)
	calls 'STATE SYSTEM:write ON
' '3 SYSTEM:write
'
	ok "a new start with fewer rules for class SYSTEM" $?
	calls 'VERBOSE 1
' ''
	ok "and with none" $?
	calls 'STATE SYSTEM:pread ON
' '1 SYSTEM:pread
' early
	expect_lines 2 'WARNING: .*one.conf of rank 2: too late for its options here' out
	expect_line -x '4 SYSTEM:fopen' have
	verdict "where calls were recorded before MPI_Init, the options stay, and a message says so"
	;;
*) skip "a new start with fewer rules for class SYSTEM" "not recorded on this kind of machine" ;;
esac

# the names of all hosts are gathered once, and of each rank 8 bytes; a rank of a large job has no room for more
mpi_compile "$MPICC" lib/count_gathers.c libcount.so -shared -fPIC -ldl
clean
timeout 300 "$MPIRUN" -np 4 env LD_PRELOAD="$dir/libcount.so" "$vtrun" -- ./plain >out 2>&1
expect [ $? -eq 0 ]
expect_lines 4 '^gathered [0-9]*$' out
expect awk '$1 == "gathered" && $2 > 4 * 8 + 128 { exit 1 }' out
verdict "what every rank gets of all others is 8 bytes"
done_testing

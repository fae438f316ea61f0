#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# libVTfs, and its options in the other libraries: jobs whose ranks wait for each other for ever are stopped, the stack
# of each is
# printed, and there is a trace; a job that goes on is left alone. Signals are noted before the program's own handlers.
# TAP.
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"
if [ -n "$san" ]; then
	skip_all "sanitizers have handlers and stacks of their own"
fi
mpi_compile "$MPICC" ends/programs/deadlock.c fs -lVTfs
mpi_compile "$MPICC" ends/programs/deadlock.c plain
mpi_compile "$MPICC" ends/programs/deadlock.c slow -DSLOW_END -lVTfs -ldl

# the same in a library that has lost the names of its own functions
mpi_compile "$MPICC" ends/programs/deadlock.c libhidden.so -shared -fPIC -s -Dmain=run_hidden
echo 'int run_hidden(int, char **); int main(int n, char **v) { return run_hidden(n, v); }' >hidden.c
"$MPICC" hidden.c -o hidden -L. -lhidden -Wl,-rpath,"$dir" >>out 2>&1

job() # job COMMAND...: three ranks; output in say
{
	clean
	timeout 60 "$MPIRUN" -np 3 "$@" >say 2>&1
	status=$?
	wait_for 60 no_raw_files
	cat say >>out
}

stopped() # stopped NAME: by the rule, with a sound trace that says so
{
	[ $status -ne 0 ] && [ $status -ne 124 ] && "$build/stftool" "$1.stf" --verify >>out 2>&1 &&
		grep -q '^INFO ENDED .*by the sampler process: deadlock, no progress for 1 s' "$1.prot" &&
		[ "$(grep -c 'Tickmark ERROR: GLOBAL:DEADLOCK: no progress in any process for 1 s' say)" -eq 3 ]
}

line=$(grep -n 'blocked here' "$here/ends/programs/deadlock.c" | cut -d: -f1)
export VT_DEADLOCK_TIMEOUT=1s
job ./fs
stopped fs
ok "libVTfs: ranks that wait for each other are stopped, and there is a trace" $?
if grep -q 'unknown: .*without libdw' say; then
	skip "the stack of each rank with source lines" "this build is without libdw"
else
	[ "$(grep -c "wait_for_message at .*deadlock.c:$line\$" say)" -eq 3 ]
	ok "the stack of each rank with source lines" $?
fi
"$build/stftool" fs.stf --dump 2>>out | grep -q 'INFO .*MPI_Recv'
ok "the stacks are in the trace, too" $?
job "$vtrun" -- ./hidden
grep -q 'unknown: .*without libdw' say || expect [ "$(grep -c '#[0-9]* unknown function of libhidden.so$' say)" -eq 3 ]
expect_not grep '#[0-9]* unknown$' say
verdict "a function without a name is that of its library"
VT_DEADLOCK_WARNING=0.5s job "$vtrun" -- ./plain collective
expect stopped plain
expect [ "$(grep -n 'WARNING: GLOBAL:DEADLOCK:NO_PROGRESS' say | head -n 1 | cut -d: -f1)" \
	-lt "$(grep -n 'GLOBAL:DEADLOCK: ' say | head -n 1 | cut -d: -f1)" ]
verdict \
	"vtrun with DEADLOCK-TIMEOUT, one rank in a receive and two in a collective operation; DEADLOCK-WARNING comes \
before"
job "$vtrun" -- ./plain skips
expect stopped plain
verdict "a rank that skips a barrier, and is in MPI_Finalize while the others wait"
VT_DEADLOCK_TIMEOUT=0.5s job ./fs moves
expect_status 0
expect_not grep GLOBAL say
expect "$build/stftool" fs.stf --verify >>out 2>&1
verdict "a job that moves is not stopped, and not one in which a single rank computes for longer"
VT_DEADLOCK_TIMEOUT=0.5s job ./slow moves
expect_status 0
expect_not grep GLOBAL say
expect "$build/stftool" slow.stf --verify >>out 2>&1
verdict "nor one whose last clock session takes longer: all ranks are in MPI_Finalize"
unset VT_DEADLOCK_TIMEOUT

clean
timeout 60 ./fs handler >say 2>&1
status=$?
expect_status 7
expect_line '^handled 15$' say
verdict "a handler of the program has its turn after libVTfs"
# rank 0 begins anew with the options of rank 1, which waits for a message until the job is ended
clean
echo 'SAMPLE-PERIOD 90ms' >rank1.conf
# shellcheck disable=SC2016
VT_CONFIG_RANK=1 timeout 60 "$MPIRUN" -np 2 \
	sh -c '[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" -eq 0 ] && exec ./fs handler; VT_CONFIG=rank1.conf exec ./fs' \
	>say 2>&1
expect [ $? -ne 124 ]
expect_line 'the options are those of .*rank1.conf of rank 1' say
expect_line '^handled 15$' say
verdict "and where the run begins anew"

# a launcher that does not tell how many ranks are on a host, and a rank that its sampler process does not see
cat >untold <<'END'
#!/bin/sh
unset OMPI_COMM_WORLD_LOCAL_SIZE MPI_LOCALNRANKS MV2_COMM_WORLD_LOCAL_SIZE PALS_LOCAL_SIZE SLURM_STEP_NUM_NODES
if [ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-}}" = 1 ]; then
	VT_SAMPLER=thread
	export VT_SAMPLER
fi
exec "$@"
END
chmod +x untold
job ./untold "$vtrun" -- ./plain dies
expect [ $status -ne 0 ]
expect_not grep 'this node only' say
expect "$build/stftool" plain.stf --verify >>out 2>&1
verdict "the ranks of one host make one trace, although the launcher does not tell that they are all"

noted() # noted SIGNAL: in the raw file
{
	[ "$(od -An -t u4 -j 1872 -N 4 .VT-flush-*.raw | tr -d ' ')" -eq $((256 + $1)) ]
}

export VT_KEEP_RAW_EVENTS=on
clean
VT_ALTSTACK=on timeout 60 ./fs overflow >say 2>&1
status=$?
expect_status 139
expect noted 11
verdict "ALTSTACK: an overflow of the stack is noted"
clean
timeout 60 ./fs overflow >say 2>&1
expect [ $? -eq 139 ]
expect noted -256
verdict "without it none is"
clean
VT_HANDLE_SIGNALS=3,10:100 timeout 60 "$vtrun" -- sh -c 'kill -USR2 $$' >say 2>&1
status=$?
expect_status 140
expect noted 12
verdict "HANDLE-SIGNALS 3,10:100, as in the guide: the signal is noted, and ends the program"
clean
timeout 60 "$vtrun" -- sh -c 'kill -USR2 $$' >say 2>&1
[ "$(od -An -t u4 -j 1872 -N 4 .VT-flush-*.raw | tr -d ' ')" -eq 0 ]
ok "without the option nothing is" $?
done_testing

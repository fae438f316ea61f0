#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Scripts between vtrun and the MPI program: what was recorded before an exec is in the trace; a program that is a child
# of the script is said not to be recorded, and is with FOLLOW-CHILDREN. TAP.
# shellcheck source=../lib/mpi_lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"
mpi_compile "$MPICC" mpi/programs/mpi_plain.c plain
mpi_compile "$MPICC" clocks/programs/mpi_truth.c truth -lVT

script() # script NAME LINE...
{
	name=$1
	shift
	echo '#!/bin/sh' >"$name"
	printf '%s\n' "$@" >>"$name"
	chmod +x "$name"
}

# The process is one, recorded as two programs, the first of them before MPI_Init.
script wrap 'sleep 0.3' 'exec ./truth "$@"'
run 2 ./wrap 2 && one_trace wrap 2 && "$build/stftool" wrap.stf --print-clock >clock 2>>out &&
	[ "$(grep -c 'process 0: wrap, pid' clock)" -eq 1 ] && [ "$(grep -c 'process 0: truth, pid' clock)" -eq 1 ] &&
	! grep -v 'counter ' clock | grep -q missing
rc=$?
cat clock >>out
ok "a script that ends in exec: what it was before is in the trace of all ranks" $rc
# offline too, from the raw files of both programs
VT_KEEP_RAW_EVENTS=on expect run 2 ./wrap 2
expect [ "$(find . -name '.VT-flush-*.raw' | wc -l)" -eq 4 ]
expect "$build/stftool" .VT-flush-*.raw --merge wrap.stf >>out 2>&1
expect "$build/stftool" wrap.stf --verify >>out 2>&1
expect "$build/stftool" wrap.stf --print-clock >clock 2>>out
expect_lines 4 'process [01]: .*, pid' clock
verdict "offline it is the same"

# A wrapper that is a program: the library with MPI comes with the program that it becomes.
for linked in truth plain; do
	expect run 2 env ./$linked 2
	expect one_trace env 2
	expect "$build/stftool" env.stf --print-clock >clock 2>>out
	expect_lines 2 "process [01]: $linked, pid" clock
	expect "$build/stftool" env.stf --dump >dump 2>>out
	expect [ "$(grep -c 'MPI_Init' dump)" -ge 1 ]
	expect_not ls .VT-flush-* >/dev/null 2>&1
	verdict "vtrun -- env ./$linked: the calls of MPI are recorded"
done

script starts './plain' 'true'
run 2 ./starts
expect [ $? -eq 0 ]
expect [ -s starts.stf ]
expect_lines 1 'did not call MPI_Init' out
# the CPU time of its children may be named as well
grep -v 'which is not recorded: add --follow-children' out >said
expect_lines 0 'WARNING' said
expect_line 'exec.*--follow-children' out
verdict "a script that starts the program as its child gets a message with the way out"
clean
timeout 300 "$MPIRUN" -np 2 "$vtrun" --follow-children -- ./starts >out 2>&1
[ $? -eq 0 ] && [ -s starts.clk ] && ! grep -Eq 'WARNING|did not call' out && ! ls .VT-flush-* >/dev/null 2>&1 &&
	"$build/stftool" starts.stf --print-clock >clock 2>>out && [ "$(grep -c 'process [01]: plain, pid' clock)" \
	-eq 2 ] &&
	"$build/stftool" starts-1.stf --print-clock >clock 2>>out && [ "$(grep -c 'process .: starts, pid' clock)" \
	-eq 2 ]
rc=$?
ls >>out
ok "with FOLLOW-CHILDREN the ranks are one trace, and the rest another" $rc
clean
timeout 300 "$MPIRUN" -np 2 "$vtrun" --follow-children -- sh -c './plain; true' >out 2>&1
expect [ $? -eq 0 ]
expect_no_line 'WARNING' out
expect "$build/stftool" sh.stf --print-clock >clock 2>>out
expect_lines 2 'process [01]: plain, pid' clock
verdict "so is what a shell starts that is named itself"
clean
script launches "$MPIRUN -np 2 ./plain"
timeout 300 "$vtrun" --follow-children -- ./launches >out 2>&1
expect [ $? -eq 0 ]
expect_lines 1 'the MPI calls of plain are not recorded .* a child of the program started it. Write vtrun before' out
verdict "a launcher in a script: a line says where vtrun belongs"
done_testing

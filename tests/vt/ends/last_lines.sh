#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A job of which a rank dies by a signal, with the standard error of mpirun in a file: it names the trace, and what the
# launcher and the shell write there is whole. tests/preload/ends.sh has programs without MPI. TAP.
# shellcheck source=../lib/mpi_lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"
[ -z "$san" ] || skip_all "sanitizers have handlers of their own"
mpi_compile "$MPICC" ends/programs/deadlock.c plain
for mode in process thread; do
	clean
	cat >job.sh <<-END
		echo begin >&2
		timeout 60 "$MPIRUN" -np 3 "$vtrun" --sampler $mode -- ./plain dies
		echo "ends with \$?" >&2
		sleep 2
		echo over >&2
	END
	sh job.sh >say 2>err
	wait_for 60 no_raw_files
	expect "$build/stftool" plain.stf --verify >>out 2>&1
	expect_line 'Tickmark INFO: Writing tracefile .*/plain.stf: ' err
	expect [ "$(head -n 1 err)" = begin ]
	expect [ "$(tail -n 1 err)" = over ]
	expect_line '^ends with [1-9]' err
	verdict "SAMPLER $mode: the file names the trace of a job that a signal ended, and has all else that was written there"
done
# the launcher terminates the others
clean
timeout 60 "$MPIRUN" -np 3 "$vtrun" -- ./plain dies-last >say 2>err
wait_for 60 no_raw_files
expect_line 'Tickmark WARNING: \(rank 2 of plain ended by signal 9 (Killed)\|plain ended without exit\)' err
verdict "the rank is named whose end made the launcher end the others"
# programs without MPI, which end well one after the other
clean
# shellcheck disable=SC2016
expect timeout 60 "$MPIRUN" -np 2 sh -c 'exec "$0" --sampler thread -- sleep 0.$((7 * ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} + 1))' \
	"$vtrun" >say 2>&1
wait_for 60 no_raw_files
expect_line 'Writing tracefile .*sleep.stf: .* 2 processes' say
expect_no_line 'WARNING' say
verdict "ranks that end well are not said to have died"
done_testing

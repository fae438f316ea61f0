#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# FINALIZE-WAIT: the process that makes the trace is stopped in the middle of it. MPI_Finalize, and a program without
# MPI, end after the limit with a line that says where the trace will be; it is there once that process goes on. TAP.
# shellcheck source=../lib/mpi_lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"
mpi_compile "$MPICC" mpi/programs/mpi_messages.c named -finstrument-functions

# NMCMD is a child of the process that makes the trace
cat >stops <<END
#!/bin/sh
[ -e "$dir/stopped" ] || { echo \$PPID >"$dir/stopped" && kill -STOP \$PPID; }
exec nm -P "\$@"
END
chmod +x stops
VT_NMCMD="exec $dir/stops" VT_FINALIZE_WAIT=1s
export VT_NMCMD VT_FINALIZE_WAIT

late() # late PROGRAM WHO COMMAND...: it ends, before its trace is there
{
	program=$1 who=$2
	shift 2
	clean
	rm -f stopped
	expect timeout 60 "$@" >out 2>&1
	expect [ -s stopped ]
	expect [ ! -e "$program.stf" ]
	expect_lines 1 "WARNING: $who does not wait for .*/$program.stf: .* goes on to write it after 1 s" out
	expect_line "INFO: once it is there, run: vtreport .*/$program.stf" out
	expect kill -CONT "$(cat stopped)"
	expect wait_for 30 [ -e "$program.stf" ]
	expect wait_for 30 no_raw_files
	expect "$build/stftool" "$program.stf" --verify >>out 2>&1
}
late named MPI_Finalize "$MPIRUN" -np 2 "$vtrun" -- ./named 10 1
expect one_trace named 2
verdict "MPI_Finalize ends after the limit, and the trace is there later"
late named MPI_Finalize "$MPIRUN" -np 2 "$vtrun" --sampler thread -- ./named 10 1
expect one_trace named 2
verdict "the same where a thread inside has sampled"
expect ${CC:-cc} -finstrument-functions -o alone "$here/functions/programs/functions.c" -L"$lib" -lVTcs \
	-Wl,-rpath,"$lib"
late alone alone "$vtrun" --sampler thread -- ./alone 1 10 1
verdict "a program without MPI, sampled by a thread inside"
done_testing

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# libVTmc under gdb, as in the Intel Trace Collector guide, section 2.13.5: MessageCheckingBreakpoint() stops after each
# report. TAP.
# shellcheck source=../lib/mpi_lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"
cd "$dir" || exit 99
command -v gdb >/dev/null || skip_all "no gdb (Debian: gdb)"
[ -z "$san" ] || skip_all "a sanitizer must be loaded before all other libraries"
"$MPICC" -g -O0 -w -o limits "$src/tests/vt/checker/programs/limits.c" || exit 99

debugged() # debugged BREAKPOINT: runs 15 mistakes of rank 1 up to the breakpoint; output in out
{
	cat >commands <<-END
		set breakpoint pending on
		set confirm off
		set environment LD_PRELOAD $build/.libs/libVTmc.so
		set environment VT_CHECK_MAX_ERRORS 0
		break $1
		run errors
		print errortype
		print reportnumber
		print message
		where
	END
	timeout 100 $MPIRUN -np 2 gdb -nx -batch -x commands ./limits </dev/null >out 2>&1
}

debugged MessageCheckingBreakpoint
expect_line '^\$1 = 0x[0-9a-f]* "LOCAL:MPI:CALL_FAILED"$' out
expect_line '^\$2 = 1$' out
expect_line '^\$3 = 0x[0-9a-f]* "   .*MPI_' out
expect_line -E '^#[0-9]+ .* in MPI_Send \(buf=.*, count=1, .* dest=100, tag=0, ' out
expect_line -E '^#[0-9]+ .* in main \(.*\) at .*limits\.c:[0-9]+$' out
verdict "it stops after the first report, with what that says, and shows where the program is"
debugged 'MessageCheckingBreakpoint if reportnumber > 4'
expect_line '^\$2 = 5$' out
expect_lines 5 '^\[1\] ERROR: LOCAL:MPI:CALL_FAILED: error$' out
verdict "a condition on the number of reports"
done_testing

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs tests/mpi/programs/test_job with several ranks. TAP.
# shellcheck source=lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/mpi/lib.sh"
if [ ! -x "$build/tests/mpi/programs/test_job" ] || ! command -v "$mpirun" >/dev/null; then
	skip_all "this build has no MPI"
fi
ASAN_OPTIONS=$no_leaks timeout 600 "$mpirun" -np 5 "$build/tests/mpi/programs/test_job" </dev/null

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs tests/mpi/test_job with several ranks. TAP.
build=${top_builddir:-.}
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe
mpirun=${MPIRUN:-mpirun}
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 # Open MPI's own, as in timertest.sh
export ASAN_OPTIONS
if [ ! -x "$build/tests/mpi/test_job" ] || ! command -v "$mpirun" >/dev/null; then
	echo "1..0 # SKIP this build has no MPI"
	exit 0
fi
timeout 600 "$mpirun" -np 5 "$build/tests/mpi/test_job" </dev/null

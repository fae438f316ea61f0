#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Ten million messages of random communication compared with what their payload says
# (tests/vt/mpi/programs/mpi_messages.c): none wrong, none unmatched, none ambiguous. Needs 5 GB in TMPDIR. In a build
# directory with MPI, that of this source or BUILD.
set -u
top=$(cd "$(dirname "$0")/../../.." && pwd)
cd "${BUILD:-$top/build}" 2>/dev/null && [ -e .libs/libVT.so ] ||
	{ echo "skipped: no build directory with MPI; set BUILD"; exit 77; }
failed=0
# ranks, rounds, bytes at most, threads more, messages at least
for MESSAGES in '4 351000 200 0 10000000' '4 5000 400 2 180000' '16 2000 400 0 80000'; do
	MESSAGES=$MESSAGES make check TESTS=tests/vt/mpi/mpi_messages.sh || failed=1
done
exit $failed

# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# What the tests of timertest over real messages share; to be sourced.
# shellcheck source=../lib/tap.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/lib/tap.sh"
. "${top_srcdir:-.}/tests/lib/launcher.sh"
# Open MPI unloads modules whose memory it keeps, and the leak checker cannot name those to leave them out;
# timertestcs, which is the same code but for link_mpi.c, is checked for leaks.
# shellcheck disable=SC2034
mpirun=${MPIRUN:-mpirun} no_leaks=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0

# A verdict was reached, whichever: 2 is for tests that could not be made.
judged() # with the exit status in $status
{
	[ "$status" -eq 0 ] || [ "$status" -eq 1 ] || [ "$status" -eq 3 ]
}

reason() # what each rank says of its timer is long, and seldom the reason
{
	echo "exit status ${status:-none}"
	cat "$dir/out" "$dir/err" 2>/dev/null | grep -v '^\[[0-9]* ' | tail -60
}

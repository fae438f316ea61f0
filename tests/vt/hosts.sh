#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Two hosts with different monotonic clocks (tests/mpi/netns.sh): the corrected stamps against the clock of day that both
# share, inside the stated bound; no message reversed; raw files of a host that rank 0 cannot read. TAP.
. "${top_srcdir:-.}/tests/vt/mpi_lib.sh"
if [ ! -e "$lib/libVT.so" ] || [ "${MPIRUN:-no}" = no ]; then
	echo "1..0 # SKIP this build has no MPI, or there is no mpirun"
	exit 0
fi
why=$(sh "$src/tests/mpi/netns.sh" -- true 2>&1)
if [ $? -eq 77 ]; then
	echo "1..0 # SKIP $why"
	exit 0
fi

hosts() # hosts PROGRAM ARGUMENTS...: one rank on each
{
	clean
	timeout 300 sh "$src/tests/mpi/netns.sh" -o 1000 -- "$MPIRUN" -np 2 -x VT_TIMER -x VT_FLUSH_PREFIX "$build/vtrun" -- "$@" >out 2>&1
}

mpi_compile "$MPICC" mpi_truth.c truth -lVT
mpi_compile "$MPICC" mpi_pingpong.c pp -lVT
VT_TIMER=clock_monotonic
export VT_TIMER
hosts ./truth 10 && one_trace truth 2 && "$build/tests/vt/truth" truth.stf truth.clk >>out 2>&1
ok "stamps of two hosts 1000 s apart are inside the stated bound of the truth" $?
grep '^rank 1: error' out | sed 's/^/# /'
hosts ./pp sync && one_trace pp 2 && in_order pp.stf pp.clk 200
ok "no message between the two is reversed by more than the stated bound" $?

# every rank has a folder of raw files that no other rank sees
mkdir private
clean
# shellcheck disable=SC2016
VT_FLUSH_PREFIX=$dir/private timeout 300 "$MPIRUN" -np 3 unshare --mount sh -c 'mount -t tmpfs tmpfs "$0/private" && exec "$1/vtrun" -- ./pp' \
	"$dir" "$build" >out 2>&1
one_trace pp 3 && samples pp.stf >have && [ "$(wc -l <have)" -eq 600 ]
ok "raw files that rank 0 cannot see come to it" $?

echo "1..$count"
exit $bad

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Two hosts with different monotonic clocks (tests/mpi/netns.sh): the corrected stamps against the clock of day that
# both share, inside the stated bound; no message reversed; raw files of a host that rank 0 cannot read. TAP.
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"
needs_hosts

hosts() # hosts PROGRAM ARGUMENTS...: one rank on each; packets between them take $delay
{
	clean
	launch 2 2 "$vtrun" -- "$@"
}

delay=
mpi_compile "$MPICC" clocks/programs/mpi_truth.c truth -lVT
mpi_compile "$MPICC" clocks/programs/mpi_pingpong.c pp -lVT
VT_TIMER=clock_monotonic
export VT_TIMER
expect hosts ./truth 10
expect one_trace truth 2
expect "$build/tests/vt/lib/truth" truth.stf truth.clk >>out 2>&1
verdict "stamps of two hosts 1000 s apart are inside the stated bound of the truth"
grep '^rank 1: error' out | sed 's/^/# /'
ls truth.stf.c.0* truth.stf.c.1* >>out 2>&1
ok "each host has a file of its own" $?
VT_STF_USE_HW_STRUCTURE=off expect hosts ./truth 1
expect one_trace truth 2
expect ls truth.stf.c.0* >>out 2>&1
expect_not ls truth.stf.c.1* >>out 2>&1
verdict "STF-USE-HW-STRUCTURE off: one for both"
expect hosts ./pp sync
expect one_trace pp 2
expect in_order pp.stf pp.clk 200
verdict "no message between the two is reversed by more than the stated bound"

# A round trip of 2 ms that takes as long each way, and one that is asymmetric: of that an exchange sees nothing, so
# half of the difference becomes error, and the bound has to hold it.
for delay in 1000,200 1000,0,1000; do
	hosts ./pp
	rc=$?
	if [ $rc -eq 77 ]; then
		skip "a ping-pong over packets that take $delay us" "$(sed -n 's/^netns.sh: //p' out)"
		continue
	fi
	"$build/tests/vt/lib/truth" pp.stf pp.clk >truths 2>&1
	inside=$?
	cat truths >>out
	sed 's/^/# /' truths
	# a tenth of a second: far more than any exchange takes, far less than the clocks are apart
	expect [ $rc -eq 0 ]
	expect one_trace pp 2
	expect [ $inside -eq 0 ]
	"$build/tests/vt/lib/truth" pp.clk | expect awk '$2 > 0.1 { exit 1 }'
	expect in_order pp.stf pp.clk 200
	verdict \
		"a ping-pong over packets that take $delay us: its stamps are inside the stated bound of the truth, \
and in order"
done
delay=

# every rank has a folder of raw files that no other rank sees
mkdir private
for writer in 0 2; do
	clean
	# shellcheck disable=SC2016
	VT_LOGFILE_RANK=$writer VT_FLUSH_PREFIX=$dir/private timeout 300 "$MPIRUN" -np 3 unshare --mount sh -c \
		'mount -t tmpfs tmpfs "$0/private" && exec "$1/vtrun" -- ./pp' "$dir" "$build" >out 2>&1
	expect one_trace pp 3
	expect samples pp.stf >have
	expect_lines 600 ' Messages:event ' have
	verdict "raw files that the writing rank $writer cannot see come to it"
done

done_testing

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# MPI programs from Debian, with and without: the same lines with other numbers in them, the same exit status, one trace
# with counters of all ranks. TAP.
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"

# shape FILE: its lines with all numbers, and what dots and bars stand for them, made one sign. hpcc leaves out a row of
# PTRANS for which the kernel has counted no user time, with and without us.
shape()
{
	grep -v -e ' Tickmark ' -e '^CPU .* PASSED ' "$1" |
		sed -E 's/[-+]?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?/#/g; s/#:#:#.*//; s/ +/ /g' | LC_ALL=C sort
}

same_mpi() # same_mpi FILE: is it made for the MPI of this build?
{
	ldd "$1" 2>/dev/null | grep -o 'libmpi[a-z]*\.so\.[0-9]*' | head -n 1 |
		grep -qxF "$(readelf -d "$lib/libVT.so" | grep -o 'libmpi[a-z]*\.so\.[0-9]*')"
}

all_ranks() # all_ranks TRACE N: every rank has counters of its own
{
	"$build/tests/vt/lib/samples" "$1" >have 2>>out || return 1
	r=0
	while [ "$r" -lt "$2" ]; do
		grep -q "^$r:0 OS:" have || { echo "no counter of rank $r" >>out; return 1; }
		r=$((r + 1))
	done
}

# Each message has its receive: none is left alone, mixed up or ambiguous; at least N of them.
matched() # matched TRACE N
{
	"$build/stftool" "$1" --dump 2>>out | sed -n 's/^INFO CLASS [0-9]* TEXT "\(.*\)"$/\1/p' >infos
	grep -E 'messages|receives|operations' infos >>out
	[ "$(sed -n 's/^\([0-9]*\) messages were matched$/\1/p' infos)" -ge "$2" ] &&
		! grep \
		-qE \
		'mixed up|ambiguous|whose (receiving|sending) was not|not in this trace|lack members|different '\
'functions' infos
}

if same_mpi "$(command -v hpcc)"; then
	for f in /usr/share/doc/hpcc/examples/_hpccinf.txt*; do
		zcat -f "$f" | sed 's/^1000  *Ns/200         Ns/' >hpccinf.txt
	done
	timeout 600 "$MPIRUN" -np 4 hpcc >out 2>&1
	without=$?
	shape hpccoutf.txt >want
	rm -f hpccoutf.txt
	LIMIT=600 run 4 hpcc
	with=$?
	shape hpccoutf.txt >got
	expect [ $with -eq $without ]
	expect [ "$(wc -l <want)" -gt 300 ]
	expect_same want got
	verdict "hpcc says the same with and without"
	expect one_trace hpcc 4
	expect all_ranks hpcc.stf 4
	verdict "hpcc: one trace with counters of all ranks"
	matched hpcc.stf 10000
	ok "hpcc: all messages are matched" $?
	expect [ "$(grep -c ' PASSED ' hpccoutf.txt)" -gt 4 ]
	expect_no_line ' FAILED ' hpccoutf.txt
	expect_line '^Success=1$' hpccoutf.txt
	verdict "hpcc: its own checks pass"
else
	skip "hpcc" "no hpcc for this MPI here"
fi
np=
for p in NPopenmpi NPmpich2; do
	same_mpi "$(command -v $p)" && np=$p
done
if [ -n "$np" ]; then
	timeout 300 "$MPIRUN" -np 2 $np -u 256 -o np >output 2>&1
	without=$?
	shape np >want
	rm -f np
	run 2 $np -u 256 -o np
	with=$?
	shape np >got
	expect [ $with -eq $without ]
	expect [ -s want ]
	expect_same want got
	verdict "netpipe says the same with and without"
	expect one_trace $np 2
	expect all_ranks $np.stf 2
	verdict "netpipe: one trace with counters of all ranks"
	# "0: 1 bytes 5000 times --> ...": so many turns, thrice, of a message each way, and a few more
	n=$(awk '/ times --> / { for (i = 1; i < NF; i++) { if ($(i + 1) == "times") { n += $i } } }
		END { print 2 * 3 * n }' out)
	echo "# netpipe says that there are at least $n messages"
	expect [ "$n" -gt 1000 ]
	expect matched $np.stf "$n"
	expect [ "$(sed -n 's/ messages were matched$//p' infos)" -le $((n + n / 10 + 1000)) ]
	verdict "netpipe: all messages are matched"
else
	skip "netpipe" "no NPopenmpi or NPmpich2 for this MPI here"
fi

# An interpreter links no MPI: vtrun has to find out.
python=
for p in "${PYTHON3:-python3}" /usr/bin/python3; do
	same_mpi "$("$p" -c 'from mpi4py import MPI; print(MPI.__file__)' 2>/dev/null)" && python=$(command -v "$p")
done
job=$here/lib/mpi4py_pingpong.py
if [ -n "$python" ]; then
	timeout 300 "$MPIRUN" -np 3 "$python" "$job" "$src/include" 5 >out 2>/dev/null
	status=$?
	LC_ALL=C sort out >without
	run 3 "$python" "$job" "$src/include" 5
	expect [ $? -eq $status ]
	expect_status 5
	expect_lines 3 '^rank . of 3, sum 6$' without
	grep '^rank' output | expect diff without - >>out
	verdict "mpi4py: the same output and exit status"
	expect one_trace "${python##*/}" 3
	expect all_ranks "${python##*/}.stf" 3
	expect in_order "${python##*/}.stf" "${python##*/}.clk" 600
	verdict "mpi4py: one trace with counters of all ranks, and no message reversed by more than the stated bound"
	# 50 each way for each of three pairs of ranks
	expect matched "${python##*/}.stf" 300
	expect messages "${python##*/}.stf" >have
	expect_lines 300 ' 0 COMM_WORLD$' have
	verdict "mpi4py: all messages, of as many as the program sends"
	sed "1s|.*|#!$python|" "$job" >job && chmod +x job
	expect run 2 ./job "$src/include" 0
	expect one_trace job 2
	expect all_ranks job.stf 2
	expect in_order job.stf job.clk 200
	verdict "mpi4py: the same of a script that names its interpreter"
else
	skip "mpi4py" "no python3 with mpi4py for this MPI here"
fi

done_testing

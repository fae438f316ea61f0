#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Traces of an MPI job and of a program with VT_ calls; the messages are those of the program, and the checker is content.
# shellcheck disable=SC1091
. ./setup.sh
set -e
timertest --version
mpirun --map-by :OVERSUBSCRIBE -np 2 vtrun ./ring
stftool ring.stf --verify
[ "$(stftool ring.stf --dump | grep -c ' SENDMSG ')" -eq 200 ]
[ "$(stftool ring.stf --dump | grep -c ' RECVMSG ')" -eq 200 ]
mpirun --map-by :OVERSUBSCRIBE -np 2 vtrun --check-mpi -- ./ring >checked.txt 2>&1
grep '0 errors, 0 warnings' checked.txt
./regions
stftool regions.stf --dump | grep solve

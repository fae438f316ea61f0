#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every pair of ranks in turn exchanges Python objects, as a program with mpi4py does that knows of no collector. Where one
is in the process, the messages are stamped through it as mpi_pingpong.c does. argument: the folder of VT.inc; argument 2:
the exit status."""
import ctypes
import os
import re
import sys

from mpi4py import MPI

MESSAGES = 50
comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
vt = ctypes.CDLL(None)
handle = ctypes.c_int()


def stamp(n, what):
    if hasattr(vt, "VT_countval"):
        value = ctypes.c_int64(n * 4 + what)
        vt.VT_countval(1, ctypes.byref(handle), ctypes.byref(value))


if hasattr(vt, "VT_countdef"):
    with open(os.path.join(sys.argv[1], "VT.inc")) as f:
        number = {name: int(value) for name, value in re.findall(r"PARAMETER \((\w+) = (\d+)\)", f.read())}
    group = ctypes.c_int()
    vt.VT_classdef(b"Messages", ctypes.byref(group))
    vt.VT_countdef(b"event", group, number["VT_COUNT_INTEGER64"] | number["VT_COUNT_VALID_POINT"], number["VT_ME"], None, b"#",
                   ctypes.byref(handle))

n = 0
for a in range(size):
    for b in range(a + 1, size):
        for i in range(n, n + MESSAGES):
            if rank == a:
                stamp(i, 0)
                comm.send({"message": i}, dest=b)
                assert comm.recv(source=b) == [i]
                stamp(i, 3)
            elif rank == b:
                assert comm.recv(source=a) == {"message": i}
                stamp(i, 1)
                stamp(i, 2)
                comm.send([i], dest=a)
        n += MESSAGES
        comm.Barrier()
# in one piece, so that lines of two ranks do not mix
os.write(1, b"rank %d of %d, sum %d\n" % (rank, size, comm.allreduce(rank + 1)))
sys.exit(int(sys.argv[2]) if rank == size - 1 else 0)

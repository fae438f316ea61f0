#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What otfinfo and otfprofile print of the trace of four ranks, compared with what is in it.

    readers_debian.py otfinfo|otfprofile OUTPUT
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "cli", "exchange"))
import four_ranks  # noqa: E402


def otfinfo(t, text):
    want = {"enters": t.kinds["enter"], "leaves": t.kinds["leave"], "sends": t.kinds["send"], "receives": t.kinds["receive"],
            "collective operations": 4 * t.kinds["collective"]}
    got = {k: int((re.search(rf"\| {k} +\| (\d+)", text) or [0, -1])[1]) for k in want}
    names = ["MPI_Send", "MPI_Recv", "main", "MPI_Alltoall", "MPI_COMM_WORLD", "1.00 GHz", "PERF_DATA:PAPI_TOT_INS", "wörker 1", "nöde-2"]
    missing = [n for n in names if n not in text]
    return f"{got}, not {want}; missing: {missing}" if got != want or missing else 0


def otfprofile(t, text):
    n = 5 * t.rounds
    m = re.search(r"\\verb\|main\| &[^|]*\|(\d+)\| &[^|]*\|(0x[^|]*)\| &[^|]*\|(0x[^|]*)\|", text)
    if not m:
        return "no line of main"
    # entered for 600,000 ns, with another function of 499,990 ns within
    got = int(m[1]), float.fromhex(m[2]), float.fromhex(m[3])
    want = n, n * 100010e-9, n * 600000e-9
    return 0 if got[0] == n and all(abs(g - w) < 1e-15 for g, w in zip(got[1:], want[1:])) else f"{got}, not {want}"


with open(sys.argv[2], encoding="utf-8") as f:
    sys.exit({"otfinfo": otfinfo, "otfprofile": otfprofile}[sys.argv[1]](four_ranks.Trace(), f.read()))

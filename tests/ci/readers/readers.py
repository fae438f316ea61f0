#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares a trace with what another reader finds in its conversion: for each counter the number of values, their sum to the last
bit, first and last time.

    readers.py TRACE.stf COMMAND...    COMMAND prints [name, number, sum of value_int or whole parts, sum of the rest, first, last]
    readers.py --functions DUMP COMMAND...    DUMP: of stftool; COMMAND prints what speedscope shows for each thread: total and own time of each
                                              function, with two digits after the point
"""
import collections
import json
import re
import subprocess
import sys
from fractions import Fraction

import numpy as np
import tickmark_stf

UNIT = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}


def functions(lines):
    """[{function: [total, own]}] for each thread, ns."""
    names, threads, open_ = {}, collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0])), collections.defaultdict(list)
    for line in lines:
        if m := re.match(r'DEFFUNCTION (\d+) "((?:[^"\\]|\\.)*)"', line):
            names[m[1]] = " ".join(m[2].encode().decode("unicode_escape").encode("latin1").decode().split())
        elif line.startswith("CLKPERIOD") and float(line.split()[1]) != 1e-9:
            sys.exit("the trace is not in ns")
        elif m := re.match(r"(\d+) ENTER CPU (\d+) FUNCTION (\d+)", line):
            open_[m[2]].append([names[m[3]], int(m[1]), 0])
        elif m := re.match(r"(\d+) LEAVE CPU (\d+)", line):
            name, begin, inner = open_[m[2]].pop()
            row, time = threads[int(m[2])][name], int(m[1]) - begin
            row[0] += 0 if name in (f[0] for f in open_[m[2]]) else time
            row[1] += time - inner
            if open_[m[2]]:
                open_[m[2]][-1][2] += time
    return [threads[k] for k in sorted(threads)]


def shown(text, ns):
    number, unit = re.match(r"([\d.,]+)([a-zµ]+)", text).groups()
    return abs(float(number.replace(",", "")) * UNIT[unit] - ns) <= 0.0051 * UNIT[unit]


if sys.argv[1] == "--functions":
    with open(sys.argv[2], encoding="utf-8") as f:
        want = functions(f)
    got = [json.loads(line) for line in subprocess.run(sys.argv[3:], check=True, capture_output=True, text=True).stdout.splitlines()]
    if not want or [g[0] for g in got] != [f"{i + 1}/{len(want)}" for i in range(len(want))]:
        sys.exit(f"profiles {[g[0] for g in got]}, not {len(want)}")
    for (place, *rows), w in zip(got, want):
        if {r[2] for r in rows} != set(w) or not all(shown(t, w[n][0]) and shown(s, w[n][1]) for t, s, n in rows):
            sys.exit(f"profile {place}: {rows}, not {dict(w)}")
        print(place, rows)
    sys.exit()

want = {}
with tickmark_stf.Trace(sys.argv[1]) as trace:
    for s in trace.counters():
        a = want.setdefault(s.name, [0, 0, Fraction(0), int(s.time[0]), int(s.time[-1])])
        whole = s.value if s.value.dtype != np.float64 else np.trunc(s.value).astype(np.int64)
        a[0] += len(s)
        a[1] += sum(map(int, whole))
        if s.value.dtype == np.float64:
            a[2] += sum(map(Fraction, map(float, s.value - np.trunc(s.value))))
        a[3], a[4] = min(a[3], int(s.time[0])), max(a[4], int(s.time[-1]))
got = subprocess.run(sys.argv[2:], check=True, capture_output=True, text=True).stdout
for line in got.splitlines():
    name, n, whole, rest, first, last = json.loads(line)
    w = want.pop(name)
    # unsigned values that only value_int has are negative there, 2^64 less
    same = int(n) == w[0] and (int(whole) - w[1]) % 2 ** 64 == 0 and float(rest) == float(w[2])
    if not same or [int(first), int(last)] != w[3:]:
        sys.exit(f"{name}: {n} {whole} {rest} {first} {last}, not {w}")
    print(name, n, w[1] + w[2], first, last)
if want:
    sys.exit(f"not found: {list(want)}")

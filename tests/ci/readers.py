#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares a trace with what another reader finds in its conversion: for each counter the number of values, their sum to the last
bit, first and last time.

    readers.py TRACE.stf COMMAND...    COMMAND prints [name, number, sum of value_int or whole parts, sum of the rest, first, last]
"""
import json
import subprocess
import sys
from fractions import Fraction

import numpy as np
import tickmark_stf

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

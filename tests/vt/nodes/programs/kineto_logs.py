#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The log of a rank by clock_realtime as a profile of PyTorch, and the corrected profile against the corrected log.

kineto_logs.py make LOG.csv PROFILE.json
kineto_logs.py compare LOG.csv CORRECTED.csv CORRECTED.json JOB.clk
kineto_logs.py truth FIRST.csv LOG.csv CORRECTED.json JOB.clk   all hosts have one counter: FIRST has it on the corrected axis of rank 0
"""
import bisect
import csv
import json
import sys
from decimal import Decimal

BASE = 7889238 * 10 ** 9 * 220


def rows(path):
    with open(path, encoding="utf-8") as f:
        return list(csv.DictReader(f))


def make(log, profile):
    lines = rows(log)
    with open(profile, "w", encoding="utf-8") as f:
        f.write('{"schemaVersion": 1, "distributedInfo": {"rank": %d}, "baseTimeNanoseconds": %d, "traceEvents": [\n' %
                (int(lines[0]["rank"]), BASE))
        stamps = [int(r["time"]) - BASE for r in lines]
        f.write(",\n".join('{"ph": "X", "name": "e", "pid": 1, "tid": 1, "ts": %d.%03d, "dur": 1.000}' % divmod(s, 1000)
                           for s in stamps))
        f.write("]}\n")


def compare(log, corrected, profile, clk):
    with open(clk, encoding="utf-8") as f:
        zero = next(int(line.split()[1]) for line in f if line.startswith("realtime-at-0"))
    with open(profile, encoding="utf-8") as f:
        data = json.load(f, parse_float=Decimal)
    times = [e["ts"] * 1000 + data["baseTimeNanoseconds"] for e in data["traceEvents"]]
    wanted = [zero + Decimal(r["global_s"]) * 10 ** 9 for r in rows(corrected)]
    assert len(times) == len(wanted) == len(rows(log)) > 3000
    off = max(abs(a - b) for a, b in zip(times, wanted))
    bound = max(Decimal(r["bound_s"]) for r in rows(corrected)) * 10 ** 9
    print(f"{len(times)} events, at most {off} ns from the corrected log, bound {data['tickmark']['bound_ns']} ns")
    # that of the profile is also for the ends of its spans
    assert off <= 1 and bound <= data["tickmark"]["bound_ns"] <= bound * Decimal("1.001") + 10


def truth(first, log, profile, clk):
    """What happens between two readings of the counter is between the two times that rank 0 has for these readings."""
    with open(clk, encoding="utf-8") as f:
        zero = next(int(line.split()[1]) for line in f if line.startswith("realtime-at-0"))
    line = sorted((int(r["before"]), int(Decimal(r["global_s"]) * 10 ** 9)) for r in rows(first))
    counter = [c for c, _ in line]
    with open(profile, encoding="utf-8") as f:
        data = json.load(f, parse_float=Decimal)
    bound = data["tickmark"]["bound_ns"]

    def at(c):
        i = min(max(bisect.bisect(counter, c), 1), len(line) - 1)
        (a, x), (b, y) = line[i - 1:i + 1]
        return zero + x + (c - a) * (y - x) // (b - a)

    n, outside, worst = 0, 0, 0
    for r, e in zip(rows(log), data["traceEvents"]):
        before, after = int(r["before"]), int(r["after"])
        if counter[0] <= before and after <= counter[-1]:
            t = int(e["ts"] * 1000) + data["baseTimeNanoseconds"]
            off = max(at(before) - t, t - at(after), 0)
            n, outside, worst = n + 1, outside + (off > bound), max(worst, off)
    print(f"{n} events of {profile}: {outside} outside of the bound of {bound} ns, at most {worst} ns off")
    assert n > 1000 and outside == 0


if sys.argv[1] == "make":
    make(*sys.argv[2:])
elif sys.argv[1] == "truth":
    truth(*sys.argv[2:])
else:
    compare(*sys.argv[2:])

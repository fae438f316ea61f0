#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# The map and the bound of a stamp, computed as tickmark-clk(5) describes them, for the file in its EXAMPLES:
#	clk_page.py write PAGE FILE.clk         the file
#	clk_page.py stamps FILE.clk             CSV of stamps of rank 1, from before the first session to after the last
#	clk_page.py compare FILE.clk <CSV       what clkapply made of them: exit status 1 if a number differs
import csv
import sys
from fractions import Fraction


def load(path):
    rank, ranks, period = None, {}, 0
    for line in open(path):
        word = line.split()
        if word[0] == "rank":
            rank = ranks[int(word[1])] = {"node": [], "piece": []}
        elif word[0] == "global-period":
            period = float(word[1])
        elif word[0] == "node" and word[5] == "1":
            rank["node"].append([int(x) for x in word[1:5]])
        elif word[0] == "piece":
            rank["piece"].append([int(x) for x in word[1:5]] + [float(x) for x in word[5:7]])
        elif word[0] in ("wander", "rate"):
            rank[word[0]] = [float(x) for x in word[1:]]
    return period, ranks[1]


def at(rank, t):
    before = [p for p in rank["piece"] if p[0] <= t]
    local, glob, length, rise, begin, end = before[-1] if before else rank["piece"][0]
    d = t - local
    u = d / length
    if d < 0:
        c = d * begin
    elif d > length:
        c = (d - length) * end
    else:
        c = length * u * (1 - u) * ((1 - u) * begin - u * end)
    return glob + round(Fraction(d * rise, length)) + round(c)


def bound(rank, t):
    knot = rank["node"]
    low, high = rank["rate"]

    def here(k):
        return max(k[3] - at(rank, k[0]), at(rank, k[0]) - k[2])

    def outside(k):
        x = t - k[0]
        slow, fast = (low, high) if x >= 0 else (high, low)
        return max(k[3] + x * fast - at(rank, t), at(rank, t) - k[2] - x * slow)

    for a, b in zip(knot, knot[1:]):
        if a[0] <= t < b[0]:
            u = (t - a[0]) / (b[0] - a[0])
            apart = at(rank, b[0]) - at(rank, a[0])
            line = at(rank, a[0]) + u * apart
            w, off_a, off_b = rank["wander"][0], here(a), here(b)
            bow = 2 * w * u * (1 - u) * (apart + off_a + off_b) / (1 - min(w, 1) * abs(1 - 2 * u))
            return (1 - u) * off_a + u * off_b + bow + abs(at(rank, t) - line)
    return outside(knot[0] if t < knot[0][0] else knot[-1])


def main():
    if sys.argv[1] == "write":
        text = open(sys.argv[2]).read().split(".Sh EXAMPLES", 1)[1]
        text = text.split(".Bd -literal\n", 1)[1].split(".Ed\n", 1)[0]
        open(sys.argv[3], "w").write(text)
        return 0
    period, rank = load(sys.argv[2])
    if sys.argv[1] == "stamps":
        first, last = rank["node"][0][0], rank["node"][-1][0]
        print("time,rank")
        for k in range(-4, 25):
            print("%d,1" % (first + k * (last - first) // 20))
        return 0
    wrong, rows = 0, 0
    for row in csv.DictReader(sys.stdin):
        t, rows = int(row["time"]), rows + 1
        # a half of round() may go either way
        far = abs(float(row["global_s"]) - at(rank, t) * period) > 1.1 * period
        far |= abs(float(row["bound_s"]) - bound(rank, t) * period) > 2 * period + 1e-6 * float(row["bound_s"])
        if far:
            print("stamp %d: %s, by the page %.12f +- %.6g" % (t, row, at(rank, t) * period, bound(rank, t) * period))
        wrong += far
    return wrong > 0 or rows != 29


sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A trace of four ranks on two nodes with everything that a converter meets, and what is in it.

    four_ranks.py          prints the trace in the ASCII form
    four_ranks.py COUNT    the same with COUNT rounds instead of 3
"""
import sys
from fractions import Fraction

ODD = 'solve "fast" \\ größe\n1'
FUNCTIONS = {1: ("MPI", "MPI_Send"), 2: ("MPI", "MPI_Recv"), 3: ("My app", ODD), 4: ("My app", "main")}
# id: class, name, type in the ASCII form, word, unit, whose
COUNTERS = {1: ("PERF_DATA", "PAPI_TOT_INS", 67, "UINT", "#"), 2: ("RAPL", 'power of "package 0"', 34, "FLOAT", "W"),
            3: ("PROC", "rss\nof all", 33, "INT", "B"), 4: ("NODE", "rx bytes", 67, "UINT", "B")}
THREADS = ((0, 0), (0, 1), (1, 0), (2, 0), (3, 0))
HOSTS = ("node one", "node one", "nöde-2", "nöde-2")
WORKER = "wörker\n1"
NODES = {2147483660: "node one", 2147483661: "nöde-2"}
BOUNDS = {p: ((0, 1e-8 * (p + 1)), (5_000_000, 2.5e-8 * (p + 1))) for p in range(4)}


def willy(process, thread):
    return thread * 65536 + process + 1


def quote(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\x0a") + '"'


class Trace:
    def __init__(self, rounds=3):
        self.rounds, self.lines, self.events = rounds, [], []
        self.kinds, self.sums, self.values, self.all, self.times, self.pair = {}, {}, {}, {}, [], 0
        self.make()

    def at(self, time, kind, line, n=1):
        self.kinds[kind] = self.kinds.get(kind, 0) + n
        self.times.append(time)
        self.events.append((time, len(self.events), line))

    def sample(self, time, who, values):
        line = f"SAMP CPU {who}"
        for c, v in values:
            line += f" DEF {c} {COUNTERS[c][3]} 8 {v!r}"
            self.sums[c] = self.sums.get(c, Fraction(0)) + Fraction(v)
            self.values[c] = self.values.get(c, 0) + 1
            self.all.setdefault(c, []).append(v)
        self.at(time, "sample", line, len(values))

    def message(self, time, a, b, tag):
        self.pair += 1
        self.at(time, "send", f"SENDMSG CPU {willy(*a)} TO {willy(*b)} COMM 1 TAG {tag} LEN 4096 FUNCTION 1 PAIR {self.pair}")
        self.at(time + 700, "receive",
                f"RECVMSG CPU {willy(*b)} FROM {willy(*a)} COMM 1 TAG {tag} LEN 4096 FUNCTION 2 PAIR {self.pair}")

    def round(self, i):
        t = 1_000_000 + i * 2_000_000
        for k, (p, th) in enumerate(THREADS):
            w, at = willy(p, th), t + 1000 * k
            self.at(at, "enter", f"ENTER CPU {w} FUNCTION 4")
            self.at(at + 10, "enter", f"ENTER CPU {w} FUNCTION 3")
            self.sample(at + 20, w, ((1, 18446744073709551615 - i if k == 0 else 12345678901234567 + i * 1000 + k),
                                     (2, 0.1 * (i + 1) + k / 3), (3, -(2 ** 62) + i)))
            self.at(at + 500_000, "leave", f"LEAVE CPU {w}")
            self.at(at + 600_000, "leave", f"LEAVE CPU {w}")
        for k, n in enumerate(NODES):
            self.sample(t + 100_000 + k, n, ((4, 10 ** 15 + i),))
        self.message(t + 200_000, (0, 0), (1, 0), 7)
        self.message(t + 200_001, (0, 0), (1, 0), 7)
        self.message(t + 210_000, (3, 0), (2, 0), i)
        self.at(t + 300_000, "collective", "COLLALLTOALL COMM 1 OP 1 START 4 0 5 10 15 TIME 4 40 35 30 25 SENT 4 1 2 3 4 RECVD 4 5 6 7 8")
        self.times.append(t + 300_040)
        self.at(t + 400_000, "comment", f"COMMENT CPU {willy(0, 1)} TEXT {quote(ODD)}")

    def make(self):
        for i in range(self.rounds):
            self.round(i)

    def head(self):
        classes = sorted({c for c, _ in FUNCTIONS.values()} | {c[0] for c in COUNTERS.values()} | {"clock-bound", "program"})
        number = {c: i + 1 for i, c in enumerate(classes)}
        out = ["CLKPERIOD 1e-09", "NCPUS 2 1 1 1"]
        out += [f"DEFCLASS {number[c]} {quote(c)} SELF {quote(c)} PARENT 0" for c in classes]
        out += [f"DEFFUNCTION {i} {quote(n)} CLASS {number[c]}" for i, (c, n) in FUNCTIONS.items()]
        out += [f'DEFGROUP {g} {quote(n)} NMEMBS 2 {" ".join(str(p + 1) for p in range(4) if HOSTS[p] == n)}' for g, n in NODES.items()]
        out.append('DEFGROUP 2147942402 "All" NMEMBS 4 1 2 3 4')
        out += [f"DEFCOUNTER {i} {quote(c[1])} CLASS {number[c[0]]} CPU 2147942402 TYPE {c[2]} DIFF {int(c[2] == 67)} "
                f"UNIT {quote(c[4])} LOWER 0 UPPER 0" for i, c in COUNTERS.items()]
        out += ['DEFCOMM 1 "MPI_COMM_WORLD" LEFT 0 FIRST 1 1 LAST 1 4 STRIDE 1 1', 'DEFCOLLOP 1 "MPI_Alltoall" TYPE 4']
        out += [f'DEFCPU {willy(p, t)} HOST {quote(HOSTS[p])} IP "" PID {100 + p} TID {1000 + 10 * p + t} OFFSET {1000.5 + p} SKEW 1e-09'
                for p, t in THREADS]
        out.append(f'DEFCPUNAME {willy(0, 1)} {quote(WORKER)}')
        out.append(f'INFO CLASS {number["program"]} TEXT "four ranks"')
        for p, stretches in BOUNDS.items():
            text = " ".join(f"{at} {s!r}" for at, s in stretches)
            out.append(f'INFO CLASS {number["clock-bound"]} TEXT "process {p} {text}"')
        return out

    def text(self):
        return "\n".join(self.head() + [f"{t} {line}" for t, _, line in sorted(self.events)]) + "\n"

    def counter_name(self, c):
        return f"{COUNTERS[c][0]}:{COUNTERS[c][1]}"

    def bound_s(self, process, time):
        return [s for at, s in BOUNDS[process] if at <= time][-1]


if __name__ == "__main__":
    sys.stdout.write(Trace(int(sys.argv[1]) if len(sys.argv) > 1 else 3).text())

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Perfetto's packets, written by hand, and what a reader shows of clkapply's copies. The name of each event is its true time in ns.

clkapply_perfetto.py make FOLDER          a correction of two ranks, whose timer is the time since boot, and traces of rank 1
clkapply_perfetto.py judge A B PACKET OTHER   B is the corrected copy of A: only times differ; stamps of packets are right to PACKET ns,
                                          other times, which go through snapshots, to OTHER ns
clkapply_perfetto.py bound B              the bound that the copy states, in ns
clkapply_perfetto.py large FILE MIB       a trace of that size
clkapply_perfetto.py noise FOLDER CLKAPPLY SECONDS   damaged copies of the traces: each run ends with 0, 1 or 2, and leaves no copy
                                          unless 0
"""
import gzip
import os
import random
import subprocess
import sys
import time
import zlib
from fractions import Fraction

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from clkapply_json import CLK, REAL0, RUN_S  # noqa: E402

BOOT0 = (5 * 10 ** 12, 9 * 10 ** 13)  # what the ranks' clocks since boot showed at the start of the run
PPB = (0, 20000)                      # rank 1 is 20 ppm fast
BOOT, MONO, RAW, REAL, COARSE = 6, 3, 5, 1, 2


def boot(true_ns, rank=1):
    return BOOT0[rank] + true_ns + true_ns * PPB[rank] // 10 ** 9


def clock(which, true_ns):
    """The clocks of rank 1's node: monotonic misses a suspended hour; raw is 15 ppm faster; the time of day is 3 s wrong."""
    b = boot(true_ns)
    return {BOOT: b, MONO: b - 3600 * 10 ** 9, RAW: b - 3600 * 10 ** 9 + true_ns * 15000 // 10 ** 9, REAL: REAL0 + 3 * 10 ** 9 + b - BOOT0[1],
            COARSE: (REAL0 + 3 * 10 ** 9 + b - BOOT0[1]) // 4000000 * 4000000}[which]


def varint(v):
    out = bytearray()
    v &= (1 << 64) - 1
    while v > 127:
        out.append(v & 127 | 128)
        v >>= 7
    out.append(v)
    return bytes(out)


def num(field, v):
    return varint(field << 3) + varint(v)


def sub(field, data):
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data


def long_sub(field, data):
    """As Perfetto's library writes nested messages: four bytes of length, whatever it is."""
    n = len(data)
    return varint(field << 3 | 2) + bytes([n & 127 | 128, n >> 7 & 127 | 128, n >> 14 & 127 | 128, n >> 21]) + data


def packet(data):
    return sub(1, data)


def snapshot(entries, primary=None, sequence=7, more=b""):
    """entries: (clock, value, incremental, unit)."""
    body = b"".join(sub(1, num(1, c) + num(2, v) + (num(3, 1) if i else b"") + (num(4, u) if u != 1 else b"")) for c, v, i, u in entries)
    return packet(num(10, sequence) + more + sub(6, body + (num(2, primary) if primary else b"")))


def shared(true_ns, primary=BOOT):
    return snapshot([(c, clock(c, true_ns), 0, 1) for c in (BOOT, MONO, RAW, REAL, COARSE)], primary)


def event(name, more=b"", kind=3):
    return long_sub(11, num(9, kind) + num(11, 77) + sub(23, str(name)) + more)


def kernel(stamps, compact):
    """A bundle of ftrace: print events, and switches packed as differences."""
    body = num(1, 0) + b"".join(sub(2, num(1, boot(t)) + num(2, 5) + sub(3, sub(2, str(t)))) for t in stamps)
    last, packed = 0, b""
    for t in compact:
        packed, last = packed + varint(boot(t) - last), boot(t)
    return packet(sub(1, body + sub(4, sub(1, packed) + sub(9, b"".join(varint(t) for t in compact)))) + num(10, 3))


def service():
    """As traced writes it: no clock is named, snapshots every 10 s."""
    out = [packet(sub(36, b"\x82\x47\x7a\x76")), shared(10 ** 6), packet(sub(33, sub(5, "config")) + num(10, 1))]
    for k in range(900):
        t = 10 ** 7 + k * 10 ** 8 + k * 77
        if k % 100 == 99:
            out.append(shared(t))
        out.append(packet(num(8, boot(t)) + num(10, 2) + event(t)))
        if k % 3 == 0:
            out.append(packet(event(t + 500) + num(58, MONO) + num(8, clock(MONO, t + 500)) + num(10, 2)))
            out.append(packet(event(t) + num(8, boot(t)) + num(10, 5) + num(999, 5) + sub(500, "unknown") + varint(501 << 3 | 5) + b"abcd"))
            out.append(kernel((t + 100, t + 3000), (t + 200, t + 70000, t + 80000)))
        if k % 10 == 0:
            out.append(packet(num(8, clock(RAW, t)) + num(58, RAW) + event(t) + num(10, 2)))
            out.append(packet(num(8, clock(REAL, t)) + num(58, REAL) + event(t) + num(10, 2)))
            out.append(packet(num(8, boot(t)) + num(10, 2) + event(t, sub(6, num(2, ord("X")) + num(3, 60000000)))))
            out.append(packet(num(8, boot(t)) + num(10, 2) + sub(53, num(1, t) + num(2, boot(t + 50 * 10 ** 6) - boot(t)) + num(3, 4))))
            out.append(packet(sub(5, sub(1, str(t))) + num(8, clock(MONO, t)) + num(10, 2)))
    out.append(packet(num(8, 0) + sub(89, num(1, 3))))
    return b"".join(out)


def library():
    """As the tracing library writes it: a sequence's own clocks, one that counts from stamp to stamp, defaults, state that is cleared."""
    out = []
    for s in (11, 12):
        out.append(packet(num(8, 5) + num(10, s) + num(13, 2) + event("lost")))  # the state has not begun: readers skip it
    for k in range(1000):
        t = 10 ** 7 + k * 9 * 10 ** 7
        for s, unit in ((11, 1), (12, 1000)):
            b = boot(t) // unit
            if k % 50 == 0:
                entries = [(64, b, 1, unit), (65, 0, 0, unit), (BOOT, b * unit, 0, 1)]
                if k % 100 == 0:
                    entries.append((MONO, b * unit - 3600 * 10 ** 9, 0, 1))
                out.append(snapshot(entries, None, s, num(13, 1) + sub(59, num(58, 64) + sub(11, num(11, 7))) + num(8, boot(t)) + num(58, BOOT)))
                base = last = b
            else:
                base, last = state[s]
            own = [round(Fraction(v * unit - BOOT0[1]) / (1 + Fraction(PPB[1], 10 ** 9))) for v in (b, b + 3, b + 9)]
            out.append(packet(num(8, b - last) + num(10, s) + num(13, 2) + event(own[0]) + sub(12, "interned")))
            out.append(packet(num(8, 3) + num(10, s) + num(13, 2) + event(own[1])))
            out.append(packet(num(8, b - base + 9) + num(58, 65) + num(10, s) + num(13, 2) + event(own[2])))
            out.append(packet(num(8, boot(t)) + num(58, BOOT) + num(10, s) + num(13, 2) + event(t)))
            state[s] = base, b + 3
    return b"".join(out)


state = {}


def fields(b):
    at = 0
    while at < len(b):
        begin, key, shift = at, 0, 0
        while True:
            key |= (b[at] & 127) << shift
            at, shift = at + 1, shift + 7
            if b[at - 1] < 128:
                break
        if key & 7 == 0:
            v = shift = 0
            while True:
                v |= (b[at] & 127) << shift
                at, shift = at + 1, shift + 7
                if b[at - 1] < 128:
                    break
        elif key & 7 == 2:
            n = shift = 0
            while True:
                n |= (b[at] & 127) << shift
                at, shift = at + 1, shift + 7
                if b[at - 1] < 128:
                    break
            v, at = b[at:at + n], at + n
            assert len(v) == n
        else:
            n = 8 if key & 7 == 1 else 4
            v, at = b[at:at + n], at + n
        yield key >> 3, v, b[begin:at]


def all_packets(b):
    for k, v, _ in fields(b):
        assert k == 1
        inner = list(fields(v))
        for f, w, _ in inner:
            if f == 50:
                yield from all_packets(zlib.decompress(w))
                break
            if f == 133:
                yield from all_packets(subprocess.run(["zstd", "-dc"], input=w, capture_output=True, check=True).stdout)
                break
        else:
            yield v
            continue
        if len(inner) > 1:
            yield b"".join(r for f, _, r in inner if f not in (50, 133))


class Reader:
    """What trace_processor makes of the stamps: clock_synchronizer.cc and proto_trace_reader.cc, of 2026."""

    def __init__(self):
        self.series, self.edges, self.meta, self.shown, self.own = {}, set(), {}, [], {}
        self.trace_clock, self.default, self.defaults, self.valid, self.n = BOOT, None, {}, set(), 0
        self.bad = set()

    def add(self, entries):
        key = frozenset(c for c, *_ in entries)
        for c, v, inc, unit in entries:
            self.own.setdefault(c, [unit, inc, 0])
            assert self.own[c][:2] == [unit, inc]
            self.own[c][2] = v * unit
            points = self.series.setdefault((key, c), [])
            if points and v * unit < points[-1][0]:
                assert c != self.trace_clock, "the trace clock goes back"
                self.bad.add(c)
            points.append((v * unit, self.n))
        for c in key:
            for d in key - {c}:
                self.edges.add((c, d, tuple(sorted(map(str, key))), key))
        self.edges = {e for e in self.edges if e[0] not in self.bad}
        self.n += 1

    def convert(self, c, ns):
        if c == self.trace_clock:
            return ns
        queue, path = [(c, ())], None
        graph = sorted(self.edges, key=lambda e: (str(e[0]), str(e[1]), e[2]))
        while queue and path is None:
            here, way = queue.pop(0)
            for a, b, _, key in graph:
                if a == here and len(way) < 4:
                    if b == self.trace_clock:
                        path = way + ((a, b, key),)
                        break
                    queue.append((b, way + ((a, b, key),)))
        assert path is not None, f"no way from clock {c}"
        for a, b, key in path:
            points = self.series[key, a]
            low, high = 0, len(points)
            while high - low > 1:
                mid = (low + high) // 2
                low, high = (mid, high) if points[mid][0] <= ns else (low, mid)
            other = next(v for v, n in self.series[key, b][min(low, len(self.series[key, b]) - 1):] if n == points[low][1])
            ns += other - points[low][0]
        return ns

    def packet(self, b):
        f, many = {}, {}
        for k, v, _ in fields(b):
            f[k] = v
            many.setdefault(k, []).append(v)
        s = f.get(10, 0)
        if f.get(13, 0) & 1:
            self.defaults[s] = 0
            self.valid.add(s)
        if 59 in f:
            self.defaults[s] = dict((k, v) for k, v, _ in fields(f[59])).get(58, 0)
        if 6 in f:
            entries, primary = [], None
            for k, v, _ in fields(f[6]):
                if k == 1:
                    e = {q: w for q, w, _ in fields(v)}
                    c = e[1] if not 64 <= e[1] < 128 else (s, e[1])
                    entries.append((c, e[2], e.get(3, 0), e.get(4, 1)))
                elif k == 2:
                    primary = v
            if primary is None and any(e[0] == BOOT for e in entries):
                primary = BOOT
            if primary:
                self.default = self.trace_clock = primary
            self.add(entries)
            return
        if f.get(13, 0) & 2 and s not in self.valid:
            return
        at = None
        if 8 in f:
            c = f.get(58, 0) or self.defaults.get(s, 0)
            at = f[8]
            if (c in (0, MONO)) and 5 in f:
                at = self.convert(MONO, at)
            elif c or self.default:
                c = c or self.default
                c = c if not 64 <= c < 128 else (s, c)
                if isinstance(c, tuple):
                    unit, inc, last = self.own[c]
                    at = at * unit + (last if inc else 0)
                    self.own[c][2] = at
                at = self.convert(c, at)
        if 11 in f:
            e = {k: v for k, v, _ in fields(f[11])}
            length = {k: v for k, v, _ in fields(e.get(6, b""))}.get(3)
            self.shown.append(("packet", e[23].decode(), at, length and length * 1000))
        elif 53 in f:
            e = {k: v for k, v, _ in fields(f[53])}
            self.shown.append(("packet", str(e[1]), at, e[2]))
        elif 5 in f:
            self.shown.append(("packet", next(v for _, v, _ in fields(f[5])).decode(), at, None))
        elif 1 in f:
            for k, v, _ in fields(f[1]):
                e = {q: w for q, w, _ in fields(v)} if k in (2, 4) else {}
                if k == 2:
                    self.shown.append(("other", next(w for q, w, _ in fields(e[3]) if q == 2).decode(), self.convert(BOOT, e[1]), None))
                if k == 4:
                    ns = 0
                    for d, t in zip(list_of(e[1]), list_of(e[9])):
                        ns += d
                        self.shown.append(("other", str(t), self.convert(BOOT, ns), None))


def list_of(b):
    return [v for _, v, _ in fields(b"".join(b"\x08" + part for part in split(b)))]


def split(b):
    begin = 0
    for i, c in enumerate(b):
        if c < 128:
            yield b[begin:i + 1]
            begin = i + 1


def without_times(b):
    """A packet less what may change."""
    out = []
    for k, v, raw in fields(b):
        if k in (8, 58):
            continue
        if k == 59:
            raw = b"".join(r for q, _, r in fields(v) if q != 58)
        elif k == 6:
            raw = b"".join(r.replace(num(1, 0x74696b), num(1, REAL)) if q != 1 else
                           b"".join(num(1, REAL) if (m, w) == (1, 0x74696b) else x for m, w, x in fields(x0))
                           for q, x0, r in fields(v) if q != 2)
        elif k == 53:
            raw = b"".join(r for q, _, r in fields(v) if q != 2)
        elif k == 11 and any(q == 6 for q, _, _ in fields(v)):
            raw = b"".join(r if q != 6 else b"".join(x for m, _, x in fields(w) if m != 3) for q, w, r in fields(v))
        out.append(raw)
    return out


def read(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rb") as f:
        return f.read()


def added(p):
    f = {k: v for k, v, _ in fields(p)}
    return set(f) <= {126} or set(f) <= {6}


def judge(before, after, exact, other):
    a, b = list(all_packets(read(before))), list(all_packets(read(after)))
    attributes = {}
    for p in b:
        for k, v, _ in fields(p):
            if k == 126:
                for _, w, _ in fields(v):
                    e = {q: x for q, x, _ in fields(w)}
                    attributes[e[1].decode()] = e.get(2, e.get(3))
    own = [p for p in b if not added(p)]
    assert len(own) == len(a), (len(own), len(a))
    for p, q in zip(a, own):
        assert without_times(p) == without_times(q), (p, q)
    old, new = Reader(), Reader()
    for r, trace in ((old, a), (new, b)):
        for p in trace:
            r.packet(p)
    assert new.trace_clock == REAL and len(old.shown) == len(new.shown) > 0
    worst, equal = {"packet": 0, "other": 0}, {}
    for (kind, name, x, n), (_, same, y, m) in zip(old.shown, new.shown):
        assert name == same
        if name == "zero":
            assert abs(y - REAL0 + BOOT0[1]) < 5 * 10 ** 9, y
        elif name != "lost":
            far = abs(y - REAL0 - int(name))
            worst[kind] = max(worst[kind], far)
            if kind == "packet":
                assert equal.setdefault((x, name), y) == y or far <= exact
            if n:
                true = Fraction(n) / (1 + Fraction(PPB[1], 10 ** 9))
                assert abs(m - true) <= 600, (n, m)
    bound = attributes["tickmark.bound_ns"]
    assert attributes["tickmark.timer"].startswith(b"clock_") and attributes["tickmark.rank"] == 1
    assert worst["packet"] <= min(exact, bound) and worst["other"] <= min(other, bound), (worst, bound)
    print(f"{len(new.shown)} times: packets right to {worst['packet']} ns, others to {worst['other']} ns, bound {bound} ns")


def bound_of(path):
    return next(dict((q, x) for q, x, _ in fields(w))[2] for p in all_packets(read(path)) for k, v, _ in fields(p) if k == 126
                for _, w, _ in fields(v) if b"tickmark.bound_ns" in w)


def zlib_of(data, group=40):
    out, part, n = [], b"", 0
    for _, _, raw in fields(data):
        part, n = part + raw, n + 1
        if n == group:
            out, part, n = out + [packet(sub(50, zlib.compress(part)))], b"", 0
    return b"".join(out) + part


def write(path, data):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "wb") as f:
        f.write(data)


def faults(folder):
    """Files that were once corrected wrongly."""
    def some(more=b""):
        return b"".join([shared(10 ** 6)] + [packet(num(8, boot(t)) + event(t, more)) for t in range(10 ** 7, 10 ** 9, 10 ** 8)])
    early = packet(num(8, 4 * 10 ** 15) + event("lost"))
    write(folder + "/months.pftrace", shared(10 ** 6) + packet(num(8, 1) + event("lost")) + early + some())
    write(folder + "/years.pftrace", shared(10 ** 6) + packet(num(8, 10 ** 16) + event("lost")) + some())
    write(folder + "/zero.pftrace", some() + packet(num(8, 0) + event("zero")) + packet(num(8, 0) + num(58, BOOT) + event("zero")))
    z = zlib.compress(some())
    write(folder + "/beside.pftrace", packet(num(999, 5) + sub(50, z) + sub(998, "also")))
    write(folder + "/twice.pftrace", packet(sub(50, z) + sub(133, z)))
    spread = range(10 ** 7, 100 * 10 ** 9, 10 ** 9)
    for name, more in (("short", b""), ("lengths", sub(6, num(3, 1)))):
        write(f"{folder}/{name}.pftrace", shared(10 ** 6) + b"".join(packet(num(8, boot(t)) + event("lost", more)) for t in spread))

    def raw(t):  # 500 ppm for 5 s, then as much less
        return clock(MONO, t) + min(t, 10 ** 10 - t) // 2000
    write(folder + "/steered.pftrace", b"".join(snapshot([(BOOT, boot(t), 0, 1), (RAW, raw(t), 0, 1)], BOOT) for t in (0, 10 ** 10)) + b"".join(
        packet(num(8, raw(t)) + num(58, RAW) + event(t)) for t in range(0, 10 ** 10, 10 ** 9)))
    write(folder + "/own.pftrace", snapshot([(BOOT, boot(0), 0, 1), (65, 1000, 0, 1)], BOOT) + b"".join(
        packet(num(8, 1000 + t + t // 2500) + num(58, 65) + num(10, 7) + event(t)) for t in range(0, 10 ** 10, 10 ** 9)))
    # the clock raw is the timer, ftrace is since boot
    clk(folder + "/raw.clk", "clock_monotonic_raw", [(t, clock(RAW, t)) for t in (0, RUN_S * 10 ** 9)])
    write(folder + "/kernel.pftrace", b"".join(shared(t * 10 ** 9) if t % 10 == 0 else kernel((t * 10 ** 9 - 5000,), (t * 10 ** 9 - 1000,))
                                               for t in range(91)))
    # the clock is 10 ppm fast for 6 s, then as much slow

    def bump(t):
        return BOOT0[1] + t + max(0, 6 * 10 ** 9 - abs(t - 38 * 10 ** 9)) // 100000
    clk(folder + "/bump.clk", "clock_boottime", [(t * 10 ** 9, bump(t * 10 ** 9)) for t in (0, 32, 38, 44, RUN_S)])
    times = range(10 ** 7, 90 * 10 ** 9, 10 ** 9)
    write(folder + "/bump.pftrace", snapshot([(BOOT, bump(0), 0, 1), (MONO, bump(0) - 5, 0, 1)], BOOT) + b"".join(
        packet(sub(1, num(1, 0) + sub(2, num(1, bump(t)) + num(2, 5) + sub(3, sub(2, str(t)))))) for t in times))


def clk(path, timer, nodes):
    """A correction of rank 1 by (true time, what the clock showed)."""
    text = CLK.replace("clock_realtime", timer).replace("anchor {real}", "anchor {m0}").replace("piece {real}", "piece {m0}")
    head, tail = text[:text.index("node {l0}")], text[text.index("end-rank\nend-file"):]
    lines = [f"node {c} {t} {t - 500} {t + 500} 1\n" for t, c in nodes]
    lines += [f"piece {c} {t} {d - c} {u - t} 0 0\n" for (t, c), (u, d) in zip(nodes, nodes[1:])]
    with open(path, "w", encoding="utf-8") as f:
        f.write(head.format(real=REAL0, m0=BOOT0[0], end=nodes[-1][0]).replace("rate 0.99997 0.99999", "rate 0.9999 1.0001") + "".join(lines) + tail)


def make(folder):
    end = RUN_S * 10 ** 9
    text = CLK.replace("clock_realtime", "clock_boottime").replace("anchor {real}", "anchor {m0}").replace("piece {real}", "piece {m0}")
    with open(folder + "/p.clk", "w", encoding="utf-8") as f:
        f.write(text.format(real=REAL0, m0=BOOT0[0], end=end, e1=end - 400, e2=end + 600, l0=boot(0), l1=boot(end), length=boot(end) - boot(0)))
    a, b = service(), library()
    write(folder + "/service.pftrace", a)
    write(folder + "/library.perfetto-trace", b)
    write(folder + "/packed.pftrace", zlib_of(a))
    write(folder + "/both.pftrace.gz", a + zlib_of(b))
    write(folder + "/plain.pftrace", b"".join(packet(num(8, boot(t)) + event(t)) for t in range(10 ** 7, 10 ** 9, 10 ** 7)))
    write(folder + "/mono.pftrace", b"".join([snapshot([(MONO, clock(MONO, t), 0, 1), (BOOT, boot(t), 0, 1)], MONO) for t in (10 ** 6, 10 ** 9)] + [
        packet(num(8, clock(MONO, t)) + event(t)) for t in range(10 ** 7, 10 ** 9, 10 ** 7)]))
    write(folder + "/fromboot.pftrace", b"".join(packet(num(8, clock(MONO, t)) + num(58, MONO) + event(t)) for t in (10 ** 7, 10 ** 8)) + snapshot(
        [(BOOT, boot(10 ** 6), 0, 1), (RAW, 7, 0, 1)]))
    write(folder + "/empty.pftrace", packet(num(10, 4)))
    write(folder + "/machines.pftrace", shared(10 ** 6) + packet(num(8, boot(10 ** 7)) + num(98, 9) + event(1)))
    write(folder + "/log.pftrace", shared(10 ** 6) + packet(num(8, boot(10 ** 7)) + sub(39, "x")))
    write(folder + "/untied.pftrace", shared(10 ** 6) + packet(num(8, 6) + num(58, 70) + num(10, 3)))
    write(folder + "/ftrace.pftrace", shared(10 ** 6) + packet(sub(1, num(1, 0) + num(5, 2))))
    faults(folder)
    try:
        z = subprocess.run(["zstd", "-c"], input=a, capture_output=True, check=True).stdout
        write(folder + "/zstd.pftrace", packet(sub(133, z)))
    except (OSError, subprocess.CalledProcessError):
        pass


def large(path, mib):
    size, k = 0, 0
    with open(path, "wb") as f:
        while size < mib << 20:
            part = [shared(10 ** 6 + k * 10 ** 4)]
            for _ in range(20000):
                t, k = 10 ** 7 + k * 10 ** 4, k + 1
                part.append(packet(num(8, boot(t)) + num(10, 2 + k % 5) + event(t)))
            size += f.write(b"".join(part))


def noise(folder, program, seconds):
    rng, end, runs = random.Random(3), time.monotonic() + seconds, 0
    sources = [read(folder + "/" + n)[:6000] for n in ("service.pftrace", "library.perfetto-trace", "packed.pftrace")]
    copy = folder + "/noise.copy"
    while time.monotonic() < end:
        data = bytearray(rng.choice(sources))
        for _ in range(rng.randint(1, 8)):
            at = rng.randrange(len(data))
            data[at] = rng.choice((0, 1, 127, 128, 255, rng.randrange(256)))
        if rng.random() < 0.3:
            del data[rng.randrange(len(data)):]
        if rng.random() < 0.2:
            data = bytearray(rng.randbytes(rng.randrange(1, 3000)))
        with open(folder + "/noise.pftrace", "wb") as f:
            f.write(data)
        r = subprocess.run([program, folder + "/p.clk", folder + "/noise.pftrace", "--rank", "1", "--output", copy], capture_output=True, check=False,
                           timeout=60)
        assert r.returncode in (0, 1, 2), (r.returncode, r.stderr)
        assert (r.returncode == 0) == os.path.exists(copy), r.stderr
        assert r.returncode == 0 or r.stderr.startswith(b"clkapply: "), r.stderr
        if r.returncode == 0:
            for p in all_packets(read(copy)):
                list(fields(p))
            os.remove(copy)
        runs += 1
    print(f"{runs} damaged files")


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2])
    elif sys.argv[1] == "judge":
        judge(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
    elif sys.argv[1] == "bound":
        print(bound_of(sys.argv[2]))
    elif sys.argv[1] == "large":
        large(sys.argv[2], int(sys.argv[3]))
    else:
        noise(sys.argv[2], sys.argv[3], float(sys.argv[4]))

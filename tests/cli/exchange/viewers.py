#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Traces of viewers, and what is in them: Chrome's JSON by Python's reader, and Perfetto's packets with the same in JSON.

viewers.py make FOLDER           traces
viewers.py judge FILE OUT.jsonl  stftool's OUT has each slice, counter value, flow and instant of the JSON FILE, and no more
viewers.py lasts OUT.jsonl NAME FROM TO   a slice of that name lasts from FROM to TO (ns)
viewers.py flows OUT.jsonl FROM TO ...    the flows are these
viewers.py noise FOLDER STFTOOL SECONDS   damaged copies of the traces: each run ends with 0 or 1, and leaves no trace unless 0
"""
import collections
import gzip
import json
import os
import random
import struct
import subprocess
import sys
import time
import zlib
from decimal import Decimal

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../clkapply"))
from clkapply_perfetto import num, packet, sub, varint  # noqa: E402


def us(ns):
    return Decimal(ns) / 1000


def tree(r, at, to, depth, out):
    """Slices within each other, also of no length, also of equal stamps."""
    while at < to and depth < 7 and len(out) < 4000:
        at += r.choice((0, 0, 1, r.randrange(1 + (to - at) // 3)))
        end = min(to, at + r.choice((0, 1, (to - at) // 2, to - at)))
        out.append(("B", at, "f%d" % len(out)))
        tree(r, at, end, depth + 1, out)
        out.append(("E", end, None))
        at = end
        if r.random() < 0.3:
            break


def row(**members):
    return members


def many(r):
    events = []
    for pid, tid in ((30, 30), (30, 4), (5, 9), (5, 5)):
        begins = []
        for start in range(1000, 9000000, 100000):
            tree(r, start, start + 90000, 0, begins)
        events += [row(ph=ph, ts=us(at), pid=pid, tid=tid, **({"name": name, "cat": "c"} if name else {})) for ph, at, name in begins]
    spans = []
    for k in range(500):
        tid, at = r.choice((1, 2, "text \"ü\"")), r.randrange(10 ** 7)
        spans.append(row(ph="X", ts=us(at), dur=us(r.choice((0, 5, 70000, 3000000))), pid="Spans", tid=tid, name="x%d" % (k % 40), args={"k": [k]}))
    for k in range(300):
        at = r.randrange(10 ** 7)
        spans.append(row(ph="b", ts=us(at), pid=30, tid=30, name="a%d" % k, cat="net", id=hex(k)))
        spans.append(row(ph="e", ts=us(at + 1 + r.randrange(10 ** 6)), pid=30, tid=4, name="a%d" % k, cat="net", id=hex(k)))
        spans.append(row(ph="s", ts=us(at), pid=5, tid=5, name="flow", cat="ac2g", id=k))
        spans.append(row(ph="f", ts=us(at + r.randrange(-50, 10 ** 5)), pid=5, tid=9, name="flow", cat="ac2g", id=k, bp="e"))
        spans.append(row(ph="C", ts=us(at), pid=5, tid=5, name="memory", args={"value": k / 7}))
        spans.append(row(ph="C", ts=us(at), pid=5, tid=5, name="load", args={"user": k, "sys": -k}))
        spans.append(row(ph="i", ts=us(at), pid=5, tid=5, name="instant\n%d" % k, s="t"))
    r.shuffle(spans)
    where = sorted(r.sample(range(len(events) + len(spans)), len(spans)))
    for i, event in zip(where, spans):
        events.insert(i, event)
    return [row(ph="M", name="process_name", pid=30, args={"name": "training"}), row(ph="M", name="thread_name", pid=30, tid=4, args={"name": "worker é"})] + events


class Number(float):
    """A number that json writes with its own digits."""
    def __init__(self, value):
        self.text = format(value, "f")

    def __repr__(self):
        return self.text


def plain(v):
    return Number(v) if isinstance(v, Decimal) else {k: plain(w) for k, w in v.items()} if isinstance(v, dict) else v


def write(path, value):
    events = value if isinstance(value, list) else value["traceEvents"]
    events[:] = [plain(e) for e in events]
    with (gzip.open(path, "wt") if path.endswith(".gz") else open(path, "w")) as f:
        json.dump(value, f, indent=1 if "indented" in path else None)


def fixed(field, data):
    return varint(field << 3 | 1) + data


class Sequence:
    """A packet sequence. 1 counts from stamp to stamp, 2 has the time since boot, 3 another clock, which snapshots tie to it."""
    def __init__(self, number):
        self.number, self.names, self.last, self.sums, self.out = number, {}, 0, {}, []
        self.cleared = True

    def stamp(self, at):
        boot = 10 ** 13 + at
        if self.number == 1:
            v, self.last = boot - self.last, boot
            return num(8, v) + num(58, 64)
        return num(8, boot) + num(58, 6) if self.number == 2 else num(8, boot - 3600 * 10 ** 9) + num(58, 3)

    def name(self, interned, field, text):
        if (field, text) not in self.names:
            self.names[field, text] = len(self.names) + 1
            interned.append(sub(field, num(1, self.names[field, text]) + sub(2, text)))
        return self.names[field, text]

    def event(self, at, body, name=None, category=""):
        interned, flags = [], 2
        if self.cleared:  # what it has stated so far is void
            self.names, self.sums, self.last, flags = {}, {}, 10 ** 13, 3
            self.out.append(packet(num(10, self.number) + num(13, 1) + sub(6, sub(1, num(1, 64) + num(2, 10 ** 13) + num(3, 1)) + sub(1, num(1, 6) + num(2, 10 ** 13)))))
            self.cleared, flags = False, 2
        if name is not None:
            body += num(10, self.name(interned, 2, name))
            body += num(3, self.name(interned, 1, category)) if category else b""
        more = sub(12, b"".join(interned)) if interned else b""
        self.out.append(packet(self.stamp(at) + num(10, self.number) + num(13, flags) + more + sub(11, body)))


def perfetto(events):
    """Begins and ends on threads, complete slices on tracks of their own below these, counters of a process."""
    out, tracks = [packet(num(10, 9) + sub(6, sub(1, num(1, 6) + num(2, 10 ** 13)) + sub(1, num(1, 3) + num(2, 10 ** 13 - 3600 * 10 ** 9))))], {}
    sequences = {1: Sequence(1), 2: Sequence(2), 3: Sequence(3)}

    def track(key, body):
        if key not in tracks:
            tracks[key] = len(tracks) + 100
            out.append(packet(sub(60, num(1, tracks[key]) + body)))
        return tracks[key]

    stamped, spans = [], []
    for i, e in enumerate(e for e in events if e["ph"] != "M"):
        at = as_ns(e["ts"])
        stamped.append((at, i, e))
        if e["ph"] == "X":
            spans.append((at + as_ns(e["dur"]), i, dict(e, ph="x")))
    for k, (at, i, e) in enumerate(sorted(stamped + spans, key=lambda s: s[:2] + (s[2]["ph"] == "x",))):
        pid, tid, ph = e["pid"], e["tid"], e["ph"]
        thread = track((pid, tid), sub(4, num(1, pid) + num(2, tid)))
        s = sequences[1 + (thread + (i if ph in "Cisf" else 0)) % 3]
        s.cleared |= k % 1000 == 999
        on, cls = num(11, thread), e.get("cat", "")
        if ph in "BE":
            s.event(at, num(9, 1 if ph == "B" else 2) + on, e.get("name"), cls)
        elif ph in "Xx":
            mine = track(i, num(5, thread) + sub(2, "below"))
            sequences[2].event(at, num(9, 1 if ph == "X" else 2) + num(11, mine), e["name"] if ph == "X" else None, cls)
        elif ph in "be":
            s.event(at, on + sub(6, num(2, ord(ph)) + num(11, int(e["id"], 16))), e["name"], cls)
        elif ph == "C":
            for key, value in e["args"].items():
                name = e["name"] + (":" + key if key != "value" else "")
                process = track(pid, sub(3, num(1, pid) + sub(6, "process %d" % pid)))
                counter = track(name, num(5, process) + sub(2, name) + sub(8, num(3, 3) + (num(5, 1) if key == "user" else b"")))
                s = sequences[2] if key == "user" else s
                if key == "value":
                    s.event(at, num(9, 4) + num(11, counter) + fixed(44, struct.pack("<d", value)))
                else:
                    s.event(at, num(9, 4) + num(11, counter) + num(30, value - (s.sums.get(name, 0) if not s.cleared else 0) if key == "user" else value))
                    s.sums[name] = value
        elif ph in "sf":
            s.event(at, num(9, 3) + on + fixed(47 if ph == "s" else 48, struct.pack("<Q", e["id"] + 1)), "flow")
        else:
            s.event(at, num(9, 3) + on, e["name"], cls)
    data = b"".join(out)
    for s in sequences.values():
        data += packet(sub(50, zlib.compress(b"".join(s.out)))) if s.number == 2 else b"".join(s.out)
    return data


def numbered(events):
    """Perfetto has numbers for processes and threads."""
    texts = {"Spans": 77, "text \"ü\"": 3}
    return [{k: texts.get(v, v) if k in ("pid", "tid") else v for k, v in e.items()} for e in events if e["ph"] != "M"]


def make(folder):
    r = random.Random(7)
    write(folder + "/object.json", {"traceEvents": many(r), "displayTimeUnit": "ns"})
    write(folder + "/indented.json.gz", {"displayTimeUnit": "ns", "traceEvents": many(r)})
    write(folder + "/array.json", many(r))
    base = 1751410836 * 10 ** 9
    kineto = {"schemaVersion": 1, "distributedInfo": {"rank": 0}, "traceEvents": many(r), "baseTimeNanoseconds": base,
              "tickmark": {"bound_ns": 1500, "timer": "clock_realtime"}}
    write(folder + "/kineto.json", kineto)
    same = numbered(many(r))
    with open(folder + "/packets.pftrace", "wb") as f:
        f.write(perfetto(same))
    with gzip.open(folder + "/packed.pftrace.gz", "wb") as f:
        f.write(perfetto(same))
    write(folder + "/packets.json", same)
    for name in ("owners", "clocks"):
        with open(folder + "/" + name + ".pftrace", "wb") as f:
            f.write(owners(name == "clocks"))


def owners(clocks):
    """Processes 7 and 9 with tracks of their own, thread 7 of process 7; ids that are local to a process; an event of stamp 0."""
    out = [packet(num(10, 1) + num(13, 1) + (sub(6, sub(1, num(1, 6) + num(2, 10)) + sub(1, num(1, 1) + num(2, 10 ** 18))) if clocks else b""))]
    for body in (num(1, 1) + sub(3, num(1, 7)), num(1, 2) + sub(4, num(1, 7) + num(2, 7)), num(1, 3) + num(5, 1) + sub(2, "child of 7"),
                 num(1, 4) + sub(3, num(1, 9)), num(1, 5) + num(5, 4) + sub(2, "child of 9"), num(1, 6) + num(5, 1) + sub(2, "mem") + sub(8, num(3, 3))):
        out.append(packet(sub(60, body)))

    def event(at, track, body, name=None):
        out.append(packet(num(8, at) + num(10, 1) + sub(11, num(11, track) + body + (sub(23, name) if name else b""))))

    event(0, 2, num(9, 3), "at 0")
    event(100, 1, num(9, 1), "of the process")
    event(200, 2, num(9, 1), "mem")
    event(300, 1, num(9, 2))
    event(400, 2, num(9, 2))
    for at, track, phase in ((500, 3, "b"), (510, 5, "b"), (520, 3, "e"), (530, 5, "e")):
        event(at, track, sub(6, num(2, ord(phase)) + num(10, 4)), "local")
    event(600, 6, num(9, 4))
    event(601, 6, num(9, 4) + num(30, 5))
    for at, track, phase in ((700, 3, "s"), (701, 5, "s"), (710, 2, "f"), (711, 4, "f")):
        event(at, track, sub(6, num(2, ord(phase)) + num(10, 4)), "flow")
    for at, track, way in ((800, 2, 2), (810, 4, 1)):
        event(at, track, sub(6, num(2, ord("i")) + num(8, 77) + num(13, way)), "bound")
    return b"".join(out)


# ---- what a file has ----

def as_ns(value):
    return int((Decimal(str(value)) * 1000).to_integral_value())


def load(path):
    with (gzip.open(path, "rt") if path.endswith(".gz") else open(path)) as f:
        value = json.load(f, parse_float=Decimal)
    return value if isinstance(value, list) else value["traceEvents"]


def number_or_text(key):
    try:
        return 0, int(key), ""
    except ValueError:
        return 1, 0, key


def threads(pairs):
    """Numbers of processes and threads: by their own numbers, and a process's own thread first."""
    out, process = {}, {}
    for pid, tid in sorted(pairs, key=lambda p: (number_or_text(p[0]), p[0] != p[1], number_or_text(p[1]))):
        process.setdefault(pid, [len(process), 0])
        out[pid, tid] = tuple(process[pid])
        process[pid][1] += 1
    return out


class Found:
    def __init__(self):
        self.slices, self.values, self.flows, self.comments, self.parents = (collections.Counter() for _ in range(5))


def wanted(events):
    stamped = [(as_ns(e["ts"]), i, e) for i, e in enumerate(events) if e["ph"] != "M"]
    zero = min(t for t, _, _ in stamped)
    number = threads({(str(e["pid"]), str(e["tid"])) for _, _, e in stamped})
    f, stacks, flows, is_async = Found(), collections.defaultdict(list), {}, []
    for at, i, e in stamped:
        at, ph, where = at - zero, e["ph"], number[str(e["pid"]), str(e["tid"])]
        if ph == "X":
            f.slices[where, e.get("cat", ""), e["name"], at, at + as_ns(e.get("dur", 0))] += 1
        elif ph == "B":
            stacks[where].append((e["name"], e.get("cat", ""), at))
        elif ph == "E":
            name, cat, begin = stacks[where].pop()
            f.slices[where, cat, name, begin, at] += 1
            outer = stacks[where][-1] if stacks[where] else None
            if outer and at > begin:
                f.parents[where, name, outer[0]] += 1
        elif ph == "C":
            for key, value in e["args"].items():
                f.values[where, e["name"] + (":" + key if key != "value" else ""), at, float(value)] += 1
        elif ph in "sf":
            key = e["cat"], e["name"], e["id"]
            flows.setdefault(key, {})[ph] = where, at
        elif ph in "be":
            is_async.append((at, i, ph, (e["cat"], e["id"]), e["name"], where))
        elif ph == "i":
            f.comments[where, e["name"], at] += 1
    for both in flows.values():
        f.flows[both["s"] + both["f"]] += 1
    for at, _, ph, key, name, where in sorted(is_async):
        if ph == "b":
            stacks[key].append((name, where, at))
        else:
            name, where, begin = stacks[key].pop()
            f.slices[where, key[0], name, begin, at] += 1
    return f


def found(path):
    f, stacks, scopes, flows = Found(), collections.defaultdict(list), {}, {}
    with open(path) as lines:
        for e in (json.loads(line, parse_float=Decimal) for line in lines):
            if "time" not in e:
                continue
            at, kind, where = int(e["time"] * 10 ** 9), e["type"], (e["rank"], e["thread"])
            cls = e.get("class", "")
            if kind == "enter":
                stacks[where].append((e["function"], cls, at))
            elif kind == "leave":
                name, cls, begin = stacks[where].pop()
                f.slices[where, cls, name, begin, at] += 1
                if stacks[where] and at > begin:
                    f.parents[where, name, stacks[where][-1][0]] += 1
            elif kind == "scope_begin":
                scopes[where, e["scope"], e["number"]] = at
            elif kind == "scope_end":
                f.slices[where, cls, e["scope"], scopes.pop((where, e["scope"], e["number"])), at] += 1
            elif kind == "sample":
                f.values[where, e["counter"], at, float(e["value"])] += 1
            elif kind in ("send", "receive"):
                flows.setdefault(e["id"], {})[kind] = where, at
            elif kind == "comment":
                f.comments[where, e["text"], at] += 1
    assert not scopes and not any(stacks.values()), "something is open at the end"
    for both in flows.values():
        f.flows[both["send"] + both["receive"]] += 1
    return f


def compare(a, b):
    bad = 0
    for what in ("slices", "values", "flows", "comments"):
        x, y = getattr(a, what), getattr(b, what)
        for entry in list((x - y).elements())[:5]:
            print("missing in", what, entry)
        for entry in list((y - x).elements())[:5]:
            print("too much in", what, entry)
        bad += x != y
        print(sum(x.values()), what)
    # of slices by begins and ends the order in the file is the nesting, also at equal stamps
    lost = a.parents - b.parents
    print(sum(a.parents.values()), "inner slices")
    for entry in list(lost.elements())[:5]:
        print("not within:", entry)
    return 1 if bad or lost else 0


def slices_of(path):
    """All slices with both ends in ns, and all messages."""
    f = found(path)
    return collections.Counter((name, begin, end) for _, _, name, begin, end in f.slices.elements()), sorted((x[1], x[3]) for x in f.flows.elements())


def lasts(path, name, begin, end):
    there = slices_of(path)[0]
    print(dict(there))
    return 0 if there[name, int(begin), int(end)] == 1 else 1


def has_flows(path, *times):
    there, want = slices_of(path)[1], sorted(zip(map(int, times[::2]), map(int, times[1::2])))
    print(there)
    return 0 if there == want else 1


def noise(folder, stftool, seconds):
    r, end, runs = random.Random(3), time.time() + float(seconds), 0
    names = sorted(n for n in os.listdir(folder) if n.endswith((".json", ".pftrace")))
    while time.time() < end:
        name = r.choice(names)
        with open(os.path.join(folder, name), "rb") as f:
            data = bytearray(f.read()[:r.choice((300, 3000, 10 ** 7))])
        for _ in range(r.randrange(5)):
            at = r.randrange(len(data))
            data[at:at + r.randrange(3)] = r.choice((b"", b"\"", b"}", b"[", b"9" * 30, b"\xff", b"-", b"\0", b"\\u12", b"e9"))
        suffix = name[name.index("."):]
        with open(os.path.join(folder, "noise" + suffix), "wb") as f:
            f.write(data)
        out = os.path.join(folder, "noise.stf")
        p = subprocess.run([stftool, os.path.join(folder, "noise" + suffix), "--convert", out, "--force"], capture_output=True, timeout=60)
        os.unlink(os.path.join(folder, "noise" + suffix))
        left = os.path.exists(out)
        for n in os.listdir(folder):
            if n.startswith("noise.stf"):
                os.unlink(os.path.join(folder, n))
        if p.returncode not in (0, 1) or left != (p.returncode == 0):
            print("status", p.returncode, p.stderr.decode(errors="replace"))
            with open(os.path.join(folder, "bad" + suffix), "wb") as f:
                f.write(data)
            return 1
        runs += 1
    print("runs", runs)
    return 0


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2])
    elif sys.argv[1] == "judge":
        sys.exit(compare(wanted(load(sys.argv[2])), found(sys.argv[3])))
    elif sys.argv[1] in ("lasts", "flows"):
        sys.exit((lasts if sys.argv[1] == "lasts" else has_flows)(*sys.argv[2:]))
    else:
        sys.exit(noise(*sys.argv[2:]))

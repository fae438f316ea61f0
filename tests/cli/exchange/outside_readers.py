#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""An OTF2 archive that others wrote, what was made of it, and readers that are not ours: entries of each function by its name, other
events, number and exact sum of each counter with its unit, first and last time, as python3-otf2 finds them in the archive.

    outside_readers.py make DIRECTORY            writes an archive as Score-P does, by OTF2's own library: DIRECTORY/traces.otf2
    outside_readers.py FORMAT ARCHIVE FILE       silent and status 0, or what differs; 77: the reader is missing
"""
import collections
import csv
import json
import os
import re
import subprocess
import sys
from fractions import Fraction

import foreign_readers

try:
    import otf2
except ImportError:
    sys.exit(77)

COUNTERS = (("PAPI_TOT_INS", "#", otf2.Type.UINT64, lambda i: 2 ** 63 + i), ("temperature of \"node\" 1", "°C", otf2.Type.DOUBLE,
            lambda i: i / 7 + 20), ("free memory", "B", otf2.Type.INT64, lambda i: -5 * i))


class Look:
    """What a reader found. Times are ns, of which the first counts as 0."""

    def __init__(self):
        self.entries, self.kinds, self.times = collections.Counter(), collections.Counter(), []
        self.values, self.sums, self.units = collections.Counter(), collections.Counter(), {}

    def event(self, kind, at, name=None):
        self.kinds[kind] += 1
        self.times.append(at)
        if name:
            self.entries[name] += 1

    def sample(self, at, name, value, unit=None):
        self.times.append(at)
        self.values[name] += 1
        self.sums[name] += Fraction(value)
        if unit is not None:
            self.units[name] = unit


def make(path):
    with otf2.writer.open(path, timer_resolution=10 ** 9) as trace:
        d = trace.definitions
        node, main = d.system_tree_node("node one"), d.region("größe \"a\" b")
        members = [d.metric_member(n, u, otf2.MetricType.OTHER, otf2.MetricMode.ABSOLUTE_POINT, value_type=t, unit=u) for n, u, t, _ in COUNTERS]
        metrics = d.metric_class(members)
        writers = [trace.event_writer(f"Master thread {k}", group=d.location_group(f"MPI Rank {k}", system_tree_parent=node)) for k in range(2)]
        for i in range(40):
            for k, w in enumerate(writers):
                at = 10 ** 9 + 1000 * i + k
                w.enter(at, main)
                w.metric(at + 10, metrics, [value(i + k) for _, _, _, value in COUNTERS])
                w.leave(at + 700, main)


def of_otf2(path):
    look = Look()
    kinds = {"Leave": "leave", "MpiSend": "send", "MpiIsend": "send", "MpiRecv": "receive", "MpiIrecv": "receive",
             "MpiCollectiveBegin": "begin", "MpiCollectiveEnd": "end"}
    with otf2.reader.open(path) as trace:
        for _, e in trace.events:
            name = type(e).__name__
            if name == "Enter":
                look.event("enter", e.time, e.region.name)
            elif name == "Metric":
                for m, v in zip(getattr(e.metric, "metric_class", e.metric).members, e.values):
                    look.sample(e.time, m.name, v, m.unit)
            elif name in kinds:
                look.event(kinds[name], e.time)
    return look


def of_otf2_print(path):
    """Of an archive that python3-otf2 refuses: EZTrace gives numbers twice."""
    look = Look()
    kinds = {"LEAVE": "leave", "MPI_SEND": "send", "MPI_RECV": "receive", "MPI_COLLECTIVE_BEGIN": "begin", "MPI_COLLECTIVE_END": "end"}
    out = subprocess.run(["otf2-print", path], capture_output=True, check=True).stdout.decode()
    for name, at, rest in re.findall(r"^([A-Z_]+) +\d+ +(\d+) *(.*)$", out, re.M):
        if name == "ENTER":
            look.event("enter", int(at), re.match(r'Region: "(.*)" <', rest)[1])
        elif name in kinds:
            look.event(kinds[name], int(at))
    return look


def of_ctf(path):
    try:
        import bt2
    except ImportError:
        sys.exit(77)
    look = Look()
    kinds = {"function_exit": "leave", "collective_begin": "begin", "collective_end": "end"}
    for m in bt2.TraceCollectionMessageIterator(path):
        if type(m) is bt2._StreamBeginningMessageConst:
            e = dict(m.stream.trace.environment)
            for i in range(sum(k.endswith("_unit") for k in e)):
                look.units[str(e[f"counter_{i}_name"])] = str(e[f"counter_{i}_unit"])
        if type(m) is not bt2._EventMessageConst:
            continue
        e, at = m.event, m.default_clock_snapshot.ns_from_origin
        if e.name == "function_entry":
            look.event("enter", at, str(e.payload_field["function"].labels[0]).split(":", 1)[1])
        elif ":" in e.name:
            v = e.payload_field["value"]
            look.sample(at, e.name, float(v) if isinstance(v, bt2._RealFieldConst) else int(v))
        else:
            look.event(kinds.get(e.name, e.name), at)
    return look


def of_otf(path):
    look, functions, counters = Look(), {}, {}
    kinds = {"Leave": "leave", "SendMessage": "send", "ReceiveMessage": "receive", "BeginCollective": "begin", "EndCollective": "end"}
    for line in foreign_readers.run("otfprint", path).decode().splitlines():
        found = re.search(r'DefFunction: .* function (\d+), name "(.*)", group ', line)
        if found:
            functions[found[1]] = found[2]
        found = re.search(r'DefCounter: .* counter (\d+), name "(.*)", properties.* unit "([^"]*)"', line)
        if found:
            counters[found[1]] = found[2]
            look.units[found[2]] = found[3]
        found = re.match(r"\(#\d+\)\s+(\d+) (\w+): (.*)", line)
        if not found:
            continue
        at, what, rest = int(found[1]), found[2], found[3]
        if what == "Enter":
            look.event("enter", at, functions[re.search(r"function (\d+)", rest)[1]])
        elif what == "Counter":
            look.sample(at, counters[re.search(r"counter (\d+)", rest)[1]], 0)
        elif what in kinds:
            look.event(kinds[what], at)
    look.sums = None  # otfprint prints the bits of values as whole numbers
    return look


def of_paje(path):
    look, ends = Look(), {"function": "leave", "collective": "end"}
    for line in foreign_readers.run("pj_dump", "-u", "-l", "20", path).decode().splitlines():
        f = line.split(", ", 7)
        if f[0] == "State":
            name = f[7].split(", ")[-1].split(":", 1)[1] if f[2] == "function" else None
            look.event({"function": "enter", "collective": "begin"}[f[2]], round(float(f[3]) * 1e9), name)
            look.event(ends[f[2]], round(float(f[4]) * 1e9))
        elif f[0] == "Link":
            look.event("send", round(float(f[3]) * 1e9))
            look.event("receive", round(float(f[4]) * 1e9))
        elif f[0] == "Variable":
            name, unit = re.match(r"(.*) \[(.*)\]$", f[2]).groups()
            look.sample(round(float(f[3]) * 1e9), name, 0, unit)
    look.sums = None  # pj_dump keeps single precision
    return look


def of_perfetto(path):
    f = foreign_readers
    look, tracks, clock, names, last, open_ = Look(), {}, {}, {}, collections.Counter(), {}
    signed = {n for n, _, t, _ in COUNTERS if t == otf2.Type.INT64}
    with open(path, "rb") as stream:
        packets = f.unpacked(stream.read())
    out = subprocess.run(["protoc", "--decode_raw"], input=packets, capture_output=True, check=True).stdout.decode()
    for _, p in f.decode(out):
        sequence, event, track = f.field(p, 10), f.field(p, 11), f.field(p, 60)
        if track:
            tracks[f.field(track, 1)] = track
        if f.field(p, 6):
            clock[sequence] = f.field(f.field(f.field(p, 6), 1), 2, 0)
        for _, v in f.field(p, 12, []):
            names[sequence, f.field(v, 1)] = f.field(v, 2)
        if not event or sequence == 1:
            continue
        clock[sequence] += f.field(p, 8, 0)
        at, kind, name, uuid = clock[sequence], f.field(event, 9), names.get((sequence, f.field(event, 10))), f.field(event, 11)
        if kind == 4:
            counter, v = f.field(tracks[uuid], 2), f.field(event, 44)
            if v is None:
                last[uuid] = (last[uuid] + f.field(event, 30, 0)) % 2 ** 64
                v = last[uuid] - (2 ** 64 if counter.removeprefix("metric:") in signed and last[uuid] >> 63 else 0)
            else:
                v = f.real(v)
            look.sample(at, counter, v, f.field(f.field(tracks[uuid], 8), 6))
        elif kind == 1:  # a function within a class, or a collective operation
            open_.setdefault((sequence, uuid), []).append("leave" if ":" in name else "end")
            look.event("enter" if ":" in name else "begin", at, name.split(":", 1)[1] if ":" in name else None)
        elif kind == 2:
            look.event(open_[sequence, uuid].pop(), at)
        else:
            look.event(name, at)
    return look


def of_parquet(path):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "golden"))
    import parquet_reader
    look, kinds = Look(), {"collective_begin": "begin", "collective_end": "end"}
    signed = {n for n, _, t, _ in COUNTERS if t == otf2.Type.INT64}
    _, names, rows = parquet_reader.read(path)
    for r in (dict(zip(names, r)) for r in rows):
        name, v = r["counter"].removeprefix("metric:"), foreign_readers.real(r["value"])
        if r["value_int"] is not None:
            v = r["value_int"] if name in signed else r["value_int"] % 2 ** 64
        look.sample(r["time_ns"], name, v, r["unit"])
    _, names, rows = parquet_reader.read(path.replace(".parquet", ".events.parquet"))
    for r in (dict(zip(names, r)) for r in rows):
        look.event(kinds.get(r["kind"], r["kind"]), r["time_ns"], r["name"] if r["kind"] == "enter" else None)
    return look


def of_lttng(path):
    look = Look()
    reader = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "golden", "lttng_reader.py")
    kinds = {"function_exit": "leave", "collective_begin": "begin", "collective_end": "end"}

    def text(quoted):
        return quoted.encode().decode("unicode_escape")

    for line in foreign_readers.run(sys.executable, reader, path).decode().splitlines():
        _, at, _, rest = line.split(" ", 3)
        marker = re.match(r'"((?:[^"\\]|\\.)*)" ?', rest)
        m, fields = text(marker[1]), rest[marker.end():]
        if m.startswith("tickmark_"):
            continue
        if m.startswith("counter:"):
            v = fields.split(" ")[0].split("=")[1]
            look.sample(int(at), m.split(":", 2)[2], Fraction(float.fromhex(v)) if "x" in v else int(v))
        elif m == "function_entry":
            look.event("enter", int(at), text(re.search(r'function="((?:[^"\\]|\\.)*)"', fields)[1]))
        else:
            look.event(kinds.get(m, m), int(at))
    return look


def of_jsonl(path):
    look, kinds = Look(), {"collective_begin": "begin", "collective_end": "end"}
    with open(path, encoding="utf-8") as f:
        for r in (json.loads(line, parse_float=Fraction) for line in f):
            if r["type"] in ("trace", "info"):
                continue
            at = int(r["time"] * 10 ** 9)
            if r["type"] == "sample":
                v = r["value"]  # a fraction has the fewest digits that give the double again
                look.sample(at, r["counter"], v if isinstance(v, int) else float(v), r["unit"])
            else:
                look.event(kinds.get(r["type"], r["type"]), at, r["function"] if r["type"] == "enter" else None)
    return look


def of_csv(path):
    look = Look()
    with open(path, newline="", encoding="utf-8") as f:
        for r in csv.DictReader(f):
            v = int(r["value"]) if r["value"].lstrip("-").isdigit() else float(r["value"])
            look.sample(int(Fraction(r["time"]) * 10 ** 9), r["counter"], v, r["unit"])
    return look


def plain(name):
    return name.replace('"', "'")


def compare(form, got, want):
    same = foreign_readers.same
    for c in ("values", "sums", "units"):  # the class that our reader gives counters of OTF2
        if getattr(got, c) is not None:
            setattr(got, c, type(getattr(got, c))({n.removeprefix("metric:"): v for n, v in getattr(got, c).items()}))
    if form in ("otf", "paje"):  # have no place for quotes in a name
        for c in ("entries", "values", "units"):
            setattr(want, c, type(getattr(want, c))({plain(n): v for n, v in getattr(want, c).items()}))
    if form != "csv":  # samples only
        same("entries", got.entries, want.entries)
        same("events", got.kinds, want.kinds)
        same("first and last time", [got.times and max(got.times) - min(got.times)], [max(want.times) - min(want.times)])
    same("values", got.values, want.values)
    if got.sums is not None:
        same("sums", got.sums, want.sums)
    if got.units or form not in ("lttng",):
        same("units", got.units, want.units)


def main():
    if sys.argv[1] == "make":
        make(sys.argv[2])
        return
    form, archive, path = sys.argv[1:]
    if form == "otf2":
        path += "/traces.otf2"
    try:
        truth = of_otf2_print if "eztrace" in archive else of_otf2
        compare(form, (of_otf2_print if form == "otf2" and "eztrace" in archive else globals()["of_" + form])(path), truth(archive))
    except FileNotFoundError as e:
        print(e)
        sys.exit(77)
    print("\n".join(foreign_readers.faults), end="\n" if foreign_readers.faults else "")
    sys.exit(len(foreign_readers.faults) > 0)


if __name__ == "__main__":
    main()

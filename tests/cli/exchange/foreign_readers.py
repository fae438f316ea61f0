#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares what readers that are not ours find in a conversion of four_ranks.py with what is in it: number of events of each kind,
the sum of each counter to the last bit, first and last time, names, units, bounds.

    foreign_readers.py FORMAT FILE [ROUNDS]    silent and status 0, or what differs
"""
import collections
import ctypes
import math
import os
import re
import struct
import subprocess
import sys
import zlib
from fractions import Fraction

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import four_ranks  # noqa: E402

MISSING = 77
faults = []


def same(what, got, want):
    if got != want:
        faults.append(f"{what}: {got!r}, not {want!r}")


def run(*command):
    r = subprocess.run(command, capture_output=True, check=False)
    same(" ".join(command[:1]) + " status", r.returncode, 0)
    same(" ".join(command[:1]) + " complains", r.stderr.decode(errors="replace"), "")
    return r.stdout


def real(bits):
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


def compare(t, kinds, sums, values, first, last):
    for k, n in t.kinds.items():
        if k != "collective":
            same(f"events of {k}", kinds.get(k, 0), n)
    same("begins of collectives", kinds.get("collective_begin", 0), 4 * t.kinds["collective"])
    same("ends of collectives", kinds.get("collective_end", 0), 4 * t.kinds["collective"])
    for c, total in t.sums.items():
        name = t.counter_name(c)
        same(f"values of {name}", values.get(name, 0), t.values[c])
        same(f"sum of {name}", sums.get(name, 0), total)
    same("first time", first, min(t.times))
    same("last time", last, max(t.times))


def ctf(t, path):
    try:
        import bt2
    except ImportError:
        sys.exit(MISSING)
    run("babeltrace2", path, "-o", "dummy")
    name = {"function_entry": "enter", "function_exit": "leave"}
    kinds, sums, values, times = collections.Counter(), collections.Counter(), collections.Counter(), []
    functions, texts, bounds = set(), set(), 0
    for m in bt2.TraceCollectionMessageIterator(path):
        if type(m) is bt2._StreamBeginningMessageConst:
            environment = dict(m.stream.trace.environment)
            clock = m.stream.cls.default_clock_class
        if type(m) is not bt2._EventMessageConst:
            continue
        e, at = m.event, m.default_clock_snapshot.value
        times.append(at)
        if ":" in e.name:
            kinds["sample"] += 1
            values[e.name] += 1
            v = e.payload_field["value"]
            sums[e.name] += Fraction(float(v) if isinstance(v, float) or "power" in e.name else int(v))
        else:
            kinds[name.get(e.name, e.name)] += 1
        if e.name == "function_entry":
            functions |= set(e.payload_field["function"].labels)
        if e.name == "comment":
            texts.add(str(e.payload_field["text"]))
        place = e.packet.context_field["place"].labels[0]
        if not place.startswith("group"):
            want = math.ceil(t.bound_s(int(place.split(":")[0]), at) * 1e9 - 1e-6)
            bounds += 1
            same(f"bound of {place} at {at}", int(e.common_context_field["bound_ns"]), want)
    same("functions", functions, {"MPI:" + f if c == "MPI" else c + ":" + f for i, (c, f) in four_ranks.FUNCTIONS.items() if i > 2})
    same("comments", texts, {four_ranks.ODD})
    same("has bounds", bounds > 0, True)
    same("frequency", clock.frequency, 10 ** 9)
    same("precision", clock.precision, 100)
    units = {str(environment[f"counter_{i}_name"]): str(environment[f"counter_{i}_unit"]) for i in range(4)}
    same("units", units, {t.counter_name(c): d[4] for c, d in four_ranks.COUNTERS.items()})
    compare(t, kinds, sums, values, min(times), max(times))


def otf(t, path):
    """With the library's own reader, and otfprint."""
    try:
        lib = ctypes.CDLL("libopen-trace-format.so.1")
    except OSError:
        sys.exit(MISSING)
    for f in ("OTF_FileManager_open", "OTF_Reader_open", "OTF_HandlerArray_open"):
        getattr(lib, f).restype = ctypes.c_void_p
    lib.OTF_Reader_readDefinitions.restype = lib.OTF_Reader_readEvents.restype = ctypes.c_uint64
    u32, u64, ptr, text = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_char_p
    manager = lib.OTF_FileManager_open(50)
    reader = lib.OTF_Reader_open(path.encode(), ctypes.c_void_p(manager))
    handlers = lib.OTF_HandlerArray_open()
    keep, kinds, sums, values, times = [], collections.Counter(), collections.Counter(), collections.Counter(), []
    counters, keys, bounds, texts, functions = {}, {}, {}, set(), {}

    def handle(record, args, function):
        # all arguments are integers or pointers, so that registers beyond those declared do no harm
        call = ctypes.CFUNCTYPE(ctypes.c_int, ptr, *args)(lambda _, *a: function(*a) or 0)
        keep.append(call)
        lib.OTF_HandlerArray_setHandler(ctypes.c_void_p(handlers), call, record)

    def count(kind):
        def one(at, *_):
            kinds[kind] += 1
            times.append(at)
        return one

    def counter(at, _, c, value, *__):
        count("sample")(at)
        n, how, _ = counters[c]
        values[n] += 1
        sums[n] += Fraction(real(value) if how & 480 == 288 else value - (value >> 63 << 64) if how & 32 else value)

    def no_op(at, process, pairs):
        d, n = ctypes.c_double(), ctypes.c_uint32(4000)
        if lib.OTF_KeyValueList_getDouble(ctypes.c_void_p(pairs), keys["tickmark::bound_s"], ctypes.byref(d)) == 0:
            bounds.setdefault(process, []).append((at, d.value))
        b = ctypes.create_string_buffer(4000)
        if lib.OTF_KeyValueList_getByteArray(ctypes.c_void_p(pairs), keys["tickmark::comment"], b, ctypes.byref(n)) == 0:
            count("comment")(at)
            texts.add(b.raw[:n.value].decode())

    handle(18, (u32, u32, text, u32, u32, text, ptr), lambda _, c, n, how, __, unit, *___: counters.__setitem__(
        c, (n.decode(), how, unit.decode())))
    handle(16, (u32, u32, text, u32, u32, ptr), lambda _, f, n, *__: functions.__setitem__(f, n.decode()))
    handle(57, (u32, u32, ctypes.c_int, text, text, ptr), lambda _, k, __, n, *___: keys.__setitem__(n.decode(), k))
    handle(1, (u64, u32, u32, u64, ptr), counter)
    handle(2, (u64, u32, u32, u32, ptr), lambda at, f, *_: count("enter")(at))
    handle(12, (u64, u32, u32, u32, ptr), lambda at, f, *_: count("leave")(at))
    handle(10, (u64, u32, u32, u32, u32, u32, u32, ptr), count("receive"))
    handle(11, (u64, u32, u32, u32, u32, u32, u32, ptr), count("send"))
    handle(51, (u64, u32, u32, u64, u32, u32, u64, u64, u32, ptr), count("collective_begin"))
    handle(52, (u64, u32, u64, ptr), count("collective_end"))
    handle(58, (u64, u32, ptr), no_op)
    same("definitions", lib.OTF_Reader_readDefinitions(ctypes.c_void_p(reader), ctypes.c_void_p(handlers)) < 2 ** 62, True)
    same("events", lib.OTF_Reader_readEvents(ctypes.c_void_p(reader), ctypes.c_void_p(handlers)) < 2 ** 62, True)

    def plain(n):
        return n.replace('"', "'").replace("\n", " ")

    for c, d in four_ranks.COUNTERS.items():
        old = plain(t.counter_name(c))
        sums[t.counter_name(c)], values[t.counter_name(c)] = sums[old], values[old]
        same(f"unit of {old}", [u for n, _, u in counters.values() if n == old], [d[4]])
    same("functions", set(functions.values()), {plain(n) for _, n in four_ranks.FUNCTIONS.values()})
    same("comments", texts, {four_ranks.ODD})
    want = sorted([s for _, s in v] for v in four_ranks.BOUNDS.values())
    same("bounds", sorted([s for _, s in v] for v in bounds.values()), want)
    compare(t, kinds, sums, values, min(times), max(times))
    out = run("otfprint", path).decode()
    same("otfprint: entries", len(re.findall(r"\d Enter: ", out)), t.kinds["enter"])
    same("otfprint: samples", len(re.findall(r"\d Counter: ", out)), t.kinds["sample"])
    same("otfprint: statistics", len(re.findall(r"StatFunction", out)) > 0, True)
    if t.rounds < 10:
        same("otfprint: snapshots", len(re.findall(r"SnapEnter", out)) > 0, True)


def paje(t, path):
    out = run("pj_dump", "-u", "-l", "20", path).decode()
    kinds, sums, values = collections.Counter(), collections.Counter(), collections.Counter()
    names, bounds = set(), set()
    for line in out.splitlines():
        f = line.split(", ")
        if f[0] == "State":
            kinds[f[2]] += 1
            if f[2] == "function":
                names.add(f[7])
        elif f[0] == "Link":
            kinds["message"] += 1
        elif f[0] == "Event":
            kinds["comment"] += 1
        elif f[0] == "Variable" and f[2] == "clock bound [ns]":
            bounds.add(float(f[6]))
        elif f[0] == "Variable":
            values[f[2]] += 1
            sums[f[2]] += Fraction(float(f[6]))
    same("functions", kinds["function"], t.kinds["enter"])
    same("names", names, {"My app:main", "My app:" + four_ranks.ODD.replace('"', "'").replace("\n", " ")})
    same("links", kinds["message"], t.kinds["send"])
    same("collectives", kinds["collective"], 4 * t.kinds["collective"])
    same("comments", kinds["comment"], t.kinds["comment"])
    same("bounds", bounds, {round(s * 1e9, 6) for v in four_ranks.BOUNDS.values() for _, s in v})
    for c, d in four_ranks.COUNTERS.items():
        name = f"{t.counter_name(c)} [{d[4]}]".replace('"', "'").replace("\n", " ")
        same(f"values of {name}", values[name], t.values[c])
        if d[3] == "FLOAT":  # pajeng keeps values in single precision
            same(f"sum of {name}", sums[name], sum(Fraction(struct.unpack("f", struct.pack("f", v))[0]) for v in t.all[c]))
    root = [line.split(", ") for line in out.splitlines() if line.startswith("Container, 0, trace")]
    same("first and last time", [round(float(x) * 1e9) for x in root[0][3:5]], [min(t.times), max(t.times)])


def decode(text):
    """Nested fields of protoc --decode_raw: lists of (number, value or list)."""
    stack = [[]]
    for line in text.splitlines():
        line = line.strip()
        if line.endswith("{"):
            inner = []
            stack[-1].append((int(line[:-1]), inner))
            stack.append(inner)
        elif line == "}":
            stack.pop()
        else:
            n, v = line.split(": ", 1)
            stack[-1].append((int(n), v[1:-1].encode().decode("unicode_escape").encode("latin1").decode() if v[0] == '"'
                              else int(v, 0)))
    return stack[0]


def field(message, number, default=None):
    return next((v for n, v in message if n == number), default)


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def unpacked(data):
    """The packets of a trace: those that are compressed (field 50) as they were before."""
    out, at = b"", 0
    while at < len(data):
        begin = at
        tag, at = varint(data, at)
        same("tag of a packet", tag, 10)
        size, at = varint(data, at)
        inner, after = varint(data, at)
        if inner == 50 << 3 | 2:
            n, after = varint(data, after)
            same("size of a compressed packet", after + n, at + size)
            out += zlib.decompress(data[after:after + n])
        else:
            out += data[begin:at + size]
        at += size
    return out


def perfetto(t, path):
    with open(path, "rb") as f:
        packets = unpacked(f.read())
    r = subprocess.run(["protoc", "--decode_raw"], input=packets, capture_output=True, check=False)
    same("protoc", r.returncode, 0)
    kinds, sums, values, times = collections.Counter(), collections.Counter(), collections.Counter(), []
    tracks, clock, names, last, flows, bounds = {}, {}, {}, {}, collections.Counter(), set()
    for _, p in decode(r.stdout.decode()):
        sequence, event, track = field(p, 10), field(p, 11), field(p, 60)
        if track:
            tracks[field(track, 1)] = track
        if field(p, 6):
            clock[sequence] = field(field(field(p, 6), 1), 2, 0)
        for n, v in field(p, 12, []):
            same("interned field", n, 2)
            names[sequence, field(v, 1)] = field(v, 2)
        if not event:
            continue
        if sequence == 1:
            same("name of the bound's track", field(tracks[field(event, 11)], 2), "clock bound")
            bounds.add(real(field(event, 44)))
            continue
        clock[sequence] += field(p, 8, 0)
        times.append(clock[sequence])
        kind, name = field(event, 9), names.get((sequence, field(event, 10)))
        if kind == 4:
            uuid = field(event, 11)
            kinds["sample"] += 1
            n = field(tracks[uuid], 2)
            values[n] += 1
            if field(event, 44) is not None:
                sums[n] += Fraction(real(field(event, 44)))
            else:
                last[uuid] = (last.get(uuid, 0) + field(event, 30, 0)) % 2 ** 64
                negative = "rss" in n and last[uuid] >> 63
                sums[n] += Fraction(last[uuid] - (2 ** 64 if negative else 0))
        elif kind == 1:
            kinds["collective_begin" if "Alltoall" in name else "enter"] += 1
        elif kind == 2:
            kinds["end"] += 1
        else:
            kinds[name] += 1
            for n, v in event:
                if n in (47, 48):
                    flows[v] += 1
    same("ends", kinds["end"], t.kinds["leave"] + 4 * t.kinds["collective"])
    kinds["leave"], kinds["collective_end"] = t.kinds["leave"], 4 * t.kinds["collective"]
    same("flows with two ends", sum(1 for n in flows.values() if n == 2), t.kinds["send"])
    same("bounds", {round(b, 6) for b in bounds}, {round(s * 1e9, 6) for v in four_ranks.BOUNDS.values() for _, s in v})
    units = {field(v, 2): field(field(v, 8), 6) for v in tracks.values() if field(v, 8) and field(v, 2) != "clock bound"}
    same("units", units, {t.counter_name(c): d[4] for c, d in four_ranks.COUNTERS.items()})
    compare(t, kinds, sums, values, min(times), max(times))
    if t.rounds >= 1000:
        size = os.path.getsize(path) / len(times)
        print(f"{size:.2f} bytes per event")
        same("at most 12 bytes per event", size <= 12, True)


def parquet(t, path):
    """With the second reader in Python; DuckDB and hyparquet read the same in tests/ci/readers/readers.sh."""
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "golden"))
    import parquet_reader

    try:
        ctypes.CDLL("libzstd.so.1")
    except OSError:
        sys.exit(MISSING)
    kinds, sums, values, times = collections.Counter(), collections.Counter(), collections.Counter(), []
    keys, names, rows = parquet_reader.read(path)
    same("columns", names[:8], ["time_ns", "bound_ns", "host", "rank", "thread", "counter", "value", "unit"])
    units, signed = {}, {t.counter_name(c) for c, d in four_ranks.COUNTERS.items() if d[3] == "INT"}
    for row in (dict(zip(names, r)) for r in rows):
        n, v = row["counter"], Fraction(real(row["value"]))
        if row["value_int"] is not None:
            v = Fraction(row["value_int"] % 2 ** 64 if n not in signed else row["value_int"])
            same("only where a double does not do", Fraction(float(v)) != v, True)
        kinds["sample"] += 1
        values[n] += 1
        sums[n] += v
        units[n] = row["unit"]
        times.append(row["time_ns"])
        if row["rank"] is not None:
            same("bound", row["bound_ns"], math.ceil(t.bound_s(row["rank"], row["time_ns"]) * 1e9 - 1e-6))
            same("host", row["host"], four_ranks.HOSTS[row["rank"]])
        else:
            same("group", row["group"] in four_ranks.NODES.values(), True)
    _, names, rows = parquet_reader.read(path.replace(".parquet", ".events.parquet"))
    functions, texts = set(), set()
    for row in (dict(zip(names, r)) for r in rows):
        kinds[row["kind"]] += 1
        times.append(row["time_ns"])
        if row["kind"] == "enter":
            functions.add((row["class"], row["name"]))
        if row["kind"] == "comment":
            texts.add(row["text"])
        if row["kind"] == "send":
            same("message", (row["communicator"], row["bytes"], row["other_thread"]), ("MPI_COMM_WORLD", 4096, 0))
    same("functions", functions, {f for i, f in four_ranks.FUNCTIONS.items() if i > 2})
    same("comments", texts, {four_ranks.ODD})
    same("info", ("tickmark::info::program", "four ranks") in keys, True)
    same("units", units, {t.counter_name(c): d[4] for c, d in four_ranks.COUNTERS.items()})
    compare(t, kinds, sums, values, min(times), max(times))


def lttng(t, path):
    reader = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "golden", "lttng_reader.py")
    kinds, sums, values, times, texts = collections.Counter(), collections.Counter(), collections.Counter(), [], set()
    name = {"function_entry": "enter", "function_exit": "leave"}
    for line in run(sys.executable, reader, path).decode().splitlines():
        _, stamp, ns, rest = line.split(" ", 3)
        marker = re.match(r'"((?:[^"\\]|\\.)*)" ?', rest)
        m = marker.group(1).encode().decode("unicode_escape")
        if m.startswith("tickmark_"):
            continue
        same("time", ns, stamp)
        times.append(int(stamp))
        if m.startswith("counter:"):
            n = m.split(":", 2)[2]
            kinds["sample"] += 1
            values[n] += 1
            v = rest[marker.end():].split(" ")[0].split("=")[1]
            sums[n] += Fraction(float.fromhex(v)) if "x" in v else int(v)
        else:
            kinds[name.get(m, m)] += 1
        if m == "comment":
            texts.add(re.search(r'text="((?:[^"\\]|\\.)*)"', rest).group(1).encode().decode("unicode_escape"))
    same("comments", texts, {four_ranks.ODD})
    compare(t, kinds, sums, values, min(times), max(times))


def main():
    check = {"ctf": ctf, "otf": otf, "paje": paje, "perfetto": perfetto, "lttng": lttng, "parquet": parquet}[sys.argv[1]]
    try:
        check(four_ranks.Trace(int(sys.argv[3]) if len(sys.argv) > 3 else 3), sys.argv[2])
    except FileNotFoundError as e:
        print(e)
        sys.exit(MISSING)
    print("\n".join(faults), end="\n" if faults else "")
    sys.exit(len(faults) > 0)


if __name__ == "__main__":
    main()

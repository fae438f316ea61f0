#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the single-file golden traces beside it, byte by byte from doc/stf-format.md, so that no code of the library
has a hand in them: good ones of other incarnations than ours and at the bounds of every field, and bad ones.

    make_golden.py FOLDER      writes them there; `make check` compares with what is stored
    make_golden.py --mixed     prints 60000 records of most kinds as text: histories for many anchors
    make_golden.py --late      the same, some of them late"""
import os
import random
import re
import struct
import sys

sys.dont_write_bytecode = True
import second_reader as sr

MAX = {"U1": 255, "U2": 65535, "U4": 2 ** 32 - 1, "U8": 2 ** 64 - 1, "I1": 127, "I2": 32767, "I4": 2 ** 31 - 1,
       "I8": 2 ** 63 - 1, "F4": 3.4028234663852886e38, "F8": sys.float_info.max, "O8": 2 ** 64 - 1, "willy_id": 2 ** 32 - 1}
MIN = {"I1": -128, "I2": -32768, "I4": -2 ** 31, "I8": -2 ** 63, "F4": -3.4028234663852886e38, "F8": -5e-324}
NAMES = {i: (spec, shape) for spec, shapes in sr.TABLE.items() for i, shape in shapes}
BIG = 2 ** 32 - 1
INDEX = [13, 65, 25, 32, 73, 33, 10, 47]


def words_of(shape):
    """The fields of a known record as a definition has them."""
    out = []
    for k in shape:
        w = k.type + ":" + (k.name if k.type != "willy_id" or k.array else k.name) + (":" + k.ref if k.ref else "")
        out.append("<%s>" % w if k.array else w)
    return out


class Golden:
    """A trace under construction: definitions, and the bytes of each component."""

    def __init__(self, big=False):
        self.order, self.big = ">" if big else "<", big
        self.lines, self.defs, self.parts, self.nested, self.files = [], {}, {}, {}, []
        self.packed = {}

    def define(self, name, ident, spec, words):
        """`name` is what rec() calls it."""
        self.lines.append("RECORD %d %s %s" % (ident, spec, " ".join(words)))
        fields = [sr.Field(w, self.nested) for w in words]
        self.defs[name] = (ident, fields)
        self.nested[spec] = fields

    def std(self, *ids, number=lambda i: i, words=words_of):
        """Definitions of known records, by their ids."""
        for i in (72,) + ids:
            if i not in self.defs:
                self.define(i, number(i), NAMES[i][0], words(NAMES[i][1]))

    def rec(self, which, component=None, **values):
        ident, fields = self.defs[which]
        out = bytearray([ident])
        sizes = {}
        for n, f in enumerate(fields):
            if f.arrays:
                given = [values[a.name] for a in fields[n + 1:n + 1 + f.arrays] if a.name in values]
                sizes = {a.name: values.get(f.name, len(given[0]) if given else 0) for a in fields[n + 1:n + 1 + f.arrays]}
                v = values.get(f.name, len(given[0]) if given else 0)
            else:
                # a size that lies has no elements after it
                v = values.get(f.name, 0 if not f.array else [0] * (sizes.get(f.name, 0) % BIG))
            if isinstance(v, bytes):
                out += v
            else:
                for e in v if f.array else [v]:
                    flat = e if isinstance(e, tuple) else (e,) * len(f.basic)
                    out += struct.pack(self.order + "".join(sr.BASIC[b] for b in f.basic), *flat)
        if component is not None:
            self.parts[component] = self.parts.get(component, b"") + bytes(out)
        return bytes(out)

    def string(self, ident, text):
        self.rec(69, ".dcl", id=ident, string=text)

    def declare_files(self, suffixes, anchors=()):
        """The usual index, with these components."""
        kind = {".dcl": 1, ".sts": 4}
        self.rec(13, "index", resolution=1e-9)
        self.rec(65, "index", thread_numbers=[2])
        self.rec(25, "index", start=0, end=2 ** 64 - 1)
        for n, s in enumerate(suffixes):
            self.rec(33, "index", id=n + 1, filetype=2 if s.endswith(".anc") else kind.get(s, 3), suffix=s.encode())
        for a, d in anchors:
            self.rec(10, "index", anchor_file=suffixes.index(a) + 1, data_file=suffixes.index(d) + 1, categories=8, willies=0)

    def layer(self):
        return ("STF 1.0 %s\n" % ("BIG" if self.big else "LITTLE") + "".join(s + "\n" for s in self.lines) + "END\n").encode()

    def single(self, base=None, offset=lambda suffix, at, size: (at, size)):
        parts = [("base", (self.layer() + self.parts.get("index", b"")) if base is None else base)]
        parts += [(s, p) for s, p in self.parts.items() if s != "index"]
        at = 0
        for _ in range(3):
            head, pos = "STFSINGLE 1.0\n", at
            for s, p in parts:
                head += "FILE %s %d %d\n" % ((s,) + offset(s, pos, len(p)))
                pos += len(p)
            head += "END\n"
            at = len(head)
        return head.encode() + b"".join(p for _, p in parts)


# ---- good ones ----

STD = [1, 2, 12, 20, 22, 28, 29, 40, 48, 57, 58, 69, 70]


def fill(g, counter=22, function=28):
    """What most of them hold: two counters, functions, a message."""
    for n, text in enumerate([b"APP", b"work", b"PAPI_TOT_CYC", b"load"], 1):
        g.string(n, text)
    g.rec(12, ".dcl", id=1, name=1, nameself=1)
    g.rec(40, ".dcl", id=1, name=2, classid=1)
    g.rec(20, ".dcl", id=1, name=3, type=0x43, do_diff=1, willy=0, classid=1, unit=b"#")
    g.rec(20, ".dcl", id=2, name=4, type=0x22, willy=0x10000, classid=1, unit=b"")
    real = struct.unpack("<Q", struct.pack("<d", 0.1))[0]
    g.rec(counter, ".c.0", time=10, willy=0x10000, values=[7, real], counters=[1, 2])
    g.rec(counter, ".c.0", time=0, willy=0, values=[8], counters=[1])
    g.rec(2, ".c.0", time=2 ** 33)
    g.rec(counter, ".c.0", time=5, willy=0, values=[], counters=[])
    g.rec(function, ".f.0", time=3, willy=0, function=1)
    g.rec(28, ".f.0", time=9, willy=0, function=1)
    g.rec(48, ".f.0", time=1000, willy=0)
    g.rec(57, ".msg", time=4, sender=0, receive_time=500, receiver=0x10000, size=64, tag=2)
    g.rec(57, ".msg", time=4, sender=0, receive_time=-2 ** 63, receiver=0x10000, size=64, tag=3)
    g.rec(57, ".msg", time=4, sender=0, receive_time=-2 ** 63 + 1, receiver=0x10000, size=64, tag=4)
    g.declare_files([".dcl", ".c.0", ".f.0", ".msg"])
    return g


def other_ids():
    g = Golden()
    g.lines.append("# ids are our own business")
    g.std(*INDEX, *STD, number=lambda i: 234 - i)
    return fill(g)


def other_order():
    """Every record's fields from the last to the first, arrays behind their size; big-endian."""
    def backwards(shape):
        blocks = []
        for k, w in zip(shape, words_of(shape)):
            if k.group and k.array:
                blocks[-1].append(w)
            else:
                blocks.append([w])
        return [w for b in reversed(blocks) for w in [b[0]] + b[:0:-1]]
    g = Golden(big=True)
    g.std(*INDEX, *STD, words=backwards)
    return fill(g)


def missing_fields():
    """Fewer fields; two have a default that another incarnation states, the others ours."""
    lost = {"do_diff", "lower_bound", "upper_bound", "receive_time", "tag", "nameself", "communicator", "eventbits",
            "receiver_function"}
    g = Golden()
    g.define("spare", 233, "one_to_one_communication", ["U4:tag=77", "I4:receiver_function=0x5"])
    g.std(*INDEX, *STD, words=lambda shape: [w for w in words_of(shape) if w.strip("<>").split(":")[1] not in lost])
    g.define("bare", 200, "counter_value", ["U4:time"])
    g.define("none", 201, "leave_function", ["willy_id:willy=1"])
    fill(g)
    g.rec("bare", ".c.0", time=1)
    g.rec("none", ".f.0", willy=1)
    return g


def extra():
    """Fields and records that are unknown; a time in an unknown record counts."""
    g = Golden()
    g.define("pair", 150, "pair", ["U4:a", "F8:b"])
    more = {"counter_value": ["U8:cookie", "U2:size_3_2", "<I2:shorts>", "<C1:note>", "pair:both"],
            "enter_function": ["F4:weight", "I1:sign"], "stf_string": ["U1:language"], "clock_resolution": ["O8:raw"]}
    g.std(*INDEX, *STD)
    for i, spec in ((22, "counter_value"), (28, "enter_function"), (69, "stf_string"), (13, "clock_resolution")):
        g.lines = [s for s in g.lines if not s.startswith("RECORD %d " % i)]
        g.define(i, i, spec, more[spec][:1] + words_of(NAMES[i][1]) + more[spec][1:])
    g.define("news", 160, "weather", ["U4:time", "U4:size_1_1", "<C1:text>"])
    g.define("empty", 161, "pulse", [])
    fill(g)
    for part in (".c.0", ".dcl", "index", ".f.0"):
        g.rec("news", part, time=100, text=b"rain")
        g.rec("empty", part)
    g.rec(22, ".c.0", time=1, willy=0, values=[1], counters=[1], shorts=[-1, 2], note=b"hi", both=(7, 2.5))
    g.rec(28, ".f.0", time=1, willy=0, function=1, weight=0.5, sign=-3)
    return g


def other_types():
    """Wider and narrower numbers, size fields of another width."""
    to = {"U4": "U8", "U1": "U2", "I8": "I4", "F8": "F4"}

    def change(shape):
        out = []
        for w in words_of(shape):
            t = w.strip("<").split(":")[0]
            new = {"time": "U2", "size_1_2": "U4", "function": "I4"}.get(w.strip("<>").split(":")[1], to.get(t, t))
            out.append(w.replace(t + ":", new + ":", 1))
        return out
    g = Golden()
    g.define(72, 72, "willy_id", ["U8:number"])
    for i in (2, 70, 25):
        g.define(i, i, NAMES[i][0], words_of(NAMES[i][1]))
    for i in (57,):
        g.define(i, i, NAMES[i][0], [w.replace("U4:tag", "I2:tag") for w in words_of(NAMES[i][1])])
    g.std(*INDEX, *STD, words=change)
    return fill(g)


def late():
    """A record behind a later one."""
    g = Golden()
    g.std(*INDEX, *STD)
    fill(g)
    g.rec(70, ".c.0", time=2 ** 33)
    g.rec(22, ".c.0", time=0, willy=0, values=[99], counters=[1])
    g.rec(1, ".c.0", time=30)
    g.rec(22, ".c.0", time=1, willy=0, values=[100], counters=[1])
    return g


def bounds(big):
    """Every data and statistics record with every field at its smallest, at its largest, arrays empty and with two."""
    g = Golden(big)
    data = [i for i, (spec, shape) in NAMES.items() if shape and shape[0].name == "time" and
            spec not in ("add_time", "sub_time", "begin_of_history", "end_of_history", "duration")]
    stats = [15, 17, 23, 43, 44, 52, 62, 63]
    g.std(*INDEX, *STD)
    g.std(*data, *stats)
    fill(g)
    where = {"counter_value": ".c.0", "report": ".r.0", "enter_function": ".f.0", "leave_function": ".f.0"}
    for i in data + stats:
        spec, shape = NAMES[i]
        part = ".sts" if i in stats else where.get(spec) or \
            (".s.0" if "scope" in spec else ".i.0" if "file_io" in spec else ".msg" if spec == "one_to_one_communication" else
             ".cop" if spec.endswith("communication") else ".x.0")
        for limit, count in ((MIN, 0), (MAX, 2), (MIN, 2), (MAX, 1)):
            values = {}
            for k in shape:
                v = limit.get(k.type, 0)
                if k.name == "time":
                    v = 1 if limit is MIN else 1 << 20
                if k.name == "receive_time":
                    v = {0: -2 ** 63, 1: 2 ** 62, 2: 2 ** 31}[count] if limit is MAX else (-2 ** 63, -2 ** 63 + 1)[count > 0]
                if k.type == "C1":
                    values[k.name] = (b"", b"\xc3\xa4", b"\x01\x7f\"\\")[count]
                elif k.array:
                    values[k.name] = [v] * count
                elif not k.name.startswith("size_"):
                    values[k.name] = v
            g.rec(i, part, **values)
    g.rec(22, ".c.0", time=2 ** 32 - 1, willy=0, values=list(range(255)), counters=[1] * 255)
    g.rec(2, ".x.0", time=2 ** 64 - 1 - sum_of_times(g, ".x.0"))
    g.rec(18, ".x.0", time=0, willy=0, text=b"the last stamp")
    g.parts["index"] = b""
    g.declare_files([s for s in [".dcl", ".c.0", ".f.0", ".msg"] + sorted(g.parts) if s != "index"][:0] + sorted(
        s for s in g.parts if s != "index"))
    return g


def sum_of_times(g, part):
    t = object.__new__(sr.Trace)
    t.defs, t.shapes = {i: (re.match(r"RECORD \d+ (\w+)", s).group(1), f) for s, (i, f) in zip(g.lines, g.defs.values())}, {}
    return sum(r.get("time", 0) for r in t.records(sr.Component(part, g.parts[part], g.order)))


def no_records():
    g = Golden()
    g.std(*INDEX)
    g.rec(13, "index", resolution=1e-6, eventbits=3)
    return g


def frame(content):
    lib = sr.ctypes.CDLL(sr.ctypes.util.find_library("zstd") or "libzstd.so.1")
    lib.ZSTD_compress.restype = lib.ZSTD_compressBound.restype = sr.ctypes.c_size_t
    lib.ZSTD_compressBound.argtypes = [sr.ctypes.c_size_t]
    lib.ZSTD_compress.argtypes = [sr.ctypes.c_char_p, sr.ctypes.c_size_t, sr.ctypes.c_char_p, sr.ctypes.c_size_t, sr.ctypes.c_int]
    out = sr.ctypes.create_string_buffer(lib.ZSTD_compressBound(len(content)))
    n = lib.ZSTD_compress(out, len(out), content, len(content), 1)
    return out.raw[:n]


def seekable(contents, checksums=False):
    frames = [frame(c) for c in contents]
    table = b"".join(struct.pack("<II", len(f), len(c)) + (b"abcd" if checksums else b"") for f, c in zip(frames, contents))
    table += struct.pack("<IBI", len(frames), 0x80 if checksums else 0, 0x8F92EAB1)
    return b"".join(frames) + struct.pack("<II", 0x184D2A5E, len(table)) + table


def compressed(big):
    """A frame of columns with differences and one as it is, and anchors; the other files compressed too."""
    g = Golden(big)
    g.std(*INDEX, *STD, 9, 11, 21, 27, 41)
    endian = "big" if big else "little"
    records = [g.rec(22, time=10, willy=0, values=[1000 + 7 * n, 2 ** 64 - 1 - n], counters=[1, 2]) for n in range(200)]
    length = len(records[0])
    places = [(10, 8), (18, 8), (1, 2)]
    rows = [bytearray(r) for r in records]
    for i in range(199, 0, -1):
        for at, width in places:
            v = int.from_bytes(rows[i][at:at + width], endian) - int.from_bytes(rows[i - 1][at:at + width], endian)
            rows[i][at:at + width] = (v % 256 ** width).to_bytes(width, endian)
    columns = b"\1" + struct.pack(g.order + "IHB", 200, length, len(places))
    columns += b"".join(struct.pack(g.order + "HB", *p) for p in places)
    columns += b"".join(bytes(r[n] for r in rows) for n in range(length))
    tail = b"".join(g.rec(22, time=1, willy=0, values=[n], counters=[1]) for n in range(3))
    g.parts[".c.0.zst"] = seekable([columns, b"\0" + tail])
    for text in (b"", b"cyc", b"x"):
        g.string(len(g.parts.get(".dcl", b"")) + 1, text)
    g.parts[".dcl.zst"] = seekable([b"\0" + g.parts.pop(".dcl")], checksums=True)
    for offset, time, values in ((0, 0, []), (200 * length, 2000, [1000 + 7 * 199, 2 ** 64 - 200])):
        g.rec(9, ".c.0.anc", time_prev=time, offset=offset)
        g.rec(11, ".c.0.anc")
        if values:
            g.rec(21, ".c.0.anc", counters=[1, 2], values=values)
        g.rec(27, ".c.0.anc")
    g.declare_files([".dcl", ".c.0", ".c.0.anc"], [(".c.0.anc", ".c.0")])
    return g


REAL = struct.unpack("<Q", struct.pack("<d", 0.1))[0]


def threads(mine=7):
    """Anchors that say whose the values of a counter are that two threads have sampled."""
    g = Golden()
    g.std(*INDEX, *STD, 9, 11, 21, 27, 41)
    fill(g)
    g.parts["index"] = b""
    for offset, time in ((0, 0), (56, 10)):
        g.rec(9, ".c.0.anc", time_prev=time, offset=offset)
        g.rec(11, ".c.0.anc")
        if offset:
            g.rec(21, ".c.0.anc", counters=[1, 2], values=[8, REAL])
            g.rec(22, ".c.0.anc", time=0, willy=0, counters=[1], values=[8])
            g.rec(22, ".c.0.anc", time=0, willy=0x10000, counters=[1, 2], values=[mine, REAL])
        g.rec(27, ".c.0.anc")
    g.declare_files([".dcl", ".c.0", ".f.0", ".msg", ".c.0.anc"], [(".c.0.anc", ".c.0")])
    return g


GOOD = {"threads": threads, "other-ids": other_ids, "other-order": other_order, "missing-fields": missing_fields, "extra": extra,
        "other-types": other_types, "late": late, "bounds-little": lambda: bounds(False), "bounds-big": lambda: bounds(True),
        "no-records": no_records, "frames-little": lambda: compressed(False), "frames-big": lambda: compressed(True)}


# ---- bad ones ----

def small(change=None, ids=(), **kw):
    """A good small trace, or what `change` makes of it."""
    g = Golden(**kw)
    g.std(*INDEX, *STD, *ids)
    fill(g)
    if change:
        change(g)
    return g


def appended(part, ids=(), **values):
    """The small trace with one record more in a component, which is declared if it is a new one."""
    def make(name):
        def change(g):
            if part not in g.parts:
                g.rec(33, "index", id=50, filetype=3, suffix=part.encode())
            g.rec(name, part, **values)
        return lambda: small(change, (name,) + ids).single()
    return make


def line(text, where=1):
    """The small trace with a line more in its definition layer."""
    def make():
        g = small()
        g.lines.insert(where if where >= 0 else len(g.lines) + 1 + where, text)
        return g.single()
    return make


def layer(change):
    def make():
        g = small()
        return g.single(change(g.layer()) + g.parts["index"])
    return make


def anchored(*anchors, histories=True):
    def make():
        g = Golden()
        g.std(*INDEX, *STD, 9, 11, 21, 27, 41)
        fill(g)
        g.parts["index"] = b""
        for offset, time, values in anchors:
            g.rec(9, ".c.0.anc", time_prev=time, offset=offset)
            if histories:
                g.rec(11, ".c.0.anc")
                if values:
                    g.rec(21, ".c.0.anc", counters=[1, 2], values=values)
                g.rec(27, ".c.0.anc")
        g.declare_files([".dcl", ".c.0", ".f.0", ".msg", ".c.0.anc"], [(".c.0.anc", ".c.0")])
        return g.single()
    return make


def info(cls, text):
    def make():
        g = small()
        g.string(9, cls)
        g.rec(12, ".dcl", id=9, name=9, nameself=9)
        g.rec(47, "index", info_class=9, info=text)
        return g.single()
    return make


def packed(data):
    def make():
        g = small()
        g.parts[".c.0.zst"] = data(g.parts.pop(".c.0"))
        return g.single()
    return make


def columns(n, length, fields, body):
    return lambda _: seekable([b"\1" + struct.pack("<IHB", n, length, len(fields)) +
                               b"".join(struct.pack("<HB", *f) for f in fields) + body])


def directory(text):
    return lambda: text


BAD = {
    # sizes
    "size-comment": appended(".x.0", size_1_1=BIG, text=b"")(18),
    "size-collective": appended(".cop", size_1_2=BIG)(3),
    "size-string": appended(".dcl", id=99, size_1_1=BIG, string=b"x")(69),
    "size-processes": appended("index", size_1_1=BIG)(65),
    "size-suffix": appended("index", id=7, filetype=3, size_1_1=BIG, suffix=b".x")(33),
    # time
    "time-below-zero": appended(".c.0", time=2 ** 34)(70),
    "time-overflow": appended(".c.0", time=2 ** 64 - 1)(2),
    # references and declarations
    "declared-twice": appended(".dcl", id=1, name=1)(40),
    "parent-loop": appended(".dcl", id=7, name=1, nameself=1, parent=7)(12),
    "used-before": appended(".dcl", id=8, name=1, nameself=1, parent=9)(12),
    "string-unknown": appended(".dcl", id=9, name=1234, classid=1)(40),
    "undefined-id": lambda: small(lambda g: g.parts.update({".f.0": g.parts[".f.0"] + b"\xe9"})).single(),
    # files
    "suffix-path": appended("index", id=7, filetype=3, suffix=b"./../../etc/passwd")(33),
    "suffix-no-dot": appended("index", id=7, filetype=3, suffix=b"x")(33),
    "suffix-twice": appended("index", id=7, filetype=3, suffix=b".c.0")(33),
    "missing-component": appended("index", id=7, filetype=3, suffix=b".c.9")(33),
    # definition layer
    "magic": layer(lambda t: b"STF 2.0 LITTLE\n" + t.split(b"\n", 1)[1]),
    "no-end": layer(lambda t: t[:-4]),
    "id-zero": line("RECORD 0 zero U4:x"),
    "id-large": line("RECORD 234 large U4:x"),
    "id-twice": line("RECORD 22 again U4:x", -1),
    "type-unknown": line("RECORD 100 odd U3:x"),
    "type-itself": line("RECORD 100 loop loop:x"),
    "array-no-size": line("RECORD 100 odd <U4:x>"),
    "size-no-array": line("RECORD 100 odd U4:size_1_2 <U4:x>"),
    "size-signed": line("RECORD 100 odd I4:size_1_1 <U4:x>"),
    "field-twice": line("RECORD 100 odd U4:x U1:x"),
    "name-basic": line("RECORD 100 U4 U4:x"),
    "default-text": line("RECORD 100 odd U4:x=many"),
    "nesting": lambda: deep(),
    "unknown-line": line("TABLE 1"),
    # anchors
    "anchor-past-end": anchored((0, 0, []), (10 ** 6, 10, [])),
    "anchor-inside": anchored((0, 0, []), (5, 10, [])),
    "anchor-time": anchored((0, 0, []), (34, 11, [7, 0x3fb999999999999a])),
    "anchor-not-first": anchored((34, 10, [7, 0x3fb999999999999a])),
    "anchor-backwards": anchored((0, 0, []), (34, 10, [7, 0x3fb999999999999a]), (0, 0, [])),
    "anchor-values": anchored((0, 0, []), (34, 10, [8, 0x3fb999999999999a])),
    "anchor-lacks-values": anchored((0, 0, []), (34, 10, [])),
    "anchor-thread": lambda: threads(8).single(),
    "anchor-no-histories": anchored((0, 0, []), (34, 10, [7, 0x3fb999999999999a]), histories=False),
    # what the index states
    "checksum": info(b"integrity", b".c.0 75 xxh3:0123456789abcdef"),
    "size-stated": info(b"integrity", b".c.0 80 xxh3:0123456789abcdef"),
    "duration": lambda: small(lambda g: g.parts.update({"index": g.parts["index"].replace(
        g.rec(25, start=0, end=2 ** 64 - 1), g.rec(25, start=0, end=8))})).single(),
    "summary": appended("index", num_funcs=3, num_one_to_ones=3, num_counters=9)(32),
    "resolution": lambda: small(lambda g: g.parts.update({"index": g.parts["index"].replace(
        g.rec(13, resolution=1e-9), g.rec(13, resolution=-1.0))})).single(),
    # frames
    "frame-cut": packed(lambda p: seekable([b"\0" + p])[:-5]),
    "frame-kind": packed(lambda p: seekable([b"\2" + p])),
    "frame-count": packed(columns(BIG, 31, [], b"x" * 31)),
    "frame-length": packed(columns(1, 4, [], b"12345")),
    "frame-field": packed(columns(1, 4, [(3, 2)], b"1234")),
    "frame-width": packed(columns(1, 4, [(0, 3)], b"1234")),
    "frame-rubbish": packed(lambda p: b"rubbish, no frame at all"),
    "frame-table": packed(lambda p: seekable([b"\0" + p])[:-9] + struct.pack("<IBI", BIG, 0, 0x8F92EAB1)),
    # single-file directory
    "dir-past-end": lambda: small().single(offset=lambda s, at, n: (at, n + (10 ** 6 if s == ".msg" else 0))),
    "dir-huge": lambda: small().single(offset=lambda s, at, n: (2 ** 64 - 1, 2) if s == ".msg" else (at, n)),
    "dir-no-end": directory(b"STFSINGLE 1.0\nFILE base 30 0\n"),
    "dir-no-base": directory(b"STFSINGLE 1.0\nFILE .dcl 40 0\nEND\n"),
    "dir-twice": directory(b"STFSINGLE 1.0\nFILE base 40 0\nFILE .c 40 0\nFILE .c 40 0\nEND\n"),
    "dir-negative": directory(b"STFSINGLE 1.0\nFILE base -1 20\nEND\n"),
}


def deep():
    g = small()
    g.lines[1:1] = ["RECORD %d n%d %s:x" % (100 + n, n, "n%d" % (n - 1) if n else "U1") for n in range(20)]
    return g.single()


MIXED = """CLKPERIOD 1e-9
NCPUS 3 2
DEFCLASS 1 "A" SELF "A" PARENT 0
DEFFUNCTION 1 "f" CLASS 1
DEFFUNCTION 2 "g" CLASS 1
DEFSCOPE 1 "s" CLASS 1 SCL1 0 SCL2 0
DEFCOUNTER 1 "c" CLASS 1 CPU 1 TYPE 3
DEFCOUNTER 2 "d" CLASS 1 CPU 1 TYPE 3
DEFCOMM 1 "w" LEFT 0 FIRST 1 1 LAST 1 2 STRIDE 1 1
DEFCOLLOP 1 "bar" TYPE 1
DEFIOFILE 1 "x" COMM 1"""


def mixed(late):
    random.seed(20261121)
    t, seq, scopes, depth = 0, 0, [], {c: 0 for c in (1, 65537, 131073, 2, 65538)}
    print(MIXED)
    for n in range(60000):
        t += random.randint(0, 300) + (2 ** 33 if random.random() < 0.0002 else 0)
        t -= min(t, 5000) if late and random.random() < 0.001 else 0
        c, k = random.choice(list(depth)), random.random()
        if k < .25:
            print(t, "SAMP CPU", c, "DEF 1 UINT 8", n, *(["DEF 2 UINT 8", n * n] if k < .1 else []))
        elif k < .4 or (k < .55 and not depth[c]):
            print(t, "ENTER CPU", c, "FUNCTION", random.randint(1, 2))
            depth[c] += 1
        elif k < .55:
            print(t, "LEAVE CPU", c)
            depth[c] -= 1
        elif k < .7:
            print(t, "MESSAGE FROM 1 TO 2 TIME", random.choice([5, 500, 100000, -3, 0, "NORECV", "NOSEND"]), "COMM 1 TAG 3 LEN 8")
        elif k < .75:
            print(t, "COLLALL COMM 1 OP 1 START 2 -", random.randint(0, 9), "TIME 2 0", random.randint(0, 99999))
        elif k < .85 or (k < .95 and not scopes):
            seq += 1
            scopes.append((c, seq))
            print(t, "ENTERSCOPE CPU", c, "SCOPE 1 SEQ", seq)
        elif k < .95:
            print(t, "LEAVESCOPE CPU %d SCOPE 1 SEQ %d" % scopes.pop(random.randrange(len(scopes))))
        else:
            print(t, random.choice(["IOBEGIN", "IOEND"]), "CPU", c, "TYPE", random.randint(0, 1), "FILE 1 LEN 5")


def main():
    if sys.argv[1] in ("--mixed", "--late"):
        return mixed(sys.argv[1] == "--late")
    for name, make in GOOD.items():
        with open(os.path.join(sys.argv[1], name + ".single.stf"), "wb") as f:
            f.write(make().single())
    for name, make in BAD.items():
        with open(os.path.join(sys.argv[1], "bad-" + name + ".single.stf"), "wb") as f:
            f.write(make())


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A second reader of LTTng traces of 2008, written from the format's description alone (doc/exchange.md, LTTng), before the one in C.

    lttng_reader.py DIR            one line per event, in the order of time
    lttng_reader.py --sums DIR     per marker and field: number of values and their exact sum

A line is: file, stamp, nanoseconds since 1970 (rounded half up), marker, field=value ...
Floating-point values are printed in hexadecimal, so that they can be compared to the last bit.
Any fault ends it with a line that names file and offset, and status 1.
"""
import json
import os
import re
import struct
import sys
from fractions import Fraction

MAGIC = 0x00D6B7ED
BLOCK_HEADER = 40
FIELDS = (("magic", "I"), ("arch_type", "I"), ("arch_variant", "I"), ("float_word_order", "I"), ("arch_size", "B"),
          ("major", "B"), ("minor", "B"), ("flight_recorder", "B"), ("has_heartbeat", "B"), ("alignment", "B"),
          ("tsc_lsb_truncate", "B"), ("tscbits", "B"), ("compact_data_shift", "B"), ("freq_scale", "I"),
          ("start_freq", "Q"), ("start_tsc", "Q"), ("start_monotonic", "Q"), ("seconds", "I"), ("nanoseconds", "I"))
SIZE = {"B": 1, "I": 4, "Q": 8}
CORE = {0: ("marker_id", (("name", "s", 0), ("id", "u", 2))), 1: ("marker_format", (("name", "s", 0), ("format", "s", 0))),
        2: ("time_heartbeat", ())}


class Fault(Exception):
    pass


def up(offset, to):
    return (offset + to - 1) // to * to if to > 1 else offset


class File:
    def __init__(self, path):
        self.path = path
        with open(path, "rb") as f:
            self.data = f.read()
        if self.data:
            self.read_header()

    def fault(self, offset, text):
        raise Fault(f"{self.path}: offset {offset}: {text}")

    def take(self, order, code, offset):
        if offset + SIZE[code] > len(self.data):
            self.fault(offset, "the file ends here")
        return struct.unpack_from(order + code, self.data, offset)[0]

    def header_as(self, natural):
        h, at = {}, BLOCK_HEADER
        for name, code in FIELDS:
            at = up(at, SIZE[code]) if natural else at
            h[name] = self.take(self.order, code, at)
            at += SIZE[code]
        h["end"] = at
        return h

    def read_header(self):
        for self.order in "<>":
            if self.take(self.order, "I", BLOCK_HEADER) == MAGIC:
                break
        else:
            self.fault(BLOCK_HEADER, "no magic number")
        begin_freq = self.take(self.order, "Q", 8)
        good = []
        for natural in (0, 1):
            h = self.header_as(natural)
            if h["freq_scale"] and h["start_freq"] and h["nanoseconds"] < 10 ** 9 and h["arch_size"] in (4, 8):
                ratio = Fraction(h["start_freq"], max(begin_freq, 1))
                good.append((not Fraction(1, 2) <= ratio <= 2, natural, h))
        if not good:
            self.fault(BLOCK_HEADER, "the trace header makes no sense, neither packed nor aligned")
        h = min(good, key=lambda g: g[:2])[2]
        self.h = h
        if h["float_word_order"] not in (1234, 4321):
            self.fault(BLOCK_HEADER + 12, "float_word_order")
        self.float_order = "<" if h["float_word_order"] == 1234 else ">"
        self.freq = Fraction(h["start_freq"], h["freq_scale"])

    def time_ns(self, tsc):
        t = (h := self.h)["seconds"] * 10 ** 9 + h["nanoseconds"] + (tsc - h["start_tsc"]) * 10 ** 9 / self.freq
        return int((t + Fraction(1, 2)).__floor__())

    def blocks(self):
        at, size = 0, None
        while at < len(self.data):
            begin, _, end, _, lost, this = struct.unpack_from(self.order + "QQQQII", self.data, at) \
                if at + BLOCK_HEADER <= len(self.data) else self.fault(at, "a block is cut")
            if self.take(self.order, "I", at + BLOCK_HEADER) != MAGIC:
                self.fault(at + BLOCK_HEADER, "no magic number")
            if size not in (None, this) or this < self.h["end"] or at + this > len(self.data) or lost > this - self.h["end"]:
                self.fault(at, "the sizes of a block")
            size = this
            yield at, begin, end, at + self.h["end"], at + this - lost
            at += this

    def events(self):
        h = self.h
        for base, begin, end, at, stop in self.blocks():
            now = begin
            while True:
                at = base + up(at - base, h["alignment"])
                if at >= stop:
                    break
                first, stamp = at, self.take(self.order, "I" if h["has_heartbeat"] else "Q", at)
                at += 4 if h["has_heartbeat"] else 8
                facility, event = self.take(self.order, "B", at), self.take(self.order, "B", at + 1)
                size = struct.unpack_from(self.order + "H", self.data, at + 2)[0] if at + 4 <= stop else \
                    self.fault(at, "an event header is cut")
                at += 4
                if h["alignment"]:
                    at = base + up(at - base, h["arch_size"])
                if at + size > stop:
                    self.fault(first, "an event crosses its block")
                if h["has_heartbeat"]:
                    stamp += now >> 32 << 32
                    stamp += (stamp < now) << 32
                now = stamp
                yield first, stamp, facility, event, at, size
                at += size

    def values(self, fields, at, size, first):
        start, out = at, []
        for name, kind, n in fields:
            if kind == "s":
                end = self.data.find(b"\0", at, start + size)
                if end < 0:
                    self.fault(first, "a text without an end")
                out.append((name, self.data[at:end].decode("utf-8", "surrogateescape")))
                at = end + 1
                continue
            n = n or self.h["arch_size"]
            at = start + up(at - start, n) if self.h["alignment"] else at
            if at + n > start + size:
                self.fault(first, "an event is shorter than its fields")
            raw = self.data[at:at + n]
            if kind == "f":
                out.append((name, struct.unpack((self.float_order) + ("d" if n == 8 else "f"), raw)[0]))
            else:
                out.append((name, int.from_bytes(raw, "little" if self.order == "<" else "big", signed=kind == "d")))
            at += n
        return out


def parse_format(text):
    fields = []
    for name, size, sign, conversion in re.findall(r"(\S+)\s+(?:#(\d+)([a-z]*))?%([a-z]+)", text):
        kind = conversion[-1]
        n = {"s": 0, "f": 8, "p": 0}.get(kind)
        if n is None:
            n = {"": 4, "l": 0, "ll": 8}[conversion[:-1]]
        if size:
            n = int(size)
            kind = "u" if "u" in sign else "f" if kind == "f" else "d"
        kind = {"i": "d", "x": "u", "p": "u"}.get(kind, kind)
        fields.append((name, kind, n))
    return tuple(fields)


def read_trace(folder):
    ids, formats = {}, {}
    control = os.path.join(folder, "control")
    for name in sorted(os.listdir(control)):
        if not name.startswith("facilities_"):
            continue
        f = File(os.path.join(control, name))
        if not f.data:
            continue
        for first, _, facility, event, at, size in f.events():
            if facility or event not in CORE:
                f.fault(first, "not an event of the facility core")
            v = dict(f.values(CORE[event][1], at, size, first))
            if event == 0:
                ids[v["id"]] = v["name"]
            elif event == 1:
                formats[v["name"]] = parse_format(v["format"])
    lines = []
    cpus = sorted((n for n in os.listdir(folder) if re.fullmatch(r"cpu_\d+", n)), key=lambda n: int(n[4:]))
    others = sorted(n for n in os.listdir(control) if re.fullmatch(r".*_\d+", n) and not n.startswith("facilities_"))
    for path in [os.path.join(control, n) for n in others] + [os.path.join(folder, n) for n in cpus]:
        name = os.path.basename(path)
        f = File(path)
        if not f.data:
            continue
        for first, stamp, facility, event, at, size in f.events():
            if facility == 0 and event == 2:
                continue
            marker = CORE[event][0] if facility == 0 and event in CORE else ids.get(facility * 256 + event)
            if marker is None or (facility and marker not in formats):
                f.fault(first, f"event {event} of facility {facility} is not described")
            fields = CORE[event][1] if facility == 0 else formats[marker]
            lines.append((f.time_ns(stamp), len(lines), name, stamp, marker, f.values(fields, at, size, first)))
    return sorted(lines, key=lambda e: e[:2])


def shown(value):
    return json.dumps(value) if isinstance(value, str) else value.hex() if isinstance(value, float) else str(value)


def main():
    sums = sys.argv[1] == "--sums"
    try:
        events = read_trace(sys.argv[-1])
    except (Fault, OSError) as e:
        sys.exit(f"lttng_reader: {e}")
    total = {}
    for ns, _, name, stamp, marker, values in events:
        if not sums:
            print(name, stamp, ns, json.dumps(marker), *(f"{k}={shown(v)}" for k, v in values))
        for k, v in values:
            if not isinstance(v, str):
                n, s = total.get((marker, k), (0, Fraction(0)))
                total[marker, k] = n + 1, s + Fraction(v)
    if sums:
        for (marker, k), (n, s) in sorted(total.items()):
            print(json.dumps(marker), k, n, s)


main()

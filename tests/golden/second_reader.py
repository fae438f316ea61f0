#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A second reader of STF, made from the format's pages alone (doc/stf-format.md, stf-1.0-records.txt) and
without a look at stf/, so that page and library check each other: it prints what `stftool --dump` prints.

    second_reader.py TRACE               the text; exit status 1, with all that is before the fault, if one was found
    second_reader.py --serve OUT ERR     the same for each name on standard input, into these files; prints the statuses

It also compares every anchor with the data: offset, time and histories. Speed is no aim. One file, though
long, so that it can be taken along alone."""
import ctypes
import ctypes.util
import heapq
import os
import re
import struct
import sys
import traceback

BASIC = {"U1": "B", "U2": "H", "U4": "I", "U8": "Q", "I1": "b", "I2": "h", "I4": "i", "I8": "q",
         "F4": "f", "F8": "d", "C1": "B", "O8": "Q"}
DECL_FILE, ANCHOR_FILE, DATA_FILE, STATS_FILE = 1, 2, 3, 4
UNKNOWN = 2 ** 64 - 1
RECEIVE_UNKNOWN, SEND_UNKNOWN = -2 ** 63, -2 ** 63 + 1
UNSIGNED = ("U1", "U2", "U4", "U8")
LONGEST_DIRECTORY_LINE, MOST_FIELDS, DEEPEST = 263, 256, 16
LARGEST_FRAME = 2 ** 24
MISSING = {"receive_time": RECEIVE_UNKNOWN, "start_time": UNKNOWN, "skew": 1}


class Fault(Exception):
    """What is wrong, with file and offset."""


class Field:
    """One field of a definition: TYPE:NAME[:REFERENCE][=DEFAULT], in <> for an array."""

    def __init__(self, word, nested):
        self.array = word.startswith("<")
        if self.array != word.endswith(">"):
            raise Fault("an array without its end: " + word)
        word, _, default = word.strip("<>").partition("=")
        parts = word.split(":")
        self.default = number(default) if default else None
        if len(parts) < 2 or (parts[0] not in BASIC and parts[0] not in nested):
            raise Fault("a field of unknown type: " + word)
        self.type, self.name = parts[0], parts[1]
        self.basic = [self.type] if self.type in BASIC else [b for f in nested[self.type] for b in f.basic]
        self.depth = 0 if self.type in BASIC else 1 + max(f.depth for f in nested[self.type])
        size = re.fullmatch(r"size_(\d+)_(\d+)", self.name)
        self.arrays = int(size.group(2)) if size and not self.array else None


def check_definition(ident, spec, fields):
    """What section 3 asks of one definition."""
    names = [f.name for f in fields]
    if not 1 <= ident <= 233 or spec in BASIC or not all(re.fullmatch(r"\w{1,64}", n, re.ASCII) for n in names + [spec]):
        raise Fault("base: not an id, specifier and names: %d %s" % (ident, spec))
    if len(set(names)) < len(names) or len(fields) > MOST_FIELDS or any(f.depth > DEEPEST for f in fields):
        raise Fault("base: %s: too many fields, too deep, or one twice" % spec)
    due = 0
    for f in fields:
        if f.array != (due > 0) or (f.arrays is not None and f.type not in UNSIGNED):
            raise Fault("base: %s: sizes and arrays do not fit at %s" % (spec, f.name))
        due = due - 1 if f.array else f.arrays or 0
    if due:
        raise Fault("base: %s: an array is missing at its end" % spec)


class Known:
    """A field of a record as stf-1.0-records.txt has it; group: the arrays that share its size field."""

    def __init__(self, words, group):
        self.type, self.name = words[0].strip("<>"), words[1]
        self.array, self.group = words[0][0] == "<", group
        self.ref = words[2] if len(words) > 2 else None

    def takes(self, f):
        """Can a field of the file become this one?"""
        text = [self.type == "C1", "C1" in f.basic]
        return self.array == f.array and text[0] == text[1] and len(f.basic) == 1

    def convert(self, v, f):
        if self.type in ("F4", "F8"):
            return float(v)
        if self.type == "O8":
            return struct.unpack("<Q", struct.pack("<d", v))[0] if f.basic[0] in ("F4", "F8") else v % 2 ** 64
        return v


def read_table(path):
    """specifier: [(id, fields of that incarnation)]"""
    table = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            words = line.split()
            if line.startswith("#") or not words:
                continue
            if line[0] != " ":
                fields, group, left = [], None, 0
                table.setdefault(re.sub(r"_\d+$", "", words[1]), []).append((int(words[0]), fields))
                continue
            left -= 1
            fields.append(Known(words, group if left >= 0 else None))
            if words[1].startswith("size_"):
                group, left = words[1], int(words[1].split("_")[2])
    return table


TABLE = read_table(os.path.join(os.path.dirname(os.path.abspath(__file__)), "stf-1.0-records.txt"))


def number(text):
    try:
        return int(text, 0)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise Fault("base: not a default value: " + text) from None


class Component:
    """The bytes of one file of the trace, and a place in them."""

    def __init__(self, name, data, order):
        self.name, self.data, self.order, self.at = name, data, order, 0
        self.cut = False                  # more was there once

    def take(self, field):
        fmt = self.order + "".join(BASIC[b] for b in field.basic)
        n = struct.calcsize(fmt)
        if len(self.data) - self.at < n:
            raise Fault("cut short")
        values = struct.unpack_from(fmt, self.data, self.at)
        self.at += n
        return values[0] if len(values) == 1 else values

    def take_array(self, field, count):
        width = struct.calcsize("<" + "".join(BASIC[b] for b in field.basic))
        if (len(self.data) - self.at) < count * width:
            raise Fault("%d elements of %s are more than the file holds" % (count, field.name))
        if field.type in ("C1", "U1"):
            self.at += count
            return bytes(self.data[self.at - count:self.at])
        return [self.take(field) for _ in range(count)]


class Trace:
    identities = ()

    def __init__(self, path):
        self.path, self.faults = path, []
        self.short = set()                # components that the file is too short for
        self.identities = []              # of the index: what the components carry
        self.defs, self.shapes, self.order = {}, {}, "<"
        self.parts = self.directory() if path.endswith(".single.stf") else None
        base = self.component("base", compressed=False)
        self.read_definitions(base)
        self.tables = {}                  # specifier: records, in order
        self.ids = set()                  # (specifier, id) of what was declared
        self.declare(base)
        self.identities = [(i["high"], i["low"]) for i in self.tables.get("trace_identity", [])]
        if any(i["checksums"] for i in self.tables.get("trace_identity", [])[:1]):
            self.check_base(base.data)
        for f in self.files(DECL_FILE):
            self.declare(self.component(f), references=True)
        try:
            for kind in ("anchor_file_declaration", "info"):
                for rec in self.tables.get(kind, []):
                    self.check_references(rec)
        except Fault as e:
            self.faults.append(str(e))
        self.strings = {s["id"]: s["string"] for s in self.tables.get("stf_string", [])}

    # ---- files ----

    def directory(self):
        with open(self.path, "rb") as f:
            data = f.read()
        head, end, _ = data.partition(b"\nEND\n")
        lines = head.decode("latin-1").split("\n")
        if lines[0] != "STFSINGLE 1.0" or not end:
            raise Fault(self.path + ": no single-file trace")
        parts = {}
        for line in lines[1:]:
            words = re.fullmatch(r"FILE (base|\.[^ /]+) ([0-9]+) ([0-9]+)", line)
            if not words or len(line) > LONGEST_DIRECTORY_LINE or words[1] in parts:
                raise Fault(self.path + ": no line of a directory: " + line)
            start, size = int(words[2]), int(words[3])
            parts[words[1]] = data[start:start + size]
            if start + size > len(data):
                self.short.add(words[1])
        if "base" not in parts:
            raise Fault(self.path + ": no base file in its directory")
        return parts

    def component(self, suffix, compressed=True):
        data = None
        name = self.path if suffix == "base" else self.path + suffix
        for ending in ("", ".zst") if compressed else ("",):
            if self.parts is not None:
                data = self.parts.get(suffix + ending)
            elif os.path.exists(name + ending):
                with open(name + ending, "rb") as f:
                    data = f.read()
            if data is not None:
                whole, content = self.unpack(data) if ending else (True, data)
                c = Component(suffix, content, self.order)
                c.cut = not whole or suffix + ending in self.short
                return c
        raise Fault("%s: is missing" % name)

    def unpack(self, data):
        """Section 9: Zstandard frames, then the seek table of the seekable format: is all well, and the content."""
        places = seek_table(data)
        out = b""
        try:
            for packed, size in places if places is not None else frames_without_table(data):
                if size > 2 ** 17 * (len(packed) // 3 + 1):
                    raise Fault("a frame of more than its packed size allows")
                out += self.unpack_frame(zstd(packed, size))
        except Fault:
            return False, out             # the other files are read to their ends
        return places is not None, out

    def unpack_frame(self, frame):
        if frame[:1] == b"\0":
            return frame[1:]
        if frame[:1] == b"\2":
            return self.unpack_two_lengths(frame)
        if frame[:1] != b"\1":
            raise Fault("a frame of unknown form")
        n, length, n_fields = struct.unpack_from(self.order + "IHB", frame, 1)
        fields = [struct.unpack_from(self.order + "HB", frame, 8 + 3 * i) for i in range(n_fields)]
        columns = frame[8 + 3 * n_fields:]
        if n * length != len(columns) or any(w not in (1, 2, 4, 8) or at + w > length for at, w in fields):
            raise Fault("a frame's columns do not fit it")
        rows = [bytearray(columns[i::n]) for i in range(n)]
        endian = "little" if self.order == "<" else "big"
        for i in range(1, n):
            for at, width in fields:
                v = int.from_bytes(rows[i][at:at + width], endian) + int.from_bytes(rows[i - 1][at:at + width], endian)
                rows[i][at:at + width] = (v % 256 ** width).to_bytes(width, endian)
        return b"".join(rows)

    def unpack_two_lengths(self, frame):
        if len(frame) < 17:
            raise Fault("a frame's columns do not fit it")
        n, short, length, long, longer_length, once = struct.unpack_from(self.order + "IBBBBQ", frame, 1)
        at = 17 + (n + 7) // 8
        bits = int.from_bytes(frame[17:at], "little")
        longer = bin(bits).count("1")
        if at > len(frame) or bits >> n or not 0 < length <= longer_length <= 65 or \
                n * length + longer * (longer_length - length) > LARGEST_FRAME:
            raise Fault("a frame's columns do not fit it")
        columns = []
        for c in range(longer_length - 1):
            rows = n if c < length - 1 else longer
            stored = 1 if once >> c & 1 else rows
            if at + stored > len(frame):
                raise Fault("a frame's columns do not fit it")
            columns.append(iter(frame[at:at + 1] * rows if once >> c & 1 else frame[at:at + rows]))
            at += stored
        if at != len(frame):
            raise Fault("a frame's columns do not fit it")
        out = bytearray()
        for i in range(n):
            is_longer = bits >> i & 1
            out.append(long if is_longer else short)
            out.extend(next(c) for c in columns[:(longer_length if is_longer else length) - 1])
        return bytes(out)

    def files(self, filetype):
        return [f["suffix"].decode() for f in self.tables.get("file_declaration", []) if f["filetype"] == filetype]

    # ---- records ----

    def read_definitions(self, base):
        nested = {}
        first = True
        while True:
            end = base.data.find(b"\n", base.at)
            if end < 0:
                raise Fault("base: the definition layer has no end")
            line = base.data[base.at:end].decode("latin-1")
            base.at = end + 1
            words = line.split()
            if first:
                if words not in (["STF", "1.0", "LITTLE"], ["STF", "1.0", "BIG"]):
                    raise Fault("base: no STF 1.0 trace")
                self.order = base.order = "<" if words[2] == "LITTLE" else ">"
                first = False
            elif words == ["END"]:
                return
            elif words and words[0] == "RECORD":
                if len(words) < 3 or not words[1].isdigit() or int(words[1]) in self.defs:
                    raise Fault("base: no definition, or an id twice: " + line)
                fields = [Field(w, nested) for w in words[3:]]
                check_definition(int(words[1]), words[2], fields)
                self.defs[int(words[1])] = (words[2], fields)
                if fields:                # without any it is no type
                    nested[words[2]] = fields
            elif words and not line.startswith("#"):
                raise Fault("base: a line that is no definition: " + line)

    def incarnation(self, ident):
        """Which of the known incarnations a record of this id is: most fields in common, then fewest missing,
        then most of the same type, then the same id, then the lowest."""
        spec, fields = self.defs[ident]
        mine = {f.name: f for f in fields}

        def rank(known):
            common = [k for k in known[1] if k.name in mine and k.takes(mine[k.name])]
            same = sum(mine[k.name].type == k.type for k in common)
            return len(common), len(common) - len(known[1]), same, known[0] == ident, -known[0]
        return max(TABLE[spec], key=rank)[1] if spec in TABLE else None

    def default(self, spec, known):
        for other, fields in self.defs.values():
            for f in fields if other == spec else []:
                if f.name == known.name and f.default is not None:
                    return f.default
        return MISSING.get(known.name, 0)

    def deliver(self, ident, found):
        """The record as the known incarnation has it; found: name -> (field, value)."""
        spec = self.defs[ident][0]
        if ident not in self.shapes:
            self.shapes[ident] = self.incarnation(ident)
        rec = {"": spec}
        if spec == "trace_identity":
            rec.update((name, v) for name, (_, v) in found.items())
            return rec
        if self.shapes[ident] is None:        # unknown: skipped, but its time counts
            rec["time"] = found["time"][1] if "time" in found and not found["time"][0].array else 0
            return rec
        for k in self.shapes[ident]:
            if k.name in found and k.takes(found[k.name][0]):
                f, v = found[k.name]
                rec[k.name] = v if isinstance(v, bytes) else [k.convert(e, f) for e in v] if k.array else k.convert(v, f)
        for k in self.shapes[ident]:
            if k.name not in rec:
                n = max([len(rec[o.name]) for o in self.shapes[ident] if k.array and o.group == k.group and o.name in rec] + [0])
                v = k.convert(self.default(spec, k), Field("U8:x", {}))
                rec[k.name] = v if not k.array else bytes([v]) * n if k.type in ("C1", "U1") else [v] * n
        return rec

    def record(self, c):
        start = c.at
        try:
            kind = self.defs.get(c.data[c.at])
            if kind is None:
                raise Fault("record %d is not defined" % c.data[c.at])
            c.at += 1
            found, sizes = {}, []
            for f in kind[1]:
                if f.array:
                    if not sizes:
                        raise Fault("the array %s has no size" % f.name)
                    found[f.name] = f, c.take_array(f, sizes.pop(0))
                else:
                    found[f.name] = f, c.take(f)
                    if f.arrays:
                        sizes += [found[f.name][1]] * f.arrays
            rec = self.deliver(c.data[start], found)
            if start == 0:
                self.check_identity(rec)
            return rec
        except Fault as e:
            c.at = start
            raise Fault("%s: offset %d: %s" % (c.name, start, e)) from e

    def check_identity(self, rec):
        """The first record of a component, section 3."""
        own = (rec["high"], rec["low"]) if rec[""] == "trace_identity" else None
        if (own in self.identities) != (own is not None) or (own is None and self.identities):
            raise Fault("belongs to another trace: %s, not %s" % (own, self.identities))

    def check_base(self, data):
        """The base file ends with the checksum of all that is ahead of its 16 digits."""
        if bytes(data[-21:-16]) != b"xxh3:" or xxh3(bytes(data[:-16])) not in (None, bytes(data[-16:]).decode("latin-1")):
            self.faults.append("base: is damaged, or cut ahead of its checksum")

    def records(self, c):
        while c.at < len(c.data):
            yield self.record(c)
        if c.cut:
            raise Fault("%s: offset %d: is cut short" % (c.name, c.at))

    def check_references(self, rec):
        for k in self.known(rec):
            if k.ref and k.ref.endswith(".id"):
                v = rec[k.name]
                for ident in v if k.array else [v]:
                    if ident and (k.ref[:-3], ident) not in self.ids:
                        raise Fault("%s: refers to what was not declared, %s %d" % (rec[""], k.name, ident))

    @staticmethod
    def known(rec):
        return max((shape for _, shape in TABLE.get(rec[""], [])), default=[],
                   key=lambda shape: sum(k.name in rec for k in shape) - sum(k.name not in rec for k in shape))

    def declare(self, c, references=False):
        try:
            for rec in self.records(c):
                if rec[""] == "file_declaration":
                    self.check_suffix(rec["suffix"])
                if references:
                    self.check_references(rec)
                ident = rec.get("id", rec.get("willy") if rec[""] in ("willy_definition", "willy_name") else None)
                if ident is not None and (rec[""], ident) in self.ids:
                    raise Fault("%s: declared twice: %d" % (rec[""], ident))
                self.ids.add((rec[""], ident))
                self.tables.setdefault(rec[""], []).append(rec)
        except Fault as e:
            self.faults.append(str(e))

    def check_suffix(self, suffix):
        if not 2 <= len(suffix) <= 200 or suffix[:1] != b"." or b"/" in suffix or b"\0" in suffix or \
           suffix in [f["suffix"] for f in self.tables.get("file_declaration", [])]:
            raise Fault("file_declaration: no suffix, or there twice: %r" % suffix)

    def events(self, c, boundaries=None):
        """(time, record) of a data file; boundaries: offset -> time before, and what histories must hold."""
        time, state = 0, {"counters": {}, "own": {}, "stacks": {}, "open": [], "late": False}
        while True:
            if boundaries is not None:
                boundaries(c.at, time, state)
            if c.at >= len(c.data):
                if c.cut:
                    self.faults.append("%s: offset %d: is cut short" % (c.name, c.at))
                return
            try:
                at, before, rec = c.at, time, self.record(c)
            except Fault as e:
                self.faults.append(str(e))
                return
            time += (-1 if rec[""] == "sub_time" else 1) * rec.get("time", 0)
            if not 0 <= time < 2 ** 64:
                self.faults.append("%s: offset %d: the time leaves 64 bits" % (c.name, at))
                return
            remember(state, rec, time, (at, before))
            if rec[""] not in ("add_time", "sub_time", "trace_identity"):
                yield time, rec

    def all_events(self):
        """In order of time, and of the files where the times are equal."""
        def numbered(i, suffix):
            for time, rec in self.events(self.component(suffix)):
                yield time, i, rec
        merged = heapq.merge(*(numbered(i, s) for i, s in enumerate(self.files(DATA_FILE))), key=lambda e: e[:2])
        # a writer may have stepped back in time
        return iter(sorted(merged, key=lambda e: e[0]))

    def string(self, ident):
        return self.strings.get(ident)

    # ---- what the index states ----

    def check_statements(self):
        kinds = {}
        for d in self.tables.get("duration", [{"start": 0, "end": UNKNOWN}])[:1]:
            for time, _, rec in self.all_events():
                kinds[rec[""]] = kinds.get(rec[""], 0) + 1
                if not d["start"] <= time <= d["end"]:
                    raise Fault("%s at %d is outside the duration" % (rec[""], time))
        for s in self.tables.get("event_summary", [])[:1]:
            for name, what in (("num_funcs", ["enter_function"]), ("num_scopes", ["enter_scope"]),
                               ("num_one_to_ones", ["one_to_one_communication"]), ("num_counters", ["counter_value"]),
                               ("num_collectives", [k for k in kinds if k.startswith(("all_", "one_to_all"))])):
                if s[name] != min(sum(kinds.get(k, 0) for k in what), 2 ** 32 - 1):
                    raise Fault("event_summary: %s is not %d" % (name, s[name]))
        for c in self.tables.get("clock_resolution", [])[:1]:
            if not 0 < c["resolution"] < float("inf"):
                raise Fault("clock_resolution: %g s are no unit of time" % c["resolution"])
        names = {c["id"]: self.string(c["name"]) for c in self.tables.get("class_definition", [])}
        for i in self.tables.get("info", []):
            if names.get(i["info_class"]) == b"integrity":
                self.check_integrity(i["info"].decode())

    def check_integrity(self, text):
        suffix, size, *digest = text.split(" ")
        if size == "blocks":
            return self.check_blocks(suffix, [int(d, 16) for d in digest])
        digest, = digest
        if suffix == "base":
            return None
        if self.parts is not None:
            data = self.parts.get(suffix, b"")
        else:
            with open(self.path + suffix, "rb") as f:
                data = f.read()
        if len(data) != int(size):
            raise Fault("%s: has %d bytes, not %s" % (suffix, len(data), size))
        if digest.startswith("xxh3:") and xxh3(data) not in (None, digest[5:]):
            raise Fault("%s: has another checksum" % suffix)
        return None

    def check_blocks(self, suffix, numbers):
        """LENGTH TIME HASH of each block: bytes, and where and when records begin."""
        c, at = self.component(suffix), 0
        times = {}
        if suffix in self.files(DATA_FILE):
            for _ in self.events(self.component(suffix), lambda offset, time, state: times.setdefault(offset, time)):
                pass
        for length, time, digest in zip(numbers[::3], numbers[1::3], numbers[2::3]):
            at += length
            if xxh3(c.data[at - length:at]) not in (None, "%016x" % digest):
                raise Fault("%s: the block that ends at %d is damaged" % (suffix, at))
            if times.get(at, time) != time or (times and at not in times):
                raise Fault("%s: no record begins at %d, at time %d" % (suffix, at, time))
        if at != len(c.data):
            raise Fault("%s: %d bytes, the blocks have %d" % (suffix, len(c.data), at))

    # ---- anchors ----

    def check_anchors(self):
        ids = {f["id"]: f["suffix"].decode() for f in self.tables.get("file_declaration", [])}
        done = set()
        for a in self.tables.get("anchor_file_declaration", []):
            if a["anchor_file"] == 0:     # the component is too short for anchors
                continue
            pair = ids[a["anchor_file"]], ids[a["data_file"]]
            if pair not in done:
                done.add(pair)
                self.check_anchor_file(*pair)

    def check_anchor_file(self, name, data_name):
        try:
            anchors, offsets = self.anchors(self.component(name))
        except Fault as e:
            if "is missing" not in str(e):
                raise
            return                        # they may be deleted
        if offsets and (offsets[0] != 0 or any(a >= b for a, b in zip(offsets, offsets[1:]))):
            raise Fault("%s: its offsets do not rise from 0" % name)
        def at_boundary(offset, time, state):
            for a in anchors.pop(offset, []):
                if a["time"] != time:
                    raise Fault("%s: anchor at %d says time %d, it is %d" % (name, offset, a["time"], time))
                if not a["tells"]:
                    if offset == 0:
                        raise Fault("%s: the first anchor has no histories" % name)
                    continue
                if a["counters"] != state["counters"]:
                    raise Fault("%s: anchor at %d has other counter values" % (name, offset))
                if a["own"] and a["own"] != state["own"]:
                    raise Fault("%s: anchor at %d has other values of the threads' counters" % (name, offset))
                opened = [place for end, place in state["open"] if end > time]
                if not state["late"] and a["open"] != opened:
                    raise Fault("%s: anchor at %d has open %s, not %s" % (name, offset, a["open"], opened))
                if {w: s for w, s in a["stacks"].items() if s} != {w: s for w, s in state["stacks"].items() if s}:
                    raise Fault("%s: anchor at %d has other stacks" % (name, offset))
        for _ in self.events(self.component(data_name), at_boundary):
            pass
        if anchors:
            raise Fault("%s: no record begins at %s" % (name, sorted(anchors)))

    def anchors(self, c):
        found, offsets, last = {}, [], None
        for rec in self.records(c):
            if rec[""] == "anchor":
                last = {"time": rec["time_prev"], "tells": False, "counters": {}, "own": {}, "stacks": {}, "open": []}
                found.setdefault(rec["offset"], []).append(last)
                offsets.append(rec["offset"])
            elif rec[""] == "begin_of_history":
                last["tells"] = True
            elif rec[""] == "counter_history":
                last["counters"].update(zip(rec["counters"], rec["values"]))
            elif rec[""] == "counter_value":
                last["own"].update(((rec["willy"], c), v) for c, v in zip(rec["counters"], rec["values"]))
            elif rec[""] == "function_history":
                last["stacks"][rec["willy"]] = rec["function_stack"]
            elif rec[""] == "history":
                last["open"] += zip(rec["offset"], rec["prevtime"])
        return found, offsets


def remember(state, rec, time, place):
    """What an anchor's histories say: counter values, stacks, and the places of what is under way, with its end."""
    kind = rec[""]
    if kind in ("add_time", "sub_time"):
        state["late"] = state["late"] or kind == "sub_time"
        return
    if kind == "counter_value":
        state["counters"].update(zip(rec["counters"], rec["values"]))
        state["own"].update(((rec["willy"], c), v) for c, v in zip(rec["counters"], rec["values"]))
    elif kind == "enter_function":
        state["stacks"].setdefault(rec["willy"], []).append(rec["function"])
    elif kind == "leave_function" and state["stacks"].get(rec["willy"]):
        state["stacks"][rec["willy"]].pop()
    elif kind == "one_to_one_communication" and rec["receive_time"] > 0:
        state["open"].append((time + rec["receive_time"], place))
    elif kind.startswith(("all_", "one_to_all")):
        ends = [s + d for s, d in zip(rec["start_time"], rec["delta"]) if s != UNKNOWN]
        state["open"].append((time + max(ends + [0]), place))
    elif kind in ("enter_scope", "file_io_begin"):
        state["open"].append((float("inf"), place))
        state.setdefault(closing(rec), []).append(state["open"][-1])
    elif kind in ("leave_scope", "file_io_end") and state.get(closing(rec)):
        state["open"].remove(state[closing(rec)].pop())


def closing(rec):
    return (rec["willy"], rec["scope"], rec["seqnr"]) if "scope" in rec else (rec["willy"], "io", rec["file"], rec["type"])


def seek_table(data):
    """(packed frame, content size) of each, None without a usable table."""
    if len(data) < 9:
        return None
    n, flags, magic = struct.unpack_from("<IBI", data, len(data) - 9)
    entry = 12 if flags & 0x80 else 8
    table, at, out = len(data) - 9 - n * entry, 0, []
    if magic != 0x8F92EAB1 or table < 8:
        return None
    for i in range(n):
        packed, size = struct.unpack_from("<II", data, table + i * entry)
        out.append((data[at:at + packed], size))
        at += packed
    return out if at == table - 8 else None


def frames_without_table(data):
    lib = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    for f in (lib.ZSTD_findFrameCompressedSize, lib.ZSTD_getFrameContentSize):
        f.restype, f.argtypes = ctypes.c_ulonglong, [ctypes.c_char_p, ctypes.c_size_t]
    at, out = 0, []
    while at < len(data):
        rest = data[at:]
        packed, size = lib.ZSTD_findFrameCompressedSize(rest, len(rest)), lib.ZSTD_getFrameContentSize(rest, len(rest))
        if packed > len(rest) or size > 2 ** 63 or rest[1:4] == b"\x2a\x4d\x18":
            break
        out.append((rest[:packed], size))
        at += packed
    return out


def xxh3(data):
    """None without the library."""
    try:
        lib = ctypes.CDLL(ctypes.util.find_library("xxhash") or "libxxhash.so.0")
    except OSError:
        return None
    lib.XXH3_64bits.restype, lib.XXH3_64bits.argtypes = ctypes.c_ulonglong, [ctypes.c_char_p, ctypes.c_size_t]
    return "%016x" % lib.XXH3_64bits(data, len(data))


def zstd(packed, size):
    lib = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    lib.ZSTD_decompress.restype = ctypes.c_size_t
    lib.ZSTD_decompress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    out = ctypes.create_string_buffer(size or 1)
    if lib.ZSTD_decompress(out, size, packed, len(packed)) != size:
        raise Fault("a frame that is no Zstandard frame of %d bytes" % size)
    return out.raw[:size]


# ---- the text, doc/vtf-ascii.md ----

FORMS = """
class_definition DEFCLASS =id =name SELF=nameself PARENT=parent
file_definition DEFFILE =id =file
scl_definition DEFSCL =id FILE=file LINE=line SYMBOL=symbol OBJECT=object
function_definition DEFFUNCTION =id =name CLASS=classid
scope_definition DEFSCOPE =id =name CLASS=classid SCL1=scl1 SCL2=scl2
group_definition DEFGROUP =id =name NMEMBS=willies
counter_definition DEFCOUNTER =id =name CLASS=classid CPU=willy TYPE=type DIFF=do_diff UNIT=unit LOWER=lower_bound UPPER=upper_bound
communicator_definition DEFCOMM =id =name LEFT=left_size FIRST=first_id LAST=last_id STRIDE=stride
collective_operation_definition DEFCOLLOP =id =name TYPE=type
file_io_file_definition DEFIOFILE =id =name COMM=communicator
custom_statistics_definition DEFSTATS =id =name LABEL=label UNIT=unit
willy_definition DEFCPU =willy HOST=hostname IP=ip PID=pid TID=tid OFFSET=offset SKEW=skew
willy_name DEFCPUNAME =willy =name
info INFO CLASS=info_class TEXT=info
collop_profile STATCOLLOPS OP=type ROOT=root COMM=comm COUNT=count_exch MINSENT=min_bytes_sent MAXSENT=max_bytes_sent SUMSENT=sum_bytes_sent MINRECVD=min_bytes_recvd MAXRECVD=max_bytes_recvd SUMRECVD=sum_bytes_recvd MINRATE=min_rate MAXRATE=max_rate AVGRATE=avg_rate MINTIME=min_duration MAXTIME=max_duration SUMTIME=sum_duration
collop_statistics STATCOLLOP PROCS=numprocs OP=type COUNT=count
custom_statistics STATCUSTOM STATS=stats_handle NAME=name VALUE=value
function_profile STATPROFILE CPU=willy FUNCTION=function COUNT=count MINEXCL=min_self MAXEXCL=max_self SUMEXCL=total_self MININCL=min_inclusive MAXINCL=max_inclusive SUMINCL=total_inclusive
function_statistics STATFUNCTION CPU=willy FUNCTION=function COUNT=calls MINEXCL=min_self MAXEXCL=max_self SUMEXCL=total_self MININCL=min_inclusive MAXINCL=max_inclusive SUMINCL=total_inclusive
lw_statistics STATCALLS CPU=willy FUNCTION=function TO=receiver LEN=bytes_sent PROCS=comm_size COUNT=count MINEXCL=minTicksExcl MAXEXCL=maxTicksExcl SUMEXCL=sumTicksExcl MININCL=minTicksIncl MAXINCL=maxTicksIncl SUMINCL=sumTicksIncl
onetoone_profile STATMESSAGES FROM=sender TO=receiver SFUNCTION=funcsender RFUNCTION=funcreceiver TAG=tag COMM=comm LEN=size COUNT=count SUMTIME=sum_time MINTIME=min_time MAXTIME=max_time
onetoone_statistics STATLENGTHS FROM=sender TO=receiver COUNT=count MINLEN=min_size MAXLEN=max_size SUMLEN=total
enter_function ENTER CPU=willy FUNCTION=function SCL=scl
leave_function LEAVE CPU=willy SCL=scl
enter_scope ENTERSCOPE CPU=willy SCOPE=scope SEQ=seqnr SCL=scl
leave_scope LEAVESCOPE CPU=willy SCOPE=scope SEQ=seqnr SCL=scl
file_io_begin IOBEGIN CPU=willy TYPE=type FILE=file LEN=bytes SCL=scl
file_io_end IOEND CPU=willy TYPE=type FILE=file LEN=bytes SCL=scl
message_raw_event RAWMESSAGE CPU=willy KIND=kind OTHER=other TAG=tag LEN=size COMM=comm FUNCTION=function SCL=scl
all_communication COLLALL COMM=communicator OP=type START=start_time TIME=delta SCL=scl
all_to_all_communication COLLALLTOALL COMM=communicator OP=type START=start_time TIME=delta SENT=send_size RECVD=receive_size SCL=scl
all_to_one_communication COLLALLTOONE ROOT=receiver ROOTLEN=recvd COMM=communicator OP=type START=start_time TIME=delta SENT=send_size SCL=scl
one_to_all_communication COLLONETOALL ROOT=sender ROOTLEN=sent COMM=communicator OP=type START=start_time TIME=delta RECVD=receive_size SCL=scl
collop_raw_event RAWCOLLOP CPU=willy KIND=kind OP=operation COMM=comm COUNTER=counter ROOT=root SENT=send_size RECVD=receive_size TIME=endtime SCL=scl
report REPORT CPU=willy TYPE=type LEVEL=level TEXT=description TIMES=times CPUS=willys HEADERS=headers FUNCTIONS=functions CALLS=calls SCLS=scls
comment COMMENT CPU=willy TEXT=text
opaque_data OPAQUE CPU=willy DATA=data SCL=scl
end_of_filter ENDFILTER CATEGORIES=categories WILLIES=willies
"""


class Printer:
    def __init__(self, trace):
        self.t, self.lines = trace, []
        self.known = {(spec, k.name): k for spec, shapes in TABLE.items() for _, shape in shapes for k in shape}
        self.forms = {}
        for line in FORMS.strip().split("\n"):
            kind, head, *parts = line.split(" ")
            self.forms[kind] = (head, [p.split("=") for p in parts])

    @staticmethod
    def real(v):
        if v != v or v in (float("inf"), float("-inf")):
            return "%g" % v
        return next(s for s in ("%.*g" % (n, v) for n in range(1, 18)) if float(s) == v)

    @staticmethod
    def quote(text):
        out = bytearray(b'"')
        for c in text:
            out += b"\\x%02x" % c if c < 32 or c == 127 else b"\\" + bytes([c]) if c in b'"\\' else bytes([c])
        return (out + b'"').decode("utf-8", "surrogateescape")

    @classmethod
    def counter(cls, kind, bits, bare=False):
        word = ["OPAQUE", "INT", "FLOAT", "UINT"][kind & 15 if kind & 15 < 4 else 0]
        fmt = {"INT": "<q", "FLOAT": "<d"}.get(word, "<Q")
        v = struct.unpack(fmt, struct.pack("<Q", bits))[0]
        text = cls.real(v) if word == "FLOAT" else str(v)
        return text if bare else "%s 8 %s" % (word, text)

    def scalar(self, known, v):
        if known.type == "willy_id":
            return str(v + 1)
        if known.ref == "stf_string.id" and self.t.string(v) is not None:
            return self.quote(self.t.string(v))
        if known.name == "start_time" and v == UNKNOWN:
            return "-"
        return self.real(v) if known.type in ("F4", "F8") else str(v)

    def value(self, rec, name):
        known, v = self.known[rec[""], name], rec[name]
        if rec[""] == "group_definition" and name == "id":
            return str((v | 0x80000000) + 1)
        if known.type == "O8":
            return self.counter(rec["type"], v, True)
        if known.type == "C1":
            return self.quote(v)
        return " ".join([str(len(v))] + [self.scalar(known, e) for e in v]) if known.array else self.scalar(known, v)

    def line(self, rec, time=None):
        head, parts = self.forms[rec[""]]
        words = [head] if time is None else [str(time), head]
        for key, name in parts:
            if name in rec:                   # some incarnations lack it
                words += ([key] if key else []) + [self.value(rec, name)]
        self.lines.append(" ".join(words))

    def samples(self, time, rec):
        words = ["%d SAMP CPU %d" % (time, rec["willy"] + 1)]
        for c, v in zip(rec["counters"], rec["values"]):
            words.append("DEF %d %s" % (c, self.counter(self.types.get(c, 0), v)))
        self.lines.append(" ".join(words))

    def half(self, time, rec, number, receive):
        me, other = ("receiver", "sender") if receive else ("sender", "receiver")
        words = [time, "RECVMSG" if receive else "SENDMSG", "CPU", rec[me] + 1, "FROM" if receive else "TO",
                 rec[other] + 1, "COMM", rec["communicator"], "TAG", rec["tag"], "LEN", rec["size"],
                 "FUNCTION", rec[me + "_function"]]
        for key, name in (("SCL", me + "_scl"), ("CHECK", me + "_checksum")):
            words += [key, rec[name]] if name in rec else []
        self.lines.append(" ".join(str(w) for w in words + ["PAIR", number]))

    def message(self, time, rec):
        self.messages += 1
        delta = rec["receive_time"]
        if delta != SEND_UNKNOWN:
            self.half(time, rec, self.messages, False)
        if delta in (SEND_UNKNOWN, 0):
            self.half(time, rec, self.messages, True)
        elif delta == RECEIVE_UNKNOWN:
            pass
        elif delta < 0:
            self.half((time + delta) % 2 ** 64, rec, self.messages, True)
        else:
            heapq.heappush(self.under_way, (time + delta, 0, self.messages, 0, rec))

    def members(self, ident):
        """The willies of a communicator, or None; a range of a few bytes may be endless."""
        for c in self.t.tables.get("communicator_definition", []):
            if c["id"] == ident:
                ranges = []
                for a, b, by in zip(c["first_id"], c["last_id"], c["stride"]):
                    ranges.append(range(a, b + (1 if by > 0 else -1), by) if by else range(a, a + (a == b)))
                return ranges
        return None

    def shares(self, time, rec):
        """A line for each member of a collective operation. False: it cannot be split."""
        n, ranges = len(rec["start_time"]), self.members(rec["communicator"])
        if not n or ranges is None or sum(len(r) for r in ranges) != n:
            return False
        who = [w for r in ranges for w in r]
        one, to_one = rec[""] in ("all_to_one_communication", "one_to_all_communication"), "receiver" in rec
        root = rec["receiver" if to_one else "sender"] if one else None
        if (one and root not in who) or any(s != UNKNOWN and time + s >= 2 ** 64 for s in rec["start_time"]):
            return False
        self.operations += 1
        for i, w in enumerate(who):
            start = rec["start_time"][i]
            sent = rec["sent"] if w == root and not to_one else rec["send_size"][i] if "send_size" in rec else 0
            got = rec["recvd"] if w == root and to_one else rec["receive_size"][i] if "receive_size" in rec else 0
            words = ["GLOBALOP CPU", w + 1, "OP", rec["type"], "COMM", rec["communicator"]]
            words += ["ROOT", root + 1] if one else []
            words += [] if rec[""] == "all_communication" else ["SENT", sent, "RECVD", got]
            words += ["TIME", rec["delta"][i]] + (["SCL", rec["scl"][i]] if "scl" in rec else [])
            words += ["PAIR", self.operations, "KIND", rec[""].replace("_communication", "").replace("_", "").upper(),
                      "MEMBER", i + 1, "OF", n, "START", "-" if start == UNKNOWN else start]
            at = time + (0 if start == UNKNOWN else start)
            heapq.heappush(self.under_way, (at, 1, self.operations, i, " ".join(str(x) for x in words)))
        return True

    def received(self, before):
        while self.under_way and (before is None or self.under_way[0][0] < before):
            time, share, number, _, what = heapq.heappop(self.under_way)
            if share:
                self.lines.append("%d %s" % (time, what))
            else:
                self.half(time, what, number, True)

    def class_name(self, ident):
        for c in self.t.tables.get("class_definition", []):
            if c["id"] == ident:
                return self.t.string(c["name"])
        return None

    def about_files(self, rec):
        """Sizes, checksums and late records are about how the trace is stored."""
        if rec[""] not in ("info", "class_definition"):
            return False
        name = self.class_name(rec["info_class"] if rec[""] == "info" else rec["id"])
        return name is not None and name in (b"integrity", b"late")

    def head(self):
        t = self.t.tables
        for r in t.get("clock_resolution", [])[:1]:
            if r["resolution"] > 0:
                self.lines += ["CLKPERIOD " + self.real(r["resolution"]), "EVENTBITS %d" % r["eventbits"]]
        threads = [n for r in t.get("process_declaration", [])[:1] for n in r["thread_numbers"]]
        if threads:
            self.lines.append(" ".join(["NCPUS"] + [str(n) for n in threads]))
        names = {r["willy"]: self.t.string(r["name"]) for r in t.get("willy_name", [])}
        every = [p | k << 16 for p, n in enumerate(threads) for k in range(n)] if sum(threads) == len(names) else []
        every = every if all(names.get(w) is not None for w in every) else []
        if every:
            self.lines.append(" ".join(["CPUNAMES"] + [self.quote(names[w]) for w in every]))
        for r in t.get("duration", [])[:1]:
            self.lines.append("DURATION %d %d" % (r["start"], r["end"]))
        for kind in list(self.forms)[:14]:            # declarations stand first in the table, info is the last
            for r in t.get(kind, []):
                if not (kind == "willy_name" and every) and not self.about_files(r):
                    self.line(r)

    def everything(self):
        self.types = {c["id"]: c["type"] for c in self.t.tables.get("counter_definition", [])}
        self.messages, self.operations, self.under_way = 0, 0, []
        self.head()
        for f in self.t.files(STATS_FILE):
            for rec in self.t.records(self.t.component(f)):
                if rec[""] in self.forms:
                    self.line(rec)
        for time, _, rec in self.t.all_events():
            self.received(time)
            if rec[""] == "counter_value":
                self.samples(time, rec)
            elif rec[""] == "one_to_one_communication":
                self.message(time, rec)
            elif rec[""] in self.forms and not ("start_time" in rec and self.shares(time, rec)):
                self.line(rec, time)
        self.received(None)


def read(path):
    """The text and the faults of one trace."""
    faults, p = [], None
    try:
        p = Printer(Trace(path))
        p.everything()
        if not p.t.faults:
            p.t.check_anchors()
            p.t.check_statements()
    except (Fault, struct.error) as e:
        faults.append(str(e))
    text = "".join(line + "\n" for line in p.lines) if p else ""
    return text.encode("utf-8", "surrogateescape"), (p.t.faults if p else []) + faults


def put(text, faults, out, err):
    out.write(text)
    err.write("".join("second_reader: %s\n" % f for f in faults).encode("utf-8", "surrogateescape"))
    return 1 if faults else 0


def serve(out, err):
    """A trace's name on each line of standard input; its text and faults go to two files, the status to standard output."""
    for line in sys.stdin:
        with open(out, "wb") as o, open(err, "wb") as e:
            try:
                status = put(*read(line.rstrip("\n")), o, e)
            except Exception:             # a mistake in here, which must not look like a trace's fault
                e.write(traceback.format_exc().encode())
                status = 2
        print(status, flush=True)
    return 0


def main():
    if sys.argv[1] == "--serve":
        return serve(sys.argv[2], sys.argv[3])
    return put(*read(sys.argv[1]), sys.stdout.buffer, sys.stderr.buffer)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""CTF 1.8 that others write, and what babeltrace2 finds in it.

ctf_read.py make FOLDER SEED         a trace of random types, in one byte order or the other
                                     FOLDER-2 is the same in CTF 2
ctf_read.py new FOLDER               FOLDER-2 has what only CTF 2 has
ctf_read.py lttng FOLDER             one as LTTng writes it: metadata in packets, short stamps that wrap, threads that move
ctf_read.py kernel FOLDER            system calls of threads 5 and 6, which move from CPU 0 to CPU 1
ctf_read.py channels FOLDER              the same, with a file for the scheduler and one for the calls
ctf_read.py judge TEXT OUT.jsonl [NS]   stftool's OUT has each event of babeltrace2's TEXT at its time (or NS from it), and no more
ctf_read.py same A.jsonl B.jsonl     both have the same calls, values, messages and comments
ctf_read.py noise FOLDER STFTOOL SECONDS   damaged copies: each run ends with 0 or 1, and leaves no trace unless 0
"""
import collections
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import time
from decimal import Decimal

MAGIC = 0xC1FC1FC1
ORDER = {True: "big-endian", False: "little-endian"}


class Bits:
    """A packet, bit by bit."""

    def __init__(self, big):
        self.big, self.at, self.b = big, 0, bytearray()

    def align(self, n):
        self.at = (self.at + n - 1) // n * n
        self.b.extend(bytes(max(0, (self.at + 7) // 8 - len(self.b))))

    def put(self, v, bits, big=None):
        big = self.big if big is None else big
        self.b.extend(bytes(max(0, (self.at + bits + 7) // 8 - len(self.b))))
        for i in range(bits):
            bit = v >> (bits - 1 - i if big else i) & 1
            at = self.at + i
            self.b[at // 8] |= bit << (7 - at % 8 if big else at % 8)
        self.at += bits


class Type:
    """text, js: as the metadata of CTF 1.8 and CTF 2 have it. put(): a value of it, random unless it is given."""

    def __init__(self, text, align, put, dims="", js=None):
        self.text, self.align, self.put, self.dims, self.js = text, align, put, dims, js


def integer(bits, align, order, big, signed=False, clock="", letters=False):
    text = "integer { size = %d; align = %d; signed = %s;%s%s%s }" % (
        bits, align, "true" if signed else "false", " byte_order = %s;" % ("be" if big else "le") if big != order else "",
        " map = clock.%s.value;" % clock if clock else "", " encoding = UTF8;" if letters else "")

    def put(b, r, v=None):
        b.align(align)
        b.put(r.getrandbits(bits) if v is None else v, bits, big)
    js = {"type": "fixed-length-%s-integer" % ("signed" if signed else "unsigned"), "length": bits, "alignment": align, "byte-order": ORDER[big]}
    return Type(text, align, put, js=dict(js, roles=["default-clock-timestamp"]) if clock else js)


def random_integer(r, order):
    if r.random() < 0.5:
        bits = r.choice((8, 16, 32, 64))
        return integer(bits, r.choice((8, 8, 16, 64)), order, r.choice((order, order, not order)), r.random() < 0.5)
    return integer(r.randrange(1, 65), r.choice((1, 1, 1, 2, 4, 8, 32)), order, order, r.random() < 0.5)


def real(r, order):
    bits, align = r.choice((32, 64)), r.choice((8, 32, 64))

    def put(b, r):
        b.align(align)
        v = struct.pack(">f" if bits == 32 else ">d", r.uniform(-9, 9))
        b.put(int.from_bytes(v, "big"), bits)
    exp = 8 if bits == 32 else 11
    js = {"type": "fixed-length-floating-point-number", "length": bits, "alignment": align, "byte-order": ORDER[order]}
    return Type("floating_point { exp_dig = %d; mant_dig = %d; align = %d; }" % (exp, bits - exp, align), align, put, js=js)


def string(r, _):
    def put(b, r):
        b.align(8)
        for c in "".join(r.choice("abc xyz{}:") for _ in range(r.randrange(12))).encode() + b"\0":
            b.put(c, 8)
    return Type("string", 8, put, js={"type": "null-terminated-string"})


def enumeration(r, order, labels=3):
    of = integer(r.choice((3, 5, 8, 16)), r.choice((1, 8)), order, order)
    text = "enum : %s { %s }" % (of.text, ", ".join("L%d" % i if i % 2 else '"L%d" = %d' % (i, i) for i in range(labels)))
    js = dict(of.js, mappings={"L%d" % i: [[i, i]] for i in range(labels)})
    return Type(text, of.align, lambda b, r, v=None: of.put(b, r, r.randrange(labels) if v is None else v), js=js)


def array(r, order):
    of, n = any_type(r, order, 1), r.randrange(1, 5)

    def put(b, r):
        b.align(of.align)
        for _ in range(n):
            of.put(b, r)
    return Type(of.text, of.align, put, "[%d]" % n + of.dims, {"type": "static-length-array", "length": n, "element-field-class": of.js})


def letters(r, order):
    of = integer(8, 8, order, order, letters=True)
    return Type(of.text, 8, lambda b, r: (b.align(8), [of.put(b, r, v) for v in b"text\0\0"]), "[6]", {"type": "static-length-string", "length": 6})


def fields(r, order, depth, n):
    """Members of a structure: [(name, type, put)]. Sequences and variants come with the field that they refer to."""
    out = []
    for i in range(n):
        kind = r.random()
        if kind < 0.15:
            of, length = any_type(r, order, depth + 1), integer(r.choice((3, 8, 16)), r.choice((1, 8)), order, order)
            out.append(("n%d" % i, length, None))
            js = {"type": "dynamic-length-array", "element-field-class": of.js, "length-field-location": {"path": ["n%d" % i]}}
            out.append(("s%d" % i, Type(of.text, of.align, of.put, "[n%d]" % i + of.dims, js), "sequence"))
        elif kind < 0.3:
            tag, choices = enumeration(r, order), [any_type(r, order, depth + 1) for _ in range(3)]
            text = "variant <t%d> { %s }" % (i, " ".join("%s L%d%s;" % (c.text, k, c.dims) for k, c in enumerate(choices)))
            out.append(("t%d" % i, tag, None))
            js = {"type": "variant", "selector-field-location": {"path": ["t%d" % i]},
                  "options": [{"selector-field-ranges": [[k, k]], "field-class": c.js} for k, c in enumerate(choices)]}
            out.append(("v%d" % i, Type(text, 1, choices, js=js), "variant"))
        else:
            out.append(("f%d" % i, any_type(r, order, depth + 1), None))
    return out


def structure(r, order, depth=0, n=None):
    members = fields(r, order, depth, r.randrange(1, 4) if n is None else n)
    least = r.choice((1, 1, 1, 16))
    align = max([least] + [t.align for _, t, _ in members])
    text = "struct { %s }" % " ".join("%s %s%s;" % (t.text, name, t.dims) for name, t, _ in members)

    def put(b, r):
        b.align(align)
        v = 0
        for k, (_, t, kind) in enumerate(members):
            following = members[k + 1][2] if k + 1 < len(members) else None
            if kind == "sequence":
                b.align(t.align)
                for _ in range(v):
                    t.put(b, r)
            elif kind == "variant":
                t.put[v].put(b, r)
            elif following:
                v = r.randrange(3)
                t.put(b, r, v)
            else:
                t.put(b, r)
    js = {"type": "structure", "minimum-alignment": least, "member-classes": [{"name": name, "field-class": t.js} for name, t, _ in members]}
    return Type(text + (" align(%d)" % least if least > 1 else ""), align, put, js=js)


def any_type(r, order, depth=0):
    kinds = [random_integer, random_integer, real, string, enumeration, letters]
    if depth < 3:
        kinds += [array, lambda r, order: structure(r, order, depth + 1)]
    return r.choice(kinds)(r, order)


def names_of(r):
    """Of events, by id; those of one pair call a function."""
    return ["mark", "prov:mark", "work_entry", "work_exit", "app:step_begin", "app:step_end", "syscall_entry_read", "syscall_exit_read",
            "lonely_entry", "odd name"]


def struct_of(**members):
    return {"type": "structure", "member-classes": [{"name": name, "field-class": t} for name, t in members.items()]}


def second(folder, fragments):
    """The same trace in CTF 2."""
    os.makedirs(folder + "-2", exist_ok=True)
    with open(folder + "-2/metadata", "w") as f:
        for fragment in [{"type": "preamble", "version": 2}] + fragments:
            f.write("\x1e" + json.dumps(fragment, indent=1 if fragment["type"] == "clock-class" else None) + "\n")


def make(folder, seed):
    r = random.Random(int(seed))
    order = int(seed) % 2 == 1
    os.makedirs(folder)
    hz = r.choice((10 ** 9, 10 ** 9, 333000000))
    u = {n: integer(n, 8, order, order) for n in (8, 16, 32, 64)}
    stamp = integer(64, 8, order, order, clock="c")
    context, common = structure(r, order), structure(r, order)
    names = names_of(r)
    types = [structure(r, order, 0, r.randrange(1, 6)) for _ in names]
    with open(folder + "/metadata", "w") as f:
        f.write("/* CTF 1.8 */\ntypealias %s := u32;\ntypedef %s stamp_t;\n" % (u[32].text, stamp.text))
        f.write("trace { major = 1; minor = 8; byte_order = %s; packet.header := struct { u32 magic; u32 stream_id; }; };\n" % ("be" if order else "le"))
        f.write("clock { name = \"c\"; freq = %d; offset_s = 1700000000; offset = 12345; };\n" % hz)
        f.write("stream { id = 7; packet.context := struct { stamp_t timestamp_begin; stamp_t timestamp_end; %s content_size; %s packet_size; %s pad; };\n" % (
            u[64].text, u[64].text, context.text))
        f.write("event.header := struct { %s id; stamp_t timestamp; }; event.context := %s; };\n" % (u[8].text, common.text))
        for i, name in enumerate(names):
            f.write("event { name = \"%s\"; id = %d; stream_id = 7; fields := %s; };\n" % (name, i, types[i].text))
    def with_role(t, role):
        return dict(t.js, roles=[role])
    no_role = {k: v for k, v in stamp.js.items() if k != "roles"}
    second(folder, [
        {"type": "trace-class", "packet-header-field-class": struct_of(m=with_role(u[32], "packet-magic-number"), s=with_role(u[32], "data-stream-class-id"))},
        {"type": "clock-class", "id": "c", "frequency": hz, "origin": "unix-epoch", "offset-from-origin": {"seconds": 1700000000, "cycles": 12345}},
        {"type": "field-class-alias", "name": "first", "field-class": stamp.js},
        {"type": "data-stream-class", "id": 7, "default-clock-class-id": "c", "packet-context-field-class": struct_of(
            a="first", b=dict(no_role, roles=["packet-end-default-clock-timestamp"]), c=with_role(u[64], "packet-content-length"),
            d=with_role(u[64], "packet-total-length"), pad=context.js),
         "event-record-header-field-class": struct_of(k=with_role(u[8], "event-record-class-id"), t=stamp.js),
         "event-record-common-context-field-class": common.js}] +
        [{"type": "event-record-class", "id": i, "data-stream-class-id": 7, "name": name, "payload-field-class": types[i].js} for i, name in enumerate(names)])
    for stream in range(2):
        at, out, open_calls = 5 + stream, b"", []
        for packet in range(3):
            def begin(b, first, last, content, size):
                u[32].put(b, r, MAGIC)
                u[32].put(b, r, 7)
                b.align(max(8, context.align))
                for t, v in ((stamp, first), (stamp, last), (u[64], content), (u[64], size)):
                    t.put(b, r, v)
                context.put(b, random.Random(4))
            body, first = Bits(order), at
            begin(body, 0, 0, 0, 0)
            for _ in range(r.randrange(1, 40) if packet < 2 else len(open_calls)):
                at += r.choice((0, 1, 1000, 10 ** 6))
                k = 3 if packet == 2 else r.choice((0, 1, 2, 4, 6, 8, 9) + ((3, 5, 7) if open_calls else ()))
                if k in (2, 4, 6):
                    open_calls.append(k)
                elif k in (3, 5, 7):
                    k = open_calls.pop() + 1
                u[8].put(body, r, k)
                stamp.put(body, r, at)
                common.put(body, r)
                types[k].put(body, r)
            content = body.at
            body.align(64)
            head = Bits(order)
            begin(head, first, at, content, body.at)
            whole = bytes(head.b) + bytes(body.b[len(head.b):])
            if head.at % 8:
                whole = bytes(head.b[:-1]) + bytes([head.b[-1] | body.b[len(head.b) - 1]]) + bytes(body.b[len(head.b):])
            out += whole
        for where in (folder, folder + "-2"):
            with open(where + "/stream_%d" % stream, "wb") as f:
                f.write(out)


def number(bits, signed=False, align=8, **more):
    return dict({"type": "fixed-length-%s-integer" % ("signed" if signed else "unsigned"), "length": bits, "alignment": align, "byte-order": "little-endian"}, **more)


def role(name, bits=64, align=8):
    return number(bits, align=align, roles=[name])


def lttng_second(folder):
    """As LTTng writes it."""
    addr = struct_of(addr=number(64), call_site=number(64))
    stamp = "default-clock-timestamp"
    second(folder, [
        {"type": "trace-class", "environment": {"domain": "ust", "tracer_name": "lttng-ust", "tracer_major": 2}, "packet-header-field-class": struct_of(
            magic=role("packet-magic-number", 32), uuid={"type": "static-length-blob", "length": 16, "roles": ["metadata-stream-uuid"]},
            stream_id=role("data-stream-class-id", 32), stream_instance_id=role("data-stream-id"))},
        {"type": "clock-class", "id": "monotonic", "name": "monotonic", "frequency": 10 ** 9, "origin": "unix-epoch",
         "offset-from-origin": {"seconds": 1700000000, "cycles": 123456789}, "description": "a \"clock\" \u00e9"},
        {"type": "data-stream-class", "id": 0, "default-clock-class-id": "monotonic", "packet-context-field-class": struct_of(
            timestamp_begin=role(stamp), timestamp_end=role("packet-end-default-clock-timestamp"), content_size=role("packet-content-length"),
            packet_size=role("packet-total-length"), packet_seq_num=role("packet-sequence-number"),
            events_discarded=role("discarded-event-record-counter-snapshot"), cpu_id=number(32)),
         "event-record-header-field-class": dict(struct_of(id=role("event-record-class-id", 5, 1), v={
             "type": "variant", "selector-field-location": {"origin": "event-record-header", "path": ["id"]}, "options": [
                 {"name": "compact", "selector-field-ranges": [[0, 30]], "field-class": struct_of(timestamp=role(stamp, 27, 1))},
                 {"name": "extended", "selector-field-ranges": [[31, 31]], "field-class": struct_of(
                     id=role("event-record-class-id", 32), timestamp=role(stamp))}]}), **{"minimum-alignment": 8}),
         "event-record-common-context-field-class": struct_of(vpid=number(32, True), vtid=number(32, True), procname={"type": "static-length-string", "length": 17})},
        {"type": "event-record-class", "id": 0, "name": "lttng_ust_cyg_profile:func_entry", "payload-field-class": addr},
        {"type": "event-record-class", "id": 1, "name": "lttng_ust_cyg_profile:func_exit", "payload-field-class": addr},
        {"type": "event-record-class", "id": 40, "name": "app:loop", "payload-field-class": struct_of(
            values_length=number(32), values={"type": "dynamic-length-array", "element-field-class": number(8),
                                              "length-field-location": {"origin": "event-record-payload", "path": ["values_length"]}},
            text={"type": "null-terminated-string"})}])


def leb(v):
    out = b""
    while True:
        last = v in range(-64, 64) if v < 0 else v < 64
        out += bytes([v & 127 | (0 if last else 128)])
        v >>= 7
        if last:
            return out


def new(folder):
    """What only CTF 2 has: numbers of variable length, fields that may be missing, texts and bytes of a length, truth values."""
    n, s = {"type": "variable-length-unsigned-integer"}, {"type": "variable-length-signed-integer"}
    where = {"origin": "event-record-payload", "path": ["has"]}
    truth = {"type": "fixed-length-boolean", "length": 8, "alignment": 8, "byte-order": "little-endian"}
    second(folder, [
        {"type": "trace-class", "environment": {"name": "a \"text\""}, "packet-header-field-class": struct_of(magic=n)},
        {"type": "clock-class", "name": "old", "frequency": 10 ** 9, "precision": 40, "accuracy": 60, "offset-from-origin": {"seconds": -3}},
        {"type": "field-class-alias", "name": "has", "field-class": truth},
        {"type": "data-stream-class", "default-clock-class-name": "old", "packet-context-field-class": struct_of(content_size=n), "event-record-header-field-class": struct_of(
            k=dict(n, roles=["event-record-class-id"]), t=dict(n, roles=["default-clock-timestamp"]))},
        {"type": "event-record-class", "id": 300, "name": "work_begin", "payload-field-class": struct_of(
            has="has", more={"type": "optional", "selector-field-location": where, "field-class": struct_of(
                length=n, text={"type": "dynamic-length-string", "length-field-location": {"path": ["length"]}})})},
        {"type": "event-record-class", "id": 301, "name": "work_end", "payload-field-class": struct_of(
            has=s, more={"type": "optional", "selector-field-location": where, "selector-field-ranges": [[-9, -2], [2, 9]],
                         "field-class": {"type": "static-length-blob", "length": 3, "media-type": "image/tiff"}})}])
    out, at = b"\1\5", 0  # no roles: names alone have no meaning
    for i in range(400):
        at += (1, 100, 10 ** 6)[i % 3]
        k, bits = 300 + i % 2, 7 * ((at % 2 ** 63).bit_length() // 7 + 1)
        stamp = b"".join(bytes([at >> b & 127 | (128 if b + 7 < bits else 0)]) for b in range(0, bits, 7))
        out += bytes([k & 127 | 128, k >> 7]) + stamp
        has = (i // 2) % 2 if k == 300 else (-9, -1, 2, 10)[i % 4]
        text = b"text" * (i % 50)
        out += bytes([has]) + (bytes([len(text) & 127 | 128, len(text) >> 7]) + text if has else b"") if k == 300 else leb(has) + (b"\1\2\3" if 2 <= abs(has) <= 9 else b"")
    with open(folder + "-2/stream", "wb") as f:
        f.write(out)


LTTNG = """/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
typealias integer { size = 64; align = 8; signed = false; } := unsigned long;
typealias integer { size = 5; align = 1; signed = false; } := uint5_t;
typealias integer { size = 27; align = 1; signed = false; } := uint27_t;
trace { major = 1; minor = 8; uuid = "2a6422d0-6cee-11e0-8c08-cb07d7b3a564"; byte_order = le;
	packet.header := struct { uint32_t magic; uint8_t uuid[16]; uint32_t stream_id; uint64_t stream_instance_id; }; };
env { domain = "ust"; tracer_name = "lttng-ust"; hostname = "node"; };
clock { name = "monotonic"; uuid = "2a6422d0-6cee-11e0-8c08-cb07d7b3a565"; description = "Monotonic Clock";
	freq = 1000000000; /* Frequency, in Hz */ offset = 1700000000123456789; };
typealias integer { size = 27; align = 1; signed = false; map = clock.monotonic.value; } := uint27_clock_monotonic_t;
typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := uint64_clock_monotonic_t;
struct packet_context { uint64_clock_monotonic_t timestamp_begin; uint64_clock_monotonic_t timestamp_end;
	uint64_t content_size; uint64_t packet_size; uint64_t packet_seq_num; unsigned long events_discarded; uint32_t cpu_id; };
struct event_header_compact {
	enum : uint5_t { compact = 0 ... 30, extended = 31 } id;
	variant <id> {
		struct { uint27_clock_monotonic_t timestamp; } compact;
		struct { uint32_t id; uint64_clock_monotonic_t timestamp; } extended;
	} v;
} align(8);
stream { id = 0; event.header := struct event_header_compact; packet.context := struct packet_context;
	event.context := struct { integer { size = 32; align = 8; signed = true; } _vpid; integer { size = 32; align = 8; signed = true; } _vtid;
		integer { size = 8; align = 8; signed = false; encoding = UTF8; } _procname[17]; }; };
event { name = "lttng_ust_cyg_profile:func_entry"; id = 0; stream_id = 0; loglevel = 12; fields := struct {
	integer { size = 64; align = 8; signed = 0; encoding = none; base = 16; } _addr; unsigned long _call_site; }; };
event { name = "lttng_ust_cyg_profile:func_exit"; id = 1; stream_id = 0; loglevel = 12; fields := struct {
	integer { size = 64; align = 8; signed = 0; encoding = none; base = 16; } _addr; unsigned long _call_site; }; };
event { name = "app:loop"; id = 40; stream_id = 0; fields := struct {
	uint32_t __values_length; uint8_t _values[ __values_length ]; string _text; }; };
"""


def lttng(folder):
    r = random.Random(5)
    os.makedirs(folder)
    text, out = LTTNG.encode(), b""
    for at in range(0, len(text), 1000):
        part = text[at:at + 1000]
        size = 37 + len(part)
        whole = (size + 511) // 512 * 512
        out += struct.pack("<I16sIIIBBBBB", 0x75D11D57, bytes(16), 0, 8 * size, 8 * whole, 0, 0, 0, 1, 8) + part + bytes(whole - size)
    with open(folder + "/metadata", "wb") as f:
        f.write(out)
    calls, at, events = {1: [], 2: []}, 10 ** 9, {0: [], 1: []}
    for _ in range(400):
        at += r.choice((1, 3, 10 ** 5, 10 ** 8))  # the last is more than half of 2^27
        tid, cpu = r.choice((1, 2)), r.randrange(2)
        k = r.choice((0, 0, 1, 1, 40))
        if k == 1 and not calls[tid]:
            k = 0
        if k == 0:
            calls[tid].append(0x400000 + r.randrange(9))
        addr = calls[tid].pop() if k == 1 else calls[tid][-1] if calls[tid] else 0
        events[cpu].append((at, k, tid, addr))
    for tid in (1, 2):
        while calls[tid]:
            at += 5
            events[tid - 1].append((at, 1, tid, calls[tid].pop()))
    for cpu in (0, 1):
        out = b""
        for n in range(0, len(events[cpu]), 30):
            body, last = Bits(False), None
            for stamp, k, tid, addr in events[cpu][n:n + 30]:
                body.align(8)
                short = k < 31 and last is not None and stamp - last < 1 << 27
                if short:
                    body.put(k, 5)
                    body.put(stamp & (1 << 27) - 1, 27)
                else:
                    body.put(31, 5)
                    body.align(8)
                    body.put(k, 32)
                    body.put(stamp, 64)
                last = stamp
                for v, bits in ((100, 32), (100 + tid - 1, 32)) + tuple((c, 8) for c in b"worker".ljust(17, b"\0")):
                    body.put(v, bits)
                if k == 40:
                    body.put(3, 32)
                    for c in b"\1\2\3some text\0":
                        body.put(c, 8)
                else:
                    body.put(addr, 64)
                    body.put(0x1234, 64)
            head = 4 + 16 + 4 + 8 + 6 * 8 + 4
            size = (head + len(body.b) + 4095) // 4096 * 4096
            out += struct.pack("<I16sIQ", MAGIC, bytes.fromhex("2a6422d06cee11e08c08cb07d7b3a564"), 0, cpu)
            out += struct.pack("<QQQQQQI", events[cpu][n][0], last, 8 * (head + len(body.b)), 8 * size, n // 30, 0, cpu)
            out += bytes(body.b) + bytes(size - head - len(body.b))
        lttng_second(folder)
        for where in (folder, folder + "-2"):
            with open(where + "/chan_%d" % cpu, "wb") as f:
                f.write(out)


def kernel(folder):
    os.makedirs(folder)
    u = "integer { size = %d; align = 8; signed = false;%s }"
    u32, stamp = u % (32, ""), u % (64, " map = clock.c.value;")
    tid = "integer { size = 32; align = 8; signed = true; }"
    letter = u % (8, " encoding = UTF8;")
    with open(folder + "/metadata", "w") as f:
        f.write("/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = le; packet.header := struct { %s magic; }; };\n" % u32)
        f.write("clock { name = c; freq = 1000000000; };\nstream { packet.context := struct { %s cpu_id; };\n" % u32)
        f.write("event.header := struct { %s id; %s timestamp; }; };\n" % (u32, stamp))
        f.write("event { name = \"sched_switch\"; id = 0; fields := struct { %s _next_comm[4]; %s _next_tid; }; };\n" % (letter, tid))
        for i, name in ((1, "syscall_entry_read"), (2, "syscall_exit_read")):
            f.write("event { name = \"%s\"; id = %d; };\n" % (name, i))
    for cpu, events in ((0, ((10, 0, 5), (20, 1), (30, 0, 6), (40, 1), (50, 0, 0), (55, 1), (56, 2))), (1, ((60, 0, 5), (70, 2), (80, 0, 6), (90, 2), (91, 0, 0)))):
        out = struct.pack("<II", MAGIC, cpu)
        for at, k, *to in events:
            out += struct.pack("<IQ", k, at) + (struct.pack("<4si", b"p%d" % to[0], to[0]) if to else b"")
        with open(folder + "/cpu_%d" % cpu, "wb") as f:
            f.write(out)


def channels(folder):
    """As kernel(), but what the scheduler does is in other files than the system calls, as with two channels of LTTng."""
    kernel(folder)
    for cpu in (0, 1):
        with open(folder + "/cpu_%d" % cpu, "rb") as f:
            data = f.read()
        files, at = {"sched": data[:8], "calls": data[:8]}, 8
        while at < len(data):
            k, = struct.unpack_from("<I", data, at)
            size = 12 if k else 20
            files["calls" if k else "sched"] += data[at:at + size]
            at += size
        for name, b in files.items():
            with open("%s/%s_%d" % (folder, name, cpu), "wb") as f:
                f.write(b)
        os.unlink(folder + "/cpu_%d" % cpu)


PAIRS = [(re.compile(p), kind) for p, kind in (
    (r"syscall_entry_(read)$", "enter"), (r"syscall_exit_(read)$", "leave"), (r"(?:app:)?(work|step)_(?:entry|begin)$", "enter"),
    (r"(?:app:)?(work|step)_(?:exit|end)$", "leave"))]


def wanted(path):
    out = []
    with open(path, errors="replace") as f:
        lines = f.read().splitlines()
    for line in lines:
        m = re.match(r"\[(-?[\d.]+)\] (?:node )?(.*?): (\{.*)", line)
        if not m:
            sys.exit("cannot read " + line)
        at, name = Decimal(m[1]), m[2]
        addr = re.search(r"addr = (\w+)", line)
        if name.startswith("lttng_ust_cyg_profile:"):
            out.append((at, "enter" if name.endswith("entry") else "leave", addr[1].lower()))
            continue
        for pattern, kind in PAIRS:
            hit = pattern.match(name)
            if hit:
                out.append((at, kind, hit[1]))
                break
        else:
            out.append((at, "comment", name))
    return out


KINDS = {"enter": "function", "leave": "function", "comment": "text"}


def found(path):
    zero, out = None, []
    with open(path) as f:
        for line in f:
            e = json.loads(line, parse_float=Decimal)
            if e["type"] == "info" and e["class"] == "clock":
                zero = Decimal(re.search(r"stamp 0 is (-?\d+) ns", e["text"])[1]) / 10 ** 9
            elif e["type"] in KINDS:
                out.append((zero + e["time"], e["type"], e[KINDS[e["type"]]]))
    return out


def judge(text, jsonl, ns="0"):
    """What overlaps others is a scope, so of calls that have no length, the order may differ: compare as sorted lists."""
    a, b = sorted(wanted(text)), sorted(found(jsonl))
    near = Decimal(ns) / 10 ** 9
    if near:
        a, b = (sorted((x[1:] + x[:1]) for x in y) for y in (a, b))
        same = len(a) == len(b) and all(x[:2] == y[:2] and abs(x[2] - y[2]) <= near for x, y in zip(a, b))
    else:
        same = a == b
    if not same or not a:
        print("babeltrace2 has %d events, stftool %d" % (len(a), len(b)))
        for x in list((collections.Counter(a) - collections.Counter(b)).items())[:5]:
            print("missing", x)
        for x in list((collections.Counter(b) - collections.Counter(a)).items())[:5]:
            print("too many", x)
        return 1
    print("%d events" % len(a))
    return 0


def events(path):
    out, first = [], None
    with open(path) as f:
        for line in f:
            e = json.loads(line, parse_float=Decimal)
            if "time" not in e or e["type"].startswith(("collective", "io")):
                continue
            first = e["time"] if first is None else first
            what = [e.get(k) for k in ("function", "class", "counter", "value", "unit", "bytes", "other_rank", "text", "scope")]
            if "group" not in e and not e.get("counter", "").startswith("NODE:"):  # groups become threads
                what += [e["rank"], e["thread"]]
            out.append((str(e["time"] - first), e["type"], str(what)))
    return sorted(out)


def same(a, b):
    x, y = events(a), events(b)
    if x == y and x:
        print("%d events" % len(x))
        return 0
    print("missing", (collections.Counter(x) - collections.Counter(y)).most_common(4))
    print("too many", (collections.Counter(y) - collections.Counter(x)).most_common(4))
    return 1


def noise(folder, stftool, seconds):
    r, end, runs = random.Random(3), time.time() + float(seconds), 0
    traces = sorted(n for n in os.listdir(folder) if os.path.exists(os.path.join(folder, n, "metadata")))
    while time.time() < end:
        bad, out = os.path.join(folder, "noise"), os.path.join(folder, "noise.stf")
        shutil.rmtree(bad, ignore_errors=True)
        shutil.copytree(os.path.join(folder, r.choice(traces)), bad)
        name = os.path.join(bad, r.choice([n for n in os.listdir(bad) if os.path.isfile(os.path.join(bad, n))] + ["metadata"]))
        with open(name, "rb") as f:
            data = bytearray(f.read())
        data = data[:r.choice((len(data), r.randrange(len(data))))]
        for _ in range(r.randrange(5)):
            at = r.randrange(len(data) + 1)
            data[at:at + r.randrange(3)] = r.choice((b"", b"\xff", b"\0", b"9" * 20, b"{", b"}", b";", b"\xff" * 8, b"\0" * 8, b"["))
        with open(name, "wb") as f:
            f.write(data)
        p = subprocess.run([stftool, bad, "--input-format", "CTF", "--convert", out, "--force"], capture_output=True, timeout=60)
        left = os.path.exists(out)
        for n in os.listdir(folder):
            if n.startswith("noise.stf"):
                os.unlink(os.path.join(folder, n))
        if p.returncode not in (0, 1) or left != (p.returncode == 0) or (p.returncode and b": " not in p.stderr):
            print("status", p.returncode, p.stderr.decode(errors="replace"))
            return 1
        runs += 1
    shutil.rmtree(bad, ignore_errors=True)
    print("runs", runs)
    return 0


if __name__ == "__main__":
    sys.exit({"make": make, "lttng": lttng, "kernel": kernel, "channels": channels, "new": new, "judge": judge, "same": same, "noise": noise}[sys.argv[1]](*sys.argv[2:]))

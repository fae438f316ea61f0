#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes an OTF archive by OTF's own library with pairs of every type of value, of a name space that is not ours, at an entry, at the exit and
at an event without anything else, and prints the comments that stftool should make of them. 77: there is no such library.

    otf_values.py ARCHIVE    without the suffix .otf
"""
import ctypes
import sys

try:
    lib = ctypes.CDLL("libopen-trace-format.so.1")
except OSError:
    sys.exit(77)

c = ctypes
TYPES = {"Char": (0, c.c_char), "Int8": (1, c.c_int8), "Uint8": (2, c.c_uint8), "Int16": (3, c.c_int16), "Uint16": (4, c.c_uint16),
         "Int32": (5, c.c_int32), "Uint32": (6, c.c_uint32), "Int64": (7, c.c_int64), "Uint64": (8, c.c_uint64),
         "Float": (9, c.c_float), "Double": (10, c.c_double), "ByteArray": (11, c.c_char_p)}
# the smallest, the largest, and one that has no exact decimal number
VALUES = [("Char", b"x", "x"), ("Int8", -128, "-128"), ("Uint8", 255, "255"), ("Int16", -32768, "-32768"), ("Uint16", 65535, "65535"),
          ("Int32", -2 ** 31, "-2147483648"), ("Uint32", 2 ** 32 - 1, "4294967295"), ("Int64", -2 ** 63, "-9223372036854775808"),
          ("Uint64", 2 ** 64 - 1, "18446744073709551615"), ("Float", 0.1, "0.100000001"), ("Double", 0.1, "0.10000000000000001"),
          ("ByteArray", "größe \"1\"".encode(), "größe \"1\""), ("ByteArray", b"\x00\xff\x80", "00ff80"),
          ("ByteArray", b"0123456789" * 30, "0123456789" * 30)]


def call(name, *args):
    f = getattr(lib, name)
    f.restype = c.c_void_p if name.endswith(("_open", "_new")) else c.c_int
    return f(*(c.c_void_p(a.value) if isinstance(a, c.c_void_p) else a for a in args))


manager = c.c_void_p(call("OTF_FileManager_open", c.c_uint32(20)))
writer = c.c_void_p(call("OTF_Writer_open", sys.argv[1].encode(), c.c_uint32(1), manager))
one, stream = c.c_uint32(1), c.c_uint32(0)
call("OTF_Writer_writeDefTimerResolution", writer, stream, c.c_uint64(10 ** 9))
call("OTF_Writer_writeDefProcess", writer, stream, one, b"process", c.c_uint32(0))
call("OTF_Writer_writeDefFunctionGroup", writer, stream, one, b"group")
call("OTF_Writer_writeDefFunction", writer, stream, one, b"main", one, c.c_uint32(0))
pairs = c.c_void_p(call("OTF_KeyValueList_new"))
lines = []
for key, (kind, value, text) in enumerate(VALUES, 1):
    name = f"others::{kind} {key}"
    call("OTF_Writer_writeDefKeyValue", writer, stream, c.c_uint32(key), c.c_int(TYPES[kind][0]), name.encode(), b"a value")
    # an entry, an event that only carries pairs, an exit, each with the pair
    for at, write in enumerate((("Enter", one, one, c.c_uint32(0)), ("NoOp", one), ("Leave", one, one, c.c_uint32(0)))):
        time, (event, *rest) = 1000 * key + 10 * at, write
        size = (c.c_uint32(len(value)),) if kind == "ByteArray" else ()
        call("OTF_KeyValueList_append" + kind, pairs, c.c_uint32(key), TYPES[kind][1](value), *size)
        call(f"OTF_Writer_write{event}KV", writer, c.c_uint64(time), *rest, pairs)
        lines.append(f"{time} {name}={text}")
call("OTF_Writer_close", writer)
print("\n".join(lines))

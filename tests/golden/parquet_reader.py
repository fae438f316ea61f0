#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads Parquet files as stftool writes them, from the format's description alone: Thrift's compact protocol, pages of version 1,
DELTA_BINARY_PACKED, RLE_DICTIONARY, BYTE_STREAM_SPLIT, Zstandard. Fails on all else.

    parquet_reader.py FILE    an object of JSON for each row, doubles as hexadecimal
"""
import ctypes
import json
import struct
import sys


class Thrift:
    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        value = shift = 0
        while True:
            b = self.byte()
            value |= (b & 127) << shift
            shift += 7
            if b < 128:
                return value

    def zigzag(self):
        v = self.varint()
        return v >> 1 ^ -(v & 1)

    def value(self, kind):
        if kind in (1, 2):
            return kind == 1
        if kind in (4, 5, 6):
            return self.zigzag()
        if kind == 8:
            n = self.varint()
            self.at += n
            return self.data[self.at - n:self.at]
        if kind == 9:
            b = self.byte()
            n = b >> 4 if b >> 4 < 15 else self.varint()
            return [self.value(b & 15) for _ in range(n)]
        if kind == 12:
            return self.struct()
        raise ValueError(f"Thrift type {kind}")

    def struct(self):
        out, last = {}, 0
        while True:
            b = self.byte()
            if b == 0:
                return out
            last = last + (b >> 4) if b >> 4 else self.zigzag()
            out[last] = self.value(b & 15)


def bits(data, at, n, width):
    """n numbers of `width` bits, the lowest bits first."""
    size = (n * width + 7) // 8
    all_bits = int.from_bytes(data[at:at + size], "little")
    assert at + size <= len(data)
    return [all_bits >> i * width & (1 << width) - 1 for i in range(n)], at + size


def signed(v):
    v &= 2 ** 64 - 1
    return v - 2 ** 64 if v >> 63 else v


def delta(data):
    t = Thrift(data)
    block, minis, n, v = t.varint(), t.varint(), t.varint(), t.zigzag()
    out = [v] if n else []
    while len(out) < n:
        least = t.zigzag()
        widths = [t.byte() for _ in range(minis)]
        for w in widths:
            if len(out) < n:
                d, t.at = bits(data, t.at, block // minis, w)
                for x in d[:n - len(out)]:
                    v = signed(v + least + x)
                    out.append(v)
    assert t.at == len(data), "bytes after the deltas"
    return out


def runs(data, n, width):
    t, out = Thrift(data), []
    while len(out) < n:
        head = t.varint()
        if head & 1:
            v, t.at = bits(data, t.at, (head >> 1) * 8, width)
            assert len(out) + len(v) < n + 8
            out += v
        else:
            size = (width + 7) // 8
            out += [int.from_bytes(data[t.at:t.at + size], "little")] * (head >> 1)
            t.at += size
            assert len(out) <= n
    assert t.at == len(data), "bytes after the runs"
    return out[:n]


zstd = None


def unpack(data, size, codec):
    global zstd
    if codec == 0:
        return data
    assert codec == 6
    if not zstd:
        zstd = ctypes.CDLL("libzstd.so.1")
        zstd.ZSTD_decompress.restype = ctypes.c_size_t
    out = ctypes.create_string_buffer(max(size, 1))
    n = zstd.ZSTD_decompress(out, ctypes.c_size_t(size), data, ctypes.c_size_t(len(data)))
    assert n == size, "damaged page"
    return out.raw[:size]


def page(data, at, codec):
    t = Thrift(data, at)
    h = t.struct()
    return h, unpack(data[t.at:t.at + h[3]], h[2], codec), t.at + h[3]


def column(data, meta, optional):
    """The values of a chunk; doubles as their bits."""
    words, at = None, meta[9]
    if 11 in meta:
        assert meta[11] < meta[9]
        h, p, after = page(data, meta[11], meta[4])
        assert h[1] == 2 and after == meta[9]
        words, k = [], 0
        for _ in range(h[7][1]):
            n = struct.unpack_from("<I", p, k)[0]
            words.append(p[k + 4:k + 4 + n].decode())
            k += 4 + n
        assert k == len(p)
        at = after
    h, p, after = page(data, at, meta[4])
    assert h[1] == 0 and h[5][1] == meta[5]
    assert after - meta.get(11, meta[9]) == meta[7], "size of the chunk"
    there = [1] * meta[5]
    if optional:
        n = struct.unpack_from("<I", p)[0]
        there, p = runs(p[4:4 + n], meta[5], 1), p[4 + n:]
    n, encoding = sum(there), h[5][2]
    assert encoding in meta[2]
    if encoding == 5:
        v = delta(p)
        if v:
            low, high = (struct.unpack("<q", meta[12][i])[0] for i in (6, 5))
            assert (low, high) == (min(v), max(v)), "limits"
    elif encoding == 8:
        v = [words[i] for i in runs(p[1:], n, p[0])]
    else:
        assert encoding == 9 and len(p) == 8 * n
        v = [int.from_bytes(p[i::n], "little") for i in range(n)]
    assert len(v) == n and meta[12][3] == meta[5] - n
    v = iter(v)
    return [next(v) if x else None for x in there]


def read(path):
    """Keys of the file, names of the columns, rows."""
    with open(path, "rb") as f:
        data = f.read()
    assert data[:4] == data[-4:] == b"PAR1"
    footer = Thrift(data, len(data) - 8 - struct.unpack("<I", data[-8:-4])[0])
    meta = footer.struct()
    assert footer.at == len(data) - 8
    schema = meta[2][1:]
    rows = []
    for g in meta[4]:
        columns = [column(data, c[3], s[3]) for c, s in zip(g[1], schema)]
        assert all(len(c) == g[3] for c in columns)
        rows += zip(*columns)
    assert len(rows) == meta[3]
    kind = [s[1] for s in schema]
    assert all((k == 6) == (6 in s) for k, s in zip(kind, schema))
    keys = [(k[1].decode(), k[2].decode()) for k in meta.get(5, [])]
    return keys, [s[4].decode() for s in schema], rows


if __name__ == "__main__":
    _, names, all_rows = read(sys.argv[1])
    for row in all_rows:
        print(json.dumps(dict(zip(names, row)), ensure_ascii=False))

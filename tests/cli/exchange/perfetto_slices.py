#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The slices that Perfetto shows of a file, rebuilt from its packets as trace_processor does it: a track is a stack, and an end
without a name ends the innermost slice. Prints "TRACK NAME BEGIN END" for each, and "SEND NAME" for the slice that a flow leaves.

    perfetto_slices.py FILE
"""
import sys
import zlib


def fields(b):
    at = 0

    def varint():
        nonlocal at
        v = k = 0
        while True:
            v |= (b[at] & 127) << k
            at, k = at + 1, k + 7
            if b[at - 1] < 128:
                return v

    while at < len(b):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 1:
            yield key >> 3, b[at:at + 8]
            at += 8
        else:
            n = varint()
            yield key >> 3, b[at:at + n]
            at += n


def packets(b):
    for k, v in fields(b):
        if k == 1:
            inner = dict(fields(v))
            if 50 in inner:
                yield from packets(zlib.decompress(inner[50]))
            else:
                yield inner


def main():
    clock, default, names, tracks, stacks, out = {}, {}, {}, {}, {}, []
    with open(sys.argv[1], "rb") as f:
        trace = list(packets(f.read()))
    for p in trace:
        if 60 in p:
            track = dict(fields(p[60]))
            inner = dict(fields(track.get(4, b"")))
            tracks[track[1]] = (track.get(2) or inner.get(5) or b"").decode(), track.get(5)
    for p in trace:
        sequence = p[10] if 10 in p else 0
        if 6 in p:
            first = next(v for k, v in fields(p[6]) if k == 1)
            clock[sequence] = dict(fields(first))[2]
        if 59 in p:
            default[sequence] = dict(fields(dict(fields(p[59]))[11]))[11]
        for k, v in fields(p.get(12, b"")):
            if k == 2:
                v = dict(fields(v))
                names[sequence, v[1]] = v[2].decode()
        if 11 not in p or sequence == 1:
            continue
        clock[sequence] += p.get(8, 0)
        event = dict(fields(p[11]))
        uuid = event.get(11, default[sequence])
        stack = stacks.setdefault(uuid, [])
        if event[9] == 1:
            stack.append((names[sequence, event[10]], clock[sequence]))
        elif event[9] == 2:
            name, begin = stack.pop()
            out.append(f"{tracks[uuid][0]}: {name} {begin}-{clock[sequence]}")
        elif event[9] == 3 and 47 in event:
            out.append(f"send in {stack[-1][0] if stack else 'no slice'}")
    out += [f"{tracks[u][0]}: {name} is not ended" for u, stack in stacks.items() for name, _ in stack]
    print("\n".join(sorted(out)))


if __name__ == "__main__":
    main()

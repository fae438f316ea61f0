#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Profiles of four ranks with known arrivals at collective operations, and what clkapply --together made of them.

clkapply_together.py make FOLDER          writes c.clk and r0.json to r3.json, and other files of the same arrivals
clkapply_together.py zip OUT.zip          reads the zip as Perfetto does, and compares all times with the truth
clkapply_together.py table OUT NUMBER     compares a table with the truth; NUMBER operations must be in it
"""
import csv
import json
import random
import struct
import sys
import zlib

REAL0 = 1763689000123456789
BASE = 7889238 * 10 ** 9 * 223
RANKS, OPERATIONS, RUN_S, BOUND_NS = 4, 120, 20, 5000
# what the clock of each rank is ahead of the master's at the start, and its rate
AHEAD = [0, 700 * 1000, -2 * 10 ** 6, 90 * 1000]
PPM = [0, 20, -35, 5]


def local(rank, true_ns):
    return REAL0 + true_ns + AHEAD[rank] + true_ns * PPM[rank] // 10 ** 6


def arrivals():
    """For each operation when each rank arrives. The last one is 60 us late, or too little for the clocks."""
    r = random.Random(7)
    out = []
    for n in range(OPERATIONS):
        t = 10 ** 9 + n * 150 * 10 ** 6
        late = r.choice([2, 2, 2, 1, 0, 3])
        close = n % 6 == 5
        at = [t + r.randrange(0, 20000) for _ in range(RANKS)]
        at[late] = max(at[:late] + at[late + 1:]) + (3000 if close else 60000 + r.randrange(0, 5000))
        out.append((at, late, close))
    return out


def clk():
    end = RUN_S * 10 ** 9
    text = ('TICKMARK-CLK 1\nprogram "test"\nmaster 0\nranks %d\nglobal-period 1.0000000000000001e-09\nrealtime-at-0 %d\nend %d\n'
            'clock-was-set 0\ninterpolation linear\nmax-drift 0.00050000000000000001\nmax-wander 9.9999999999999995e-07\n'
            'rank 0\nhost "node0"\ntimer "clock_realtime"\nnominal-hz 1000000000\nanchor %d %d 0\n'
            'piece %d 0 1000000000 1000000000 0 0\nend-rank\n' % (RANKS, REAL0, end, REAL0, REAL0, REAL0))
    for k in range(1, RANKS):
        l0, l1 = local(k, 0), local(k, end)
        text += ('rank %d\nhost "node%d"\ntimer "clock_realtime"\nnominal-hz 1000000000\nnominal-rate 1\n'
                 'session start used 1 samples 0 lost 0\nsession end used 1 samples 0 lost 0\nrate 0.9999 1.0001\n'
                 'node %d 0 %d %d 1\nnode %d %d %d %d 1\npiece %d 0 %d %d 0 0\nend-rank\n'
                 % (k, k, l0, -BOUND_NS, BOUND_NS, l1, end, end - BOUND_NS, end + BOUND_NS, l0, l1 - l0, end))
    return text + "end-file\n"


def us(ns):
    return "%d.%03d" % (ns // 1000, ns % 1000)


def row(rank, base, true_ns, length, **more):
    at = local(rank, true_ns) - base
    text = ", ".join('"%s": %s' % (k, json.dumps(v)) for k, v in more.items())
    return '{"ph": "X", %s, "ts": %s, "dur": %s}' % (text, us(at), us(local(rank, true_ns + length) - base - at))


def profile(rank, kinds, base=BASE, key=True, leave_out=(), groups=1, name="all_reduce"):
    """kinds: k kernel, p record_param_comms, w work, c c10d; s: without numbers."""
    events = ['{"name": "process_name", "ph": "M", "ts": 0.000, "pid": 7, "tid": 0, "args": {"name": "python"}}']
    for n, (at, _, _) in enumerate(arrivals()):
        if n in leave_out:
            continue
        t = at[rank]
        args = {"Collective name": name, "Process Group Name": str(n % groups), "Process Group Ranks": "[0, 1, 2, 3]",
                "In msg nelems": 1024}
        if "s" not in kinds:
            args["Seq"] = 1 + n // groups
        # the host calls early, in an order of its own
        early = 50000 + 7000 * ((n + rank) % RANKS)
        if "c" in kinds:
            events.append(row(rank, base, t - early if "k" in kinds else t, 9000, cat="cpu_op", name="c10d::allreduce_", pid=7, tid=8))
        if "w" in kinds:
            events.append(row(rank, base, t - early + 100 if "k" in kinds else t, 9000, cat="user_annotation",
                              name="nccl:" + name, pid=7, tid=8))
            events.append(row(rank, base, t - 10, 9000, cat="gpu_user_annotation", name="nccl:" + name, pid=0, tid=20))
        if "p" in kinds:
            events.append(row(rank, base, t - early + 200 if "k" in kinds else t, 900, cat="cpu_op", name="record_param_comms",
                              pid=7, tid=8, args=args))
        if "k" in kinds:
            events.append(row(rank, base, t, max(at) - t + 30000, cat="kernel", name="ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)",
                              pid=0, tid=20, args=args))
            events.append(row(rank, base, t + 5000, 100, cat="kernel", name="ncclDevKernel_SendRecv(x)", pid=0, tid=21,
                              args=dict(args, **{"Collective name": "send"})))
    # rows of a stream are together, not in the order of time
    events = events[:1] + events[2::2] + events[1::2]
    head = '{"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": %d, "world_size": 4},' % rank
    if key:
        head += ' "baseTimeNanoseconds": %d,' % base
    return head + ' "traceEvents": [\n' + ",\n".join(events) + "\n]}\n"


def make(folder):
    def put(name, text):
        with open(f"{folder}/{name}", "w", encoding="utf-8") as f:
            f.write(text)
    put("c.clk", clk())
    for k in range(RANKS):
        put(f"r{k}.json", profile(k, "kpwc"))
        put(f"short{k}.json", profile(k, "kp", leave_out=range(10) if k == 1 else range(115, 120) if k == 3 else ()))
        put(f"plain{k}.json", profile(k, "ps", leave_out=[3] if k == 2 else ()))
        put(f"cpu{k}.json", profile(k, "w"))
        put(f"c10d{k}.json", profile(k, "c"))
        put(f"groups{k}.json", profile(k, "ks", groups=3))
        put(f"differ{k}.json", profile(k, "ks", name="broadcast" if k == 1 else "all_reduce"))
        # an older file, without a base, and one that began in the three months before
        put(f"bases{k}.json", profile(k, "kp", base=0, key=False) if k == 1 else profile(k, "kp", BASE - 7889238 * 10 ** 9 * (k == 2)))


def members(path):
    """As zip_reader.cc does: from local header to local header, without the directory."""
    with open(path, "rb") as f:
        data = f.read()
    at = 0
    while data[at:at + 4] == b"PK\x03\x04":
        version, flags, method, _, _, crc, packed, size, n, extra = struct.unpack("<HHHHHIIIHH", data[at + 4:at + 30])
        assert version <= 20 and flags == 0 and method == 8, (version, flags, method)
        name = data[at + 30:at + 30 + n].decode()
        at += 30 + n + extra
        text = zlib.decompress(data[at:at + packed], -15)
        assert len(text) == size and zlib.crc32(text) == crc, name
        assert not any(part.startswith(".") for part in name.split("/")), name
        yield name, text
        at += packed
    assert data[at:at + 4] == b"PK\x01\x02", "the directory follows"


def read_zip(path):
    found = dict(members(path))
    manifest = found.pop("perfetto_manifest.json").decode()
    assert "".join(manifest.split()).startswith('{"perfetto_manifest"')
    meta = json.loads(manifest)["perfetto_manifest"]
    assert meta["version"] == 1 and [e["path"] for e in meta["files"]] == list(found), "all files, in this order"
    assert len({e["machine"]["name"] for e in meta["files"]}) == len(found), "a machine for each rank"
    first = meta["files"][0]["path"]
    assert "clocks" not in meta["files"][0]
    assert all(e["clocks"] == {"sync_to": {"file": first}, "offset_ns": 0} for e in meta["files"][1:])
    base, bound, count = meta["attributes"]["tickmark.base_ns"], meta["attributes"]["tickmark.bound_ns"], 0
    known = arrivals()
    for name, text in found.items():
        trace = json.loads(text)
        rank = trace["distributedInfo"]["rank"]
        assert name.startswith(f"rank{rank}/") and trace["baseTimeNanoseconds"] == base, (name, trace["baseTimeNanoseconds"])
        assert trace["tickmark"]["rank"] == rank and trace["tickmark"]["bound_ns"] <= bound
        kernels = sorted((e for e in trace["traceEvents"] if e.get("cat") == "kernel" and "AllReduce" in e["name"]), key=lambda e: e["ts"])
        assert len(kernels) == OPERATIONS
        for e, (at, _, _) in zip(kernels, known):
            # the importer has doubles, and ignores the base
            shown = round(e["ts"] * 1000)
            assert shown >= 0
            error = abs(shown + base - REAL0 - at[rank])
            end = abs(shown + round(e["dur"] * 1000) + base - REAL0 - max(at) - 30000)
            assert error <= 3 and end <= 4, (name, e, error, end)
            count += 1
    print(f"{count} kernels of {len(found)} ranks, base {base}, bound {bound} ns")


def table(path, number):
    with open(path, encoding="utf-8") as f:
        lines = f.read().splitlines()
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    assert len(rows) == number, (len(rows), number)
    known, last = arrivals(), {}
    groups = len({r["group"] for r in rows})
    wrong = 0
    for r in rows:
        n = int(r["number"]) * groups + int(r["group"].split()[0]) if groups > 1 else int(r["number"]) - ("1" in sys.argv[4:])
        at, late, close = known[n]
        spread, margin, bound = (float(r[k]) for k in ("spread_us", "margin_us", "bound_us"))
        assert int(r["ranks"]) == RANKS and abs(spread - (max(at) - min(at)) / 1000) <= 0.01, (r, at)
        assert r["order"] == ("undecidable" if close else "certain"), (r, at)
        assert (margin > bound) == (r["order"] == "certain")
        # the bound of two ranks, of which the master has 0; the clocks may have wandered between the sessions
        assert BOUND_NS / 1000 <= bound <= 6.1 * BOUND_NS / 1000, r
        if r["order"] == "certain":
            assert int(r["last"]) == late, (r, at)
            assert int(r["first"]) == at.index(min(at)) or sorted(at)[1] - min(at) <= 10
            last[late] = last.get(late, 0) + 1
        raw = [local(k, at[k]) for k in range(RANKS)]
        wrong += raw.index(max(raw)) != late
    assert wrong > len(rows) // 3, "the clocks as they were show another last rank"
    for k, n in last.items():
        assert any(line.startswith(f"# rank {k} was last in {n}, ") for line in lines), (k, n, lines[-8:])
    most = max(last, key=last.get)
    assert f"# straggler: rank {most}, last in {last[most]} of {len(rows)}" in lines
    print(f"{len(rows)} operations, {sum(last.values())} certain; raw clocks name another rank in {wrong}")


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2])
    elif sys.argv[1] == "zip":
        read_zip(sys.argv[2])
    else:
        table(sys.argv[2], int(sys.argv[3]))

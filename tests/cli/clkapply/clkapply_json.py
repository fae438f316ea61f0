#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Trace events in JSON, and what clkapply made of them. Exact: no time becomes a float.

clkapply_json.py make FOLDER      writes a correction of two ranks and files of the three generations of PyTorch's profiler and of
                                  other programs
clkapply_json.py judge A.json B.json RANK WITHIN_NS: B is the corrected copy of A: each time is right to WITHIN_NS by the
                                  correction's own numbers, and no other byte has changed
clkapply_json.py large FILE MIB   a trace of that size
"""
import gzip
import json
import re
import sys
from decimal import Decimal
from fractions import Fraction

REAL0 = 1763689000123456789  # the time of day at the start of the run: the master's clock showed it then
BASE = 7889238 * 10 ** 9 * 223
# rank 1: 1 ms ahead at the start, and 20 ppm fast
AHEAD, PER_S = 1000000, 20000
RUN_S = 100

CLK = """TICKMARK-CLK 1
program "test"
master 0
ranks 2
global-period 1.0000000000000001e-09
realtime-at-0 {real}
end {end}
clock-was-set 0
interpolation linear
max-drift 0.00050000000000000001
max-wander 9.9999999999999995e-07
rank 0
host "nodeone"
timer "clock_realtime"
nominal-hz 1000000000
anchor {real} {real} 0
piece {real} 0 1000000000 1000000000 0 0
end-rank
rank 1
host "nodetwo"
timer "clock_realtime"
nominal-hz 1000000000
nominal-rate 1
session start used 1 samples 0 lost 0
session end used 1 samples 0 lost 0
rate 0.99997 0.99999
node {l0} 0 -400 600 1
node {l1} {end} {e1} {e2} 1
piece {l0} 0 {length} {end} 0 0
end-rank
end-file
"""


def local(rank, true_ns):
    """What the clock of the rank shows at a time of the run, in ns since 1970."""
    return REAL0 + true_ns + (AHEAD + true_ns * PER_S // 10 ** 9 if rank == 1 else 0)


def corrected(rank, local_ns):
    """The time on the corrected axis, exactly."""
    if rank == 0:
        return Fraction(local_ns)
    return REAL0 + Fraction(local_ns - REAL0 - AHEAD) / (1 + Fraction(PER_S, 10 ** 9))


def us(ns, places):
    sign, ns = "-" if ns < 0 else "", abs(ns)
    return f"{sign}{ns // 1000}" + (f".{ns % 1000:03d}"[:places + 1] if places else "")


def rows(rank, time, dur, blank):
    """Events of a step: an operator, its launch, the kernel, the flow between them."""
    out = []
    for i in range(200):
        t = 10 ** 7 + i * 450 * 10 ** 6 + 137 * i
        launch, kernel = t + 2000, t + 9000 + i
        name = '"op \\"%d\\" \\u00e4\\\\"' % i
        out += [
            '{"ph": "X", "cat": "cpu_op", "name": %s, "pid": 7, "tid": 8,%s"ts": %s, "dur": %s, "args": {"External id": %d, '
            '"ts": 5, "dur": 6, "Input": [[1, 2], {"ts": "7"}], "Ev Idx": %d}}' % (name, blank, time(t), dur(t, 12000), i, i),
            '{"dur":%s,"ts":%s,"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":7,"tid":8,"args":{"correlation":%d}}'
            % (dur(launch, 3000), time(launch), i),
            '{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": "stream 7", "ts": %s, "dur": %s, "args": {"queued": 0, '
            '"correlation": %d}}' % (time(kernel), dur(kernel, 700), i),
            '{"ph": "s", "id": %d, "pid": 7, "tid": 8, "ts": %s, "cat": "ac2g", "name": "ac2g"}' % (i, time(launch)),
            '{"ph": "f", "id": %d, "pid": 0, "tid": 7, "ts": %s, "cat": "ac2g", "name": "ac2g", "bp": "e"}' % (i, time(kernel)),
        ]
    return out


def kineto(rank, generation, base_last=False, distributed=True):
    places = {1: 0, 2: 3, 3: 3, 4: 2}[generation]
    step = 10 ** (3 - places)
    base = BASE if generation >= 3 else 0

    def time(t):
        return us((local(rank, t) - base) // step * step, places)

    def dur(t, n):
        n = (local(rank, t + n) // step - local(rank, t) // step) * step
        return us(n, places) + (".0" if generation == 4 and places == 0 else "")
    head = '{\n  "schemaVersion": 1,\n  "deviceProperties": [{"id": 0, "name": "H \\u2126"}],\n'
    if distributed:
        head += '  "distributedInfo": {"backend": "nccl", "rank": %d, "world_size": 2, "pg_config": [{"ranks": [0, 1]}]},\n' % rank
    if base and not base_last:
        head += '  "baseTimeNanoseconds": %d,\n' % base
    events = ['{"name": "process_name", "ph": "M", "ts": %s, "pid": 7, "tid": 0, "args": {"name": "python"}}' % z
              for z in ("0.000", "0", time(0))] + rows(rank, time, dur, " ")
    tail = ['"traceName": "/tmp/a b.json"', '"displayTimeUnit": "ms"']
    if base and base_last:
        tail.append('"baseTimeNanoseconds": %d' % base)
    return head + '  "traceEvents": [\n  ' + ",\n  ".join(events) + "\n],\n" + ",\n".join(tail) + "\n}\n"


def chrome(rank, bare=False, cut=False):
    def time(t):
        return us(local(rank, t), 3)
    out = ['{"ph":"M","ts":0,"name":"thread_name","pid":1}', '{}', '{"ph":"M","name":"no time","pid":1}',
           '{"ph":"X","ts":"%s","dur":"2.5","name":"text","pid":1,"tid":1,"tts":3,"tdur":4}' % time(10 ** 6),
           '{"ph":"c","ts":%s,"args":{"sync_id":"a","issue_ts":%s},"name":"clock_sync"}' % (time(3 * 10 ** 6), time(2 * 10 ** 6)),
           '{"ph":"X","ts":%d.5e1,"dur":1e3,"name":"exponents","pid":1}' % (local(rank, 4 * 10 ** 6) // 10000),
           '{"ph":"B","ts":%s,"dur":77,"name":"no X","pid":1}' % time(5 * 10 ** 6)]
    out += ['{"ph":"%s","ts":%s,"pid":1,"tid":1,"name":"n","id":3}' % (p, time((6 + k) * 10 ** 6))
            for k, p in enumerate("BEiIinbeSTpFstfCNODPRv")]
    if bare:
        return "[\n" + ",\n".join(out) + (",\n" if cut else "]")
    return ('\ufeff{"traceEvents":[%s],"stackFrames":{"1":{"name":"f","ts":9}},"samples":[{"cpu":0,"ts":%s,"sf":1,"weight":1}],'
            '"metadata":{"clock-domain":"LINUX_CLOCK_REALTIME","ts":8}}' % (",".join(out), time(99 * 10 ** 6)))


def write(path, text):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "wt", encoding="utf-8", newline="") as f:
        f.write(text)


def make(folder):
    with open(folder + "/c.clk", "w", encoding="utf-8") as f:
        end = RUN_S * 10 ** 9
        f.write(CLK.format(real=REAL0, end=end, e1=end - 400, e2=end + 600, l0=local(1, 0), l1=local(1, end),
                           length=local(1, end) - local(1, 0)))
    for generation in (1, 2, 3, 4):
        for rank in (0, 1):
            write(f"{folder}/g{generation}.{rank}.json", kineto(rank, generation))
    write(folder + "/last.json", kineto(1, 3, base_last=True))
    write(folder + "/last.pt.trace.json.gz", kineto(1, 3, base_last=True))
    write(folder + "/single.json", kineto(1, 3, distributed=False))
    write(folder + "/hosted.json", kineto(1, 3, distributed=False).replace('{\n', '{\n"host_name":"nodetwo",', 1))
    write(folder + "/chrome.json", chrome(1))
    write(folder + "/bare.json", chrome(1, bare=True))
    write(folder + "/cut.json", chrome(1, bare=True, cut=True))


def read(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rb") as f:
        return f.read().decode("utf-8")


class Number(str):
    """The text of a number."""


def parse(text):
    text = text.lstrip("\ufeff")
    if text.startswith("[") and not text.rstrip().endswith("]"):
        text = text.rstrip().rstrip(",") + "]"
    data = json.loads(text, parse_float=Number, parse_int=Number)
    return data if isinstance(data, dict) else {"traceEvents": data}


TIME = re.compile(r'("(?:ts|dur|issue_ts|baseTimeNanoseconds)"\s*:\s*)("?)(-?[0-9][0-9.eE+-]*)\2')


def judge(before, after, rank, within):
    a, b = read(before), read(after)
    bound = re.search(r'"tickmark":\{"bound_ns":([0-9]+),"timer":"([a-z_]+)","rank":([0-9]+)\},', b)
    if bound:
        assert int(bound.group(3)) == rank, bound.group(0)
        within = min(within, int(bound.group(1)))
        b = b.replace(bound.group(0), "", 1)
    # all bytes that belong to no time
    assert TIME.sub(r"\1\2\2", a) == TIME.sub(r"\1\2\2", b), "other bytes have changed"
    x, y = parse(a), parse(b)
    base = [int(d.get("baseTimeNanoseconds", 0)) for d in (x, y)]
    times = {}
    count = 0

    def same(old, new, real):
        nonlocal count
        p, q = Decimal(old) * 1000 + base[0], Decimal(new) * 1000 + base[1]
        if not real:
            assert old == new, (old, new)
            return p, q
        assert times.setdefault(old, new) == new, ("equal digits", old, new)
        error = abs(Fraction(q) - corrected(rank, int(round(p))))
        assert error <= within, (old, new, float(error), within)
        count += 1
        return p, q
    starts, launched = [], {}
    for key in ("traceEvents", "samples"):
        assert len(x.get(key, [])) == len(y.get(key, []))
        for e, f in zip(x.get(key, []), y.get(key, [])):
            if "ts" not in e:
                assert e == f
                continue
            real = not (Decimal(e["ts"]) == 0 and (e.get("ph") == "M" or base[0]))
            p, q = same(e["ts"], f["ts"], real)
            if e.get("ph") == "X":
                end = p + Decimal(e["dur"]) * 1000
                error = abs(Fraction(q + Decimal(f["dur"]) * 1000) - corrected(rank, int(round(end))))
                assert error <= within and Decimal(f["dur"]) >= 0, (e, f, float(error))
                count += 1
            elif "dur" in e:
                assert e["dur"] == f["dur"]
            if "issue_ts" in e.get("args", {}):
                same(e["args"]["issue_ts"], f["args"]["issue_ts"], True)
            correlation = f.get("args", {}).get("correlation")
            if f.get("cat") == "cuda_runtime":
                launched[correlation] = p, q
            if f.get("cat") == "kernel":
                assert (q >= launched[correlation][1]) == (p >= launched[correlation][0]), "a kernel starts before its launch"
            if real:
                starts.append(q)
    assert not base[1] or min(starts) >= base[1], "a negative time"
    assert (base[0] - base[1]) % (7889238 * 10 ** 9) == 0
    print(f"{count} times, within {within} ns")


def large(path, mib):
    event = ('{"ph": "X", "cat": "cpu_op", "name": "aten::add_%d", "pid": 7, "tid": 8, "ts": %d.%03d, "dur": 3.207, "args": {"External id": '
             '%d, "Record function id": 0, "Concrete Inputs": ["", "", "1"], "Input type": ["float", "float", "Scalar"], "Input Dims": '
             '[[64, 64], [64, 64], []], "Ev Idx": %d}}')
    first = (local(0, 0) - BASE) // 1000
    with open(path, "w", encoding="utf-8") as f:
        f.write('{"schemaVersion": 1, "distributedInfo": {"rank": 0}, "baseTimeNanoseconds": %d, "traceEvents": [\n' % BASE)
        i = 0
        while f.tell() < mib << 20:
            f.write(",\n".join(event % (k % 97, first + 30 * k, k % 1000, k, k) for k in range(i, i + 1000)) + ",\n")
            i += 1000
        f.write('{"ph": "i", "ts": %d.000, "s": "g"}]}\n' % (first + 30 * i))


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2])
    elif sys.argv[1] == "judge":
        judge(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
    else:
        large(sys.argv[2], int(sys.argv[3]))

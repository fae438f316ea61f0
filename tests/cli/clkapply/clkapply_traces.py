#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A trace of two ranks with stamps of their own clocks, whose true times are known, and what readers of others say of its corrected
copies. The correction is the one of clkapply.sh: rank 0 reads 5000 ns at the start of the run; rank 1 reads 7000 ns 10 ns after it,
and its nanoseconds last 1.000001 ns.

    clkapply_traces.py make FILE.avt          writes the trace, ASCII form
    clkapply_traces.py otf2 FILE.otf2 BOUND   compares the times of otf2-print with the true ones
    clkapply_traces.py ctf FILE.ctf BOUND [P:T]   the same with babeltrace2, of a thread; default 1:0
    clkapply_traces.py clocks FILE.ctf        gives the threads of rank 0 a clock of their own, "first", and removes the index
    clkapply_traces.py packets FILE BIG       makes packets of a plain description of CTF, as LTTng writes it
"""
import re
import shutil
import struct
import subprocess
import sys
from fractions import Fraction

EVENTS = 30000  # of each thread: more than a chunk of OTF2 has
THREADS = ((0, 0), (0, 1), (1, 0))
REALTIME0 = 1763689000123456789


def truth(i):
    return 1000 + i * 60000 - i % 7


def local(process, time):
    return 5000 + time if process == 0 else 7000 + round(Fraction(time - 10) * 1000000 / 1000001)


def make(path):
    lines = []
    for i in range(EVENTS):
        for p, t in THREADS:
            who, at = t * 65536 + p + 1, local(p, truth(i))
            lines.append((at, f"{at} LEAVE CPU {who}" if i % 2 else f"{at} ENTER CPU {who} FUNCTION 1"))
    lines.sort()
    with open(path, "w") as f:
        f.write('CLKPERIOD 1e-09\nNCPUS 2 1\nDEFCLASS 1 "MPI" SELF "MPI" PARENT 0\nDEFFUNCTION 1 "f" CLASS 1\n'
                'DEFCOMM 1 "W" LEFT 0 FIRST 1 1 LAST 1 2 STRIDE 1 1\n')
        f.write(f"DURATION {lines[0][0]} {lines[-1][0]}\n" + "\n".join(text for _, text in lines) + "\n")


def run(*command):
    r = subprocess.run(command, capture_output=True, text=True, check=False)
    if r.returncode or r.stderr:
        sys.exit(f"{command[0]}: status {r.returncode}, {r.stderr}")
    return r.stdout.splitlines()


def compare(times, want, bound):
    if len(times) != EVENTS:
        sys.exit(f"{len(times)} events, not {EVENTS}")
    worst = max(abs(t - w) for t, w in zip(times, want))
    if worst > bound:
        sys.exit(f"off by {float(worst)} ns, bound {bound} ns")


def otf2(path, bound):
    times = {}
    for line in run("otf2-print", path):
        m = re.match(r"(ENTER|LEAVE) +(\d+) +(\d+)", line)
        if m:
            times.setdefault(int(m[2]), []).append(int(m[3]))
    for k in range(3):
        # the axis is the master's clock; rank 0 is exact
        compare(times.get(k, []), [5000 + truth(i) for i in range(EVENTS)], bound if k == 2 else 0)
    text = "\n".join(run("otf2-print", "-G", path))
    m = re.search(r"Global Offset: (\d+), Length: (\d+), Date: (.*)", text)
    first, last = 5000 + truth(0), 5000 + truth(EVENTS - 1)
    if abs(int(m[1]) - first) > 1 or abs(int(m[1]) + int(m[2]) - 1 - last) > bound:
        sys.exit(f"clock properties: {m[0]}, not {first} to {last}")
    bounds = re.findall(r"CLOCK_OFFSET +(\d+) +Time: (\d+), Offset: \+0, StdDev: ([\d.]+)", "\n".join(run("otf2-print", "-C", path)))
    if {int(b[0]) for b in bounds} != {0, 1, 2} or not any(10 < float(b[2]) <= 1.1 * bound for b in bounds if b[0] == "2"):
        sys.exit(f"bounds: {bounds}")


def ctf(path, bound, thread="1:0"):
    times = []
    for line in run("babeltrace2", "--clock-seconds", path):
        m = re.match(rf'\[(\d+)\.(\d+)\].*"{thread}"', line)
        if m:
            times.append(int(m[1]) * 10 ** 9 + int(m[2]))
    compare(times, [REALTIME0 + truth(i) for i in range(EVENTS)], bound)


def clocks(path):
    with open(path + "/metadata") as f:
        text = f.read()
    clock = re.search(r"^clock \{.*?^\};\n\ntypealias [^\n]*\n", text, re.S | re.M)[0]
    first = clock.replace('"tickmark"', '"first"').replace("clock.tickmark", "clock.first").replace("stamp_t", "first_t")
    stream = text[text.index("\nstream {"):]
    other = stream.replace("\tid = 0;\n\tpacket", "\tid = 1;\n\tpacket").replace("stream_id = 0", "stream_id = 1").replace("stamp_t", "first_t")
    with open(path + "/metadata", "w") as f:
        f.write(text.replace(clock, clock + first) + other)
    for name in ("process_0_thread_0", "process_0_thread_1"):
        with open(f"{path}/{name}", "rb") as f:
            data, at = bytearray(f.read()), 0
        while at < len(data):
            data[at + 4] = 1
            at += struct.unpack_from("<Q", data, at + 40)[0] // 8
        with open(f"{path}/{name}", "wb") as f:
            f.write(data)
    shutil.rmtree(path + "/index")


def packets(path, order):
    with open(path, "rb") as f:
        text = f.read()
    with open(path, "wb") as f:
        for i in range(0, len(text), 1000):
            part = text[i:i + 1000]
            size = 8 * (37 + len(part))
            f.write(struct.pack(order + "I16sIIIBBBBB", 0x75D11D57, bytes(16), 0, size, size + 8 * 11, 0, 0, 0, 1, 8) + part + bytes(11))


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2])
    elif sys.argv[1] == "clocks":
        clocks(sys.argv[2])
    elif sys.argv[1] == "packets":
        packets(sys.argv[2], sys.argv[3])
    else:
        {"otf2": otf2, "ctf": ctf}[sys.argv[1]](sys.argv[2], float(sys.argv[3]) * 1e9, *sys.argv[4:])

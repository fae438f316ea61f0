#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Databases as Nsight Systems exports them, and what clkapply made of them.

clkapply_nsight.py make FILE ROWS        a report of rank 1's node; its two clocks are those of c.clk (clkapply_json.py make)
clkapply_nsight.py judge A B [CLOCK]     B is the corrected copy of A: only times differ, and each is right to 2 ns
"""
import os
import sqlite3
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from clkapply_json import REAL0, corrected, local  # noqa: E402

START = 2 * 10 ** 9  # the session begins 2 s after the run
RAW0 = 35255823190   # on the clock that the file does not name
SCHEMA = """
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE ENUM_CUDA_MEMCPY_OPER (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT, start INTEGER);
CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
CREATE TABLE META_DATA_CAPTURE (name TEXT NOT NULL, value TEXT, start INTEGER);
CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, devStateName TEXT, name TEXT, nameEnum INTEGER, value TEXT);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT, systemClockNs INTEGER);
CREATE TABLE ANALYSIS_DETAILS (globalVid INTEGER NOT NULL, duration INTEGER NOT NULL, startTime INTEGER NOT NULL, stopTime INTEGER NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, streamId INTEGER,
 correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL, gridX INTEGER, qmdBulkReleaseDone INTEGER, qmdPreexitDone INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER,
 correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, text TEXT, globalTid INTEGER,
 uint64Value INTEGER, "end""x" INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (timestamp INTEGER, eventId INTEGER);
CREATE TABLE EMPTY (start INTEGER);
CREATE TABLE OTHER (start TEXT, timestamp REAL);
CREATE INDEX by_start ON CUPTI_ACTIVITY_KIND_KERNEL (start);
"""
TIMES = {"CUPTI_ACTIVITY_KIND_KERNEL": {"start", "end", "qmdBulkReleaseDone", "qmdPreexitDone"}, "CUPTI_ACTIVITY_KIND_RUNTIME": {"start", "end"},
         "NVTX_EVENTS": {"start", "end"}, "CUPTI_ACTIVITY_KIND_CUDA_EVENT": {"timestamp"}, "EMPTY": {"start"}}


def make(path, rows):
    db = sqlite3.connect(path)
    db.executescript(SCHEMA)
    utc = local(1, START)
    db.executemany("INSERT INTO META_DATA_EXPORT VALUES (?, ?)", [("EXPORT_PARAM_TIME_NORMALIZE", "false"), ("EXPORT_PARAM_TIME_SHIFT", "0"),
                                                                  ("EXPORT_CONFIG_TIME_SHIFT", "0")])
    db.execute("INSERT INTO META_DATA_CAPTURE VALUES ('x', 'y', 77)")
    db.execute("INSERT INTO ENUM_CUDA_MEMCPY_OPER VALUES (1, 'a', 'b', 5)")
    db.execute("INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (1, 's', 'Hostname', 0, 'nodetwo')")
    db.execute("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (?, '2025-11-21', '2025-11-21', ?)", (utc, RAW0))
    length = 30 * 10 ** 9
    db.execute("INSERT INTO ANALYSIS_DETAILS VALUES (1, ?, ?, ?)", (length, RAW0, RAW0 + length))
    db.executemany("INSERT INTO StringIds VALUES (?, ?)", [(k, f"kernel<{k}>") for k in range(50)])
    step = length // (rows + 1)
    pid = 0x0051000000000000 | 4711 << 24

    def when(k):
        return -3000 + k * step

    db.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?,?,?,?,?,?,?,?)",
                   ((when(k), when(k) + step // 9, k & 1, pid | 4711, k, k % 50, 0, k if k % 7 else None) for k in range(rows)))
    db.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?,?,?,?,?,?,?,?,?,?)",
                   ((when(k) + step // 5, when(k) + step // 2, 0, 7, k, pid, k % 50, 128, when(k) + step // 2 if k % 3 == 0 else None, None)
                    for k in reversed(range(rows))))
    db.executemany("INSERT INTO NVTX_EVENTS VALUES (?,?,?,?,?,?,?,?)",
                   ((when(k), when(k) + step if k % 2 else None, 59, k, f"step {k}", pid | 4711, when(k), k) for k in range(0, rows, 10)))
    db.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (?,?)", ((when(k), k) for k in range(0, rows, 20)))
    db.execute("INSERT INTO OTHER VALUES ('12', 3.5)")
    db.commit()
    db.close()


def judge(before, after):
    a, b = sqlite3.connect(before), sqlite3.connect(after)
    assert b.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    tables = [t for t, in a.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    assert sorted(tables + ["TICKMARK"]) == [t for t, in b.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    bound, timer, rank, unbounded = b.execute("SELECT * FROM TICKMARK").fetchone()
    assert (timer, rank, unbounded) == ("clock_realtime", 1, 0) and 0 < bound < 10 ** 6
    utc = local(1, START)
    new_utc = b.execute("SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME").fetchone()[0]
    assert abs(new_utc - corrected(1, utc)) <= 1 and abs(new_utc - REAL0 - START) <= 2, (new_utc, REAL0 + START)
    count, known = 0, {}
    for t in tables:
        quoted = '"' + t.replace('"', '""') + '"'
        names = [c[1] for c in a.execute(f"PRAGMA table_info({quoted})")]
        rows = (db.execute(f"SELECT rowid, * FROM {quoted} ORDER BY rowid") for db in (a, b))
        for x, y in zip(*rows, strict=True):
            assert x[0] == y[0]
            for name, p, q in zip(names, x[1:], y[1:]):
                if name in TIMES.get(t, ()) and p is not None:
                    assert abs(new_utc + q - corrected(1, utc + p)) <= 2, (t, name, p, q)
                    assert known.setdefault(p, q) == q
                    count += 1
                elif t == "ANALYSIS_DETAILS" or name == "utcEpochNs":
                    continue
                else:
                    assert p == q and type(p) is type(q), (t, name, p, q)
            row = dict(zip(names, y[1:]))
            assert "start" not in TIMES.get(t, ()) or row.get("end") is None or row["end"] >= row["start"]
    _, duration, start, stop = b.execute("SELECT * FROM ANALYSIS_DETAILS").fetchone()
    assert start == RAW0 and stop == start + duration and abs(new_utc + duration - corrected(1, utc + 30 * 10 ** 9)) <= 2
    late = b.execute("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN CUPTI_ACTIVITY_KIND_RUNTIME r USING (correlationId) "
                     "WHERE k.start < r.start").fetchone()[0]
    assert late == 0, "a kernel starts before its launch"
    assert count > 0
    print(f"{count} times right to 2 ns, bound {bound} ns")


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2], int(sys.argv[3]))
    else:
        judge(sys.argv[2], sys.argv[3])

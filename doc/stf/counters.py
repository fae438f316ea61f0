#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Example of the Python module: prints each counter of a trace with its samples and last value.

    PYTHONPATH=/usr/share/tickmark/python python3 counters.py T.stf
"""

import sys

import tickmark_stf

with tickmark_stf.Trace(sys.argv[1]) as trace:
    for s in trace.counters("*"):
        print(f"{s.name} [{s.unit}] of process {s.process}: {len(s.value)} samples, last {s.value[-1]} at {s.time[-1] / 1e9:.9f} s")

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""unused.py TOP BUILD: prints every function or variable that an object below BUILD defines for others, and that no source but its own
file and one header names: nothing uses it, or tests only. Names that macros make, and those that a library exports, are left out."""
import collections
import os
import re
import subprocess
import sys

FOLDERS = ["base", "timers", "stf", "sampler", "check", "calib", "clock", "exchange", "collector-plugin", "report", "live", "tools", "lab"]
# What tests and benches alone use, and why it is there.
KEPT = {
    "OTF_Error": "called by the OTF library",
    "OTF_Warning": "called by the OTF library",
    "cal_job_due": "how often a job must synchronise; for collectors that have no thread of their own",
    "cal_job_end": "frees what cal_job_begin() took; a job that ends need not",
    "tmr_each_available": "how tests and benches reach the timers of a machine",
    "vt_raw_stopped": "how tests see why recording ended",
}


def files(top, suffixes):
    for folder in FOLDERS:
        for where, _, names in os.walk(os.path.join(top, folder)):
            for name in names:
                if name.endswith(suffixes):
                    yield os.path.join(where, name)


def main():
    top, build = sys.argv[1], sys.argv[2]
    where = collections.defaultdict(set)
    times = collections.Counter()
    begun = set()  # names on lines that are not indented, as definitions are
    for path in [*files(top, (".c", ".h", ".def", ".sym", ".list")), *files(build, (".sym", ".map"))]:
        with open(path, encoding="utf-8") as f:
            text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
        for word in re.findall(r"\w+", text):
            where[word].add(os.path.relpath(path, top))
            times[word, os.path.relpath(path, top)] += 1
        # a table X(a) X(b) of names that a macro completes: smp_##name
        for prefix in set(re.findall(r"\b(\w+_)##\w", text)):
            for name in re.findall(r"\b[A-Z]+\((\w+)\)", text):
                where[prefix + name].add(os.path.relpath(path, top))
                times[prefix + name, os.path.relpath(path, top)] += 2
        if path.endswith(".c"):
            begun.update(re.findall(r"\w+", "\n".join(re.findall(r"^[A-Za-z].*", text, re.M))))
    # of two objects of one source, the one for shared libraries
    objects = [o for o in files(build, (".o",)) if not os.path.exists(os.path.join(os.path.dirname(o), ".libs", os.path.basename(o)))]
    if not objects:
        sys.exit("no objects were found")
    text = subprocess.run(["nm", "--defined-only", *objects], capture_output=True, text=True, check=True).stdout
    defined = {part[2] for part in map(str.split, text.splitlines()) if len(part) == 3 and part[1] in "TDBR"}
    for name in sorted((defined & begun) - set(KEPT)):
        sources = [p for p in where[name] if not p.endswith(".h")]
        headers = [p for p in where[name] if p.endswith(".h")]
        if len(sources) == 1 and sources[0].endswith(".c") and times[name, sources[0]] == 1 and \
                sum(times[name, h] for h in headers) <= 1 and name != "main":
            print(f"{sources[0]}: {name}")


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""circles.py TOP BUILD: prints every circle of source files, one line each: how many folders, how many files, their names.

A file is a .c file together with the .h file of the same name. It uses another one if it includes its header, or if
its object (below BUILD) has an undefined symbol that the other one's object defines. Tests are left out, and so are symbols that
several objects define, the calls of MPI, which libVT wraps, and those of libc that the preloaded library passes on.
"""
import itertools
import os
import re
import subprocess
import sys

FOLDERS = ["base", "timers", "stf", "sampler", "check", "calib", "clock", "exchange", "collector-plugin", "report", "live", "tools", "lab"]


def sources(top):
    for folder in FOLDERS:
        for where, _, names in os.walk(os.path.join(top, folder)):
            for name in names:
                if name.endswith((".c", ".h", ".def")):
                    yield os.path.relpath(os.path.join(where, name), top)


def unit(path):
    return os.path.splitext(path)[0]


def includes(top, files):
    known = set(files)
    for path in files:
        with open(os.path.join(top, path), encoding="utf-8") as f:
            for header in re.findall(r'^\s*#\s*include\s*"([^"]+)"', f.read(), re.M):
                if header in known and unit(header) != unit(path):
                    yield unit(path), unit(header)


def objects(top, build, units):
    """Pairs of a unit and its object: automake puts program- or library- in front of the name. An object that was left
    by a source that is gone does not count."""
    for folder in FOLDERS:
        for where, _, names in os.walk(os.path.join(build, folder)):
            base = os.path.relpath(where, build)
            base = os.path.dirname(base) if os.path.basename(base) == ".libs" else base
            for name in names:
                stem = os.path.splitext(name)[0]
                stem = stem.split("-", 1)[1] if "-" in stem else stem
                path = os.path.join(base, stem)
                if name.endswith(".o") and path in units and os.path.exists(os.path.join(top, path + ".c")):
                    yield path, os.path.join(where, name)


def symbols(top, build, units):
    defined, wanted = {}, {}
    left_out = set()
    passed_on = os.path.join(top, "collector-plugin/preload/preload.sym")
    if os.path.exists(passed_on):
        with open(passed_on, encoding="utf-8") as f:
            left_out = set(f.read().split())
    paths = {name: path for path, name in objects(top, build, units)}
    # one nm for all: it prints the name of the object before each line
    text = subprocess.run(["nm", "-A", *paths], capture_output=True, text=True, check=True).stdout if paths else ""
    for name, lines in itertools.groupby(text.splitlines(), lambda line: line.split(":", 1)[0]):
        path = paths[name]
        for line in lines:
            part = line.split(":", 1)[1].split()
            if len(part) == 3 and part[1] in "TDBRC":
                defined.setdefault(part[2], set()).add(path)
            elif len(part) == 2 and part[0] == "U" and not part[1].startswith(("MPI_", "PMPI_")):
                wanted.setdefault(path, set()).add(part[1])
    for path, names in wanted.items():
        for name in names - left_out:
            where = defined.get(name, set())
            if len(where) == 1 and path not in where:
                yield path, next(iter(where))


def circles(edges):
    """Strongly connected components of more than one node (R. Tarjan, 1972), without recursion."""
    to = {}
    for a, b in edges:
        to.setdefault(a, set()).add(b)
    index, low, stack, on, found = {}, {}, [], set(), []
    for start in sorted(to):
        work = [(start, iter(sorted(to.get(start, ()))))] if start not in index else []
        if work:
            index[start] = low[start] = len(index)
            stack.append(start)
            on.add(start)
        while work:
            node, rest = work[-1]
            for other in rest:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    on.add(other)
                    work.append((other, iter(sorted(to.get(other, ())))))
                    break
                if other in on:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    part = []
                    while not part or part[-1] != node:
                        part.append(stack.pop())
                        on.discard(part[-1])
                    if len(part) > 1:
                        found.append(sorted(part))
    return found


def main():
    top, build = sys.argv[1], sys.argv[2]
    files = sorted(sources(top))
    units = {unit(f) for f in files}
    edges = set(includes(top, files)) | set(symbols(top, build, units))
    for part in circles(edges):
        print(len({os.path.dirname(p) for p in part}), len(part), " ".join(part))
    # a circle cannot be found where nothing was read
    if not edges:
        sys.exit("no uses were found")


main()

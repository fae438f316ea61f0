#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""run_cases.py FOLDER N SEED COMMAND...: runs N cases of FOLDER/cases.list, drawn with SEED (0: all), and judges what libVTmc reports.

COMMAND starts the program, with {n} for the number of ranks; the case's number follows. Prints each wrong verdict and a last line of
counts. Ends with 1 if a correct program is accused or fails, or if verdicts, classes or lines are below the limits.
"""
import random
import re
import subprocess
import sys

HEAD = re.compile(r"^\[\d+\] (?:ERROR|WARNING): ([A-Z_]+(?::[A-Z_]+)+): (?:warning|error|fatal error)$", re.M)
PLACE = re.compile(r"\(cases\.c:(\d+)\)")
LEAST = {"verdicts": 0.98, "classes": 0.95, "lines": 0.95}


def run(command, case):
    words = [word.replace("{n}", case[1]) for word in command] + [case[0]]
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, check=False)
        return done.returncode, done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired as late:
        return None, (late.stdout or b"").decode(errors="replace")


def main():
    folder, number, seed, command = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
    with open(folder + "/cases.list", encoding="utf-8") as f:
        cases = [line.rstrip("\n").split("\t") for line in f]
    if number:
        cases = random.Random(seed).sample(cases, min(number, len(cases)))
    sys.stdout.reconfigure(line_buffering=True)
    count = dict.fromkeys(("right", "wrong", "accused", "none", "unclean", "class", "line", "hits"), 0)
    for case in cases:
        rc, text = run(command, case)
        found, good = HEAD.findall(text), case[2] == "correct"
        if rc is None and not found:
            count["none"] += 1
            print("no verdict:", *case)
            continue
        if good != (not found):
            count["accused" if good else "wrong"] += 1
            print("accused:" if good else "missed:", *case, found)
            continue
        count["right"] += 1
        if good:
            if rc != 0 or " 0 errors, 0 warnings in " not in text:
                count["unclean"] += 1
                print("not clean:", *case, rc)
            continue
        count["hits"] += 1
        known = any(one in found for one in case[2].split("|"))
        count["class"] += known
        right = set(case[3].split(",")) & set(PLACE.findall(text))
        count["line"] += bool(right)
        if not known or not right:
            print("class:" if not known else "line:", *case, found, PLACE.findall(text))
    share = {"verdicts": count["right"] / len(cases), "classes": count["class"] / max(1, count["hits"]),
             "lines": count["line"] / max(1, count["hits"])}
    print("%d cases: verdicts %.3f, accused %d, not clean %d, no verdict %d, classes %.3f, lines %.3f" % (
        len(cases), share["verdicts"], count["accused"], count["unclean"], count["none"], share["classes"], share["lines"]))
    return int(count["accused"] + count["unclean"] > 0 or any(share[k] < least for k, least in LEAST.items()))


sys.exit(main())

# SPDX-License-Identifier: BSD-3-Clause
"""polls.py TRACE.jsonl TRUTH: the calls and the time of each function of rank 1 in a trace, compared with what the program has
printed ("FUNCTION calls NUMBER SECONDS"). Prints what is wrong, and how many states there are for how many calls."""
import json
import sys

states, calls, seconds, entered, runs, longest = {}, {}, {}, {}, {}, 0.0
for line in open(sys.argv[1], encoding="utf-8"):
    r = json.loads(line)
    if r.get("rank") != 1:
        continue
    if r["type"] == "enter":
        entered[r["function"]] = r["time"]
    elif r["type"] == "leave" and r["function"] in entered:
        f = r["function"]
        states[f] = states.get(f, 0) + 1
        seconds[f] = seconds.get(f, 0.0) + r["time"] - entered.pop(f)
    elif r["type"] == "sample" and r["counter"].endswith("_unsuccessful"):
        f = r["counter"][len("MPI:"):-len("_unsuccessful")]
        calls[f] = calls.get(f, 0) + r["value"]
        runs[f] = runs.get(f, 0) + 1
    elif r["type"] == "sample" and r["counter"] == "MPI:MPI_polls_span":
        longest = max(longest, r["value"] * 1e-9)
total = all_states = 0
for line in open(sys.argv[2], encoding="utf-8"):
    if " calls " not in line:
        continue
    f, _, n, s = line.split()
    n, s, there = int(n), float(s), states.get(f, 0) - runs.get(f, 0) + calls.get(f, 0)
    if there != n:
        print(f"wrong: {f}: {there} of {n} calls")
    # the program's own reading of the time is around ours
    if not 0.2 * s <= seconds.get(f, 0.0) <= 1.01 * s:
        print(f"wrong: {f}: {seconds.get(f, 0.0):.6f} of {s:.6f} s")
    total += n
    all_states += states.get(f, 0)
if longest > 2e-3:
    print(f"wrong: a run of {longest} s")
print(f"{all_states} states for {total} calls")

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""readme.py DOCUMENT.md: runs the commands of a document, in the current folder, and compares what they print.

A command is an indented line that begins with "$ ", with its here-document if it has one. The indented lines after it are what it
prints, up to an empty line or the next command; none: anything. "..." alone stands for any lines, at the end of a line for any rest.
Numbers with their units, the host's name and the current folder may differ. TAP."""
import os
import re
import socket
import subprocess
import sys

MAY_END_WITH = {"timertest": (0, 1, 3), "timertestcs": (0, 1, 3)}  # verdicts
MAY_END_WITH_CHECK = (0, 1, 2, 3)


def commands(path):
    """[[command, [expected line...], line number]...]"""
    found, until = [], None
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        line = line.rstrip("\n")
        if until:
            found[-1][0] += "\n" + line[4:]
            until = None if line[4:] == until else until
        elif line.startswith("    $ "):
            found.append([line[6:], [], number])
            here = re.search(r"<<'(\w+)'", line)
            until = here and here.group(1)
            inside = True
        elif line.startswith("    ") and found and inside:
            found[-1][1].append(line[4:])
        else:
            inside = False
    return found


def mask(line):
    line = line.replace(os.getcwd(), "/tmp/first").replace(socket.gethostname(), "vm")
    line = re.sub(r"'(/tmp/first\b[^']*)'", r"\1", line)  # a folder with a blank is quoted
    line = re.sub(r"[-+]*(?<![A-Za-z_])\d+(\.\d+)?(e[-+]?\d+)?", "#", line)
    line = re.sub(r"# ?([pnum]?s|[kKMG]?Hz|[kKMG]?B|ppm|ppb|%|x)(?![A-Za-z])", "#", line)
    line = re.sub(r"# (pair|process|thread|sample|record|component)(es|s)?\b", r"# \1", line)
    return re.sub(r"\s+", " ", line).strip()


def matches(expected, printed):
    """Is `printed` what is expected? "..." lines are tried at each place."""
    if not expected:
        return not printed
    if expected[0] == "...":
        return any(matches(expected[1:], printed[k:]) for k in range(len(printed) + 1))
    if not printed:
        return False
    want, have = mask(expected[0]), mask(printed[0])
    same = have.startswith(mask(expected[0][:-3])) if expected[0].endswith("...") else want == have
    return same and matches(expected[1:], printed[1:])


def status_ok(command, status):
    word = next(w for w in re.sub(r"\w+=\S+ ", "", command).split() + ["-"] if w not in ("mpirun", "-np") and not w.isdigit())
    if word in MAY_END_WITH:
        return status in (MAY_END_WITH_CHECK if "--check" in command else MAY_END_WITH[word])
    return status == 0


def main(path):
    todo = commands(path)
    script = "".join(f"echo; echo @@begin\n{c}\nprintf '\\n@@end %d\\n' $?\n" for c, _, _ in todo)
    done = subprocess.run(["bash", "-c", script], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=1500, check=False)
    parts = done.stdout.split("\n@@begin\n")[1:]
    bad = not todo
    for k, (command, expected, number) in enumerate(todo):
        text, _, status = parts[k].rpartition("\n@@end ") if k < len(parts) else ("not reached", "", "99")
        printed = [line for line in text.split("\n") if line.strip()]
        first = command.split("\n")[0]
        good = status_ok(first, int(status or 99)) and (not expected or matches(expected, printed))
        bad |= not good
        print(f"{'ok' if good else 'not ok'} {k + 1} - {os.path.basename(path)}:{number}: {first}")
        if not good:
            print(f"# status {status.strip()}; printed:", *printed[-40:], "expected:", *expected, sep="\n#   ")
    print(f"1..{len(todo)}")
    return bad


sys.exit(main(sys.argv[1]))

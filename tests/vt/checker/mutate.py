#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""mutate.py SOURCE FOLDER: changes one call of MPI each. FOLDER/mutants.c has all mutants: its last argument chooses one, 0 none.
mutate.py SOURCE FOLDER RUN N SEED COMMAND...: runs N of them (0: all), drawn with SEED, and counts what libVTmc finds.

A mutant without a report is a miss if it does not end, crashes or prints another result; else it is listed as harmless.
"""
import random
import re
import subprocess
import sys

CALL = re.compile(r"^(\t+)(MPI_([A-Z]\w+)\((.*)\));(\\?)$")
HEAD = re.compile(r"^\[\d+\] (?:ERROR|WARNING): ([A-Z_]+(?::[A-Z_]+)+): (?:warning|error|fatal error)$", re.M)
KEPT = ("Init", "Comm_rank", "Comm_size", "Finalize")
OTHER = {"MPI_DOUBLE": "MPI_FLOAT", "MPI_INT": "MPI_LONG", "MPI_SUM": "MPI_PROD", "MPI_MAX": "MPI_BAND", "MPI_COMM_WORLD": "MPI_COMM_SELF",
         "MPI_LOCK_EXCLUSIVE": "MPI_LOCK_SHARED", "left()": "right()", "right()": "left()", "row": "cart", "cart": "MPI_COMM_WORLD",
         "copy": "half", "MPI_ANY_SOURCE": "0"}


def split(text):
    """The arguments."""
    out, depth = [""], 0
    for c in text:
        depth += (c in "([{") - (c in ")]}")
        if c == "," and not depth:
            out.append("")
        else:
            out[-1] += c
    return [word.strip() for word in out]


def changes(name, words):
    """(what, statement)"""
    made = [("left out", ";"), ("twice", "%s; %s;" % (("MPI_%s(%s)" % (name, ", ".join(words)),) * 2))]
    for i, word in enumerate(words):
        new = []
        if word in OTHER:
            new.append(OTHER[word])
        if word.isdigit():
            new.append(str(int(word) + 1))
        if word == "n" or word == "N":
            new.append(word + " + 1")
        if word.startswith("&q"):
            new.append("&lost")
        made += [("argument %d: %s" % (i + 1, one), "MPI_%s(%s);" % (name, ", ".join(words[:i] + [one] + words[i + 1:]))) for one in new]
    return made


def make(source, folder):
    mutants, out = [], []
    with open(source, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            found = CALL.match(line.rstrip("\n"))
            if not found or found[3] in KEPT:
                out.append(line)
                continue
            text = found[1]
            for what, new in changes(found[3], split(found[4])):
                for where, when in (("all", ""), ("rank 1", " && rank == 1")):
                    mutants.append((len(mutants) + 1, number, found[3], "%s, %s" % (what, where)))
                    text += "if (mutant == %d%s) { %s } else " % (len(mutants), when, new)
            out.append("%s{ %s; }\n" % (text, found[2]))
    text = "".join(out).replace("static int rank, size;", "static int rank, size, mutant;", 1)
    text = text.replace("\tMPI_Init(", "\tmutant = argc > 2 ? atoi(argv[2]) : 0; MPI_Init(", 1)
    text = text.replace("#include <mpi.h>", "#include <mpi.h> /* */", 1).replace("enum { N = 8 };", "enum { N = 8 }; static MPI_Request lost;", 1)
    with open(folder + "/mutants.c", "w", encoding="utf-8") as f:
        f.write(text)
    return mutants, text.split("\n")


def case_of(lines, line):
    """The index of the function in the table of main()."""
    names = re.search(r"cases\[\]\)\(void\) = \{ (.*?) \}", "\n".join(lines))[1].split(", ")
    for at in range(line - 1, 0, -1):
        found = re.match(r"static double (\w+)\(void\)", lines[at - 1])
        if found:
            return names.index(found[1])
    return -1


def run(command, case, mutant):
    try:
        done = subprocess.run(command + [str(case), str(mutant)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, check=False)
        return done.returncode, done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired as late:
        return None, (late.stdout or b"").decode(errors="replace")


def results(text):
    return sorted(line for line in text.split("\n") if re.match(r"\d+: ", line))


def main():
    mutants, lines = make(sys.argv[1], sys.argv[2])
    if len(sys.argv) < 4:
        return 0
    number, seed, command = int(sys.argv[4]), int(sys.argv[5]), sys.argv[6:]
    chosen = random.Random(seed).sample(mutants, min(number, len(mutants))) if number else mutants
    sys.stdout.reconfigure(line_buffering=True)
    right, count, places = {}, {"found": 0, "line": 0, "harmless": 0, "missed": 0, "accused": 0, "first": 0}, 0
    for mutant, line, name, what in chosen:
        case = case_of(lines, line)
        if case not in right:
            rc, text = run(command, case, 0)
            right[case] = results(text)
            count["accused"] += bool(HEAD.findall(text)) or rc != 0
        rc, text = run(command, case, mutant)
        found = HEAD.findall(text)
        at = "(mutants.c:%d)" % line
        if found:
            count["found"] += 1
            count["line"] += at in text
            if at not in text:
                print("found elsewhere:", mutant, line, name, what, sorted(set(found)))
        elif rc is None or rc or results(text) != right[case]:
            count["missed"] += 1
            print("missed:", mutant, line, name, what, "does not end" if rc is None else "status %d" % rc, "" if rc is None or rc else "another result")
        else:
            count["harmless"] += 1
            print("harmless:", mutant, line, name, what)
        places += 1
    print("%d mutants: found %d (with their line %d), missed %d, harmless %d; correct programs accused: %d" % (
        places, count["found"], count["line"], count["missed"], count["harmless"], count["accused"]))
    return int(count["accused"] > 0)


sys.exit(main())

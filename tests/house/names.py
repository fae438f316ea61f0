#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""names.py [--list] TOP: names of functions, their parameters, and the files of folders, compared with the limits of LIMITS.

Prints one line per rule: name, figure, limit, unit, "ok" or "over". With --list also what to mend: PATH:LINE:NAME and why.
Ends with 1 if a limit is exceeded. Reads the .c files of the product: all but those of tests/ and lab/. No compiler is asked.

shared      functions whose name another function has, too; in per cent of all functions. Not counted as such: main, and static functions
            that a designated initialiser of a const table names (.read = read_set): there the table says which one is meant.
            A function that is defined twice in one file, for two configurations, is one function.
prefixes    what external functions begin with, up to the first "_"; VT_ and vt_ are one. Names that others choose are left out: main,
            the calls of MPI, of libc (preload.sym) and of OTF, what gcc, ld or Slurm call, Fortran's spellings of VT_, and the examples
            of doc/.
parameters  functions with more than 6 parameters, in per cent. Those whose parameters others choose are left out: call-backs that have a
            parameter or a result of a type of OTF or OTF2, the calls of MPI, and the VT_ calls, which are the guide's.
files       the largest number of files in a folder. Corpora, stored traces and manual pages are left out.
tests       modules with a unit test of their name and folder (stf/read/order.c: tests/unit/stf/read/test_order.c), in per cent of the
            modules that unit tests call: a test names one of their external functions.
modules     modules with a test of their name, in per cent of all modules. Such a test is a unit test, or for those that are only
            reached by a program the script of ROOMS.
A module is a .c file, but for those that belong to another one: NAME_PART.c beside NAME.c; a file all of whose functions the header of one
other file of its folder declares (raw/define.c: raw/writer.h); a main(), and what only main() is in; the examples of doc/ and contrib/.
"""
import argparse
import collections
import os
import re
import subprocess
import sys

# most, or, of tests, least
LIMITS = {"shared": (8.0, "%"), "prefixes": (12, "prefixes"), "parameters": (1.0, "%"), "files": (25, "files"),
          "tests": (90.0, "%"), "modules": (90.0, "%")}
MOST_PARAMETERS = 6
NOT_PRODUCT = ("tests/", "lab/")
NO_MODULES = NOT_PRODUCT + ("doc/", "contrib/")
AT_LEAST = ("tests", "modules")
# Where the scripts are that test a module by the program it is in: NAME.sh, or mpi_NAME.sh.
ROOMS = {
    "collector-plugin/api/": "tests/vt/api/",
    "collector-plugin/trace/": "tests/vt/functions/",
    "collector-plugin/settings/": "tests/vt/settings/",
    "collector-plugin/mpi/": "tests/vt/mpi/",
    "collector-plugin/mpi/job/": "tests/vt/clocks/",
    "collector-plugin/shmem/": "tests/vt/shmem/",
    "collector-plugin/vtsampler/": "tests/vt/ends/",
    "collector-plugin/server/": "tests/vt/nodes/",
    "collector-plugin/checker/": "tests/vt/checker/",
    "collector-plugin/checker/calls/": "tests/vt/checker/",
    "collector-plugin/mpi/abi/": "tests/vt/checker/",
    "collector-plugin/preload/": "tests/preload/",
    "collector-plugin/launch/": "tests/preload/",
    "exchange/": "tests/cli/exchange/",
    "calib/timertest/": "tests/cli/timertest/",
    "tools/": "tests/cli/stftool/",
    "live/": "tests/cli/vttop/",
    "report/": "tests/cli/vtreport/",
}
# Folders of data, one file an example or a page.
MANY_FILES = r"tests/(fuzz/corpus|golden)(/|$)|doc/man$"
FOREIGN_NAME = r"P?MPIX?_|ZSTD_|p?mpi_|OTF2?_|__cyg_|__wrap_|slurm_spank_|main$|MessageCheckingBreakpoint"
FOREIGN_PARAMETERS = FOREIGN_NAME + "|VT_"
FOREIGN_TYPE = r"\b(OTF2?_\w+|MPI_T_\w+|GElf_\w+|unw_\w+|Dwfl\w*)\b"
KEYWORDS = {"if", "for", "while", "switch", "return", "sizeof", "do", "else", "__attribute__", "_Alignas", "_Static_assert"}

Function = collections.namedtuple("Function", "path line name static parameters head table")


def tracked(top):
    """The files of a tree: what git knows, or, in an unpacked release, what is no product of a build."""
    if os.path.exists(os.path.join(top, ".git")):
        listed = subprocess.run(["git", "-C", top, "ls-files", "-z"], capture_output=True, text=True, check=False)
        if listed.returncode == 0:
            return sorted(p for p in listed.stdout.split("\0") if p and os.path.exists(os.path.join(top, p)))
    found = []
    made = re.compile(r".*\.(l?o|l?a|so|log|trs|Plo|Po|tap)|\.dirstamp")
    for where, folders, names in os.walk(top):
        folders[:] = [f for f in folders if not f.startswith(".") and f != "autom4te.cache" and
                      not os.path.exists(os.path.join(where, f, "config.status"))]
        found += [os.path.relpath(os.path.join(where, n), top) for n in names if not made.fullmatch(n)]
    return sorted(found)


def blank(match):
    return re.sub(r"[^\n]", " ", match.group(0))


def without_text(source):
    """The source with comments, strings and preprocessor lines blank: lines keep their numbers. Of #if ... #else both sides stay."""
    source = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, source, flags=re.S)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank, source, flags=re.M)


def outermost(source):
    """Pairs of the text before each outermost brace and the text in it, with the line of the brace."""
    depth = start = opened = 0
    for match in re.finditer(r"[{};]", source):
        at, what = match.start(), match.group(0)
        if what == "{":
            if depth == 0:
                opened = at
            depth += 1
        elif what == "}":
            # two sides of an #if may open the same brace: a brace at the margin ends what began there
            depth = 0 if at == 0 or source[at - 1] == "\n" else max(depth - 1, 0)
            if depth == 0:
                yield source[start:opened], source[opened + 1:at], start
                start = at + 1
        elif depth == 0:
            start = at + 1


def split_parameters(text):
    depth, count = 0, 1
    for c in text:
        depth += (c in "([{") - (c in ")]}")
        count += c == "," and depth == 0
    return 0 if text.strip() in ("", "void") else count


def closing(text, opened):
    depth = 0
    for i in range(opened, len(text)):
        depth += (text[i] == "(") - (text[i] == ")")
        if depth == 0:
            return i
    return -1


def heads(before):
    """The name of a function and its parameters, if this is the head of one: NAME(PARAMETERS), attributes apart."""
    text = re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)", blank, before)
    if "=" in text or re.search(r"\b(struct|union|enum)\s*\w*\s*$", text):
        return None
    for match in re.finditer(r"\b([A-Za-z_]\w*)\s*\(", text):
        end = closing(text, match.end() - 1)
        if match.group(1) not in KEYWORDS and end > 0 and not re.search(r"\w", text[end + 1:].replace("UNUSED", "")):
            return match.group(1), text[match.end():end], text, match.start()
    return None


def functions(top, path):
    with open(os.path.join(top, path), encoding="utf-8") as f:
        source = without_text(f.read())
    found, tables = {}, set()
    for before, inside, start in outermost(source):
        head = heads(before)
        if head:
            name, parameters, text, at = head
            static = re.search(r"\bstatic\b", text[:at]) is not None
            found.setdefault(name, (source.count("\n", 0, start + at) + 1, static, split_parameters(parameters), text))
        elif "=" in before and re.search(r"\bconst\b", before):
            tables.update(re.findall(r"\.\w+\s*=\s*&?([A-Za-z_]\w*)", inside))
    return [Function(path, line, name, static, n, text, name in tables) for name, (line, static, n, text) in found.items()]


def interposed(top, files):
    names = set()
    for path in files:
        if path.endswith("preload.sym"):
            with open(os.path.join(top, path), encoding="utf-8") as f:
                names.update(f.read().split())
    return names


def shared(every):
    by_name = collections.defaultdict(list)
    for f in every:
        by_name[f.name].append(f)
    for f in every:
        others = [o for o in by_name[f.name] if o is not f]
        if others and f.name != "main" and not (f.static and f.table):
            yield f, "also in " + ", ".join(sorted(o.path for o in others)[:3]) + (" ..." if len(others) > 3 else "")


def prefix(name):
    return name.split("_")[0].lower() if "_" in name.strip("_") else name


def figures(top):
    files = tracked(top)
    every = [f for path in files if path.endswith(".c") and not path.startswith(NOT_PRODUCT) for f in functions(top, path)]
    foreign = interposed(top, files)
    result = {"functions": len(every)}
    mend = {"shared": [(f"{f.path}:{f.line}:{f.name}", why) for f, why in shared(every)]}
    result["shared"] = 100 * len(mend["shared"]) / max(len(every), 1)

    prefixes = collections.defaultdict(list)
    for f in every:
        own = not f.static and f.name not in foreign and not re.match(FOREIGN_NAME, f.name) and not f.path.startswith("doc/")
        if own and not re.fullmatch(r"[a-z0-9]+_|[A-Z0-9]+|vt[a-z]+_", f.name):
            prefixes[prefix(f.name)].append(f)
    result["prefixes"] = len(prefixes)
    mend["prefixes"] = [(f"{p}_", f"{len(fs)}: {fs[0].path}:{fs[0].name}") for p, fs in sorted(prefixes.items())]

    wide = [f for f in every if f.parameters > MOST_PARAMETERS and not re.match(FOREIGN_PARAMETERS, f.name) and
            not re.search(FOREIGN_TYPE, f.head)]
    result["parameters"] = 100 * len(wide) / max(len(every), 1)
    mend["parameters"] = [(f"{f.path}:{f.line}:{f.name}", f"{f.parameters} parameters") for f in wide]

    folders = collections.Counter(os.path.dirname(p) or "." for p in files if not re.match(MANY_FILES, os.path.dirname(p)))
    result["files"] = max(folders.values(), default=0)
    mend["files"] = [(folder, f"{n} files") for folder, n in sorted(folders.items()) if n > LIMITS["files"][0]]

    externals = collections.defaultdict(set)
    for f in every:
        if not f.path.startswith(NO_MODULES):
            externals[f.path].update([] if f.static or f.name == "main" or f.name in foreign else [f.name])
    result["tests"], mend["tests"] = own_tests(top, files, externals)
    result["modules"], mend["modules"] = tested_modules(top, files, externals, {f.path for f in every if f.name == "main"})
    return result, mend


def has_unit_test(path, files):
    folder, module = os.path.split(path)
    return os.path.join("tests/unit", folder, "test_" + module) in files


def own_tests(top, files, externals):
    """The per cent of modules with a test that have one of their own name; and the others, with a test that names their functions."""
    words = {}
    for path in files:
        if re.match(r"tests/unit/.*test_\w+\.c$", path):
            with open(os.path.join(top, path), encoding="utf-8") as f:
                # what a test defines in place of the product is no use of it
                words[path] = set(re.findall(r"\w+", f.read())) - {g.name for g in functions(top, path) if not g.static}
    named, other = 0, []
    for path, names in sorted(externals.items()):
        if has_unit_test(path, words):
            named += 1
        else:
            users = [test for test, known in words.items() if known & names]
            if users:
                other.append((path, "used by " + ", ".join(sorted(users)[:3]) + (" ..." if len(users) > 3 else "")))
    return 100 * named / max(named + len(other), 1), other


def owner(path, names, declared, files):
    """The file that this one belongs to, or None: it is a module."""
    folder, name = os.path.split(path)
    parts = name[:-2].split("_")
    halves = [os.path.join(folder, "_".join(parts[:n]) + ".c") for n in range(len(parts) - 1, 0, -1)]
    if path[:-2] + ".h" not in files:
        heads = {h[:-2] + ".c" for n in names for h in declared[n]}
        halves += heads if len(heads) == 1 else []
    return next((h for h in halves if h in files and h != path and os.path.dirname(h) == folder), None)


def tested_modules(top, files, externals, mains):
    """The per cent of all modules that have a test of their name; and the others."""
    files = set(files)
    declared = collections.defaultdict(set)
    for path in files:
        if path.endswith(".h") and not path.startswith(NO_MODULES):
            with open(os.path.join(top, path), encoding="utf-8") as f:
                for name in re.findall(r"\b(\w+)\s*\(", without_text(f.read())):
                    declared[name].add(path)
    modules = [p for p in sorted(externals) if p not in mains and not owner(p, externals[p], declared, files)]
    other = []
    for path in modules:
        name = os.path.basename(path)[:-2]
        rooms = [room for start, room in ROOMS.items() if path.startswith(start)]
        scripts = {room + prefix + name + ".sh" for room in rooms for prefix in ("", "mpi_")}
        if not has_unit_test(path, files) and not scripts & files:
            other.append((path, "has no test of its name"))
    return 100 * (len(modules) - len(other)) / max(len(modules), 1), other


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="also print what to mend")
    parser.add_argument("top")
    options = parser.parse_args()
    result, mend = figures(options.top)
    if not result["functions"]:
        sys.exit("names.py: no functions below " + options.top)
    print(f"functions {result['functions']}")
    over = False
    for rule, (limit, unit) in LIMITS.items():
        bad = result[rule] < limit if rule in AT_LEAST else result[rule] > limit
        over = over or bad
        value = f"{result[rule]:.2f}" if unit == "%" else result[rule]
        print(f"{rule} {value} {limit:g} {unit} {'over' if bad else 'ok'}")
        for what, why in mend[rule] if options.list else []:
            print(f"  {what}\t{why}")
    return over


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: BSD-3-Clause
"""Damages traces and asks stftool what they hold: dump, convert, request, recover, verify.

    python3 stfmutants.py BUILD NUMBER [SEED [ONLY]]

BUILD has stftool and tests/cli/lib/make_stf. NUMBER mutants are made: flipped bits, cuts, ranges that are overwritten, removed or
repeated, files that are exchanged, removed or taken from another trace, and changes of the text of the base file. ONLY makes
the mutant of that number alone and prints what was run. For each mutant:

- an action that ends with status 0 must give exactly the records that were written;
- a trace that an action writes must pass --verify, or --recover must say that it does not;
- a trace that --convert or --request writes holds no record that was not written, whatever the status;
- where nothing but the base file is damaged --recover must find all records;
- an action that ends with another status must print at least one line.

Prints one line for each violation, then the number of mutants and of violations. Exits with 1 if there are any."""

import collections
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

BUILD = os.path.abspath(sys.argv[1])
NUMBER = int(sys.argv[2])
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
ONLY = int(sys.argv[4]) if len(sys.argv) > 4 else None
TOOL = os.path.join(BUILD, "stftool")
MAKE = os.path.join(BUILD, "tests/cli/lib/make_stf")
REQUEST = ["--request", "COUNTERS,2s:7s"]
# what a copy says about itself, and what is found again rather than copied
OWN = re.compile(rb'^(C |DURATION |DEFCLASS \d+ "(repairs|damage)"|INFO .* TEXT "(\.[a-z]|base |recovered))')


def run(*arguments):
    p = subprocess.run([TOOL, *arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
    return p.returncode, p.stdout, p.stderr


def records(text):
    """Records and declarations of a dump. Ids of classes of info records may differ between a trace and its copy."""
    return collections.Counter(line for line in text.split(b"\n") if line and not OWN.match(line))


class Trace:
    """A good trace: its files by suffix, and what each action gives."""

    def __init__(self, folder, name, kind, *how):
        self.kind = kind
        path = os.path.join(folder, name + ".stf")
        subprocess.run([MAKE, *kind.split()[:1], path, *kind.split()[1:]], check=True)
        if how:
            other = os.path.join(folder, "packed", name + (".single.stf" if "single" in how else ".stf"))
            os.makedirs(os.path.dirname(other), exist_ok=True)
            options = [o for o in how if o != "single"]
            status, _, err = run(path, "--convert", other, *options, "--force")
            assert status == 0, err
            path = other
        self.name = os.path.basename(path)
        self.files = {}
        for f in os.listdir(os.path.dirname(path)):
            if f.startswith(self.name):
                with open(os.path.join(os.path.dirname(path), f), "rb") as stream:
                    self.files[f[len(self.name):]] = stream.read()
        self.truth = {}
        for action, arguments in ACTIONS.items():
            if action == "recover":
                self.truth[action] = self.truth["dump"]
                continue
            status, out, err, _ = act(action, arguments, path, os.path.join(folder, "truth"))
            assert status == 0, (action, err)
            self.truth[action] = records(out)


ACTIONS = {
    "dump": ["--dump"],
    "convert": ["--convert", "OUT.single.stf"],
    "compress": ["--convert", "OUT.stf", "--compress-trace", "1"],
    "text": ["--convert", "OUT.avt"],
    "request": [*REQUEST, "--logfile-name", "OUT.stf"],
    "recover": ["--recover", "OUT.stf"],
    "verify": ["--verify"],
}


def act(action, arguments, path, folder):
    """Status, dump of the output, messages, and what is wrong with the output itself."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    out = os.path.join(folder, "o")
    status, text, err = run(path, *(a.replace("OUT", out) for a in arguments))
    if action in ("dump", "verify"):
        return status, text, err, ""
    written = [a.replace("OUT", out) for a in arguments if "OUT" in a][0]
    if not os.path.exists(written):
        left = os.listdir(folder)
        return status, b"", err, f"left {left}" if left else "" if status else "status 0 without an output"
    if written.endswith(".avt"):
        with open(written, "rb") as f:
            return status, f.read(), err, ""
    wrong = ""
    if run(written, "--verify")[0] != 0:
        wrong = "the output does not pass --verify"
    check, text, _ = run(written, "--dump")
    if check != 0:
        wrong = "the output cannot be printed"
    return status, text, err, wrong


# ---- mutations: change the files of a trace (suffix: bytes), return what was done ----

def some_file(r, files, filled=True):
    names = sorted(s for s in files if files[s] or not filled)
    return r.choice(names)


def put(files, s, data):
    files[s] = bytes(data)


def bits(r, files, _):
    s = some_file(r, files)
    data = bytearray(files[s])
    places = [(r.randrange(len(data)), r.randrange(8)) for _ in range(r.choice((1, 1, 1, 2, 5)))]
    for at, bit in places:
        data[at] ^= 1 << bit
    put(files, s, data)
    return f"{s or 'base'}: bits {places}"


def cut(r, files, _):
    s = some_file(r, files)
    n = r.randrange(len(files[s]))
    put(files, s, files[s][:n])
    return f"{s or 'base'}: cut at {n}"


def overwrite(r, files, _):
    s = some_file(r, files)
    data = bytearray(files[s])
    at = r.randrange(len(data))
    n = min(r.choice((1, 4, 40, 400)), len(data) - at)
    data[at:at + n] = bytes(n) if r.random() < 0.5 else r.randbytes(n)
    put(files, s, data)
    return f"{s or 'base'}: {n} bytes at {at} overwritten"


def remove_range(r, files, _):
    s = some_file(r, files)
    data = files[s]
    at = r.randrange(len(data))
    n = r.choice((1, 5, 20, 29, 29 * 4, 4096))
    put(files, s, data[:at] + data[at + n:])
    return f"{s or 'base'}: {n} bytes at {at} removed"


def repeat_range(r, files, _):
    s = some_file(r, files)
    data = files[s]
    at = r.randrange(len(data))
    n = r.choice((1, 5, 20, 29, 29 * 4, 4096))
    put(files, s, data[:at] + data[at:at + n] + data[at:])
    return f"{s or 'base'}: {n} bytes at {at} repeated"


def exchange(r, files, _):
    if len(files) < 2:
        return remove_range(r, files, _)
    a, b = r.sample(sorted(files), 2)
    files[a], files[b] = files[b], files[a]
    return f"{a or 'base'} and {b or 'base'} exchanged"


def foreign(r, files, other):
    s = some_file(r, files, False)
    if s not in other.files or len(files) == 1:
        return bits(r, files, other)
    put(files, s, other.files[s])
    return f"{s or 'base'} of another trace"


def missing(r, files, _):
    s = some_file(r, files, False)
    if len(files) == 1:
        return cut(r, files, _)
    del files[s]
    return f"{s or 'base'} removed"


def text(r, files, _):
    """The definition layer, a file of lines that people edit."""
    data = files[""]
    end = data.find(b"\nEND\n")
    begin = data.find(b"STF 1.0 ")
    lines = data[begin:end].split(b"\n")
    k = r.randrange(len(lines))
    words = lines[k].split(b" ")
    how = r.randrange(8)
    if how == 0:
        del lines[k]
    elif how == 1:
        lines.insert(r.randrange(len(lines) + 1), lines[k])
    elif how == 2:
        w = r.randrange(len(words))
        words[w] = r.choice((b"", b"99", b"U8:time", b"U4:x", b"<U1:y>", b"RECORD", b"counter_value", b"BIG"))
        lines[k] = b" ".join(words)
    elif how == 3:
        del words[r.randrange(len(words))]
        lines[k] = b" ".join(words)
    elif how == 4:
        lines[0] = lines[0].replace(b"LITTLE", b"BIG") if b"LITTLE" in lines[0] else lines[0].replace(b"BIG", b"LITTLE")
    elif how == 5:
        m = r.randrange(len(lines))
        lines[k], lines[m] = lines[m], lines[k]
    elif how == 6:
        w = r.randrange(len(words))
        words[w] = words[w][::-1]
        lines[k] = b" ".join(words)
    else:
        at = r.randrange(len(lines[k]) + 1)
        lines[k] = lines[k][:at] + bytes([r.randrange(32, 127)]) + lines[k][at + 1:]
    put(files, "", data[:begin] + b"\n".join(lines) + data[end:])
    return f"text: change {how} of line {k + 1}"


MUTATIONS = (bits, bits, bits, cut, overwrite, remove_range, repeat_range, exchange, foreign, missing, text, text)


def only_anchors_missing(good, files):
    return all(files.get(s) == good[s] for s in good if ".anc" not in s) and set(files) <= set(good) and all(
        files[s] == good[s] for s in files)


def only_base(good, files):
    """Is the base file, of several, damaged and nothing else?"""
    return len(files) > 1 and all(files.get(s) == good[s] for s in good if s)


def write(files, folder, name):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for s, data in files.items():
        with open(os.path.join(folder, name + s), "wb") as f:
            f.write(data)
    return os.path.join(folder, name)


def check(trace, files, path, folder):
    """Yields what is wrong."""
    anchors = only_anchors_missing(trace.files, files)
    for action, arguments in ACTIONS.items():
        status, out, err, wrong = act(action, arguments, path, os.path.join(folder, "out"))
        if ONLY is not None:
            print(f"# {action}: status {status} {wrong}\n" + err.decode(errors="replace"))
        if status not in (0, 1):
            yield f"{action}: status {status}"
        if wrong and not (action == "recover" and status == 1 and b"does not verify" in err):
            yield f"{action}: status {status}, {wrong}"
        if status == 1 and not err.strip():
            yield f"{action}: status 1 without a message"
        if action == "verify":
            if status == 0 and not anchors:
                yield "verify: status 0"
            continue
        found, truth = records(out), trace.truth[action]
        less = [line for line in truth - found if line[:1].isdigit()]
        if action == "recover" and less and only_base(trace.files, files):
            yield f"recover: {len(less)} records lost, such as {less[0][:90]!r}"
        if status == 0 and found != truth:
            more, less = found - truth, truth - found
            yield f"{action}: status 0, {sum(more.values())} not written, {sum(less.values())} missing"
        elif action in ("convert", "compress", "request") and (new := found - truth):
            yield f"{action}: status {status}, {sum(new.values())} not written, such as {next(iter(new))[:90]!r}"


def main():
    folder = tempfile.mkdtemp(prefix="stfmutants-")
    violations = 0
    try:
        # the counters of "many 3000" and "noisy 4000" are long enough for anchors
        kinds = (("rich",), ("many 3000",), ("big",), ("rich", "--compress-trace", "3"), ("noisy 4000", "--compress-trace", "3"),
                 ("rich", "single"))
        traces = []
        for i, (kind, *how) in enumerate(kinds):
            pair = []
            for copy in "ab":
                pair.append(Trace(folder, f"{copy}{i}", kind, *how))
            traces.append(pair)
        i = -1
        made = 0
        while made < NUMBER:
            i += 1
            r = random.Random(SEED * 1000003 + i)
            trace, other = traces[i % len(traces)]
            files = dict(trace.files)
            what = r.choice(MUTATIONS)(r, files, other)
            if files == trace.files:
                continue
            made += 1
            if ONLY is not None and i != ONLY:
                continue
            path = write(files, os.path.join(folder, "bad"), trace.name)
            for line in check(trace, files, path, folder):
                violations += 1
                print(f"{i}\t{trace.kind} {trace.name}\t{what}\t{line}", flush=True)
        print(f"{made} mutants, {violations} violations")
    finally:
        if ONLY is None:
            shutil.rmtree(folder)
        else:
            print("# files are in", folder)
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: BSD-3-Clause
# A trace of random numbers, and whether its report has what was put in: every value that a picture or table shows is computed here
# once more from the samples. report_numbers.py make RANKS SEED >x.avt; report_numbers.py check RANKS SEED x.html
import json, math, random, re, sys

RANKS, SEED = int(sys.argv[2]), int(sys.argv[3])
END, SAMPLES = 977000 * (1 + SEED % 3), 700 if RANKS < 100 else 12
rnd = random.Random(SEED)
failures = 0


def check(what, is_, want, tolerance=0.0):
    global failures
    ok = is_ == want if isinstance(want, (str, list, tuple)) or is_ is None else abs(is_ - want) <= tolerance
    if not ok:
        failures += 1
        if failures < 20:
            print("# %s is %.200s, want %.200s +- %g" % (what, is_, want, tolerance))


# ---- what goes in: times in us from 0 on ----

levels, totals, calls, messages, lines = {}, {}, {}, {}, []
for r in range(RANKS):
    levels[r], totals[r], calls[r] = [], [], []
    t, total = 0.0, 1000 * r
    for i in range(SAMPLES):
        now = int(t)
        value = rnd.randint(-500, 900)
        levels[r].append((now, value))
        total = total + rnd.randint(0, 3000) * (1 + r % 4) if not (r == 1 and i == 5) else 7
        totals[r].append((now, total))
        lines.append((now, r, "SAMP CPU %d DEF 1 INT 8 %d DEF 2 UINT 8 %d DEF 3 UINT 8 42" % (r + 1, value, total)))
        t += END / SAMPLES * rnd.uniform(0.7, 1.3) * 0.95
    # App { MPI } ... App { App2 { MPI } }
    t = rnd.randint(0, 1000)
    stack = []
    for i in range(40):
        if stack and (len(stack) == 3 or rnd.random() < 0.5):
            calls[r].append((t, None))
            lines.append((t, r, "LEAVE CPU %d" % (r + 1)))
            stack.pop()
        else:
            f = rnd.choice([1, 2, 3])
            stack.append(f)
            calls[r].append((t, f))
            lines.append((t, r, "ENTER CPU %d FUNCTION %d" % (r + 1, f)))
        t += rnd.randint(1, END // 50)
    for f in stack:
        calls[r].append((t, None))
        lines.append((t, r, "LEAVE CPU %d" % (r + 1)))
for i in range(50):
    a, b, n = rnd.randrange(RANKS), rnd.randrange(RANKS), rnd.randint(1, 9000)
    messages.setdefault((a, b), []).append(n)
    t = rnd.randint(0, END // 2)
    lines.append((t, a, "SENDMSG CPU %d TO %d COMM 1 TAG 1 LEN %d FUNCTION 1 PAIR %d" % (a + 1, b + 1, n, i + 1)))
    lines.append((t + 10, b, "RECVMSG CPU %d FROM %d COMM 1 TAG 1 LEN %d FUNCTION 1 PAIR %d" % (b + 1, a + 1, n, i + 1)))
LAST = max(line[0] for line in lines)
WIDTH = LAST // 640 + 1  # of the finest columns

if sys.argv[1] == "make":
    print("C ASCII trace\nCLKPERIOD 1e-06\nEVENTBITS 0\nNCPUS " + " ".join(["1"] * RANKS))
    print("DURATION 0 %d" % LAST)
    print('DEFCLASS 1 "MPI" SELF "MPI" PARENT 0\nDEFCLASS 2 "App" SELF "App" PARENT 0')
    print('DEFCLASS 4 "counter-display" SELF "counter-display" PARENT 0')
    print('DEFCLASS 5 "counter" SELF "counter" PARENT 0')
    print('DEFFUNCTION 1 "MPI_Send" CLASS 1\nDEFFUNCTION 2 "work" CLASS 2\nDEFFUNCTION 3 "other" CLASS 2')
    print('DEFGROUP 2147483650 "All" NMEMBS %d %s' % (RANKS, " ".join(str(r + 1) for r in range(RANKS))))
    print('DEFCOUNTER 1 "level" CLASS 2 CPU 2147483650 TYPE 65 DIFF 0 UNIT "m" LOWER 0 UPPER 0')
    print('DEFCOUNTER 2 "total" CLASS 2 CPU 2147483650 TYPE 67 DIFF 1 UNIT "#" LOWER 0 UPPER 0')
    print('DEFCOUNTER 3 "same" CLASS 2 CPU 2147483650 TYPE 67 DIFF 0 UNIT "#" LOWER 0 UPPER 0')
    print('DEFCOMM 1 "MPI_COMM_WORLD" LEFT 0 FIRST 1 1 LAST 1 %d STRIDE 1 1' % RANKS)
    print('INFO CLASS 4 TEXT "\\"App:total\\" 0.5 \\"pairs\\""')
    print('INFO CLASS 5 TEXT "\\"App:level\\" how high the water is"')
    for t, r, text in sorted(lines, key=lambda x: x[0]):
        print(t, text)
    sys.exit(0)

# ---- what should come out: intervals of each series ----

page = open(sys.argv[4], encoding="utf-8").read()


class Series:
    def __init__(self, pieces):  # (from, to, value), from == to: a point
        self.pieces = pieces
        self.weighted = [(v, b - a if b > a else 1) for a, b, v in pieces]

    def within(self, a, b):  # mean, low, high of [a, b)
        w = s = 0.0
        low, high = math.inf, -math.inf
        for f, t, v in self.pieces:
            part = min(t, b) - max(f, a) if t > f else float(a <= f < b)
            if part > 0:
                w += part
                s += part * v
                low, high = min(low, v), max(high, v)
        return (s / w, low, high, w, s) if w else (None, None, None, 0, 0)

    def mean(self):
        return sum(v * w for v, w in self.weighted) / sum(w for _, w in self.weighted)


def rates(samples):
    return [(a, b, 0.5 * (v - u) / ((b - a) * 1e-6)) for (a, u), (b, v) in zip(samples, samples[1:]) if v >= u and b > a]


def in_mpi(events):
    stack, pieces, since = [], [], events[0][0]
    for t, f in events:
        was = 1 in stack
        if f is None:
            stack.pop()
        else:
            stack.append(f)
        if was != (1 in stack):
            pieces.append((since, t, 100.0 if was else 0.0))
            since = t
    pieces.append((since, events[-1][0], 0.0))
    return [p for p in pieces if p[1] > p[0]]


series = {"level": {r: Series([(t, t, v) for t, v in levels[r]]) for r in levels},
          "total": {r: Series(rates(totals[r])) for r in totals},
          "share": {r: Series(in_mpi(calls[r])) for r in calls}}
number = {"level": 0, "total": 1, "share": 3}


def parse(text):  # "12.3 us" and the like; the unit's prefix becomes a factor
    text = text.strip()
    m = re.match(r"(-?[0-9.]+(?:e[+-]?[0-9]+)?) ?(thousand |million |billion )?(.*)", text)
    v = float(m.group(1)) * {None: 1, "thousand ": 1e3, "million ": 1e6, "billion ": 1e9}[m.group(2)]
    return v * {"ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60, "KB": 1024, "MB": 1 << 20}.get(m.group(3), 1)


def close(what, text, want):
    check(what, parse(text), want, abs(want) * 1e-3 + 1e-9)


def table(caption):
    m = re.search(r"<caption>%s.*?</table>" % re.escape(caption), page, re.S)
    rows = re.findall(r"<tr><th scope=\"row\">(.*?)</th>(.*?)</tr>", m.group(0), re.S) if m else []
    check("table " + caption + " found", bool(m), True)
    return [(n, re.findall(r"<td>(.*?)</td>", rest)) for n, rest in rows]


# ---- the values for the script ----

data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S).group(1))
digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
dt = round(data["dt"] * 1e6)
check("columns are whole ones", dt % WIDTH, 0)
check("columns reach the last record", (data["n"] - 1) * dt <= LAST < data["n"] * dt + dt / 2, True)
check("they are as fine as they may be", data["n"] > (20 if RANKS > 100 else 53 if RANKS > 8 else 100), True)
check("counters with curves", sorted(data["c"]), ["0", "1", "3"])
for name, of in series.items():
    c = data["c"][str(number[name])]
    low = min(v for s in of.values() for _, _, v in s.pieces)
    high = max(v for s in of.values() for _, _, v in s.pieces)
    check(name + ": smallest", c["lo"], low, 1e-6 * abs(low))
    check(name + ": largest", c["hi"], high, 1e-6 * abs(high))
    check(name + ": unit", c["u"], {"level": "m", "total": "pairs", "share": "percent"}[name])
    check(name + ": labels", [s[0] for s in c["s"]], ["rank %d" % r for r in range(RANKS)])
    for r in range(0, RANKS, max(1, RANKS // 5)):
        for which, text in enumerate(c["s"][r][1:]):
            check("letters", len(text), 2 * data["n"])
            for k in range(data["n"]):
                code = digits.index(text[2 * k]) * 64 + digits.index(text[2 * k + 1])
                want = of[r].within(k * dt, (k + 1) * dt)[which]
                if want is None or code == 4095:
                    check("%s of rank %d in column %d" % (name, r, k), code == 4095, want is None)
                else:
                    check("%s %d of rank %d in column %d" % (name, which, r, k), low + code * (high - low) / 4094, want,
                        (high - low) / 8000)

# ---- the heat map: time in MPI ----

m = re.search(r'<svg class="chart"([^>]*)aria-labelledby="heat-t.*?</svg></svg>|<svg class="chart"([^>]*)aria-labelledby="heat-t.*?</svg>\n', page, re.S)
heat = m.group(0)
columns, rows = map(int, re.search(r'viewBox="0 -0.5 (\d+) (\d+)"', heat).groups())
per_row = (RANKS + 127) // 128
check("rows of the heat map", rows, (RANKS + per_row - 1) // per_row)
check("data of the heat map", 'data-series="3" data-rows="%d"' % rows in heat, per_row == 1)
shown = {}
for d, k in re.findall(r'<path d="([^"]*)" class="h h(\d)"/>', heat):
    for i, r, n in re.findall(r"M(\d+) (\d+)h(\d+)", d):
        for j in range(int(n)):
            check("a cell once", (int(r), int(i) + j) in shown, False)
            shown[int(r), int(i) + j] = int(k)
ticks = [(float(a), parse(b)) for a, b in re.findall(r'<text x="([0-9.]+)%" y="\d+" class="x [sm]">([^<]*)<', heat)]
scale = {"s": 1e6, "ms": 1e3, "us": 1}[re.search(r'class="x e">([^<]*)<', heat).group(1)]
step = (ticks[-1][1] - ticks[0][1]) * scale / (ticks[-1][0] - ticks[0][0])  # us of one percent of the width
check("first tick", ticks[0], (0.0, 0.0))
wide = round(step * 100 / columns)
for unit in range(max(1, wide - wide // 100 - 1), wide + wide // 100 + 2):  # a tick's place has one digit after the point
    if unit % WIDTH == 0:
        wide = unit
        break
else:
    check("width of a column of the heat map", wide, -1)
check("columns of the heat map", columns, LAST // wide + 1)
truth = {}
for r in range(rows):
    for k in range(columns):
        parts = [series["share"][q].within(k * wide, (k + 1) * wide) for q in range(r * per_row, min(RANKS, (r + 1) * per_row))]
        if sum(p[3] for p in parts) > 0:
            truth[r, k] = sum(p[4] for p in parts) / sum(p[3] for p in parts)
most = max(truth.values())
check("cells of the heat map", sorted(shown), sorted(truth))
key = re.search(r'<p class="key">([^<]*)<span class="q q0">.*?</span> ([^<]*)</p><div class="heat">', page)
close("colours from", key.group(1), 0)
close("colours to", key.group(2), most)
for at, v in truth.items():
    check("level of cell %s" % (at,), shown.get(at, -9), min(8, int(v / most * 9)), 1 if abs(v / most * 9 - round(v / most * 9)) < 1e-6 else 0)
beside = page[:page.index(heat)].rpartition('<svg class="chart names"')[2]
names = re.findall(r'<text class="e"[^>]*>(rank [^<]*)</text>', beside)
check("no name on a cell", re.findall(r">rank [^<]*</text>", heat), [])
height = int(re.search(r'<svg y="\d+" width="100%" height="(\d+)"', heat).group(1)) // rows
every = max(1, math.ceil(14 / height))
last_of = lambda r: min(RANKS, (r + 1) * per_row) - 1
check("labels of the heat map", names,
    ["rank %d" % r if per_row == 1 else "rank %d to rank %d" % (r * per_row, last_of(r)) for r in range(0, rows, every)])

# ---- pictures of curves ----

def ys(d, n):  # place of a line in each column
    out = {}
    for piece in re.findall(r"M[^M]*", d):
        numbers = [int(x) for x in re.findall(r"-?\d+", piece)]
        x, y = numbers[0], numbers[1]
        out[x] = y
        for i in range(2, len(numbers) - 1, 2):
            x, y = x + numbers[i], y + numbers[i + 1]
            out[x] = y
    return {x: y for x, y in out.items() if x < n}


for name, of in series.items():
    m = re.search(r'<p class="key">((?:(?!<p ).)*?)</p><svg class="chart" data-series="%d" data-low="([^"]*)" data-high="([^"]*)" [^>]*counter%d-t.*?</svg>\n'
        % (number[name], number[name]), page, re.S)
    # the inner svg ends without a line break
    text, low, high = m.group(0), float(m.group(2)), float(m.group(3))
    n = int(re.search(r'viewBox="0 0 (\d+) 400"', text).group(1))
    many = RANKS > 6
    per = next((p for p in range(WIDTH, 640 * WIDTH, WIDTH) if LAST // p + 1 == n), None)
    check(name + ": a width for %d columns" % n, per is not None, True)
    if per is None:
        continue
    ordered = sorted(of, key=lambda r: (-of[r].mean(), r)) if many else list(range(RANKS))
    chosen = [ordered[0], ordered[1], ordered[-1]] if many else ordered
    lines_drawn = re.findall(r'<path class="l c(\d)" d="([^"]*)"/>', text)
    check(name + ": colours", [int(c) for c, _ in lines_drawn], ([6, 0, 1, 2] if many else list(range(RANKS))))
    labels = re.findall(r'<span class="k\d"></span>([^<]*) ', m.group(1))
    check(name + ": legend", labels, (["minimum to maximum of %d, and mean" % RANKS] if many else []) + ["rank %d" % r for r in chosen])
    bottom, top = (0, 100) if name == "share" else (min(v for s in of.values() for _, _, v in s.pieces), max(v for s in of.values() for _, _, v in s.pieces))
    if name == "level" and not many:
        check("range of level", (round(high - top - 0.04 * (top - bottom), 3), round(bottom - low - 0.04 * (high - bottom), 3)), (0.0, 0.0))
    for (colour, d), r in zip(lines_drawn[many:], chosen):
        drawn = ys(d, n)
        want = {k: of[r].within(k * per, (k + 1) * per)[0] for k in range(n)}
        check("%s of rank %d: columns with a value" % (name, r), sorted(drawn), [k for k in want if want[k] is not None])
        for k, y in drawn.items():
            if want[k] is not None:
                check("%s of rank %d at %d" % (name, r, k), y, 400 * (high - want[k]) / (high - low), 0.51)
    if many:  # mean, minimum and maximum of all, each with its last value where it has no sample
        sums = [[] for _ in range(n)]
        for s in of.values():
            value = None
            end = n if name == "share" else None
            for k in range(n):
                mean, a, b, w, _ = s.within(k * per, (k + 1) * per)
                if name != "share" and k > max(t for _, t, _ in s.pieces) // per:
                    break
                value = mean if w else value
                if value is not None:
                    sums[k].append((value, a, b) if w and name != "share" else (value, value, value))
        drawn = ys(lines_drawn[0][1], n)
        for k in range(n):
            if sums[k]:
                check("%s: mean at %d" % (name, k), drawn.get(k, -999), 400 * (high - sum(v for v, _, _ in sums[k]) / len(sums[k])) / (high - low), 0.51)
        band = re.findall(r'<path class="b c6" d="([^"]*)"/>', text)
        check(name + ": one band", len(band), 1)
        for piece in re.findall(r"M(\d+) (-?\d+)l([^M]*?)z", band[0] if band else ""):
            x, y, up, numbers = int(piece[0]), int(piece[1]), True, [int(v) for v in re.findall(r"-?\d+", piece[2])]
            check("%s: maximum at %d" % (name, x), y, 400 * (high - max(b for _, _, b in sums[x])) / (high - low), 0.51)
            for dx, dy in zip(numbers[::2], numbers[1::2]):
                x, y = x + dx, y + dy
                if dx == 0:
                    up, x = False, x - 1
                    check("%s: minimum at %d" % (name, x), y, 400 * (high - min(a for _, a, _ in sums[x])) / (high - low), 0.51)
                    x += 1
                elif up and x < n and sums[x] and numbers:
                    best = 400 * (high - max(b for _, _, b in sums[x])) / (high - low)
                    worst = 400 * (high - max(b for _, _, b in sums[x - 1])) / (high - low)
                    check("%s: maximum at %d" % (name, x), min(abs(y - best), abs(y - worst)), 0, 0.51)
                elif not up and 0 <= x < n and sums[x]:
                    best = 400 * (high - min(a for _, a, _ in sums[x])) / (high - low)
                    other = 400 * (high - min(a for _, a, _ in sums[min(x, n - 1)])) / (high - low)
                    check("%s: minimum at %d" % (name, x), min(abs(y - best), abs(y - other)), 0, 0.51)
    # the place of each label of an axis is that of its value
    factor = None
    for y, v in re.findall(r'<text class="s" x="2" y="([0-9.-]+)">([^<]*)</text>', text):
        value = float(v.split()[0])
        place = high - (float(y) + 3 - 18) / 150 * (high - low)
        if value and factor is None:
            factor = 10 ** round(math.log10(abs(place / value)))
        if factor:
            check("%s: label %s" % (name, v), value * factor, place, (high - low) / 1000)
    if low == 0:
        check(name + ": a label and a line at 0", (re.findall(r'y="([0-9.]+)">0<', text)[:1], re.findall(r"M0 ([0-9.]+)h9999", text)[-1:]), (["165.0"], ["168.0"]))
    check(name + ": labels of y", len(re.findall(r'<text class="s" x="2"', text)) in (2, 3, 4, 5), True)
    unit = {"s": 1e6, "ms": 1e3}[re.search(r'class="x e">([^<]*)<', text).group(1)]
    for x, v in re.findall(r'<text x="([0-9.]+)%" y="\d+" class="x [sm]">([^<]*)<', text):
        check("%s: tick %s" % (name, v), float(v) * unit, float(x) / 100 * n * per, n * per / 1000)

# ---- tables ----

for name, caption in (("level", "App:level per"), ("total", "App:total per"), ("share", "Heat map of time in MPI per")):
    got = dict(table(caption))
    for r in range(RANKS):
        cells = got.get("rank %d" % r)
        if cells is None:
            check("%s: row of rank %d" % (name, r), None, 0)
            continue
        s = series[name][r]
        close("%s: minimum" % name, cells[1], min(v for _, _, v in s.pieces))
        close("%s: mean" % name, cells[2], s.mean())
        close("%s: maximum" % name, cells[3], max(v for _, _, v in s.pieces))
        if name == "level":
            check("samples", int(cells[0]), SAMPLES)
        if name == "total":
            close("total", cells[4], sum(b - a for (_, a), (_, b) in zip(totals[r], totals[r][1:]) if b >= a))
check("a counter of one value", re.search(r'App:same</th><td>42', page) is not None, True)
check("what a counter is", "how high the water is" in page, True)

sums = {f: [0, 0, 0, {}] for f in (1, 2, 3)}
for r, events in calls.items():
    stack = []
    for t, f in events:
        if f is not None:
            stack.append([f, t, 0])
            continue
        f, begin, inner = stack.pop()
        if stack:
            stack[-1][2] += t - begin
        sums[f][0] += 1
        sums[f][1] += t - begin - inner
        sums[f][2] += t - begin
        sums[f][3][r] = sums[f][3].get(r, 0) + t - begin - inner
got = table("Time in functions")
check("functions by time", [n for n, _ in got], ["MPI:MPI_Send" if f == 1 else "App:work" if f == 2 else "App:other" for f in sorted(sums, key=lambda f: -sums[f][1])])
whole = sum(s[1] for s in sums.values())
for (n, cells), f in zip(got, sorted(sums, key=lambda f: -sums[f][1])):
    count, own, all_, by_rank = sums[f]
    check(n + " calls", int(cells[0]), count)
    for i, want in ((1, own * 1e-6), (2, 100 * own / whole), (3, all_ * 1e-6), (4, all_ * 1e-6 / count)):
        close(n, cells[i], want)
    check(n + ": rank with most", int(cells[5]), max(by_rank, key=lambda r: (by_rank[r], -r)))
    close(n, cells[6], max(by_rank.values()) * 1e-6)
close("share of MPI", re.search(r"<p>([^<]*?) of the time in functions is MPI", page).group(1), 100 * sums[1][1] / whole)

want = {}
for (a, b), sizes in messages.items():
    cell = want.setdefault((a, b), [0, 0])
    cell[0] += len(sizes)
    cell[1] += sum(sizes)
got = table("Messages by sender and receiver")
check("pairs", sorted((int(a), int(c[0])) for a, c in got), sorted(want))
for a, c in got:
    check("messages", int(c[1]), want.get((int(a), int(c[0])), [0, 0])[0])
    close("bytes", c[2], want.get((int(a), int(c[0])), [0, 0])[1])
check("messages in all", "<p>50 messages, " in page and "; 0 received before sent." in page, True)
check("what there is", "<p>%d records with %d counter values.</p>" % (len(lines) - 50, 3 * RANKS * SAMPLES) in page, True)
# every element is closed, in its order
stack = []
for close_, tag, empty in re.findall(r"<(/?)([a-z][a-z0-9]*)[^>]*?(/?)>", re.sub(r"<(script|style)[^>]*>.*?</\1>", "", page, flags=re.S)):
    if close_:
        check("what is closed", tag, stack.pop() if stack else "nothing")
    elif not empty and tag not in ("meta", "link", "br", "hr", "input", "img"):
        stack.append(tag)
check("what stays open", stack, [])

print("# %d failures" % failures)
sys.exit(failures > 0)

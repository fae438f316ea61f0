# SPDX-License-Identifier: BSD-3-Clause
"""The figures of the calibration, in one interleaved run: make bench-calib.

usage: bench_calib_table.py BUILD-DIRECTORY [--rounds N] [--only NAME,...] [--limit SECONDS]

Each round has every kind of launch once, so that a busy or a slow minute of the machine hits all of them; every row
that comes from real messages carries the shortest round trip of its own messages. It prints and does not judge: a
row that is not met is no failure of the bench. Each launch has a time limit. A kind of launch that fails or takes
longer is not tried again, and its rows say that they were not measured, and why. Exit status 1: something could not be
measured.
"""
import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HOGS = 2
ONLINE_SESSIONS, ONLINE_SECONDS = 41, 2  # what is learned of the rate before it is used for a minute
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
PEERS = ("itc", "min10", "skampi", "hca3", "jk")


def fail(text):
    sys.exit("bench-calib: " + text)


class NotMeasured(Exception):
    """A launch that failed, or did not end in time."""


def end(process):
    """mpirun ends its ranks when it is asked to; what is left after five seconds is killed."""
    for how, wait in ((signal.SIGTERM, 5), (signal.SIGKILL, 5)):
        try:
            os.killpg(process.pid, how)
            process.communicate(timeout=wait)
            return
        except subprocess.TimeoutExpired:
            pass
        except ProcessLookupError:
            return


def command(args, limit):
    what = " ".join(os.path.basename(a) for a in args[:5])
    with subprocess.Popen(args, env=ENV, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          start_new_session=True) as p:
        try:
            out, err = p.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            end(p)
            raise NotMeasured("%s did not end in %g s" % (what, limit)) from None
        except BaseException:
            end(p)
            raise
    if p.returncode not in (0, 1):
        print("%s: status %d\n%s%s" % (" ".join(args), p.returncode, out[-2000:], err[-2000:]), file=sys.stderr)
        raise NotMeasured("%s ended with status %d" % (what, p.returncode))
    return out


def nice(seconds):
    """A time with three digits: 3.21 ns"""
    for unit, scale in (("s", 1), ("ms", 1e3), ("us", 1e6), ("ns", 1e9)):
        if abs(seconds) * scale >= 0.9995 or unit == "ns":
            return "%.3g %s" % (seconds * scale, unit)


def spread(values, form=nice):
    if len(values) == 1:
        return form(values[0])
    return "%s [%s..%s]" % (form(statistics.median(values)), form(min(values)), form(max(values)))


class Truths:
    """All rounds of calibtruth of one kind of launch: as published, and with equal time and messages."""

    def __init__(self):
        self.rounds = {}
        self.equal = {"equal_time": {}, "equal_messages": {}}

    def add(self, result):
        for key, rounds in [("methods", self.rounds)] + list(self.equal.items()):
            for m in result[key] or []:
                rounds.setdefault(m["name"], []).extend(m["rounds"])

    def get(self, method, figure, index=None):
        return [r[figure] if index is None else r[figure][index] for r in self.rounds.get(method, [])]

    def outside(self, method="pairs"):
        return sum(self.get(method, "outside_bound"))

    def rtt(self, method="pairs"):
        return nice(statistics.median(self.get(method, "round_trip_s")))

    def peers(self, figure, index=None):
        """Medians of the peers in the same run: as published; with equal time; with equal messages."""
        out = []
        for name, rounds in (("published", self.rounds), ("equal time", self.equal["equal_time"]),
                             ("equal messages", self.equal["equal_messages"])):
            here = []
            for p in PEERS:
                v = [r[figure] if index is None else r[figure][index] for r in rounds.get(p, [])]
                v = [x for x in v if x is not None]
                if v:
                    here.append("%s %s" % (p, nice(statistics.median(v))))
            if here:
                out.append(name + ": " + ", ".join(here))
        return "; ".join(out)


class Bench:
    def __init__(self, build, rounds, only, limit):
        self.build, self.rounds, self.only, self.limit = build, rounds, only, limit
        self.missing = {}
        self.truth = {k: Truths() for k in ("np2", "np16", "hogs", "skew10")}
        self.sim = {}
        self.session = {}
        self.scale = None
        self.rows = []

    def wants(self, name):
        return not self.only or name in self.only

    def launch(self, kind, np, *args):
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "truth.json")
            command(["mpirun", "--oversubscribe", "-np", str(np), self.build + "/calibtruth", "--quiet", "--json", path,
                     *args], self.limit)
            if not os.path.exists(path):
                raise NotMeasured("calibtruth with %d ranks ended without a result" % np)
            with open(path) as f:
                self.truth[kind].add(json.load(f))

    def simulate(self, *args):
        for line in command([self.build + "/tests/bench/clocks/bench_calib_sim", *args], self.limit).splitlines():
            name, value, _unit = line.split("\t")
            self.sim.setdefault(name, []).append(float(value))

    def domains(self, np):
        """Lines of tests/bench/lib/bench.h: the median and the largest of each launch count."""
        for line in command(["mpirun", "--oversubscribe", "-np", str(np), self.build + "/tests/bench/clocks/bench_session",
                             "domains"], self.limit).splitlines():
            name, median, _unit, _least, most, _runs = line.split("\t")
            self.session.setdefault(name, []).append((float(median), float(most)))

    def with_hogs(self, what):
        hogs = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(HOGS)]
        try:
            what()
        finally:
            for h in hogs:
                h.kill()
                h.wait()

    def measure(self, kind, what):
        """One launch of a kind, unless one before was in vain."""
        if kind in self.missing:
            return
        try:
            what()
        except NotMeasured as e:
            self.missing[kind] = str(e)
            print("not measured: %s: %s" % (kind, e), file=sys.stderr)

    def one_round(self, i):
        if self.wants("np2"):
            self.measure("np2", lambda: self.launch("np2", 2, "--rounds", "5", "--sessions", str(ONLINE_SESSIONS),
                                                    "--apart", "%ds" % ONLINE_SECONDS))
        if self.wants("np16"):
            self.measure("np16", lambda: self.launch("np16", 16, "--rounds", "5", "--methods", "pairs,itc,min10,skampi,hca3"))
        if self.wants("hogs"):
            self.measure("hogs", lambda: self.with_hogs(
                lambda: self.launch("hogs", 16, "--rounds", "5", "--methods", "pairs,min10,skampi,hca3")))
        if self.wants("skew10"):
            self.measure("skew10", lambda: self.launch("skew10", 2, "--rounds", "1", "--apart", "10s", "--sessions", "2",
                                                       "--methods", "pairs,itc,min10"))
        if self.wants("np16") and self.wants("peers16") and i == self.rounds // 2:
            # jk takes a minute for a single round
            self.measure("peers16", lambda: self.launch("np16", 16, "--rounds", "1", "--methods", "jk"))
        if self.wants("domain"):
            self.measure("domain", lambda: self.domains(16))
        if self.wants("scale") and i == 0:
            self.measure("scale", self.scales)
        if self.wants("sim"):
            self.measure("sim", lambda: self.simulate("-n", str(-(-100000 // self.rounds)), "-s", str(20261121 + i)))

    def scales(self):
        self.scale = json.loads(command([self.build + "/calibsim", "--topology", "tree", "--sessions", "4", "--json", "-"],
                                        self.limit))

    def row(self, name, reached, limit, met, peer, rtt="virtual", here=""):
        self.rows.append((name, reached, limit, "met" if met else "NOT MET", rtt, peer, here))

    def has(self, kind):
        """Something of this kind was measured, in this round or one before."""
        if kind in self.truth:
            return bool(self.truth[kind].rounds)
        return bool({"sim": self.sim, "domain": self.session, "scale": self.scale}[kind])

    def rows_of(self, kind, names, row):
        """The rows of a kind; one that was not measured, or not in each round, says so."""
        if self.has(kind) and (kind != "hogs" or self.has("np16")):
            row()
            if kind in self.missing:
                self.rows[-1] = self.rows[-1][:-1] + ("not in each round: %s; %s" % (self.missing[kind], self.rows[-1][-1]),)
            return
        reason = self.missing.get(kind) or self.missing.get("np16") or "there was no whole round"
        for name in names:
            self.rows.append((name, "not measured", "", "not measured", "-", "", reason))

    # ---- the rows of issue 4, in its order ----

    def simulated(self):
        s = self.sim
        trials = sum(s["coverage.trials"])
        covered = sum(c * n for c, n in zip(s["coverage"], s["coverage.trials"])) / trials
        self.row("calib.coverage", "%.5f %% of %d trials" % (covered, trials), "100 % of >= 100,000", covered == 100 and trials >= 1e5,
                 "nobody has a bound")

    def wobble(self):
        s = self.sim
        for every, limit in (("5s", 40), ("10s", 330)):
            v = [x * 1e-9 for x in s["wobble60." + every]]
            here = "with the bursts of a job in between %s; constrained spline %s, line %s" % tuple(
                spread([x * 1e-9 for x in s[w]]) for w in ("wobble60.%s.brief" % every, "wobble60.%s.constrained" % every, "wobble60.line"))
            self.row("calib.wobble60 each " + every.replace("s", " s"), spread(v), "<= %d ns" % limit,
                     max(v) <= limit * 1e-9 and sum(s["wobble60.outside"]) == 0,
                     "94 ns (constrained spline)" if every == "5s" else "502 ns (constrained spline), 15.7 us (line)", "virtual", here)

    def halfwidth(self):
        t = self.truth["np2"]
        v = [h / (r / 2) for h, r in zip(t.get("pairs", "half_width_s"), t.get("pairs", "round_trip_s"))]
        self.row("calib.halfwidth, np 2", spread(v, lambda x: "%.3f" % x), "<= 1.2", statistics.median(v) <= 1.2, "none has one",
                 t.rtt())

    def np16(self):
        t = self.truth["np16"]
        v, d = t.get("pairs", "true_error_s", 0), t.get("pairs", "session_s")
        m, worst = statistics.median(v), max(v)
        self.row("calib.np16.true", "%s, worst of %d %s, %d outside" % (nice(m), len(v), nice(worst), t.outside()),
                 "<= 50 ns, worst <= 150 ns", m <= 50e-9 and worst <= 150e-9 and t.outside() == 0, "4.81 us (SKaMPI)", t.rtt(),
                 t.peers("true_error_s", 0))
        self.row("calib.np16 session", spread(d), "<= 10 ms", statistics.median(d) <= 10e-3, "23 ms (SKaMPI)", t.rtt(),
                 t.peers("session_s"))

    def hogs(self):
        t, quiet = self.truth["hogs"], self.truth["np16"]
        v = t.get("pairs", "true_error_s", 0)
        m, beside = statistics.median(v), statistics.median(quiet.get("pairs", "true_error_s", 0))
        self.row("calib.hogs, np 16", "%s, worst of %d %s, %d outside, session %s; the quiet row of this run %s, so %.1f times" %
                 (nice(m), len(v), nice(max(v)), t.outside(), spread(t.get("pairs", "session_s")), nice(beside), m / beside),
                 "<= 2x the quiet row of this run, 0 outside; <= 100 ns, worst <= 300 ns (2x the limits of np16)",
                 m <= 2 * beside and m <= 100e-9 and max(v) <= 300e-9 and t.outside() == 0,
                 "680 us (HCA3, np 4)", t.rtt(), t.peers("true_error_s", 0))

    def skew10(self):
        t = self.truth["skew10"]
        v = t.get("pairs", "between_s")
        spent = t.get("pairs", "exchange_s")
        self.row("calib.skew10", "%s, worst of %d %s, %s of exchanges in both sessions, %s a session with warm-up and waiting" %
                 (nice(statistics.median(v)), len(v), nice(max(v)), spread(spent), spread(t.get("pairs", "session_s"))),
                 "median <= 25 ns, <= 100 us of exchanges", statistics.median(v) <= 25e-9 and statistics.median(spent) <= 100e-6,
                 "255 ns online, 78 ms (HCA3)", t.rtt(), t.peers("between_s"))

    def online60(self):
        t = self.truth["np2"]
        v, d = t.get("pairs", "true_error_s", 2), t.get("pairs", "exchange_s")
        m, worst = statistics.median(v), max(v)
        self.row("calib.online60", "%s, worst of %d %s, %d sessions in %d s: %s of exchanges (%s a session), %s with warm-up and waiting" %
                 (nice(m), len(v), nice(worst), ONLINE_SESSIONS, ONLINE_SECONDS, spread(d), nice(statistics.median(d) / ONLINE_SESSIONS),
                  spread(t.get("pairs", "all_sessions_s"))), "median <= 500 ns, worst <= 1.5 us, <= 10 ms",
                 m <= 500e-9 and worst <= 1.5e-6 and statistics.median(d) <= 10e-3, "1.53 us [874 ns..4.31 us], 78 ms (HCA3)", t.rtt(),
                 t.peers("true_error_s", 2))

    def domain(self):
        def medians(timer, what):
            return [m for m, _ in self.session["calib.domain.%s.np16.%s" % (timer, what)]]

        def anchor(timer):
            return "beside one MPI_Allgather of the same processes, %s" % spread([m * 1e-3 for m in medians(timer, "allgather")])

        within, clocks = medians("clock_monotonic", "within"), medians("clock_monotonic", "clocks")
        setup = [m * 1e-3 for m in medians("clock_monotonic", "setup")]
        self.row("calib.domain, kernel clock, np 16", "error %s, %g clock, 0 timing messages, %s, %s" %
                 (nice(max(within) * 1e-9), max(clocks), spread(setup), anchor("clock_monotonic")),
                 "0, 0, <= 1 ms", max(within) == 0 and max(clocks) == 1 and statistics.median(setup) <= 1e-3, "72 to 538 ns, 244 ms (HCA3)", "-")
        within, clocks = medians("CPU", "within"), medians("CPU", "clocks")
        setup = [m * 1e-3 for m in medians("CPU", "setup")]
        line = statistics.median(medians("CPU", "line"))
        for name, limit, met in (("calib.domain, counter, np 16, bound", "<= 65 ns (where a line took 50 to 65 ns one way), 0",
                                  statistics.median(within) <= 65 and max(clocks) == 1),
                                 ("calib.domain, counter, np 16, time", "<= 1 ms", statistics.median(setup) <= 1e-3)):
            reached = ("proven to %s where a cache line takes %s one way, %g clock, 0 timing messages" %
                       (spread([w * 1e-9 for w in within]), nice(line * 1e-9), max(clocks))) if "bound" in name else (
                       "%s, of which the proof is %s alone, %s" %
                       (spread(setup), nice(statistics.median(medians("CPU", "proof")) * 1e-3), anchor("CPU")))
            self.row(name, reached, limit, met, "72 to 538 ns, 244 ms (HCA3)", "-")

    def scaling(self):
        rows = self.scale["rows"]
        first, last = rows[0], rows[-1]
        steps = [b["session_s"] / a["session_s"] for a, b in zip(rows, rows[1:])]
        wrong = sum(r["after"]["wrong"] + r["online"]["wrong"] for r in rows)
        self.row("calib.scale, %d to %d domains" % (first["domains"], last["domains"]),
                 "%d rounds at %d, %d at %d; growth %s; %s to %s; %d bounds wrong" %
                 (first["rounds"], first["domains"], last["rounds"], last["domains"], spread(steps, lambda x: "%.2fx" % x),
                  nice(first["session_s"]), nice(last["session_s"]), wrong),
                 "<= 5 rounds at 16, <= 1.3x, 0 wrong", first["domains"] == 16 and first["rounds"] <= 5 and max(steps) <= 1.3 and wrong == 0,
                 "O(p)")

    def online_wobble(self):
        s = self.sim
        v = [x * 1e-9 for x in s["online.wobble"]]
        self.row("calib.online.wobble, a session a second", spread(v), "<= 300 ns", max(v) <= 300e-9 and sum(s["online.wobble.outside"]) == 0,
                 "5.08 us at 10 s, 36.4 us at 60 s (HCA3)")

    def steps(self):
        s = self.sim

        def share(name):
            runs = sum(s[name + ".runs"])
            return sum(f * n for f, n in zip(s[name], s[name + ".runs"])) / runs, runs

        near, runs = share("steps.2s")
        far, _ = share("steps.5s")
        wrong = sum(s["steps.2s.outside"] + s["steps.5s.outside"])
        false_ones = sum(s["steps.2s.false"] + s["steps.5s.false"])
        self.row("calib.steps", "%.2f %% of %d with sessions 1 to 2 s apart, %.2f %% 1 to 5 s apart; %d said where none was; %d runs outside "
                 "their bound" % (near, runs, far, false_ones, wrong), "100 % above 3 half widths, within one interval",
                 near == 100 and far == 100 and wrong == 0 and false_ones == 0, "smoothed over")

    def reversed(self):
        s = self.sim
        self.row("calib.reversed", "%d of %d, %d before; largest shift %s in a band of %s" %
                 (sum(s["reversed.after"]), sum(s["reversed.messages"]), sum(s["reversed.before"]), nice(max(s["reversed.shift"]) * 1e-9),
                  nice(max(s["reversed.band"]) * 1e-9)), "0, shift <= band",
                 sum(s["reversed.after"]) == 0 and sum(s["reversed.miscounted"]) == 0 and max(s["reversed.beyond"]) <= 0,
                 "5 of 168 in the guide's example")

    def print(self):
        heads = ("figure", "reached", "limit", "", "round trip", "best peer known", "peers in this run (median)")
        print("| " + " | ".join(heads) + " |")
        print("| " + " | ".join("---" for _ in heads) + " |")
        for r in self.rows:
            print("| " + " | ".join(r) + " |")


def main():
    p = argparse.ArgumentParser(description="The figures of the calibration.")
    p.add_argument("build")
    p.add_argument("--rounds", type=int, default=6)
    p.add_argument("--limit", type=float, default=float(os.environ.get("BENCH_LIMIT", 300)), help="seconds for one launch")
    p.add_argument("--only", help="of np2,np16,peers16 (jk with 16 ranks: a minute or more),hogs,skew10,domain,scale,sim")
    o = p.parse_args()
    b = Bench(o.build, o.rounds, o.only.split(",") if o.only else None, o.limit)
    begin = time.monotonic()
    done = 0
    for i in range(o.rounds):
        print("round %d of %d, %.0f s" % (i + 1, o.rounds, time.monotonic() - begin), file=sys.stderr)
        try:
            b.one_round(i)
        except KeyboardInterrupt:
            if done == 0:
                fail("interrupted in the first round, so there is nothing to print")
            print("interrupted: the figures of %d whole rounds and of what there is of the next" % done, file=sys.stderr)
            break
        done += 1
    online = "calib.online.wobble, a session a second"
    for kind, names, row in (
            ("sim", ["calib.coverage"], b.simulated), ("np2", ["calib.halfwidth, np 2"], b.halfwidth),
            ("np16", ["calib.np16.true", "calib.np16 session"], b.np16), ("domain", ["calib.domain, np 16"], b.domain),
            ("sim", ["calib.wobble60"], b.wobble), ("skew10", ["calib.skew10"], b.skew10),
            ("np2", ["calib.online60"], b.online60), ("sim", [online], b.online_wobble),
            ("scale", ["calib.scale"], b.scaling), ("sim", ["calib.steps"], b.steps), ("sim", ["calib.reversed"], b.reversed),
            ("hogs", ["calib.hogs, np 16"], b.hogs)):
        if b.wants(kind) and (kind != "hogs" or b.wants("np16")):
            b.rows_of(kind, names, row)
    b.print()
    print("%d rounds in %.0f s; load of the machine at the end: %s" % (done, time.monotonic() - begin,
                                                                      "%.1f %.1f %.1f" % os.getloadavg()))
    sys.exit(1 if b.missing else 0)


main()

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# timertest --check, --fingerprint, --taskprolog: formats, limits, exit statuses, stored results. TAP.
# shellcheck source=../../lib/tap.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/lib/tap.sh"
timertest=$build/timertestcs
XDG_STATE_HOME="$dir/a state"
export XDG_STATE_HOME

check() # check WANTED_STATUS WORDS...: output in $dir/out and $dir/err
{
	wanted=$1
	shift
	"$timertest" --check "$@" >"$dir/out" 2>"$dir/err"
	[ $? -eq "$wanted" ]
}

# what depends on this machine is left out: a file of limits that only looks at what is always there
cat >"$dir/quiet" <<'EOF'
# nothing of this can fail on a machine that works
clock.cost - -
clock.vdso - -
clock.tick - -
tsc.cross_core off
tsc.invariant - -
tsc.rate_error - -
clocksource.current - -
ntp.synchronised off
ntp.offset off
ntp.stepped off
ntp.slewed off
phc.bound_ignored off
tai.offset off
EOF

expect check 0 --local --profile "$dir/quiet"
expect_line '^timertest --check: OK - ' "$dir/out"
expect_empty "$dir/err"
verdict "a machine within its limits: status 0"
expect check 0 --local --profile "$dir/quiet" --quiet
expect_empty "$dir/out"
expect_empty "$dir/err"
verdict "--quiet prints nothing"
expect check 1 --local --profile "$dir/quiet" -w clock.cost=1ps
expect_line 'what to do: ' "$dir/out"
expect_line 'limits: warning above' "$dir/out"
verdict "a value above its limit: status 1, with the limit and what to do"
check 2 --local --profile "$dir/quiet" -w clock.cost=1ps --critical clock.cost=2ps
ok "above the critical one: status 2" $?
expect check 0 --local --profile "$dir/quiet" -w clock.cost=1ps --fail-on critical
expect_line WARNING "$dir/out"
verdict "--fail-on critical: a warning is printed and has status 0"
expect check 3 --profile "$dir/quiet"
expect_line -E "no result of timertest in $dir/a state/tickmark|this build has no jansson" "$dir/out"
expect [ "$(grep -cE "no result of timertest in|this build has no jansson" "$dir/out")" -eq 2 ]
expect_line '^not known  [a-z.]* to result.age  ' "$dir/out"
expect [ ! -e "$dir/a state" ]
verdict "no stored result: status 3, and no file was made"


expect check 3 --format prose
expect_line "human, json, nagios" "$dir/err"
expect check 3 -w clock.coast=1
expect_line "clock.cost" "$dir/err"
expect check 3 --profile "$dir/none"
expect_line "no such" "$dir/err"
expect check 3 30
expect check 3 --timer none
expect check 3 --max-age soon
expect check 3 --bogus
expect_line "unknown option '--bogus'" "$dir/err"
expect check 3 --fingerprint
expect_line 'one of --check' "$dir/err"
verdict "wrong usage: status 3 and what is known"
expect check 0 -V
expect_line '^timertestcs (Tickmark) ' "$dir/out"
expect check 0 -h
expect_line '^Usage: timertestcs --check ' "$dir/out"
verdict "-V and -h"
expect "$timertest" --CHECK=on --local --profile "$dir/quiet" >"$dir/out" 2>"$dir/err"
expect_line '^timertest --check: OK - ' "$dir/out"
verdict "--CHECK=on is --check"
VT_CHECK=1 VT_FINGERPRINT='*.* off' expect "$timertest" --timer LIST >"$dir/out" 2>"$dir/err"
expect_line '^CPU ' "$dir/out"
expect_empty "$dir/err"
verdict "VT_CHECK, an option of Intel Trace Collector, is none of timertest"

"$timertest" --check --explain >"$dir/out" 2>"$dir/err" &&
	sed -n 's/^\([a-z]*\.[a-z_]*\)\( (left out)\)*$/\1/p' "$dir/out" >"$dir/names" &&
	[ "$(wc -l <"$dir/names")" -ge 21 ] && while read -r name; do grep -q "$name" "$src/doc/man/timertest.1" ||
	echo "not in the manual: $name"; done <"$dir/names" >"$dir/diff" &&
	[ ! -s "$dir/diff" ]
ok "every check is in the manual" $?

# formats
if command -v "${PYTHON3:-python3}" >/dev/null 2>&1; then
	check 1 --local --profile "$dir/quiet" -w clock.cost=1ps --format json &&
		"${PYTHON3:-python3}" - "$dir/out" >"$dir/err" 2>&1 <<'EOF'
import json, sys
j = json.load(open(sys.argv[1]))
assert j["schema"] == "timertest-check/1" and j["status"] == "WARNING" and j["exit_status"] == 1, j
c = {x["name"]: x for x in j["checks"]}
assert c["clock.cost"]["status"] == "WARNING" and 0 < c["clock.cost"]["value"] < 1 and c["clock.cost"]["unit"] == "s", c["clock.cost"]
assert len(c) >= 21
assert all(x["why"] and x["what_to_do"] for x in j["checks"])
assert c["clock.cost"]["uncertainty"] is None and c["sync.drift"]["measured"] is None
EOF
	ok "json" $?
	"$timertest" --check --local --format json >"$dir/out" 2>"$dir/err"
	"${PYTHON3:-python3}" - "$dir/out" >"$dir/err" 2>&1 <<'EOF'
import json, sys
n = 0
for x in json.load(open(sys.argv[1]))["checks"]:
    if x["name"] in ("tsc.rate_error", "ntp.slewed", "ntp.stepped") and x["value"] is not None:
        # what is judged is what was measured, less its uncertainty
        assert abs(x["value"] - max(0, abs(x["measured"]) - x["uncertainty"])) < 1e-6 and x["uncertainty"] > 0, x
        n += 1
assert n
EOF
	ok "json has what was measured, its uncertainty, and what is proven" $?
	check 1 --local --profile "$dir/quiet" -w clock.cost=1ps --format json &&
		"$src/contrib/timertest-junit.py" <"$dir/out" >"$dir/junit.xml" 2>"$dir/err" &&
		"${PYTHON3:-python3}" - "$dir/junit.xml" >"$dir/err" 2>&1 <<'EOF'
import sys, xml.etree.ElementTree as e
s = e.parse(sys.argv[1]).getroot()
assert s.tag == "testsuite" and int(s.get("tests")) == len(s.findall("testcase")) and int(s.get("failures")) == 1
assert int(s.get("skipped")) == len(s.findall("testcase/skipped"))
EOF
	ok "contrib/timertest-junit.py makes JUnit's XML of json" $?
	expect "$timertest" --fingerprint >"$dir/out"
	expect "$timertest" --fingerprint --output "$dir/print"
	expect_same "$dir/out" "$dir/print"
	expect "${PYTHON3:-python3}" \
		-c 'import json,sys; j=json.load(open(sys.argv[1])); assert len(j["fingerprint"])==16 and j["kernel"]' \
		"$dir/out"
	verdict "--fingerprint is JSON and the same twice"
else
	skip "json, contrib/timertest-junit.py, --fingerprint" "no python3"
fi
expect check 1 --local --profile "$dir/quiet" -w clock.cost=1ps --format nagios
expect [ "$(wc -l <"$dir/out")" -eq 1 ]
expect_line -E "^TIMERTEST WARNING - [^|]*clock.cost[^|]*\| .*'clock.cost'=[0-9.]+us;0.000001;;0" "$dir/out"
expect_no_line -E '[0-9]e[-+]?[0-9]+[us;]' "$dir/out"
verdict "nagios: one line, status, performance data without exponents"
expect check 1 --local --profile "$dir/quiet" -w clock.cost=1ps --format prometheus
expect_line '^timertest_check_status{check="clock.cost"} 1$' "$dir/out"
expect_line '^timertest_check_value_seconds{check="clock.cost"} [0-9]' "$dir/out"
expect_no_line '^timertest_check_value_found{check="clock.cost"}' "$dir/out"
expect awk '/^#/ { if ($2 == "TYPE") type[$3] = 1; next }
	{ split($1, n, "{"); if (NF != 2 || !type[n[1]]) exit 1 }' "$dir/out"
expect [ -z "$(tail -c 1 "$dir/out")" ]
"$timertest" --check --local --format prometheus >"$dir/check" 2>&1
expect_line '^timertest_check_uncertainty_ratio{check="[a-z_.]*"} [0-9]' "$dir/check"
expect_line -E '^timertest_check_measured_ratio[{]check="[a-z_.]*"[}] -?[0-9]' "$dir/check"
verdict "prometheus: every metric has its type, no time stamps, a final newline"
for format in junit tap influx; do
	expect check 3 --format $format
	expect_line \
		-e \
		"--format '$format': human, json, nagios and prometheus are known; a filter \
.*contrib/timertest-junit.py" "$dir/err"
	verdict "--format $format names the way out"
done
expect check 3 --format mpisync
expect_line -e "--format mpisync: clkapply FILE.clk --format mpisync prints" "$dir/err"
verdict "--format mpisync names clkapply"
LC_ALL=de_DE.UTF-8 expect "$timertest" --check --local --profile "$dir/quiet" --format prometheus >"$dir/out"
expect_no_line '[0-9],[0-9]' "$dir/out"
verdict "numbers have a decimal point in every locale"

# files
expect echo old >"$dir/file"
expect check 0 --local --profile "$dir/quiet" --output "$dir/file"
expect_empty "$dir/out"
expect_line "OK" "$dir/file"
verdict "--output replaces the file"
expect check 3 --local --profile "$dir/quiet" --output "$dir/no/file"
expect_line "$dir/no" "$dir/err"
verdict "an output that cannot be written: status 3 and its name"
"$timertest" --check --local --profile "$dir/quiet" >/dev/full 2>"$dir/err"
expect [ $? -eq 3 ]
expect_line "standard output" "$dir/err"
verdict "a full standard output: status 3"

# a stored result
if "$timertest" --json - 0.2 0.1 --timer CPU --performance-time 0.1s --output "$dir/tt" >"$dir/json" 2>"$dir/err"
	[ $? -le 3 ] && grep -q schema "$dir/json"; then
	[ -s "$dir/a state/tickmark/timertest.json" ]
	ok "timertest keeps its result" $?
	# what the dashboard and the alerts ask for, and the checks that they name, are printed
	"$timertest" --check --format prometheus >"$dir/out" 2>"$dir/err"
	for f in "$src"/contrib/prometheus/tickmark-dashboard.json "$src"/contrib/prometheus/tickmark-alerts.yml; do
		sed 's/\\"/"/g' "$f" >"$dir/asked"
		grep -o 'timertest_[a-z_]*' "$dir/asked" | sort -u >"$dir/metrics"
		[ -s "$dir/metrics" ] || echo "$f asks for nothing"
		while read -r metric; do grep -q "^${metric}[{ ]" "$dir/out" || echo "$f: no metric $metric"
			done <"$dir/metrics"
		sed -n 's/.*check="\([^"]*\)".*/\1/p' "$dir/asked" >"$dir/checks"
		while read -r asked; do grep -qx "$asked" "$dir/names" || echo "$f: no check $asked"
			done <"$dir/checks"
	done >"$dir/diff"
	[ ! -s "$dir/diff" ]
	ok "Grafana's dashboard and the alert rules ask for metrics and checks that are printed" $?
	"$timertest" --check --profile "$dir/quiet" >"$dir/out" 2>"$dir/err"
	expect_line '^ok  *clocksource.changed' "$dir/out"
	expect_line '^ok  *result.age .*[0-9] s old' "$dir/out"
	verdict "and --check judges it"
	sed 's/"boot_id": *"[^"]*"/"boot_id": "other"/' "$dir/a state/tickmark/timertest.json" >"$dir/x" &&
		cp "$dir/x" "$dir/a state/tickmark/timertest.json"
	"$timertest" --check --profile "$dir/quiet" >"$dir/out" 2>"$dir/err"
	expect_line 'result.age .*booted since' "$dir/out"
	expect_line '^not known  sync.offset_max' "$dir/out"
	expect "$timertest" --taskprolog >"$dir/out"
	expect_line '^print timertest: no setting .*booted' "$dir/out"
	verdict "a result of another boot is void"
	sed 's/"boot_id": *"[^"]*"/"boot_id": "'"$(cat /proc/sys/kernel/random/boot_id)"'"/; s/"status": '\
'*"[a-z]*"/"status": "fit"/' "$dir/x" >"$dir/a state/tickmark/timertest.json"
	[ "$("$timertest" --taskprolog)" = "export VT_TIMER=CPU" ]
	ok "--taskprolog prints the timer of a fit result" $?
	head -c 500 "$dir/x" >"$dir/a state/tickmark/timertest.json"
	"$timertest" --check --profile "$dir/quiet" >"$dir/out" 2>"$dir/err"
	expect [ $? -eq 3 ]
	expect_line 'is damaged' "$dir/out"
	verdict "a damaged result is named"
	rm -rf "$dir/a state"
	"$timertest" --json - 0.2 0.1 --timer sim:drift=5ppm --performance-time 0.1s --output "$dir/sim" >/dev/null \
		2>"$dir/err"
	[ ! -e "$dir/a state" ]
	ok "a result of a simulated clock is not kept" $?
	: >"$dir/a state"
	"$timertest" 0.2 0.1 --timer CPU --performance-time 0.1s --force --output "$dir/tt" >"$dir/out" 2>"$dir/err"
	expect [ $? -ne 2 ]
	expect_line 'note: the result is not kept' "$dir/err"
	verdict "a state directory that cannot be made is a note"
else
	skip "stored results" "no JSON in this build: $(cat "$dir/err")"
fi
done_testing

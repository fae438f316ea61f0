#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Reports in a browser: of a run, of timertest with a stepped clock, of hostile names, of a damaged trace. Needs
# Chromium and node; puppeteer-core and axe-core come from npm. BUILD: a build to take the programs of (default: one is
# made).
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/lib.sh"
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [ -z "$browser" ] || ! command -v npm >/dev/null || ! command -v node >/dev/null; then
	echo "no Chromium, or no node with npm"
	exit 77
fi
cd "$work" || exit 99
npm install --no-audit --no-fund --ignore-scripts puppeteer-core@25 axe-core@4 >npm.log 2>&1 || {
	echo "npm could not install puppeteer-core and axe-core: $(tail -n 1 npm.log)"
	exit 77
}
cp "$top/tests/ci/readers/report.js" .
build=${BUILD:-}
if [ -z "$build" ]; then
	mkdir tree && cd tree && step "configure" "$top/configure" && step "build" make -j"$jobs" &&
		build=$work/tree && cd ..
fi
look() { step "$1" node report.js "$browser" "$work/$2" ${SCREENSHOTS:+"$SCREENSHOTS/$3"}; }

step "a run" "$build/vtrun" -- sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done; sleep 0.3'
step "its report" "$build/vtreport" sh.stf
look "its report in a browser" sh.html run
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
if command -v mpirun >/dev/null && [ -x "$build/timertest" ]; then
	# the status says what timertest thinks of a clock that steps
	mpirun --oversubscribe -np 3 "$build/timertest" 4 1 \
		--timer 'sim:base=CPU,drift={rank}0ppm,step={rank}0ms@2500ms,tick=3ns' \
		--performance-time 100ms --output step >step.out 2>&1
	step "report of timertest" "$build/vtreport" step.stf
	look "report of timertest in a browser" step.html clocks
	sed 's/^realtime-at-0 .*/realtime-at-0 1764121000123456789/' step.clk >before.clk
	step "drift over weeks" "$build/vtreport" before.clk step.clk
	look "drift over weeks in a browser" clocks.html weeks
	step "one correction file" "$build/vtreport" before.clk
	look "one correction file in a browser" before.html clk
fi
if command -v mpirun >/dev/null && command -v mpicc >/dev/null && [ -x "$build/vtrun" ]; then
	step "an MPI program" mpicc -O1 -finstrument-functions "$src/tests/ci/readers/programs/uneven.c" \
		-o uneven
	step "a job with imbalance" mpirun --oversubscribe -np 3 "$build/vtrun" --logfile-name job.stf -- ./uneven
	step "its report" "$build/vtreport" job.stf
	step "its first screen" grep -q -E 'Rank 1 has the most work|The processor was shared' job.html
	look "the job in a browser" job.html job
	step "two runs" "$build/vtreport" --compare job.stf job.stf
	look "two runs in a browser" comparison.html compare
fi
bad='</script><script>alert(1)</script><img src=x onerror=alert(2)>\"&\x1b'
{
	printf \
		'C ASCII trace\nCLKPERIOD 1e-09\nEVENTBITS 0\nNCPUS 1 1 1 1 1 1 1 1\nDURATION 0 4000000000\nDEFCLASS '\
'1 "MPI" SELF "MPI" PARENT 0\n'
	printf 'DEFCLASS 2 "%s" SELF "x" PARENT 0\nDEFFUNCTION 1 "MPI_Send" CLASS 1\nDEFFUNCTION 2 "%s" CLASS 2\n' \
		"$bad" "$bad"
	printf \
		'DEFGROUP 2147483650 "All" NMEMBS 8 1 2 3 4 5 6 7 8\nDEFCOMM 1 "W" LEFT 0 FIRST 1 1 LAST 1 8 STRIDE 1 '\
'1\n'
	printf 'DEFCOUNTER 1 "%s" CLASS 2 CPU 2147483650 TYPE 67 DIFF 1 UNIT "%s" LOWER 0 UPPER 0\n' "$bad" "$bad"
	for cpu in 1 2 3 4 5 6 7 8; do
		printf 'DEFCPU %s HOST "%s" IP "" PID 1 TID 1 OFFSET 0 SKEW 1e-09\n' "$cpu" "$bad"
	done
	for second in 0 1 2 3; do
		for cpu in 1 2 3 4 5 6 7 8; do
			printf '%s000000000 ENTER CPU %s FUNCTION 2\n' "$second" "$cpu"
			printf '%s000000100 SAMP CPU %s DEF 1 UINT 8 %s\n' "$second" "$cpu" $((second * second * cpu))
		done
		printf '%s500000000 SENDMSG CPU 1 TO 2 COMM 1 TAG 1 LEN 2048 FUNCTION 1 PAIR '\
'%s\n' "$second" $((second + 1))
		printf '%s500000000 ENTER CPU 1 FUNCTION 1\n%s500000009 LEAVE CPU 1\n' "$second" "$second"
		printf '%s600000000 RECVMSG CPU 2 FROM 1 COMM 1 TAG 1 LEN 2048 FUNCTION 1 PAIR '\
'%s\n' "$second" $((second + 1))
		for cpu in 1 2 3 4 5 6 7 8; do
			printf '%s900000000 LEAVE CPU %s\n' "$second" "$cpu"
		done
	done
} >names.avt
step "hostile names" "$build/tests/cli/lib/text_stf" names.avt names.stf
step "report of hostile names" "$build/vtreport" names.stf
look "hostile names in a browser" names.html names
: >names.stf.c.0
"$build/vtreport" names.stf --force >/dev/null 2>&1 &&
	{ echo "FAILED: a damaged trace is reported with status 0"; exit 1; }
look "a damaged trace in a browser" names.html damaged

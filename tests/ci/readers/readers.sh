#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Conversions as programs from npm read them: DuckDB, hyparquet, and speedscope in Chromium. What is in the trace is
# stated by the
# Python module. BUILD: a build to take the programs of (default: one is made). SAMPLES: of each of three counters
# (default 300000).
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/lib.sh"
need node npm python3
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
cd "$work" || exit 99
npm install --prefix . --no-audit --no-fund --ignore-scripts @duckdb/node-api hyparquet@1 hyparquet-compressors@1 \
	speedscope \
	puppeteer-core@25 >npm.log 2>&1 || {
	echo "npm could not install the readers: $(tail -n 1 npm.log)"
	exit 77
}
cp "$top/tests/ci/readers/readers.mjs" .
build=${BUILD:-}
if [ -z "$build" ]; then
	configured "readers"
	step "readers: make" make -j"$jobs" all tests/cli/lib/make_stf tests/cli/lib/text_stf
	build=$work/build
	cd "$work" || exit 99
fi
samples=${SAMPLES:-300000}
for p in /usr/bin/python3 python3; do
	"$p" -c 'import numpy' 2>/dev/null && python=$p
done
[ -n "${python:-}" ] || { echo "SKIPPED: no python3 with numpy"; exit 77; }
compare() { TICKMARK_STF_LIBRARY=$build/.libs/libtickmark-stf.so PYTHONPATH=$build/python "$python" \
	-B "$top/tests/ci/readers/readers.py" "$@"; }

step "a trace" "$build/tests/cli/lib/make_stf" noisy t.stf "$samples"
step "as Parquet" "$build/stftool" t.stf --convert t.parquet
size=$(($(wc -c <t.parquet) * 100 / (samples * 3)))
echo "Parquet: $size hundredths of a byte per sample"
step "at most 6 bytes per sample" test "$size" -le 600
step "DuckDB: number, sum to the last bit, first and last time of each counter" compare t.stf node readers.mjs duckdb \
	t.parquet
if [ "$samples" -le 1000000 ]; then
	step "hyparquet: the same" compare t.stf node readers.mjs hyparquet t.parquet
fi
python3 -B "$top/tests/cli/exchange/four_ranks.py" >four.avt
step "a trace of four ranks" "$build/tests/cli/lib/text_stf" four.avt four.stf
step "as Parquet" "$build/stftool" four.stf --convert four.parquet
step "DuckDB: four ranks" compare four.stf node readers.mjs duckdb four.parquet
step "hyparquet: four ranks" compare four.stf node readers.mjs hyparquet four.parquet
step "the tables of events, alike by both" node readers.mjs events four.events.parquet
step "an archive of EZTrace" "$build/stftool" "$top/tests/golden/eztrace/eztrace_log.otf2" --convert ez.stf
step "as Parquet" "$build/stftool" ez.stf --convert ez.parquet
step "its tables of events, alike by both" node readers.mjs events ez.events.parquet
for p in /usr/bin/python3 python3; do
	"$p" -c 'import otf2' 2>/dev/null && "$p" -B "$top/tests/cli/exchange/outside_readers.py" make made && break
done
if [ -d made ]; then
	step "an archive with counters that OTF2's library wrote" "$build/stftool" made/traces.otf2 --convert made.stf
	step "as Parquet" "$build/stftool" made.stf --convert made.parquet
	step "DuckDB: its counters" compare made.stf node readers.mjs duckdb made.parquet
	step "hyparquet: its counters" compare made.stf node readers.mjs hyparquet made.parquet
fi
if command -v mpirun >/dev/null && command -v mpicc >/dev/null && [ -x "$build/vtrun" ]; then
	cp "$top/tests/ci/readers/questions.mjs" .
	step "an MPI program" mpicc -O1 -finstrument-functions "$top/tests/ci/readers/programs/uneven.c" -o uneven
	step "an uneven job" mpirun --oversubscribe -np 3 "$build/vtrun" --logfile-name job.stf -- ./uneven
	step "as Parquet" "$build/stftool" job.stf --convert job.parquet
	step "DuckDB: what exchange/sql answers is what stftool computes" node questions.mjs "$build/stftool" \
		"$top/exchange/sql" job
fi
# speedscope takes the suffix .chrome.json for another format
step "as Chrome's JSON" "$build/stftool" four.stf --convert four.json --logfile-format CHROME
if [ -n "$browser" ]; then
	"$build/stftool" four.stf --dump >four.txt
	step "speedscope: five threads, each function with its total and own time, no complaint" \
		compare --functions four.txt node readers.mjs speedscope "$browser" four.json
	step "an archive of EZTrace as Chrome's JSON" "$build/stftool" ez.stf --convert ez.json --logfile-format CHROME
	"$build/stftool" ez.stf --dump >ez.txt
	step "speedscope: its two threads, too" compare --functions ez.txt node readers.mjs speedscope "$browser" \
		ez.json
fi

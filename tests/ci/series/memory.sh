#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Conversions of a large trace with every kind of record, to each format and back from those that are read, work with
# 128 MB of
# memory of their own. Prints the size of the input, the most memory with the pages of mapped files (more than 16
# threads and groups of OTF2 wait in a file that is mapped), and the processor time.
# ROUNDS: of `make_stf mixed`, 2 KB each (default 1,100,000: 2.2 GB). BUILD: a build to take the
# programs of (default: one is made). FORMATS: suffixes (default: all).
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/lib.sh"
build=${BUILD:-}
if [ -z "$build" ]; then
	configured "memory"
	step "memory: make" make -j"$jobs" stftool tests/cli/lib/make_stf
	build=$work/build
fi
cd "$work" || exit 99
rounds=${ROUNDS:-1100000}
formats=${FORMATS:-$(awk -F '`' '/^\| [A-Z0-9]+ \| `\./ { print $2 }' "$top/doc/exchange.md") .stf .avt}
room=$(df -Pk . | awk 'END { print $4 }')
[ "$room" -gt $((rounds * 12)) ] || { echo "SKIPPED: less than $((rounds * 12 / 1048576)) GB are free in $work"
exit 77; }
step "cpu_seconds" "${CC:-cc}" -O1 "$top/tests/bench/lib/cpu_seconds.c" -o cpu_seconds
# measure LABEL NAME COMMAND...: NAME* is what is converted
measure()
{
	label=$1
	size=$(find . -maxdepth 1 -name "$2*" -exec du -scb {} + | awk 'END { printf "%.2f", $1 / 1e9 }')
	shift 2
	# shellcheck disable=SC3045
	(ulimit -d 131072 && exec ./cpu_seconds "$@") >measured 2>err ||
		{ cat err; echo "FAILED: $label with 128 MB: $*"; exit 1; }
	read -r cpu _ peak <measured
	echo "$label: $size GB, $((peak / 1024)) MB, $cpu s"
}

step "a trace" "$build/tests/cli/lib/make_stf" mixed t.stf "$rounds"
for f in $formats; do
	case $f in
	.jsonl) measure "to $f" t.stf "$build/stftool" t.stf --convert - --logfile-format JSONL ;; # 23 GB
	.chrome.json) measure "to $f" t.stf "$build/stftool" t.stf --convert - --logfile-format CHROME ;; # 13 GB
	*) measure "to $f" t.stf "$build/stftool" t.stf --convert "x$f" ;;
	esac
	case $f in
	.csv | .otf2 | .otf | .lttng) measure "from $f" x "$build/stftool" "x$f" --convert back.stf ;;
	esac
	rm -rf x x.* back.*
	if [ "$f" = .csv ]; then
		measure "to .csv, wide" t.stf "$build/stftool" t.stf --convert x.csv --layout wide
		measure "from .csv, wide" x "$build/stftool" x.csv --convert back.stf
		rm -rf x.* back.*
	fi
done

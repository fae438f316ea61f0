#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Damaged traces through every action of stftool (stfmutants.py); a seeded few, tests/ci/series/mutants.sh has the rest.
# TAP.
# shellcheck disable=SC1091,SC2154
. "${top_srcdir:-.}/tests/cli/lib/toollib.sh"

if ! command -v "${PYTHON3:-python3}" >/dev/null 2>&1; then
	skip "damaged traces" "no python3"
elif ! { tool "$rich" --verify && grep -q '7 of them with a good checksum' "$dir/err"; }; then
	skip "damaged traces" "this build has no xxhash"
else
	expect "${PYTHON3:-python3}" "$src/tests/cli/stftool/stfmutants.py" "$build" 96 20261122 >"$dir/out" 2>&1
	expect_line '^96 mutants, 0 violations$' "$dir/out"
	verdict "96 damaged traces: nothing that was not written, nothing missing, with status 0"
fi
done_testing

# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# For the scripts of the folders beside it: lines as tests/bench/lib/bench.h prints them, and a folder that goes at the end.
set -u
build=$(cd "${1:?usage: $0 BUILD-DIRECTORY}" && pwd) || exit 1
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export build OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

figure() # figure NAME UNIT [FILE [COLUMN]]: median, minimum, maximum of the numbers in $dir/FILE, or $dir/NAME
{
	cut -d' ' -f"${4:-1}" "$dir/${3:-$1}" | sort -g | awk -v name="$1" -v unit="$2" '
		{ v[NR] = $1 }
		END { m = NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2
		      printf "%s\t%.4g\t%s\t%.4g\t%.4g\t%d\n", name, m, unit, v[1], v[NR], NR }'
}

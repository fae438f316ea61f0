# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# For the scripts of the folders beside it: lines as tests/bench/lib/bench.h prints them, and a folder that goes at the
# end.
set -u
build=$(cd "${1:?usage: $0 BUILD-DIRECTORY}" && pwd) || exit 1
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export build OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

# shellcheck disable=SC2034
why='' missing=0

# limited COMMAND...: for at most BENCH_LIMIT seconds, 300 if it is unset; $why says what went wrong
limited()
{
	timeout -k 10 "${BENCH_LIMIT:-300}" "$@"
	rc=$?
	case $rc in
	0) return 0 ;;
	124 | 137) why="$* did not end in ${BENCH_LIMIT:-300} s" ;;
	*) why="$* ended with status $rc" ;;
	esac
	return $rc
}

mpirun()
{
	limited mpirun "$@"
}

not_measured() # not_measured NAME: a row that says so, with the reason: what was launched in vain
{
	missing=1
	printf '%s\tnot measured\t%s\n' "$1" "${why:-there is no value}"
}

figure() # figure NAME UNIT [FILE [COLUMN]]: median, minimum, maximum of the numbers in $dir/FILE, or $dir/NAME;
# or that there are none
{
	[ -s "$dir/${3:-$1}" ] || { not_measured "$1"; return; }
	cut -d' ' -f"${4:-1}" "$dir/${3:-$1}" | sort -g | awk -v name="$1" -v unit="$2" '
		{ v[NR] = $1 }
		END { m = NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2
		      printf "%s\t%.4g\t%s\t%.4g\t%.4g\t%d\n", name, m, unit, v[1], v[NR], NR }'
}

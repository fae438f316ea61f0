#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The layers of tests/layers, enforced; and a tree with every kind of violation, to see that the
# check can fail.
# shellcheck source=lib/tap.sh source-path=SCRIPTDIR
. "$(dirname "$0")/lib/tap.sh"
here=$(cd "$(dirname "$0")" && pwd)
top=$(dirname "$here")
fixture=$dir/tree

# check_tree DIR TABLE [OPTION]: one line per violation
check_tree()
{
	tree=$1
	table=$2
	option=${3:-whole=}
	set -- "$tree"/[a-z]*/
	for folder; do
		# a build folder, whatever its name, and what bootstrap leaves are no sources
		case ${folder%/} in
		"$tree"/autom4te.cache | "$tree"/timertest-here | "$tree"/install) ;;
		*) [ -e "$folder/config.status" ] || find "$folder" -name '*.[ch]' -o -name '*.def' ;;
		esac
	done | sort | {
		set --
		while IFS= read -r file; do
			set -- "$@" "$file"
		done
		awk -v top="$tree" -v "$option" -f "$here/layers.awk" "$table" "$@"
	}
}

put() # put FILE LINE...
{
	mkdir -p "$fixture/$(dirname "$1")"
	file=$fixture/$1
	shift
	printf '%s\n' "$@" >"$file"
}

# caught NAME FILE TEXT: the fixture's report has a line about FILE that contains TEXT
caught()
{
	case $(printf '%s\n' "$report" | grep -F " $2:") in
	*"$3"*) result "caught: $1" "" ;;
	*) result "caught: $1" "not reported: $2: $3
$report" ;;
	esac
}

self_test()
{
	put base/a.h 'int a;'
	put timers/t.h '#include "base/a.h"'
	put include/stf.h '#include "records.def"'
	put include/records.def 'int r;'
	put stf/read/inner.h 'int inner;'
	put timers/sources/tmr_mpi_wtime.c '#include "config.h"' '#include "timers/t.h"' '#include <mpi.h>' \
		'int f(int r) { return tkm_root_openat(r, "/proc/stat") + is_open(r, "/proc"); }'
	put calib/timertest/timertest.c '#include "include/stf.h"' '#include "timers/t.h"' \
		'/* open("/proc/x") would be wrong */' 'int g(void) { return open("/dev/ptp0", 0); }'
	put tools/x.c '#include "include/stf.h"'
	put tests/unit/test_x.c '#include "stf/read/inner.h"'
	put collector-plugin/host/h.h 'int h;'
	put collector-plugin/sample/x.c '#include "collector-plugin/host/h.h"' \
		'#include "collector-plugin/core/collector.h"' \
		'#include "include/VT.h"'
	put collector-plugin/core/collector.h 'int c;'
	put include/VT.h 'int v;'
	put plots/lines.gnuplot 'plot x'
	put report/pictures/plot.c '#include "plots/lines_gnuplot.h"'
	put any/config.status ''
	put any/odd/x.c '#include "nowhere.h"'
	put install/include/x.h '#include "nowhere.h"'
	result "a tree without violations is quiet" "$(check_tree "$fixture" "$here/layers")"

	put base/up.c '#include "timers/t.h"'
	put stf/read/side.c '#  include "timers/t.h"'
	put tools/deep.c '#include "stf/read/inner.h"'
	put timers/short.c '#include "t.h"'
	put timers/angle.c '#include <base/a.h>'
	put timers/gone.c '#include "base/gone.h"'
	put timers/tests.c '#include "tests/unit/test_x.c"'
	put calib/map/filter.c '#include "include/stf.h"'
	put calib/map/fit.c '#include <mpi.h>'
	put calib/map/map.h '#include "config.h"'
	put calib/map/proc.c 'FILE *f(void)' '{' '	return fopen(' '		"/proc/stat", "r");' '}'
	put timers/sys.c 'int fd = openat(root, "/sys/devices", O_RDONLY);'
	put extra/e.c 'int e;'
	put collector-plugin/sample/x.h 'int x;'
	put collector-plugin/host/up.c '#include "collector-plugin/sample/x.h"'
	put collector-plugin/mpi/inside.c '#include "collector-plugin/core/collector.h"'
	put report/pictures/nothing.c '#include "plots/points_gnuplot.h"'
	report=$(check_tree "$fixture" "$here/layers")
	caught "a lower layer includes a higher one" base/up.c 'base may not include "timers/t.h"'
	caught "a layer includes its neighbour" stf/read/side.c 'stf/read may not include "timers/t.h"'
	caught "a folder that is not allowed" tools/deep.c 'tools may not include "stf/read/inner.h"'
	caught "an include that is not written from the top" timers/short.c 'not written from the top'
	caught "an own header in angle brackets" timers/angle.c 'own header in angle brackets'
	caught "a header that does not exist" timers/gone.c 'does not exist'
	caught "the tests are included" timers/tests.c 'timers may not include'
	caught "a library file takes a program's liberty" calib/map/filter.c 'calib/map may not include "include/stf.h"'
	caught "mpi.h elsewhere" calib/map/fit.c '<mpi.h> is reserved'
	caught "config.h in a header" calib/map/map.h 'config.h belongs into .c files'
	caught "fopen of /proc over two lines" calib/map/proc.c 'opens an absolute'
	caught "openat of /sys" timers/sys.c 'opens an absolute'
	caught "a folder within a folder includes a higher one" collector-plugin/host/up.c \
		'collector-plugin/host may not include'
	caught "what only those may include that run a collector" collector-plugin/mpi/inside.c \
		'is reserved to a few files'
	caught "a header that make can make of nothing" report/pictures/nothing.c 'does not exist'
	caught "a folder that the table does not know" extra/e.c 'folder extra is missing'
	extra=
	[ "$(printf '%s\n' "$report" | wc -l)" -eq 16 ] || extra=$report
	result "nothing else is reported" "$extra"

	printf '%s\n' 'base:' 'include:' 'stf: base' 'tools: include stf/read/inner.h' \
		'"stf/read/inner.h" only tools/y.c' >"$fixture/layers"
	report=$(awk -v whole=1 -v top="$fixture" -f "$here/layers.awk" "$fixture/layers" "$fixture/tools/x.c")
	caught "a single header in place of a folder" layers 'stf/read/inner.h is no folder'
	caught "a reservation that nothing uses" layers 'nothing uses stf/read/inner.h only tools/y.c'
	extra=
	[ "$(printf '%s\n' "$report" | wc -l)" -eq 2 ] || extra=$report
	result "nothing else is reported there" "$extra"

	printf 'base: timers\ntimers: base\n' >"$fixture/layers"
	report=$(awk -v top="$fixture" -f "$here/layers.awk" "$fixture/layers")
	result "caught: a table that points upwards" \
		"$([ "$report" = "base: layers:1: timers is no layer below base" ] || echo "$report")"
}

report=$(check_tree "$top" "$top/tests/layers" whole=1)
# shellcheck disable=SC2013
for folder in $(sed -n 's/^\([A-Za-z./-]*\):.*/\1/p' "$top/tests/layers"); do
	result "$folder includes only what tests/layers allows" \
		"$(printf '%s\n' "$report" | grep "^$folder: ")"
done
result "every folder with code is in tests/layers" \
	"$(printf '%s\n' "$report" | grep 'missing in tests/layers')"
self_test
done_testing

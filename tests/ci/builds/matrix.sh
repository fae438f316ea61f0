#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# matrix.sh [SUITE:MPI:LIBRARIES]...: builds and checks this tree in each cell, and prints a table at the end.
# SUITE: bookworm, trixie, sid; MPI: openmpi, mpich; LIBRARIES: all, none (of those that configure can do without).
# No argument: all twelve. Each suite is a folder below MATRIX_ROOTS (/var/tmp) that is made once, with packages of the
# mirror that apt has here, by quickstart itself. MATRIX_TESTS: only these tests. MATRIX_LOGS: a folder that keeps what
# each cell printed. Needs root and mmdebstrap.
# .ci/run is the cell bookworm:openmpi:all.
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/lib.sh"
need mmdebstrap unshare git
[ "$(id -u)" -eq 0 ] || { echo "SKIPPED: a folder becomes a root only for root"; exit 77; }
roots=${MATRIX_ROOTS:-/var/tmp}
logs=${MATRIX_LOGS:-$work/logs}
mkdir -p "$logs"
all=$(for s in bookworm trixie sid; do
	echo "$s:openmpi:all $s:openmpi:none $s:mpich:all $s:mpich:none"
done)
cells=${*:-$all}

make_root() # make_root SUITE
{
	root=$roots/tickmark-$1
	[ ! -d "$root/etc" ] || return 0
	mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep '/debian/*$' | head -n 1)
	step "$1: a root from ${mirror:-the default mirror}" mmdebstrap --variant=minbase \
		--aptopt='Acquire::Check-Valid-Until "false"' --aptopt='Apt::Install-Recommends "false"' \
		--include=git,ca-certificates,mpich,libmpich-dev "$1" "$root" ${mirror:+"$mirror"}
}

# inside SUITE COMMAND ARGUMENT...: in the root, with namespaces of processes and mounts, so that nothing stays;
# pivot_root, since nsenter and unshare need a true root
inside()
{
	root=$roots/tickmark-$1
	shift
	# shellcheck disable=SC2016
	unshare --mount --propagation private --pid --fork --kill-child sh -ec '
		root=$1
		shift
		mount --bind "$root" "$root"
		mount -t proc proc "$root/proc"
		mount --rbind /sys "$root/sys"
		mount --rbind /dev "$root/dev"
		mkdir -p "$root/.old"
		cd "$root"
		pivot_root . .old
		umount -l /.old
		cd /src
		exec env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"' sh "$root" "$@"
}

# cell SUITE MPI LIBRARIES: in the root; the last line counts
# shellcheck disable=SC2016
cell='
	set -e
	mpi=$1 libraries=$2 jobs=$3 tests=$4
	if [ "$libraries" = all ]; then
		./quickstart build
		MAKEFLAGS=n ./quickstart check >/dev/null # the packages of the tests
		without=
	else
		./quickstart build
		without="--without-papi --without-hwloc --without-gsl --without-otf2 --without-otf --without-zstd
			--without-libdw --without-zlib --without-sqlite --without-ncurses --without-xxhash
			--without-jansson"
	fi
	rm -rf "b.$mpi.$libraries"
	mkdir "b.$mpi.$libraries"
	cd "b.$mpi.$libraries"
	../configure -q --enable-werror $without MPICC="mpicc.$mpi" MPIRUN="mpirun.$mpi"
	make -s -j"$jobs"
	make -s -j"$jobs" check TESTS=
	make -s check ${tests:+TESTS="$tests"} || :'

for c in $cells; do
	suite=${c%%:*} mpi=${c#*:} libraries=${c##*:}
	mpi=${mpi%:*}
	case $suite:$mpi:$libraries in
	[a-z]*:openmpi:all | [a-z]*:openmpi:none | [a-z]*:mpich:all | [a-z]*:mpich:none) ;;
	*)
		echo "matrix.sh: $c is no SUITE:MPI:LIBRARIES" >&2
		exit 2
		;;
	esac
	make_root "$suite"
	rm -rf "$roots/tickmark-$suite/src"
	step "$c: a clone of this tree" git clone -q "$top" "$roots/tickmark-$suite/src"
	echo "$c: build and check"
	inside "$suite" sh -c "$cell" sh "$mpi" "$libraries" "$jobs" "${MATRIX_TESTS:-}" >"$logs/$c" 2>&1 </dev/null
	echo "built=$?" >>"$logs/$c"
	find "$roots/tickmark-$suite/src/b.$mpi.$libraries" -name '*.trs' -exec grep -H '^:test-result: ' {} + \
		>"$logs/$c.results" 2>/dev/null
done

bad=0
printf '\n| cell | build | passed | failed | skipped | what failed |\n| --- | --- | --- | --- | --- | --- |\n'
for c in $cells; do
	awk -v cell="$c" -v built="$(sed -n 's/^built=//p' "$logs/$c")" '
	/: (PASS|XFAIL)/ { pass++ }
	/: SKIP/ { skip++ }
	/: (FAIL|XPASS|ERROR)/ {
		fail++
		name = $0
		sub(/\.trs:.*/, "", name)
		sub(/.*\/tests\//, "", name)
		if (!(name in seen)) { names = names " " name }
		seen[name] = 1
	}
	END {
		printf "| %s | %s | %d | %d | %d |%s |\n", cell, built == 0 ? "ok" : "failed", pass, fail, skip, names
		exit fail || built || !pass
	}' "$logs/$c.results" || bad=1
done
exit $bad

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# matrix.sh [SUITE:MPI:LIBRARIES]...: builds and checks this tree in each cell, and prints a table at the end.
# SUITE: bookworm, trixie, sid; MPI: openmpi, mpich; LIBRARIES: all, none (of those that configure can do without).
# No argument: all twelve. Each suite is a folder below MATRIX_ROOTS (/var/tmp) that is made once, with packages of the
# mirror that apt has here, by quickstart itself. A cell fails, too, if a test has no result, or a check is skipped that
# ran in this root before; the reasons of all skips follow the table. MATRIX_TESTS: only these tests. MATRIX_LOGS: a
# folder that keeps what each cell printed. Needs root and mmdebstrap.
# .ci/run is the cell bookworm:openmpi:all.
# shellcheck source=lib/lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/lib/lib.sh"
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

# cell LABEL MPI LIBRARIES JOBS TESTS WITHOUT: in the root; leaves what lib/results.sh says
# shellcheck disable=SC2016
cell='
	set -e
	label=$1 mpi=$2 libraries=$3 jobs=$4 tests=$5 without=$6
	./quickstart build
	MAKEFLAGS=n ./quickstart check >/dev/null # the packages of the tests
	rm -rf "b.$mpi.$libraries"
	mkdir "b.$mpi.$libraries"
	cd "b.$mpi.$libraries"
	[ "$libraries" = none ] || without=
	../configure -q --enable-werror $without MPICC="mpicc.$mpi" MPIRUN="mpirun.$mpi"
	make -s -j"$jobs"
	make -s -j"$jobs" check TESTS=
	mkdir -p /var/lib/tickmark-ran
	checked=0
	SKIPS_RAN=/var/lib/tickmark-ran/$mpi.$libraries make -s check ${tests:+TESTS="$tests"} || checked=$?
	sh ../tests/ci/lib/results.sh "$label" ${tests:+TESTS="$tests"} >results || checked=1
	exit $checked'

bad=0
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
	inside "$suite" sh -c "$cell" sh "$c" "$mpi" "$libraries" "$jobs" "${MATRIX_TESTS:-}" "$(without)" \
		>"$logs/$c" 2>&1 </dev/null || bad=1
	cp "$roots/tickmark-$suite/src/b.$mpi.$libraries/results" "$logs/$c.results" 2>/dev/null ||
		echo "| $c | not built | 0 | 0 | 0 | |" >"$logs/$c.results"
done

printf '\n| cell | tests with a result | passed | failed | skipped | what failed |\n'
echo '| --- | --- | --- | --- | --- | --- |'
for c in $cells; do
	head -n 1 "$logs/$c.results"
done
for c in $cells; do
	printf '\n%s: ' "$c"
	tail -n +2 "$logs/$c.results"
done
exit $bad

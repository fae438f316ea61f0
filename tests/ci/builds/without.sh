#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Builds and passes the rest without the optional libraries: without MPI, without all others, and
# without any. And MPICC is taken, or refused, where it is a name and no path; the libraries are taken from the folders
# that --with-NAME=DIR names.
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/lib.sh"
others=$(without | tr '\n' ' ')
for set in --without-mpi "$others" "--without-mpi $others"; do
	# shellcheck disable=SC2086
	configured "$set" --enable-werror $set
	step "$set: make" make -j"$jobs"
	step "$set: make check" make check VERBOSE=1
done

if command -v mpicc >/dev/null; then
	mkdir "$work/names" && ln -s "$(command -v mpicc)" "$work/names/mpicc.named" && ln -s "$(command -v mpirun)" \
		"$work/names/mpirun.named"
	PATH=$work/names:$PATH
	configured "MPICC is a name" MPICC=mpicc.named
	step "MPICC is a name: it is taken" grep -qx "MPICC = $work/names/mpicc.named" Makefile
	step "MPICC is a name: its launcher, too" grep -qx "MPIRUN = $work/names/mpirun.named" Makefile
	# shellcheck disable=SC2016
	step "MPICC is no program: refused by name" \
		sh \
		-c \
		'! "$1/configure" -q MPICC=mpicc.none 2>said && grep -q "MPICC=mpicc.none was given, but there is no '\
'such program" said' - "$top"
fi

mkdir "$work/place" && ln -s /usr/include "$work/place/include" &&
	ln -s "/usr/lib/$(gcc -print-multiarch)" "$work/place/lib"
# not otf2: Debian gives its library another name
names="hwloc gsl zstd zlib sqlite ncurses xxhash microhttpd zmq jansson"
with=
for name in $names; do
	with="$with --with-$name=$work/place"
done
# shellcheck disable=SC2086
configured "each library in a folder" --without-mpi $with
for name in $names; do
	step "each library in a folder: $name" \
		grep -q "^$(echo "$name" | tr a-z A-Z)_LIBS = -L$work/place/lib -l[a-z0-9]" Makefile
done

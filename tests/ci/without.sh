#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Builds and passes the rest without the optional libraries: without MPI, without all others, and
# without any.
# shellcheck source=lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
others="--without-hwloc --without-gsl --without-jansson --without-papi --without-otf2 --without-otf --without-zlib"
for set in --without-mpi "$others" "--without-mpi $others"; do
	# shellcheck disable=SC2086
	configured "$set" --enable-werror $set
	step "$set: make" make -j"$jobs"
	step "$set: make check" make check VERBOSE=1
done

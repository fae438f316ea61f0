#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC1091
. ./setup.sh
set -e
mpicc -g -o ring ring.c
# shellcheck disable=SC2046
${CC:-cc} -o regions regions.c $(pkg-config --cflags --libs VTcs)

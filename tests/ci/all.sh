#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every script of the folders beside it, one after another (make check-long). A script is skipped, with its reason,
# if a tool that it needs is missing.
here=$(cd "$(dirname "$0")" && pwd)
failed=
skipped=
for script in series/preload series/endings pages/contrib series/mutants series/random_conditions series/cores \
	series/hosts series/coarse builds/compilers builds/locales builds/sanitizers builds/threads \
	series/inside series/vt series/messages series/trees series/jobs series/who builds/valgrind \
	series/faults builds/without readers/sar machine/gpu machine/pmu machine/machine machine/steered \
	readers/report series/memory readers/readers readers/readers_debian pages/readme builds/install \
	builds/package builds/distcheck builds/abi matrix; do
	echo "== $script.sh"
	sh "$here/$script.sh"
	case $? in
	0) ;;
	77) skipped="$skipped $script" ;;
	*) failed="$failed $script" ;;
	esac
done
echo "failed:${failed:- none}; skipped:${skipped:- none}"
[ -z "$failed" ]

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every script beside it, one after another (make check-long). A script is skipped, with its reason,
# if a tool that it needs is missing.
here=$(cd "$(dirname "$0")" && pwd)
failed=
skipped=
for script in preload endings contrib mutants random_conditions cores hosts coarse compilers locales sanitizers threads inside vt messages trees jobs valgrind faults without sar pmu machine steered report memory readers readers_debian readme install package distcheck; do
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

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The commands of README.md and doc/tutorial.md, one by one, in empty folders, after ./quickstart build in a copy of the tree and the
# line that it prints. PREFIX=DIR: what is installed there instead.
# shellcheck source=lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
need python3 mpirun mpicc gnuplot gzip

fails()
{
	! "$@"
}

# the test of the test
printf '    $ echo a\n    b\n' >"$work/wrong.md"
printf '    $ false\n' >"$work/failing.md"
printf '    $ echo a 1.5 ms\n    a 20us\n\n    $ echo x; echo y; echo z\n    ...\n    z\n' >"$work/right.md"
step "output that differs is found" fails python3 "$top/tests/ci/readme.py" "$work/wrong.md"
step "a command that fails is found" fails python3 "$top/tests/ci/readme.py" "$work/failing.md"
step "numbers may differ" python3 "$top/tests/ci/readme.py" "$work/right.md"

if [ -n "${PREFIX:-}" ]; then
	PATH=$PREFIX/bin:$PATH MANPATH=$PREFIX/share/man:
	export PATH MANPATH
else
	mkdir "$work/tree"
	(cd "$top" && tar -cf - --exclude='./build*' --exclude=./install --exclude=./.git --exclude=./timertest-here .) | (cd "$work/tree" && tar -xf -)
	step "./quickstart build" "$work/tree/quickstart" build --no-install
	# shellcheck source=/dev/null
	. "$work/tree/env.sh"
fi
if command -v man >/dev/null; then
	for page in timertest vtrun stftool vtreport vtcounters clkapply calibsim "5 tickmark-clk" "3 VT" "3 tickmark-stf" "3 tickmark-clock" "7 tickmark"; do
		# shellcheck disable=SC2086
		step "man $page" man -w $page
	done
fi

# what quickstart does, too: as root, and with more ranks than cores
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe
XDG_STATE_HOME=$work/state
export XDG_STATE_HOME
for page in README.md doc/tutorial.md; do
	mkdir "$work/first"
	(cd "$work/first" && python3 "$top/tests/ci/readme.py" "$top/$page") || exit 1
	rm -rf "$work/first"
done

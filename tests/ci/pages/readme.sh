#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The commands of README.md and doc/tutorial.md, one by one, in empty folders, after ./quickstart in a copy of the tree
# and the line that it prints; at the end the installation is removed. PREFIX=DIR: what is installed there instead.
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/lib.sh"
need python3 mpirun mpicc gnuplot gzip

fails()
{
	! "$@"
}

# the test of the test
printf '    $ echo a\n    b\n' >"$work/wrong.md"
printf '    $ false\n' >"$work/failing.md"
printf '    $ echo a 1.5 ms\n    a 20us\n\n    $ echo x; echo y; echo z\n    ...\n    z\n' >"$work/right.md"
step "output that differs is found" fails python3 "$top/tests/ci/pages/readme.py" "$work/wrong.md"
step "a command that fails is found" fails python3 "$top/tests/ci/pages/readme.py" "$work/failing.md"
step "numbers may differ" python3 "$top/tests/ci/pages/readme.py" "$work/right.md"

if [ -n "${PREFIX:-}" ]; then
	PATH=$PREFIX/bin:$PATH MANPATH=$PREFIX/share/man:
	export PATH MANPATH
else
	# as after a clone, in a folder whose name has a blank
	tree="$work/first try"
	mkdir "$tree"
	(cd "$top" && tar -cf - --exclude='./build*' --exclude=./configure --exclude=./Makefile.in --exclude=./install \
		--exclude=./env.sh \
		--exclude=./.git --exclude=./timertest-here .) | (cd "$tree" && tar -xf -)
	XDG_DATA_HOME=$work/share
	export XDG_DATA_HOME
	step "./quickstart" "$tree/quickstart" --no-install
	line=$(sed -n 's/^to use the programs and their manuals in this shell:   //p' "$work/log")
	step "a verdict" grep -q "^verdict: " "$tree/timertest-here/timertest.txt"
	step "pictures" test -s "$tree"/timertest-here/timertest.run.png
	eval "$line"
fi
if command -v man >/dev/null; then
	for page in timertest timertestcs vtrun stftool xstftool vtreport vttop vtcounters clkapply otf2-to-stf \
		"8 tickmark-clockd" "5 tickmark-clk" "5 vtsource" \
		"3 VT" "3 VT_enter" "3 VT_CONFIG" "3 tickmark-stf" "3 tickmark-clock" "7 tickmark"; do
		# shellcheck disable=SC2086
		step "man $page" man -w $page
	done
fi

# what quickstart does, too: as root, and with more ranks than cores
. "$top/tests/lib/launcher.sh"
XDG_STATE_HOME=$work/state
export XDG_STATE_HOME
for page in README.md doc/tutorial.md; do
	mkdir "$work/an empty folder"
	(cd "$work/an empty folder" && python3 "$top/tests/ci/pages/readme.py" "$top/$page") || exit 1
	rm -rf "$work/an empty folder"
done
if [ -z "${PREFIX:-}" ]; then
	step "make uninstall" make -C "$tree/build" uninstall
	left=$(find "$work/share/tickmark" ! -type d)
	[ -z "$left" ] || { echo "FAILED: make uninstall leaves $left"; exit 1; }
fi

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Two thousand damaged traces through every action of stftool: no record that was not written, none missing without a
# word, with status 0; and more flipped bits than in stfdamage.sh of `make check`. The seed is that of the day, and
# printed. With top_builddir it takes the programs of that build, else it makes some. SEED and NUMBER may be given.
given=${top_builddir:-}
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/lib.sh"
need python3
if [ -n "$given" ]; then
	built=$given
else
	configured "mutants"
	step "mutants: make" make -j"$jobs" stftool tests/cli/lib/make_stf tests/cli/lib/text_stf
	built=$PWD
fi
seed=${SEED:-$(date +%Y%m%d)}
echo "seed $seed"
python3 "$top/tests/cli/stftool/stfmutants.py" "$built" "${NUMBER:-2000}" "$seed" &&
	FLIPS=12 top_srcdir=$top top_builddir=$built sh "$top/tests/cli/stftool/stfdamage.sh"

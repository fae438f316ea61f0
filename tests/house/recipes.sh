#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The recipes of packages have the version of configure.ac and name every library that it looks for. TAP.
# shellcheck source=../lib/tap.sh source-path=SCRIPTDIR
. "${top_srcdir:-$(dirname "$0")/../..}/tests/lib/tap.sh"
command -v "${PYTHON3:-python3}" >/dev/null 2>&1 || skip_all "no python3"

recipes()
{
	"${PYTHON3:-python3}" "$src/tests/house/recipes.py" "$1" 2>&1
}

result "Debian, RPM, Spack, EasyBuild and Guix: one version, all libraries" "$(recipes "$src")"

mkdir -p "$dir/tree"
(cd "$src" && cp -r --parents configure.ac NEWS debian contrib/recipes include/stf.h stf/*.pc.in "$dir/tree")
chmod -R u+w "$dir/tree"
sed -i 's/sqlite-devel, //' "$dir/tree/contrib/recipes/tickmark.spec"
sed -i 's/depends_on("libzmq")/pass/' "$dir/tree/contrib/recipes/package.py"
sed -i "s/('zlib', '1.2.12'), //; s/version = '0.*'/version = '9'/" "$dir/tree/contrib/recipes/Tickmark.eb"
sed -i 's/(native-inputs/((native-inputs/' "$dir/tree/contrib/recipes/tickmark.scm"
sed -i 's/libdw-dev, //' "$dir/tree/debian/control"
sed -i 's/, libzstd-dev, \(..misc\)/, \1/' "$dir/tree/debian/control"
sed -i 's/STF_VERSION_MINOR .*/STF_VERSION_MINOR 77/' "$dir/tree/include/stf.h"
echo 'TM_WITH([unheard-of], [X], [y], [z])' >>"$dir/tree/configure.ac"
recipes "$dir/tree" >"$dir/out"
for line in 'rpm: sqlite-devel is missing' 'spack: libzmq is missing' 'easybuild: zlib is missing' \
	'easybuild: version 9,' \
	'guix: brackets do not match' 'debian: libdw-dev is missing' \
	'debian: tickmark-stf.pc.in requires libzstd, but libtickmark-dev does not depend on libzstd-dev' \
	'include/stf.h: version 0.77.0' 'configure.ac looks for unheard-of'; do
	expect_lines 1 "^$line" "$dir/out"
done
verdict "what is missing or differs is named"
done_testing

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The tarball builds, installs and passes installcheck where there are no Autotools; the Debian packages are built from
# it, pass lintian without an error, and what they hold starts.
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/lib.sh"
need xz
configured "package"
step "make dist-xz" make dist-xz
tar -xJf tickmark-*.tar.xz -C "$work" || exit 1
tree=$(find "$work" -mindepth 1 -maxdepth 1 -name 'tickmark-*' -type d)
mkdir "$work/no" && for tool in autoconf autoheader automake aclocal autoreconf autom4te libtoolize m4; do
	printf '#!/bin/sh\necho "%s was called" >&2\nexit 1\n' "$tool" >"$work/no/$tool"
done
chmod +x "$work/no"/*
mkdir "$work/plain" && cd "$work/plain" || exit 99
PATH_BEFORE=$PATH
PATH=$work/no:$PATH
step "configure the tarball without Autotools" "$tree/configure" -q --prefix="$work/prefix"
step "make" make -j"$jobs"
step "make install" make install
step "make installcheck" make installcheck
PATH=$PATH_BEFORE
cd "$tree" || exit 99
need dpkg-buildpackage dh lintian
DEB_BUILD_OPTIONS=parallel=$jobs
export DEB_BUILD_OPTIONS
step "dpkg-buildpackage" dpkg-buildpackage -b -us -uc -d
cd "$work" || exit 99
lintian=lintian
[ "$(id -u)" -ne 0 ] || lintian="lintian --allow-root"
# shellcheck disable=SC2086
step "lintian finds no error" $lintian --fail-on error ./*.changes
mkdir root && for package in ./*_*.deb; do
	dpkg-deb -x "$package" root || exit 1
done
for library in root/usr/lib/*/libtickmark-stf.so.0; do
	LD_LIBRARY_PATH=$work/${library%/*}
done
export LD_LIBRARY_PATH
for program in root/usr/bin/* root/usr/sbin/*; do
	step "${program##*/} of the package starts" "$program" --version
done

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The tarball is the same when it is made twice, builds, installs and passes installcheck where there are no Autotools,
# and E4S's scripts run with what was installed. Packages of Debian and RPM are built from it; lintian finds no error in
# those of Debian, what they hold starts, and their own test passes where they are installed over this machine's root.
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/lib.sh"
need xz
# shellcheck disable=SC2016
elsewhere='git clone -q "$1" "$2" && cd "$2" && ./bootstrap && ./configure -q && umask 077 && make dist-xz'
step "make dist-xz elsewhere, with other rights" sh -c "$elsewhere" sh "$top" "$work/clone"
configured "package"
step "make dist-xz" make dist-xz
if [ -z "$(git -C "$top" status --porcelain)" ]; then
	step "both tarballs are equal" cmp "$work/clone"/tickmark-*.tar.xz tickmark-*.tar.xz
fi
cp tickmark-*.tar.xz "$work"
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
cp -r "$tree/contrib/e4s" "$work/e4s" && cd "$work/e4s" || exit 99
# shellcheck disable=SC2016
e4s='set -e; ./compile.sh; ./run.sh; ./clean.sh; test ! -e ring.stf'
step "E4S's scripts" env PATH="$work/prefix/bin:$PATH" LD_LIBRARY_PATH="$work/prefix/lib" \
	PKG_CONFIG_PATH="$work/prefix/lib/pkgconfig" OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
	sh -c "$e4s"

if command -v rpmbuild >/dev/null; then
	mkdir "$work/rpm" && cp "$work"/tickmark-*.tar.xz "$work/rpm"
	step "rpmbuild" rpmbuild -ba --nodeps --define "_topdir $work/rpm" --define "_sourcedir $work/rpm" \
		"$tree/contrib/recipes/tickmark.spec"
	for package in "$work"/rpm/RPMS/*/*.rpm; do
		# shellcheck disable=SC2016
		step "${package##*/} has files" sh -c 'rpm -qlp "$1" | grep -q /usr/' sh "$package"
	done
else
	echo "SKIPPED a part: rpmbuild is not installed"
fi

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

unset LD_LIBRARY_PATH
# debian/tests/job, on top of this machine's root, which stays as it is
mkdir upper merged
# shellcheck disable=SC2016
installed='mount -t tmpfs none upper && mkdir upper/u upper/w &&
	mount -t overlay overlay -o lowerdir=/,upperdir=upper/u,workdir=upper/w merged &&
	mount --rbind /proc merged/proc && mount --rbind /dev merged/dev && mkdir merged/debs &&
	cp ./*.deb "$1/debian/tests/job" merged/debs &&
	chroot merged sh -c "dpkg -i /debs/*.deb && mkdir /debs/job.d && AUTOPKGTEST_TMP=/debs/job.d sh /debs/job"'
if [ "$(id -u)" -eq 0 ] && unshare --mount true 2>/dev/null; then
	step "the test of the installed packages" unshare --mount sh -c "$installed" sh "$tree"
else
	echo "SKIPPED a part: packages are installed by root only"
fi

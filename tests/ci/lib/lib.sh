# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# For the scripts of the folders beside it: builds of this tree in a temporary folder that is removed at the end.
# JOBS is the number of parallel compilations (default 2).
set -u
top=$(cd "$(dirname "$0")/../../.." && pwd)
# shellcheck disable=SC2034
jobs=${JOBS:-2}
unset MAKEFLAGS MFLAGS MAKELEVEL top_srcdir top_builddir
work=$(mktemp -d "${TMPDIR:-/tmp}/tickmark-ci.XXXXXX") || exit 99
# a check that ran on this machine and is skipped now is a failure (tests/skips.sh)
machine=$({ uname -nr && grep -m 1 'model name' /proc/cpuinfo; } | cksum | cut -d ' ' -f 1)
SKIPS_RAN=${SKIPS_RAN:-${XDG_STATE_HOME:-$HOME/.local/state}/tickmark-ci/ran-$machine-$(basename "$0" .sh)}
export SKIPS_RAN
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
trap 'exit 143' TERM INT HUP
[ -x "$top/configure" ] || "$top/bootstrap" >"$work/bootstrap.log" 2>&1 ||
	{
		cat "$work/bootstrap.log"
		exit 1
	}

# step LABEL COMMAND...: quiet unless it fails; then the end of its output, what looks like the cause,
# and the script's end
step()
{
	label=$1
	shift
	if "$@" >"$work/log" 2>&1 </dev/null; then
		echo "ok: $label"
	else
		status=$?
		tail -n 40 "$work/log"
		grep -aE '^(FAIL|ERROR|XPASS):|^not ok |error: |^make.* Error ' "$work/log" | head -n 20
		echo "FAILED ($status): $label: $*"
		exit 1
	fi
}

# configured LABEL OPTION...: a new build folder, which becomes the current one
configured()
{
	mkdir "$work/build" 2>/dev/null || { cd "$work" && rm -rf build && mkdir build; }
	cd "$work/build" || exit 99
	label=$1
	shift
	step "$label: configure $*" "$top/configure" -q "$@"
}

without() # --without-NAME for each library that configure can do without, but MPI
{
	sed -n 's/^TM_WITH(\[\([a-z0-9-]*\)\].*/--without-\1/p' "$top/configure.ac" | grep -v '^--without-mpi'
}

need()
{
	for tool; do
		command -v "$tool" >/dev/null || { echo "SKIPPED: $tool is not installed"; exit 77; }
	done
}

# for_machine: what is configured from here on is for the machine of MACHINE_CC
for_machine()
{
	root=$($MACHINE_CC -print-sysroot)
	host=$($MACHINE_CC -dumpmachine)
	PKG_CONFIG_LIBDIR=$root/usr/lib/$host/pkgconfig:$root/usr/lib/pkgconfig:$root/usr/share/pkgconfig
	PKG_CONFIG_SYSROOT_DIR=$root
	export PKG_CONFIG_LIBDIR PKG_CONFIG_SYSROOT_DIR
}

# inside SCRIPT: runs it in the machine, in the folder $work/there; what it prints is TAP
inside()
{
	cd "$work/there" || exit 99
	# shellcheck disable=SC2086
	$MACHINE_RUN sh "./$1" >"$work/tap" 2>"$work/err" </dev/null
	grep -E '^(not )?ok |^# |^1\.\.' "$work/tap"
	if ! grep -q '^1\.\.' "$work/tap" || grep -q '^not ok' "$work/tap"; then
		tail -n 40 "$work/tap" "$work/err"
		exit 1
	fi
}

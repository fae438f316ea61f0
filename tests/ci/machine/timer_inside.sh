#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# timer_inside.sh FOLDER FILE: for contrib.sh, in mount, process and control group namespaces of its own: a systemd of
# one user enables tickmark-check.timer, which must start the check without help, and then wait for ten minutes.
# Status 77: there is no such systemd here; the reason is printed.
set -u
folder=$1 file=$2
XDG_RUNTIME_DIR=$folder/run XDG_CONFIG_HOME=$folder/config HOME=$folder
export XDG_RUNTIME_DIR XDG_CONFIG_HOME HOME
unset DBUS_SESSION_BUS_ADDRESS
{
	mount --make-rprivate / && mount -t proc none /proc && umount -R /sys/fs/cgroup &&
		mount -t cgroup2 none /sys/fs/cgroup &&
		mount -t tmpfs none /run && mkdir -p /run/systemd/system && mkdir -m 700 "$XDG_RUNTIME_DIR"
} >"$folder/mount.log" 2>&1 || { echo "file systems cannot be mounted: $(tail -n 1 "$folder/mount.log")"; exit 77; }
/lib/systemd/systemd --user --log-target=console >"$folder/systemd.log" 2>&1 &
within() # within SECONDS COMMAND...
{
	tries=$(($1 * 5))
	shift
	until "$@" >/dev/null 2>&1; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || return 1
		sleep 0.2
	done
}
within 30 [ -S "$XDG_RUNTIME_DIR/systemd/private" ] || { echo "systemd --user does not start: \
$(tail -n 1 "$folder/systemd.log")"; exit 77; }
systemctl --user enable --now tickmark-check.timer
ran()
{
	[ "$(systemctl --user show -P ExecMainExitTimestampMonotonic tickmark-check.service)" -gt 0 ]
}
# two minutes after the start of the machine, or of this systemd where it takes the namespaces for a container
within 180 ran
[ -s "$file" ] && [ "$(systemctl --user show -P Result tickmark-check.service)" = success ]
status=$?
systemctl --user --no-pager status tickmark-check.timer tickmark-check.service
cat "$folder/systemd.log"
systemctl --user --output=json list-timers tickmark-check.timer | "${PYTHON3:-python3}" -c 'import json, sys
t = json.load(sys.stdin)[0]
print(t)
assert 599e6 < t["next"] - t["last"] < 602e6' || status=1
exit $status

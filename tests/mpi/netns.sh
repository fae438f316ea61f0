#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs an Open MPI command on two hosts made of namespaces, node0 and node1, whose CLOCK_MONOTONIC
# (also _RAW and CLOCK_BOOTTIME; not CLOCK_REALTIME, not the CPU's counter) differ by a known offset.
# Each host has its own network, host name, mounts, IPC and time; a veth pair joins them, and TCP
# over it is the only path. mpirun enters node1 with nsenter where it would use ssh. Processors,
# process ids and files are shared. Each host has one slot: rank 0 on node0, rank 1 on node1.
#
# usage: netns.sh [-o OFFSET] -- mpirun -np 2 PROGRAM [ARG]...
#   -o OFFSET   whole seconds that node1's clocks are ahead of node0's (default 1000)
#
# Exit status: that of the command; 77 with a reason when this machine does not permit it; 2 bad
# usage. Everything lives in one PID namespace and one folder, so nothing outlives the script.
set -u

skip()
{
	echo "netns.sh: $*" >&2
	exit 77
}

usage()
{
	sed -n 's/^# \(usage: .*\)/\1/p' "$0" >&2
	exit 2
}

# ---- on node0, as process 1 of the PID namespace -------------------------------------------------

on_node0()
{
	printf '127.0.0.1 localhost\n10.78.0.1 node0\n10.78.0.2 node1\n' >"$dir/hosts"
	printf 'node0 slots=1\nnode1 slots=1\n' >"$dir/hostfile"
	# node1 inherits both: names for the addresses, and a /dev/shm that goes away with the hosts
	{
		mount --bind "$dir/hosts" /etc/hosts && mount -t tmpfs tmpfs /dev/shm
	} || skip "mounts are not permitted here"
	# shellcheck disable=SC2016
	unshare --fork --net --uts --ipc --mount --time --monotonic "$offset" --boottime "$offset" \
		sh -c 'echo $$ >"$0.new" && mv "$0.new" "$0" && exec sleep infinity' "$dir/node1" &
	until [ -s "$dir/node1" ]; do
		kill -0 $! 2>/dev/null || skip "no second host: this kernel refused its namespaces"
		sleep 0.01
	done
	node1=$(cat "$dir/node1")
	enter="nsenter -t $node1 --net --uts --ipc --mount --time --root --"
	cat >"$dir/agent" <<-EOF
		#!/bin/sh
		# what mpirun calls instead of ssh: agent [-option]... node1 COMMAND
		while case \$1 in -*) true ;; *) false ;; esac; do shift; done
		shift
		exec $enter sh -c "\$*"
	EOF
	chmod +x "$dir/agent"
	echo node0 >/proc/sys/kernel/hostname
	# shellcheck disable=SC2086
	{
		$enter sh -c 'echo node1 >/proc/sys/kernel/hostname' &&
			ip link add eth0 type veth peer name eth0 netns "$node1" &&
			ip address add 10.78.0.1/30 dev eth0 && ip link set lo up && ip link set eth0 up &&
			$enter ip address add 10.78.0.2/30 dev eth0 &&
			$enter ip link set lo up && $enter ip link set eth0 up
	} || skip "the network between the hosts could not be set up"

	export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
	export OMPI_MCA_plm=rsh OMPI_MCA_plm_rsh_agent="$dir/agent"
	export OMPI_MCA_orte_default_hostfile="$dir/hostfile" OMPI_MCA_orte_tmpdir_base="$dir"
	export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader,tcp
	export OMPI_MCA_btl_tcp_if_include=eth0 OMPI_MCA_oob_tcp_if_include=eth0
	export OMPI_MCA_hwloc_base_binding_policy=none # each host would bind to the same first core
	[ "$(nproc)" -ge 2 ] || export OMPI_MCA_mpi_yield_when_idle=1
	"$@"
	exit $?
}

# ---- outside -------------------------------------------------------------------------------------

if [ "${1-}" = --on-node0 ]; then
	dir=$2 offset=$3
	shift 3
	on_node0 "$@"
fi
offset=1000
while getopts o: option; do
	case $option in
	o) offset=$OPTARG ;;
	*) usage ;;
	esac
done
shift $((OPTIND - 1))
case ${offset#-} in
'' | *[!0-9]*) usage ;;
esac
[ $# -gt 0 ] || usage
[ "$(id -u)" -eq 0 ] || skip "two hosts out of namespaces need root"
for tool in mpirun unshare nsenter setpriv flock ip; do
	command -v $tool >/dev/null || skip "$tool is not installed"
done
case $(mpirun --version 2>/dev/null) in
*'Open MPI'*) ;;
*) skip "mpirun is not Open MPI's" ;;
esac
why=$(unshare --fork --pid --mount-proc --net --uts --ipc --time --monotonic 1 true 2>&1) ||
	skip "namespaces are not permitted here: $why"

dir=$(mktemp -d "${TMPDIR:-/tmp}/netns.XXXXXX") || exit 99
trap 'rm -rf "$dir"' EXIT
exec 3<&0 # a background command would get /dev/null
# Everything on the hosts inherits this lock, so taking it again means that all of them are gone.
exec 9>"$dir/alive"
flock 9
setpriv --pdeathsig KILL unshare --fork --kill-child --pid --mount-proc --net --uts --ipc \
	sh "$0" --on-node0 "$dir" "$offset" "$@" <&3 3<&- &
child=$!
trap 'kill -KILL $child; wait $child 2>/dev/null; flock "$dir/alive" true; exit 143' TERM INT HUP
exec 9>&- 3<&-
wait $child
exit $?

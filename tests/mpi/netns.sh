#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs an MPI command, of Open MPI or of MPICH, on two hosts or more made of namespaces, node0, node1, ..., whose
# CLOCK_MONOTONIC (also _RAW and CLOCK_BOOTTIME; not CLOCK_REALTIME, not the CPU's counter) differ by a known offset.
# Each host has its own network, host name, mounts, IPC and time; a veth pair joins two, a bridge on
# node0 more, switch.c any number where a delay is asked for, and TCP over it is the only path. mpirun enters the others
# with nsenter where it would use ssh. Processors, process ids and files are shared. Each host has one slot: rank 0 on
# node0, rank 1 on node1, ...
#
# usage: netns.sh [-n HOSTS] [-o OFFSET] [-d DELAY[,JITTER[,ASYMMETRY]]] -- mpirun -np 2 PROGRAM [ARG]...
#   -n HOSTS    2 (default) to 16
#   -o OFFSET   whole seconds that each host's clocks are ahead of the one before it (default 1000)
# -d DELAY[,JITTER[,ASYMMETRY]] microseconds, each digits only: every frame comes DELAY later, and up to JITTER more,
# another each time, and from a host to one of a higher number always ASYMMETRY more
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

# a host in namespaces of its own, whose process is in $dir/nodeN
make_host()
{
	ahead=$(($1 * offset))
	# shellcheck disable=SC2016
	unshare --fork --net --uts --ipc --mount --time --monotonic "$ahead" --boottime "$ahead" \
		sh -c 'echo $$ >"$0.new" && mv "$0.new" "$0" && exec sleep infinity' "$dir/node$1" &
	until [ -s "$dir/node$1" ]; do
		kill -0 $! 2>/dev/null || skip "no host $1: this kernel refused its namespaces"
		sleep 0.01
	done
}

# on N COMMAND...: runs it on host N
on()
{
	host=$1
	shift
	nsenter -t "$(cat "$dir/node$host")" --net --uts --ipc --mount --time --root -- "$@"
}

# one host needs no bridge to be reached; more hang on one that is called as the interface of node0 would be
cables()
{
	[ "$hosts" -eq 2 ] || ip link add eth0 type bridge
	i=1
	while [ "$i" -lt "$hosts" ]; do
		ip link add "$([ "$hosts" -eq 2 ] && echo eth0 || echo "port$i")" type veth peer name eth0 netns \
			"$(cat "$dir/node$i")" || return 1
		[ "$hosts" -eq 2 ] || { ip link set "port$i" master eth0 && ip link set "port$i" up; } || return 1
		i=$((i + 1))
	done
}

# the interfaces of all hosts come with it, and go with it
slow_switch()
{
	keepers=$$
	i=1
	while [ "$i" -lt "$hosts" ]; do
		keepers="$keepers $(cat "$dir/node$i")"
		i=$((i + 1))
	done
	# shellcheck disable=SC2046,SC2086
	"$dir/switch" $(echo "$delay" | tr , ' ') $keepers >"$dir/switch.ready" 2>"$dir/switch.why" &
	until [ -s "$dir/switch.ready" ]; do
		kill -0 $! 2>/dev/null || skip "no delay: $(cat "$dir/switch.why")"
		sleep 0.01
	done
}

join_hosts()
{
	if [ -n "$delay" ]; then
		slow_switch
	else
		cables || return 1
	fi
	i=1
	while [ "$i" -lt "$hosts" ]; do
		on "$i" sh -c "echo node$i >/proc/sys/kernel/hostname" &&
			on "$i" ip address add "10.78.0.$((i + 1))/24" dev eth0 &&
			on "$i" ip link set lo up && on "$i" ip link set eth0 up || return 1
		i=$((i + 1))
	done
	ip address add 10.78.0.1/24 dev eth0 && ip link set lo up && ip link set eth0 up && running
}

# UCX takes no interface before the kernel has found its carrier, which it does a moment later
running()
{
	i=0
	while [ "$i" -lt "$hosts" ]; do
		tries=0
		until $([ "$i" -eq 0 ] || echo "on $i") ip -o link show dev eth0 | grep -qE 'state (UP|UNKNOWN)'; do
			tries=$((tries + 1))
			[ $tries -lt 500 ] || return 1
			sleep 0.01
		done
		i=$((i + 1))
	done
}

on_node0()
{
	echo '127.0.0.1 localhost' >"$dir/hosts"
	i=0
	while [ "$i" -lt "$hosts" ]; do
		echo "10.78.0.$((i + 1)) node$i" >>"$dir/hosts"
		echo "node$i slots=1" >>"$dir/hostfile"
		echo "node$i:1" >>"$dir/machines"
		i=$((i + 1))
	done
	# the others inherit both: names for the addresses, and a /dev/shm that goes away with the hosts
	{
		mount --bind "$dir/hosts" /etc/hosts && mount -t tmpfs tmpfs /dev/shm
	} || skip "mounts are not permitted here"
	i=1
	while [ "$i" -lt "$hosts" ]; do
		make_host "$i"
		i=$((i + 1))
	done
	cat >"$dir/agent" <<-EOF
		#!/bin/sh
		# what mpirun calls instead of ssh: agent [-option]... nodeN COMMAND
		while case \$1 in -*) true ;; *) false ;; esac; do shift; done
		keeper=\$(cat "$dir/\$1") || exit 255
		shift
		exec nsenter -t "\$keeper" --net --uts --ipc --mount --time --root -- sh -c "\$*"
	EOF
	chmod +x "$dir/agent"
	echo node0 >/proc/sys/kernel/hostname
	join_hosts || skip "the network between the hosts could not be set up"

	export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
	# for what runs on the hosts without an mpirun
	export NETNS_AGENT="$dir/agent"
	export OMPI_MCA_pml=ob1 OMPI_MCA_btl_tcp_if_include=eth0
	# each host would bind to the same first core
	case $("$mpirun" --version 2>/dev/null) in
	*'(Open MPI) '[1-4].*)
		export OMPI_MCA_plm=rsh OMPI_MCA_plm_rsh_agent="$dir/agent" OMPI_MCA_btl=self,vader,tcp
		export OMPI_MCA_orte_default_hostfile="$dir/hostfile" OMPI_MCA_orte_tmpdir_base="$dir"
		export OMPI_MCA_oob_tcp_if_include=eth0 OMPI_MCA_hwloc_base_binding_policy=none
		;;
	*'Open MPI'*)
		export PRTE_MCA_plm=ssh PRTE_MCA_plm_ssh_agent="$dir/agent" OMPI_MCA_btl=self,sm,tcp
		export PRTE_MCA_prte_default_hostfile="$dir/hostfile" PRTE_MCA_prte_tmpdir_base="$dir"
		export PRTE_MCA_prte_if_include=eth0
		case $("$mpirun" --version) in
		*') 5.'*) export PRTE_MCA_hwloc_default_binding_policy=none ;;
		*) export PRTE_MCA_bindto=none ;;
		esac
		;;
	esac
	[ "$(nproc)" -ge "$hosts" ] || export OMPI_MCA_mpi_yield_when_idle=1
	# the same for MPICH, over UCX or libfabric
	export HYDRA_HOST_FILE="$dir/machines" HYDRA_LAUNCHER=ssh HYDRA_LAUNCHER_EXEC="$dir/agent" HYDRA_IFACE=eth0
	export UCX_TLS=self,tcp UCX_NET_DEVICES=eth0 FI_PROVIDER=tcp FI_TCP_IFACE=eth0
	[ "$(nproc)" -ge "$hosts" ] || export MPIR_CVAR_POLLS_BEFORE_YIELD=1
	"$@"
	exit $?
}

# ---- outside -------------------------------------------------------------------------------------

if [ "${1-}" = --on-node0 ]; then
	dir=$2 hosts=$3 offset=$4 delay=$5
	shift 5
	mpirun=${MPIRUN:-mpirun}
	on_node0 "$@"
fi
hosts=2 offset=1000 delay=
while getopts n:o:d: option; do
	case $option in
	n) hosts=$OPTARG ;;
	o) offset=$OPTARG ;;
	d) delay=$OPTARG ;;
	*) usage ;;
	esac
done
shift $((OPTIND - 1))
case $hosts in
[2-9] | 1[0-6]) ;;
*) usage ;;
esac
case ${offset#-} in
'' | *[!0-9]*) usage ;;
esac
case $delay in
'') ;;
,* | *, | *,,* | *,*,*,* | *[!0-9,]*) usage ;;
*,*,*) ;;
*,*) delay=$delay,0 ;;
*) delay=$delay,0,0 ;;
esac
[ $# -gt 0 ] || usage
[ "$(id -u)" -eq 0 ] || skip "hosts out of namespaces need root"
mpirun=${MPIRUN:-mpirun}
for tool in "$mpirun" unshare nsenter setpriv flock ip; do
	command -v "$tool" >/dev/null || skip "$tool is not installed"
done
case $("$mpirun" --version 2>/dev/null) in
*'Open MPI'* | *HYDRA*) ;;
*) skip "$mpirun is neither Open MPI's nor MPICH's" ;;
esac
why=$(unshare --fork --pid --mount-proc --net --uts --ipc --time --monotonic 1 true 2>&1) ||
	skip "namespaces are not permitted here: $why"

dir=$(mktemp -d "${TMPDIR:-/tmp}/netns.XXXXXX") || exit 99
trap 'rm -rf "$dir"' EXIT
if [ -n "$delay" ]; then
	[ -c /dev/net/tun ] || skip "no delay: this kernel has no TAP devices (/dev/net/tun)"
	# CC may bring a wrapper and flags
	# shellcheck disable=SC2086
	${CC:-cc} -D_GNU_SOURCE -O2 -o "$dir/switch" "$(dirname "$0")/programs/switch.c" 2>"$dir/why" ||
		skip "no delay: its switch could not be compiled: $(head -n 1 "$dir/why")"
fi
exec 3<&0 # a background command would get /dev/null
# Everything on the hosts inherits this lock, so taking it again means that all of them are gone.
exec 9>"$dir/alive"
flock 9
setpriv --pdeathsig KILL unshare --fork --kill-child --pid --mount-proc --net --uts --ipc \
	sh "$0" --on-node0 "$dir" "$hosts" "$offset" "$delay" "$@" <&3 3<&- &
child=$!
trap 'kill -KILL $child; wait $child 2>/dev/null; flock "$dir/alive" true; exit 143' TERM INT HUP
exec 9>&- 3<&-
wait $child
exit $?

# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# What the launcher of MPI must be told here; to be sourced, with MPIRUN. Open MPI refuses root, and more ranks than
# cores, unless variables allow them. Its versions 4, 5 and 6 have other names for the second; the wrong name is
# ignored, or makes a banner.
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
case $("${MPIRUN:-mpirun}" --version 2>/dev/null) in
*'(Open MPI) '[1-4].*)
	OMPI_MCA_rmaps_base_oversubscribe=1
	export OMPI_MCA_rmaps_base_oversubscribe
	;;
*'Open MPI) 5.'*)
	# without "slot" all ranks are on the first host; it also warns of interfaces between which it finds no path,
	# although none is needed
	PRTE_MCA_rmaps_default_mapping_policy=slot:oversubscribe OMPI_MCA_btl_tcp_if_include=lo
	export PRTE_MCA_rmaps_default_mapping_policy OMPI_MCA_btl_tcp_if_include
	;;
*'Open MPI) '*)
	PRTE_MCA_mapby=:oversubscribe OMPI_MCA_btl_tcp_if_include=lo
	export PRTE_MCA_mapby OMPI_MCA_btl_tcp_if_include
	;;
esac

# Does it start a job of several programs? That of Debian 13 (5.0.7) crashes, whatever the programs are.
several_why="this mpirun crashes when it starts several programs (Debian 13: Open MPI 5.0.7)"
starts_several()
{
	timeout 60 "${MPIRUN:-mpirun}" -np 1 true : -np 1 true >/dev/null 2>&1
	[ $? -ne 139 ]
}

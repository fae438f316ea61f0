#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A machine whose CPUs, disks and interfaces really go and come and which really sleeps, while vtrun samples:
# cross-compiled and run there, because this machine's owner would not like it.
#   MACHINE_CC   a compiler for it, "aarch64-linux-gnu-gcc --sysroot=..."; words must not need quoting
# MACHINE_RUN what runs a command there as root, in the working directory, which the machine sees. It may never come
# back from its last part, a sleep, since folders shared with an emulator often do not: what it printed counts
#   MACHINE_MODULES  a folder of kernel modules of that machine, if its disks need some (nvme)
# Of what it finds there it uses a second CPU, an Ethernet interface and a disk at PCI (virtio) that nobody uses, an
# NVMe disk with two paths and a clock that can wake it; for QEMU:
# -smp 2 -netdev user,id=n0 -device virtio-net-pci,netdev=n0 -drive if=none,id=d1,file=A -device virtio-blk-pci,drive=d1
# -device nvme-subsys,id=s0,nqn=s0 -device nvme,serial=a,subsys=s0 -device nvme,serial=a,subsys=s0
#   -drive if=none,id=d2,file=B -device nvme-ns,drive=d2,shared=on
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/lib.sh"
if [ -z "${MACHINE_CC:-}" ] || [ -z "${MACHINE_RUN:-}" ]; then
	echo "MACHINE_CC and MACHINE_RUN are not set: no machine that may sleep"
	exit 77
fi
for_machine
configured machine --host="$host" --without-mpi --disable-static CC="$MACHINE_CC"
step "machine: make" make -j"$jobs" vtrun libVTcs.la stftool tests/preload/programs/devices
mkdir -p "$work/there/.libs" "$work/there/modules"
cp vtrun stftool tests/preload/programs/devices "$top/tests/ci/machine/machine_inside.sh" "$work/there"
cp -L .libs/libVTcs.so .libs/libVTinside.so .libs/libVTsystem.so .libs/libVTomp.so "$work/there/.libs"
if [ -n "${MACHINE_MODULES:-}" ]; then
	for m in crct10dif_common crc-t10dif crc64 crc64-rocksoft t10-pi nvme-core nvme; do
		find "$MACHINE_MODULES" -name "$m.ko" -exec cp {} "$work/there/modules" \;
	done
fi
inside machine_inside.sh

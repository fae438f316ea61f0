/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts of interfaces wrap, are set back and come from elsewhere. */
#define _GNU_SOURCE
#include "config.h"
#include "include/vtsource.h"
#include "tests/lib/check.h"
#include "tests/lib/sampler_set.h"

/* ---- between two reads --------------------------------------------------------------------------- */

static void counts_of_32_bits_wrap(void)
{
	unpack("two-sockets");
	put("/sys/block/sda/stat", "1 0 4294967290 0 1 0 4000000000 0 0 0 0");
	put("/sys/class/net/eno1/statistics/rx_bytes", "4294967000\n");
	put("/sys/class/net/eno2/statistics/rx_bytes", "9000000000\n");
	OPEN(SMP_NODE, 0, "disk_read:sda", "disk_write:sda", "net_rx:eno1", "net_rx:eno2");
	put("/sys/block/sda/stat", "1 0 10 0 1 0 4000000001 0 0 0 0");
	put("/sys/class/net/eno1/statistics/rx_bytes", "704\n");
	read_again();
	HAS("disk_read:sda", (4294967290LL + 16) * 512);
	HAS("disk_write:sda", 4000000001LL * 512);
	HAS("net_rx:eno1", 4294967000LL + 1000);
	CHECK_INT(state[place("disk_read:sda")], SMP_VALID);
	/* a count beyond 32 bits that falls is in doubt; two readings later it was set back: what it counts from there on
	 * is added, and said */
	put("/sys/class/net/eno2/statistics/rx_bytes", "500\n");
	read_again();
	CHECK_INT(state[place("net_rx:eno2")], SMP_VALID | SMP_LEFT_OUT);
	HAS("net_rx:eno2", 9000000000);
	put("/sys/class/net/eno2/statistics/rx_bytes", "700\n");
	read_again();
	CHECK_INT(state[place("net_rx:eno2")], SMP_VALID);
	put("/sys/class/net/eno2/statistics/rx_bytes", "900\n");
	read_again();
	CHECK_INT(state[place("net_rx:eno2")], SMP_VALID | SMP_RESTARTED);
	HAS("net_rx:eno2", 9000000000 + 400);
	drop();
}

static void interface_from_another_namespace(void)
{
	long long before;

	unpack("two-sockets");
	OPEN(SMP_NODE, 0, "net_io");
	before = got("net_io");
	make_folder("/sys/class/net/eno9/device");
	make_folder("/sys/class/net/eno9/statistics");
	put("/sys/class/net/eno9/statistics/rx_bytes", "900000000000000000\n");
	put("/sys/class/net/eno9/statistics/tx_bytes", "0\n");
	read_again();
	HAS("net_io", before);
	CHECK_INT(state[0], SMP_VALID | SMP_RESTARTED);
	put("/sys/class/net/eno9/statistics/tx_bytes", "5\n");
	read_again();
	HAS("net_io", before + 5);
	drop();
}

/* In one sum, between two readings: a count of 32 bits turns, another interface is removed, and its number is given to a new one of
 * another name, whose count is large. */
static void one_turns_while_another_is_replaced(void)
{
	long long before;

	unpack("two-sockets");
	shell("rm -rf %s/sys/class/net/*%s", "");
	make_folder("/sys/class/net/eth0/device");
	make_folder("/sys/class/net/eth0/statistics");
	make_folder("/sys/class/net/eth1/device");
	make_folder("/sys/class/net/eth1/statistics");
	put("/sys/class/net/eth0/ifindex", "2\n");
	put("/sys/class/net/eth1/ifindex", "3\n");
	put("/sys/class/net/eth0/statistics/rx_packets", "4294967290\n");
	put("/sys/class/net/eth1/statistics/rx_packets", "500000\n");
	OPEN(SMP_NODE, 0, "net_rx_packets");
	before = got("net_rx_packets");
	put("/sys/class/net/eth0/statistics/rx_packets", "94\n"); /* 100 more */
	shell("rm -rf %s/sys/class/net/eth1%s", "");
	make_folder("/sys/class/net/eth7/device");
	make_folder("/sys/class/net/eth7/statistics");
	put("/sys/class/net/eth7/ifindex", "3\n");
	put("/sys/class/net/eth7/statistics/rx_packets", "77000000000000\n");
	read_again();
	CHECK(got("net_rx_packets") >= before && got("net_rx_packets") <= before + 100, "%lld",
		got("net_rx_packets") - before);
	put("/sys/class/net/eth0/statistics/rx_packets", "144\n");
	put("/sys/class/net/eth7/statistics/rx_packets", "77000000000007\n");
	read_again();
	put("/sys/class/net/eth7/statistics/rx_packets", "77000000000009\n");
	read_again();
	put("/sys/class/net/eth7/statistics/rx_packets", "77000000000010\n");
	read_again();
	CHECK(got("net_rx_packets") >= before + 150 && got("net_rx_packets") <= before + 160, "%lld",
		got("net_rx_packets") - before);
	drop();
}

/* In the first domain of Xen: what a virtual machine sends passes the end of its interface, a bridge and the card. */
static void interface_of_a_guest(void)
{
	unpack("two-sockets");
	shell("rm -rf %s/sys/class/net/*%s", "");
	make_folder("/sys/bus/xen-backend");
	make_folder("/sys/class/net/eth0/device");
	make_folder("/sys/class/net/eth0/statistics");
	make_folder("/sys/class/net/vif1.0/device");
	make_folder("/sys/class/net/vif1.0/statistics");
	shell("ln -s ../../../../bus/xen-backend %s/sys/class/net/vif1.0/device/%s", "subsystem");
	put("/sys/class/net/eth0/statistics/rx_packets", "1000\n");
	put("/sys/class/net/vif1.0/statistics/rx_packets", "1000\n");
	OPEN(SMP_NODE, 0, "net_rx_packets", "net_rx_packets:vif1.0");
	HAS("net_rx_packets", 1000);
	HAS("net_rx_packets:vif1.0", 1000);
	drop();
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(counts_of_32_bits_wrap);
	RUN(interface_from_another_namespace);
	RUN(one_turns_while_another_is_replaced);
	RUN(interface_of_a_guest);
	return check_end();
}

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

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(counts_of_32_bits_wrap);
	RUN(interface_from_another_namespace);
	return check_end();
}

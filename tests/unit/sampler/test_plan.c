/* SPDX-License-Identifier: BSD-3-Clause */
/* What a plan has of a machine without devices, and of those that come. */
#define _GNU_SOURCE
#include "config.h"
#include "include/vtsource.h"
#include "sampler/source.h"
#include "tests/lib/check.h"
#include "tests/lib/sampler_set.h"

static void make_interface(const char *name, const char *rx, const char *tx)
{
	char path[128], index[8];

	snprintf(path, sizeof(path), "/sys/class/net/%s/device", name);
	make_folder(path);
	snprintf(path, sizeof(path), "/sys/class/net/%s/ifindex", name);
	snprintf(index, sizeof(index), "%d", name[3] - '0' + 4);
	put(path, index);
	snprintf(path, sizeof(path), "/sys/class/net/%s/statistics", name);
	make_folder(path);
	snprintf(path, sizeof(path), "/sys/class/net/%s/statistics/rx_bytes", name);
	put(path, rx);
	snprintf(path, sizeof(path), "/sys/class/net/%s/statistics/tx_bytes", name);
	put(path, tx);
}

/* Without any device the sums are there and 0, and who is new is counted from 0; it gets counters of its own by the same rules. */
static void devices_that_were_absent(void)
{
	struct smp_target node = { SMP_NODE, 0, 0 };
	struct smp_plan *later, *again;
	struct smp_set *more;
	uint64_t mark;

	unpack("container");
	shell("rm -r %s/sys/class/net/%s", "eth0");
	put("/sys/class/net/lo/ifindex", "1");
	OPEN(SMP_NODE, 0, "net_io", "net_rx:eth? on", "net_tx:eth2 on");
	HAS("net_io", 0);
	CHECK(planned("net_tx:eth2") && planned("net_tx:eth2")->missing,
		"an absent interface is not said to be missing");
	CHECK(!planned("net_rx:eth1"), "an absent interface is planned");
	mark = smp_plan_mark(plan);
	CHECK(mark && mark == smp_plan_mark(plan), "the mark changes by itself");
	later = smp_plan_later(plan, NULL);
	CHECK_INT(smp_plan_size(later), 0);
	smp_plan_close(later);
	make_interface("eth1", "70\n", "7\n");
	make_interface("eth2", "500\n", "50\n");
	CHECK(mark != smp_plan_mark(plan), "the mark does not show who came");
	read_again();
	HAS("net_io", 627);
	later = smp_plan_later(plan, NULL);
	CHECK_INT(smp_plan_size(later), 3);
	more = smp_set_open(later, &node, NULL);
	CHECK_INT(smp_set_size(more), 3);
	CHECK_INT(smp_set_read(more, value, state), 3);
	CHECK_INT(value[0].u + value[1].u + value[2].u, 70 + 500 + 50);
	/* nobody is planned twice */
	again = smp_plan_later(later, NULL);
	CHECK_INT(smp_plan_size(again), 0);
	smp_plan_close(again);
	smp_set_close(more);
	smp_plan_close(later);
	drop();
	/* the five of the guide need no looking */
	unpack("container");
	open_for(SMP_NODE, 0, smp_standard_rules, 5);
	CHECK_INT(smp_plan_mark(plan), 0);
	drop();
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(devices_that_were_absent);
	return check_end();
}

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

static int asked;

static int list_ten(const struct smp_env *unused, const char *hint, smp_each each, void *ctx, char why[SMP_TEXT])
{
	static const struct smp_counter ten[] = { { .name = "ten_a" }, { .name = "ten_b" }, { .name = "ten_c" } };
	int i, rc = 0;

	(void)unused;
	(void)hint;
	(void)why;
	asked++;
	for (i = 0; i < 3 && rc == 0; i++) {
		rc = each(&ten[i], ctx);
	}
	return rc;
}

/* Read system calls of this process so far; -1: the kernel does not count them. */
static long reads_so_far(void)
{
	FILE *f = fopen("/proc/self/io", "r");
	long n = -1;

	if (f && fscanf(f, "rchar: %*d wchar: %*d syscr: %ld", &n) != 1) {
		n = -1;
	}
	if (f) {
		fclose(f);
	}
	return n;
}

/* Each process of a job makes a plan before main(), and /proc/stat of a large node takes a millisecond to read. */
static void sources_are_asked_once(void)
{
	static const struct smp_source ten = {
		.abi = VTSOURCE_ABI, .size = sizeof(ten), .name = "ten", .list = list_ten
	};
	static const char *const rules[] = { "ten_a on", "ten_c on", "ten_b off", "ten_x on" };
	struct smp_plugin plugin = { &ten, NULL };
	long before;
	size_t n;

	unpack("container");
	asked = 0;
	plan = smp_plan_open(&env, rules, 4, &plugin, 1, NULL);
	/* for ten_a, which brings ten_c, and for ten_x, which is not there */
	CHECK_INT(asked, 2);
	CHECK_INT(smp_plan_size(plan), 3);
	CHECK(planned("ten_c") && !planned("ten_c")->missing && planned("ten_x")->missing && !planned("ten_b"),
		"planned");
	drop();
	for (n = 0; smp_standard_rules[n]; n++) {
	}
	unpack("container");
	before = reads_so_far();
	plan = smp_plan_open(&env, smp_standard_rules, n, NULL, 0, NULL);
	if (before >= 0) {
		before = reads_so_far() - before;
		printf("# %ld reads for the standard rules\n", before);
		CHECK(before <= 30, "the standard rules take %ld reads", before);
	}
	drop();
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(devices_that_were_absent);
	RUN(sources_are_asked_once);
	return check_end();
}

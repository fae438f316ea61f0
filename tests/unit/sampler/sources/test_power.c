/* SPDX-License-Identifier: BSD-3-Clause */
/* Energy wraps at the range that the kernel states. */
#define _GNU_SOURCE
#include "config.h"
#include "include/vtsource.h"
#include "tests/lib/check.h"
#include "tests/lib/sampler_set.h"

static void energy_wraps_at_its_range(void)
{
	unpack("two-sockets");
	put("/sys/class/powercap/intel-rapl:0/energy_uj", "262143328000");
	OPEN(SMP_NODE, 0, "energy");
	put("/sys/class/powercap/intel-rapl:0/energy_uj", "150");
	read_again();
	HAS("energy", 262143328850LL + 150 + 200000);
	drop();
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(energy_wraps_at_its_range);
	return check_end();
}

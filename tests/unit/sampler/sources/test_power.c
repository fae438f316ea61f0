/* SPDX-License-Identifier: BSD-3-Clause */
/* Energy wraps at the range that the kernel states; names may be long. */
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

static int turns_in(const char *name, double interval_s)
{
	char line[SMP_TEXT] = "";
	size_t i;

	for (i = 0; i < smp_plan_size(plan); i++) {
		if (strcmp(smp_plan_at(plan, i)->counter.name, name) == 0) {
			return smp_planned_turns(smp_plan_at(plan, i), interval_s, line) && strstr(line, name) &&
				strstr(line, "OS-COUNTER-DELAY");
		}
	}
	CHECK(0, "%s is not planned", name);
	return 0;
}

static void a_turn_between_two_readings_is_foretold(void)
{
	unpack("two-sockets");
	put("/sys/class/powercap/intel-rapl:1/max_energy_range_uj", "65532610987");
	OPEN(SMP_NODE, 0, "energy", "energy:**");
	/* at 500 W; the sum may lack a turn where one of its parts may */
	CHECK_INT(turns_in("energy:package-0", 500), 0);
	CHECK_INT(turns_in("energy:package-0", 530), 1);
	CHECK_INT(turns_in("energy", 130), 0);
	CHECK_INT(turns_in("energy", 132), 1);
	/* the limit of the zone says how fast */
	put("/sys/class/powercap/intel-rapl:1/constraint_0_max_power_uw", "65532611");
	CHECK_INT(turns_in("energy:package-1", 999), 0);
	CHECK_INT(turns_in("energy:package-1", 1001), 1);
	drop();
	unpack("two-sockets");
	OPEN(SMP_NODE, 0, "energy", "cpu_usr");
	CHECK_INT(turns_in("cpu_usr", 1e6), 0);
	put("/sys/class/powercap/intel-rapl:0/max_energy_range_uj", "0");
	put("/sys/class/powercap/intel-rapl:1/max_energy_range_uj", "0");
	CHECK_INT(turns_in("energy", 1e6), 0);
	drop();
}

/* After the driver is loaded again, the number of a zone can be that of the other package. */
static void zones_change_their_numbers(void)
{
	long long before[2];

	unpack("two-sockets");
	put("/sys/class/powercap/intel-rapl:0/energy_uj", "5000000\n");
	put("/sys/class/powercap/intel-rapl:1/energy_uj", "200000000000\n");
	OPEN(SMP_NODE, 0, "energy:package-0", "energy:package-1");
	before[0] = got("energy:package-0");
	before[1] = got("energy:package-1");
	put("/sys/class/powercap/intel-rapl:0/name", "package-1\n");
	put("/sys/class/powercap/intel-rapl:1/name", "package-0\n");
	put("/sys/class/powercap/intel-rapl:0/energy_uj", "200000001000\n");
	put("/sys/class/powercap/intel-rapl:1/energy_uj", "5000700\n");
	read_again();
	read_again();
	read_again();
	CHECK(!(state[place("energy:package-0")] & SMP_VALID) ||
			(got("energy:package-0") >= before[0] && got("energy:package-0") <= before[0] + 700),
		"%lld", got("energy:package-0") - before[0]);
	CHECK(!(state[place("energy:package-1")] & SMP_VALID) ||
			(got("energy:package-1") >= before[1] && got("energy:package-1") <= before[1] + 1000),
		"%lld", got("energy:package-1") - before[1]);
	drop();
}

static void names_of_zones_may_be_long(void)
{
	char name[200], rule[256], path[300];

	memset(name, 'z', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	unpack("two-sockets");
	snprintf(path, sizeof(path), "/sys/class/powercap/long:%s", name);
	make_folder(path);
	snprintf(path, sizeof(path), "/sys/class/powercap/long:%s/name", name);
	put(path, name);
	snprintf(path, sizeof(path), "/sys/class/powercap/long:%s/max_energy_range_uj", name);
	put(path, "1000000");
	snprintf(path, sizeof(path), "/sys/class/powercap/long:%s/energy_uj", name);
	put(path, "5");
	snprintf(rule, sizeof(rule), "energy:%s", name);
	OPEN(SMP_NODE, 0, rule);
	HAS(rule, 5);
	put(path, "9");
	read_again();
	HAS(rule, 9);
	drop();
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(energy_wraps_at_its_range);
	RUN(a_turn_between_two_readings_is_foretold);
	RUN(zones_change_their_numbers);
	RUN(names_of_zones_may_be_long);
	return check_end();
}

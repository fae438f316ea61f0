/* SPDX-License-Identifier: BSD-3-Clause */
/* Sensors of two chips, whose files are ours. */
#define _GNU_SOURCE
#include "config.h"
#include "include/vtsource.h"
#include "tests/lib/check.h"
#include "tests/lib/sampler_set.h"

static void make_chips(void)
{
	strcpy(dir, "/tmp/test_sampler.XXXXXX");
	if (!mkdtemp(dir)) {
		exit(99);
	}
	smp_env_init(&env);
	env.root = dir;
	make_folder("/sys/class/hwmon/hwmon0");
	make_folder("/sys/class/hwmon/hwmon1");
	make_folder("/sys/class/hwmon/hwmon2"); /* a chip without a name */
	put("/sys/class/hwmon/hwmon0/name", "amd_energy\n");
	put("/sys/class/hwmon/hwmon0/energy1_input", "7000\n");
	put("/sys/class/hwmon/hwmon0/energy1_label", "Esocket0\n");
	put("/sys/class/hwmon/hwmon1/name", "a.meter\n");
	put("/sys/class/hwmon/hwmon1/power1_average", "120000000\n");
	put("/sys/class/hwmon/hwmon1/power1_input", "130000000\n");
	put("/sys/class/hwmon/hwmon1/power2_input", "5\n");
	put("/sys/class/hwmon/hwmon1/power1_average_interval", "1000\n");
	put("/sys/class/hwmon/hwmon1/temp12_input", "41500\n");
	put("/sys/class/hwmon/hwmon1/temp13_max", "100000\n");
	put("/sys/class/hwmon/hwmon2/temp1_input", "1\n");
}

static void values_are_those_of_the_files(void)
{
	make_chips();
	OPEN(SMP_NODE, 0, "hwmon_*", "hwmon_*:*");
	CHECK_INT(smp_set_size(set), 4);
	HAS("hwmon_energy:amd_energy.hwmon0.energy1", 7000);
	HAS("hwmon_power:a.meter.hwmon1.power1", 120000000);
	HAS("hwmon_power:a.meter.hwmon1.power2", 5);
	HAS("hwmon_temp:a.meter.hwmon1.temp12", 41500);
	CHECK(planned("hwmon_power")->missing && strstr(planned("hwmon_power")->missing, "not added up"),
		"a sum of sensors");
	put("/sys/class/hwmon/hwmon1/temp12_input", "-3000\n"); /* 0 is another temperature */
	put("/sys/class/hwmon/hwmon0/energy1_input", "6999\n");
	put("/sys/class/hwmon/hwmon1/power1_average", "");
	read_again();
	CHECK_INT(state[place("hwmon_temp:a.meter.hwmon1.temp12")], 0);
	CHECK_INT(state[place("hwmon_power:a.meter.hwmon1.power1")], 0);
	HAS("hwmon_energy:amd_energy.hwmon0.energy1", 7000);
	put("/sys/class/hwmon/hwmon0/energy1_input", "7100\n");
	read_again();
	HAS("hwmon_energy:amd_energy.hwmon0.energy1", 7100);
	drop();
}

/* After a driver is loaded again, the number of a folder can be that of another chip. */
static void another_chip_takes_the_folder(void)
{
	make_chips();
	OPEN(SMP_NODE, 0, "hwmon_power:a.meter.hwmon1.power1", "hwmon_energy:amd_energy.hwmon0.energy1");
	shell("cd %s/sys/class/hwmon && mv hwmon0 x && mv hwmon1 hwmon0 && mv x hwmon1%s", "");
	put("/sys/class/hwmon/hwmon1/power1_average", "999\n");
	put("/sys/class/hwmon/hwmon0/energy1_input", "7500\n");
	read_again();
	read_again();
	CHECK_INT(state[place("hwmon_power:a.meter.hwmon1.power1")] & SMP_VALID, 0);
	CHECK_INT(state[place("hwmon_energy:amd_energy.hwmon0.energy1")] & SMP_VALID, 0);
	shell("cd %s/sys/class/hwmon && mv hwmon0 x && mv hwmon1 hwmon0 && mv x hwmon1%s", "");
	put("/sys/class/hwmon/hwmon0/energy1_input", "7100\n");
	put("/sys/class/hwmon/hwmon1/power1_average", "121000000\n");
	read_again();
	HAS("hwmon_power:a.meter.hwmon1.power1", 121000000);
	HAS("hwmon_energy:amd_energy.hwmon0.energy1", 7100);
	drop();
}

static void sensor_that_is_not_there(void)
{
	make_chips();
	OPEN(SMP_NODE, 0, "hwmon_temp:no.such.hwmon9.temp1", "hwmon_temp:odd");
	CHECK(planned("hwmon_temp:no.such.hwmon9.temp1")->missing != NULL, "a sensor that is not there");
	CHECK(planned("hwmon_temp:odd")->missing != NULL, "a sensor that is not there");
	drop();
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(values_are_those_of_the_files);
	RUN(another_chip_takes_the_folder);
	RUN(sensor_that_is_not_there);
	return check_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of a Cray node's controller, which are ours: values of one scan, none when it stops, their age. */
#define _GNU_SOURCE
#include "config.h"
#include "include/vtsource.h"
#include "sampler/private.h"
#include "tests/lib/check.h"
#include "tests/lib/sampler_set.h"

#include <time.h>

static long long scan;
static int scans_to_come; /* the next readings of so many files each see another scan */

static void put_file(const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/cray/pm_counters/%s", name);
	put(path, text);
}

static void put_value(const char *name, long long number, const char *unit, long long age_us)
{
	struct timespec t;
	char text[128];

	clock_gettime(CLOCK_REALTIME, &t);
	snprintf(text, sizeof(text), "%lld %s %lld us\n", number, unit,
		t.tv_sec * 1000000ll + t.tv_nsec / 1000 - age_us);
	put_file(name, text);
}

static void next_scan(long long energy, long long power)
{
	char text[64];

	put_value("energy", energy, "J", 50000);
	put_value("power", power, "W", 50000);
	snprintf(text, sizeof(text), "%lld\n", ++scan);
	put_file("freshness", text);
}

ssize_t __real_smp_file_read(const struct smp_file *f, char *buf, size_t size);
ssize_t __wrap_smp_file_read(const struct smp_file *f, char *buf, size_t size);
ssize_t __wrap_smp_file_read(const struct smp_file *f, char *buf, size_t size)
{
	ssize_t n = __real_smp_file_read(f, buf, size);

	if (scans_to_come > 0 && strstr(buf, " W ")) {
		scans_to_come--;
		next_scan(1000 + scan, 200 + scan);
	}
	return n;
}

static void make_node(void)
{
	strcpy(dir, "/tmp/test_sampler.XXXXXX");
	if (!mkdtemp(dir)) {
		exit(99);
	}
	smp_env_init(&env);
	env.root = dir;
	make_folder("/sys/cray/pm_counters");
	scan = 0;
	next_scan(1000, 200);
	put_value("cpu_power", 80, "W", 50000);
	put_value("accel0_energy", 500, "J", 50000);
	put_value("accel0_power", 90, "W", 50000);
	put_value("cpu0_temp", 45, "C", 50000);
	put_value("power_cap", 0, "W", 50000);
	put_file("generation", "17\n");
	put_file("raw_scan_hz", "10\n");
	put_file("startup", "1545345345\n");
	put_file("version", "2\n");
}

static void values_are_those_of_the_files(void)
{
	make_node();
	OPEN(SMP_NODE, 0, "cray_*");
	HAS("cray_energy", 1000);
	HAS("cray_power", 200);
	HAS("cray_cpu_power", 80);
	HAS("cray_accel0_energy", 500);
	HAS("cray_accel0_power", 90);
	HAS("cray_cpu0_temp", 45);
	HAS("cray_power_cap", 0);
	HAS("cray_generation", 17);
	HAS("cray_raw_scan_hz", 10);
	HAS("cray_freshness", 1);
	CHECK(!planned("cray_version") && !planned("cray_generation_age"), "names");
	CHECK(got("cray_power_age") >= 50000 && got("cray_power_age") < 20000000, "%lld", got("cray_power_age"));
	CHECK(planned("cray_energy")->kind == SMP_TOTAL && planned("cray_power")->kind == SMP_LEVEL, "kinds");
	next_scan(1300, 210);
	read_again();
	HAS("cray_energy", 1300);
	HAS("cray_power", 210);
	drop();
}

/* Of a scan that ends between two files. */
static void values_are_of_one_scan(void)
{
	make_node();
	OPEN(SMP_NODE, 0, "cray_power", "cray_energy");
	next_scan(1000 + scan, 200 + scan);
	scans_to_come = 1;
	read_again();
	CHECK_INT(scans_to_come, 0);
	CHECK(got("cray_power") - 200 == got("cray_energy") - 1000, "power %lld, energy %lld", got("cray_power"),
		got("cray_energy"));
	scans_to_come = 100; /* there is never the time for a whole one */
	read_again();
	CHECK_INT(state[place("cray_power")], 0);
	CHECK_INT(state[place("cray_energy")], 0);
	scans_to_come = 0;
	read_again();
	HAS("cray_power", 199 + scan);
	drop();
}

/* A snapshot is read once a second of its own. */
static void controller_stops(void)
{
	int i;

	make_node();
	OPEN(SMP_NODE, 0, "cray_power", "cray_energy", "cray_freshness");
	for (i = 0; i < 2; i++) {
		read_again();
		HAS("cray_power", 200);
	}
	for (i = 0; i < 5; i++) {
		read_again();
		CHECK_INT(state[place("cray_power")], 0);
		CHECK_INT(state[place("cray_energy")], 0);
	}
	next_scan(1500, 220);
	read_again();
	HAS("cray_power", 220);
	HAS("cray_energy", 1500);
	put_file("raw_scan_hz", "1\n"); /* it may scan seldom */
	for (i = 0; i < 10; i++) {
		read_again();
		HAS("cray_power", 220);
	}
	drop();
}

static void energy_falls(void)
{
	make_node();
	next_scan(4294967290, 200);
	OPEN(SMP_NODE, 0, "cray_energy");
	next_scan(3, 200);
	read_again();
	HAS("cray_energy", 4294967290);
	CHECK(state[place("cray_energy")] & SMP_LEFT_OUT, "a fall without a mark");
	next_scan(4294967299, 200); /* 32 bits are not the end */
	read_again();
	HAS("cray_energy", 4294967299);
	next_scan(10, 200); /* the blade was switched on again */
	read_again();
	next_scan(20, 200);
	read_again();
	next_scan(30, 200);
	read_again();
	CHECK(got("cray_energy") >= 4294967299 && got("cray_energy") <= 4294967319, "%lld", got("cray_energy"));
	drop();
}

static void what_is_no_value_is_none(void)
{
	make_node();
	OPEN(SMP_NODE, 0, "cray_*");
	next_scan(1300, 210);
	put_file("cpu_power", "");
	put_file("accel0_power", "90 kW 1 us\n");
	put_file("cpu0_temp", "65535 C 1 us\n");
	put_file("power_cap", "not supported\n");
	put_value("accel0_energy", 600, "J", -60000000); /* its clock is another one */
	put_file("power", "210 W\n");
	read_again();
	CHECK_INT(state[place("cray_cpu_power")], 0);
	CHECK_INT(state[place("cray_cpu_power_age")], 0);
	CHECK_INT(state[place("cray_accel0_power")], 0);
	CHECK_INT(state[place("cray_cpu0_temp")], 0);
	CHECK_INT(state[place("cray_power_cap")], 0);
	CHECK_INT(state[place("cray_accel0_energy_age")], 0);
	CHECK_INT(state[place("cray_power_age")], 0);
	HAS("cray_power", 210);
	HAS("cray_accel0_energy", 600);
	drop();
}

static void no_cray(void)
{
	unpack("container");
	OPEN(SMP_NODE, 0, "cray_*", "cray_energy");
	CHECK(planned("cray_energy")->missing && strstr(planned("cray_energy")->missing, "HPE Cray"), "no reason");
	drop();
}

/* The time of day is set: an age that is negative or of hours is none, and the values stay. */
static void clock_is_set(void)
{
	make_node();
	OPEN(SMP_NODE, 0, "cray_*");
	next_scan(1100, 205);
	put_value("power", 205, "W", -3000000); /* as after a step back of 3 s */
	put_value("energy", 1100, "J", 5ll * 3600 * 1000000);
	read_again();
	HAS("cray_power", 205);
	HAS("cray_energy", 1100);
	CHECK_INT(state[place("cray_power_age")], 0);
	CHECK_INT(state[place("cray_energy_age")], 0);
	next_scan(1200, 206);
	read_again();
	CHECK(got("cray_power_age") >= 50000 && got("cray_power_age") < 20000000, "%lld", got("cray_power_age"));
	drop();
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(values_are_those_of_the_files);
	RUN(values_are_of_one_scan);
	RUN(controller_stops);
	RUN(energy_falls);
	RUN(what_is_no_value_is_none);
	RUN(clock_is_set);
	RUN(no_cray);
	return check_end();
}

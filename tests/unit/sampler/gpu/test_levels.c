/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of GPUs and of power that are no totals, from files that are ours and that misbehave: what is no value of its class is none,
 * never 0 and never the one of before; the next good one is taken. NVML's are in test_nvml.c. */
#define _GNU_SOURCE
#include "config.h"
#include "include/vtsource.h"
#include "tests/lib/check.h"
#include "tests/lib/sampler_set.h"

#include <inttypes.h>
#include <sys/stat.h>

static const struct level {
	const char *counter, *path, *text; /* "%s" in the text is the number */
	long long good;
	const char *too_large;
} levels[] = {
#define AMD "/sys/class/drm/card0/device/"
#define CHIP "/sys/class/hwmon/hwmon0/"
#define CRAY "/sys/cray/pm_counters/"
	{ "gpu_busy:card0", AMD "gpu_busy_percent", "%s\n", 40, "101" },
	{ "gpu_busy", AMD "gpu_busy_percent", "%s\n", 40, "255" },
	{ "gpu_mem_busy:card0", AMD "mem_busy_percent", "%s\n", 7, "101" },
	{ "gpu_mem_used:card0", AMD "mem_info_vram_used", "%s\n", 1000000, "18446744073709551615" },
	{ "gpu_mem_total:card0", AMD "mem_info_vram_total", "%s\n", 9000000, "18446744073709551615" },
	{ "gpu_power:card0", AMD "hwmon/hwmon4/power1_average", "%s\n", 90000000, "4294967295000000" },
	{ "gpu_power", AMD "hwmon/hwmon4/power1_average", "%s\n", 90000000, "4294967295000000" },
	{ "gpu_temp:card0", AMD "hwmon/hwmon4/temp1_input", "%s\n", 45000, "4294967295" },
	{ "gpu_clock:card0", AMD "hwmon/hwmon4/freq1_input", "%s\n", 1700000000, "4294967295000000" },
	{ "gpu_mem_clock:card0", AMD "hwmon/hwmon4/freq2_input", "%s\n", 900000000, "4294967295000000" },
	{ "hwmon_power:a.hwmon0.power1", CHIP "power1_average", "%s\n", 120000000, "4294967295000000" },
	{ "hwmon_power:a.hwmon0.power2", CHIP "power2_input", "%s\n", 120000000, "4294967295000000" },
	{ "hwmon_temp:a.hwmon0.temp1", CHIP "temp1_input", "%s\n", 41500, "4294967295" },
	{ "cray_power", CRAY "power", "%s W 1545345345000000 us\n", 210, "4294967295" },
	{ "cray_cpu_power", CRAY "cpu_power", "%s W\n", 80, "4294967295" },
	{ "cray_cpu0_temp", CRAY "cpu0_temp", "%s C 1545345345000000 us\n", 45, "65535" },
	{ "cray_power_cap", CRAY "power_cap", "%s W 1545345345000000 us\n", 500, "4294967295" },
};
enum { N_LEVELS = sizeof(levels) / sizeof(levels[0]) };

/* What is shown instead of the number. "@": not of this text, see show_odd(). */
static const char *const odd[] = { "", " ", "N/A", "not supported", "-5", "-", "0x10", "1.5", "1e3", "nan", "12a",
	"+12", "99999999999999999999999999", "18446744073709551615", "1,000", "\x01\xff", "@too large", "@gone",
	"@a folder", "@empty file" };
enum { N_ODD = sizeof(odd) / sizeof(odd[0]) };

static void show_level(const struct level *l, const char *number)
{
	char text[100];

	snprintf(text, sizeof(text), l->text, number);
	put(l->path, text);
}

static void show_good(const struct level *l)
{
	char number[32];

	snprintf(number, sizeof(number), "%lld", l->good);
	show_level(l, number);
}

static void show_odd(const struct level *l, const char *what)
{
	char path[300];

	snprintf(path, sizeof(path), "%s%s", dir, l->path);
	if (strcmp(what, "@too large") == 0) {
		show_level(l, l->too_large);
	} else if (strcmp(what, "@empty file") == 0) {
		put(l->path, "");
	} else if (what[0] == '@') {
		unlink(path);
		if (strcmp(what, "@a folder") == 0) {
			mkdir(path, 0700);
		}
	} else {
		show_level(l, what);
	}
}

static void make_node(void)
{
	size_t i;

	strcpy(dir, "/tmp/test_levels.XXXXXX");
	if (!mkdtemp(dir)) {
		exit(99);
	}
	smp_env_init(&env);
	env.root = dir;
	make_folder(AMD "hwmon/hwmon4");
	make_folder(CHIP);
	make_folder(CRAY);
	put(AMD "unique_id", "aaaa\n");
	put(CHIP "name", "a\n");
	for (i = 0; i < N_LEVELS; i++) {
		show_good(&levels[i]);
	}
}

static void what_is_no_value_is_none(void)
{
	char path[300];
	size_t i, k;

	make_node();
	for (i = 0; i < N_LEVELS; i++) {
		const struct level *l = &levels[i];

		OPEN(SMP_NODE, 0, l->counter);
		HAS(l->counter, l->good);
		snprintf(path, sizeof(path), "%s%s", dir, l->path);
		for (k = 0; k < N_ODD; k++) {
			int at = place(l->counter);

			show_odd(l, odd[k]);
			read_again();
			CHECK(!(state[at] & SMP_VALID), "%s is %" PRId64 " for \"%s\"", l->counter, value[at].i,
				odd[k]);
			rmdir(path);
			show_good(l);
			read_again();
			CHECK(state[at] & SMP_VALID && value[at].i == l->good, "%s is %" PRId64 " after \"%s\"",
				l->counter, value[at].i, odd[k]);
		}
		smp_set_close(set);
		smp_plan_close(plan);
	}
	set = NULL;
	plan = NULL;
	drop();
}

/* 0 is a value of these */
static void zero_is_a_value(void)
{
	size_t i;

	make_node();
	for (i = 0; i < N_LEVELS; i++) {
		OPEN(SMP_NODE, 0, levels[i].counter);
		show_level(&levels[i], "0");
		read_again();
		HAS(levels[i].counter, 0);
		smp_set_close(set);
		smp_plan_close(plan);
	}
	set = NULL;
	plan = NULL;
	drop();
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(what_is_no_value_is_none);
	RUN(zero_is_a_value);
	return check_end();
}

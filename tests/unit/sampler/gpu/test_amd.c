/* SPDX-License-Identifier: BSD-3-Clause */
/* Two cards of amdgpu, whose files are ours: each value is what they say, and no 0 for what they do not say. */
#define _GNU_SOURCE
#include "config.h"
#include "include/vtsource.h"
#include "tests/lib/check.h"
#include "tests/lib/sampler_set.h"

static void put_at(const char *card, const char *file, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "/sys/class/drm/%s/device/%s", card, file);
	put(path, text);
}

static void make_card(const char *card, const char *hwmon, const char *id)
{
	char path[256];

	snprintf(path, sizeof(path), "/sys/class/drm/%s/device/hwmon/%s", card, hwmon);
	make_folder(path);
	put_at(card, "unique_id", id);
	put_at(card, "gpu_busy_percent", "40\n");
	put_at(card, "mem_busy_percent", "7\n");
	put_at(card, "mem_info_vram_used", "1000\n");
	put_at(card, "mem_info_vram_total", "9000\n");
}

static void put_sensor(const char *card, const char *hwmon, const char *file, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "hwmon/%s/%s", hwmon, file);
	put_at(card, path, text);
}

/* card0 has a mean of its power, card1 only a value of now; a connector is no card. */
static void make_cards(void)
{
	strcpy(dir, "/tmp/test_sampler.XXXXXX");
	if (!mkdtemp(dir)) {
		exit(99);
	}
	smp_env_init(&env);
	env.root = dir;
	make_card("card0", "hwmon4", "aaaa\n");
	make_card("card1", "hwmon7", "bbbb\n");
	make_folder("/sys/class/drm/card0-DP-1/device");
	put_sensor("card0", "hwmon4", "power1_average", "100000000\n");
	put_sensor("card1", "hwmon7", "power1_input", "50000000\n");
	put_sensor("card0", "hwmon4", "energy1_input", "5000\n");
	put_sensor("card1", "hwmon7", "energy1_input", "6000\n");
	put_sensor("card0", "hwmon4", "temp1_input", "45000\n");
	put_sensor("card0", "hwmon4", "freq1_input", "1700000000\n");
	put_sensor("card0", "hwmon4", "freq2_input", "900000000\n");
}

static void values_are_those_of_the_files(void)
{
	make_cards();
	OPEN(SMP_NODE, 0, "gpu_*", "gpu_*:*");
	HAS("gpu_busy", 80);
	HAS("gpu_busy:card1", 40);
	HAS("gpu_mem_busy", 14);
	HAS("gpu_mem_used", 2000);
	HAS("gpu_mem_total:card0", 9000);
	HAS("gpu_power", 150000000);
	HAS("gpu_power:card1", 50000000);
	HAS("gpu_energy", 11000);
	HAS("gpu_temp:card0", 45000);
	HAS("gpu_clock:card0", 1700000000);
	HAS("gpu_mem_clock:card0", 900000000);
	CHECK(!planned("gpu_temp:card1"), "a sensor that is not there");
	CHECK(planned("gpu_temp")->missing && strstr(planned("gpu_temp")->missing, "not added up"),
		"a sum of temperatures");
	put_at("card0", "gpu_busy_percent", "0\n");
	put_sensor("card0", "hwmon4", "energy1_input", "5500\n");
	read_again();
	HAS("gpu_busy", 40);
	HAS("gpu_energy", 11500);
	drop();
}

static void what_cannot_be_read_is_not_0(void)
{
	make_cards();
	OPEN(SMP_NODE, 0, "gpu_power", "gpu_power:*", "gpu_energy", "gpu_busy");
	/* as of a card that sleeps */
	put_sensor("card0", "hwmon4", "power1_average", "");
	put_sensor("card0", "hwmon4", "energy1_input", "4000\n");
	read_again();
	CHECK_INT(state[place("gpu_power")] & SMP_VALID, 0);
	CHECK_INT(state[place("gpu_power:card0")], 0);
	HAS("gpu_power:card1", 50000000);
	HAS("gpu_energy", 11000);
	CHECK(state[place("gpu_energy")] & SMP_LEFT_OUT, "a fall without a mark");
	put_sensor("card0", "hwmon4", "power1_average", "90000000\n");
	put_sensor("card0", "hwmon4", "energy1_input", "5100\n");
	read_again();
	HAS("gpu_power", 140000000);
	HAS("gpu_energy", 11100);
	drop();
}

static void fall_from_32_bits_is_no_turn(void)
{
	make_cards();
	put_sensor("card0", "hwmon4", "energy1_input", "4294967290\n");
	OPEN(SMP_NODE, 0, "gpu_energy:card0");
	put_sensor("card0", "hwmon4", "energy1_input", "20\n");
	read_again();
	HAS("gpu_energy:card0", 4294967290);
	drop();
}

/* The numbers of cards and of their sensors' folders change; the identifier does not. */
static void card_vanishes_and_comes_back(void)
{
	make_cards();
	OPEN(SMP_NODE, 0, "gpu_energy", "gpu_power:card1");
	shell("rm -r %s/sys/class/drm/card1%s", "");
	read_again();
	CHECK_INT(state[place("gpu_power:card1")] & SMP_VALID, 0);
	HAS("gpu_energy", 11000);
	make_card("card2", "hwmon9", "bbbb\n");
	put_sensor("card2", "hwmon9", "power1_input", "60000000\n");
	put_sensor("card2", "hwmon9", "energy1_input", "6400\n");
	read_again();
	HAS("gpu_energy", 11400);
	HAS("gpu_power:card1", 60000000);
	drop();
}

/* Two cards change their numbers, and one of them has been reset. */
static void cards_change_their_numbers(void)
{
	make_cards();
	OPEN(SMP_NODE, 0, "gpu_energy", "gpu_energy:*", "gpu_power:*");
	shell("cd %s/sys/class/drm && mv card0 x && mv card1 card0 && mv x card1%s", "");
	put_sensor("card0", "hwmon7", "energy1_input", "6300\n");
	put_sensor("card1", "hwmon4", "energy1_input", "10\n");
	read_again();
	put_sensor("card1", "hwmon4", "energy1_input", "20\n");
	read_again();
	put_sensor("card1", "hwmon4", "energy1_input", "30\n");
	read_again();
	CHECK(got("gpu_energy") >= 11300 && got("gpu_energy") <= 11330, "%lld", got("gpu_energy"));
	HAS("gpu_energy:card1", 6300);
	HAS("gpu_power:card1", 50000000);
	HAS("gpu_power:card0", 100000000);
	drop();
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(values_are_those_of_the_files);
	RUN(what_cannot_be_read_is_not_0);
	RUN(fall_from_32_bits_is_no_turn);
	RUN(card_vanishes_and_comes_back);
	RUN(cards_change_their_numbers);
	return check_end();
}

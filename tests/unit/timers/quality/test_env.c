/* SPDX-License-Identifier: BSD-3-Clause */
/* What a machine is and runs, read from the files of another one. */
#include "config.h"
#include "base/rootfs.h"
#include "timers/quality/env.h"
#include "tests/lib/check.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static void put(const char *dir, const char *path, const char *text)
{
	char name[256], *p;
	int fd;

	snprintf(name, sizeof(name), "%s/%s", dir, path);
	for (p = name + strlen(dir) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(name, 0700);
		*p = '/';
	}
	fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text), "%s", name);
	close(fd);
}

static void environment_of_another_machine_is_read(void)
{
	char dir[] = "/tmp/tkm-env-XXXXXX", cmd[64], key[256], *text = NULL;
	struct tmr_env e;
	size_t len;
	FILE *f;
	int root;

	CHECK(mkdtemp(dir) != NULL, "mkdtemp");
	put(dir, "proc/sys/kernel/random/boot_id", "11111111-2222-3333-4444-555555555555\n");
	put(dir, "proc/cpuinfo",
		"processor\t: 0\nmodel name\t: Grand \"Old\" CPU @ 2.40GHz\n"
		"flags\t\t: fpu tsc xconstant_tsc nonstop_tsc tsc_adjust\n\nprocessor\t: 1\n");
	put(dir, "sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
	put(dir, "sys/devices/system/clocksource/clocksource0/available_clocksource", "hpet acpi_pm \n");
	root = tkm_root_open(dir);
	tmr_env_read(root, &e);
	CHECK_STR(e.boot_id, "11111111-2222-3333-4444-555555555555");
	CHECK_STR(e.cpu, "Grand \"Old\" CPU @ 2.40GHz");
	CHECK_STR(e.clocksource, "hpet");
	CHECK_STR(e.clocksources, "hpet acpi_pm");
	CHECK_STR(e.tsc_flags, "nonstop_tsc tsc_adjust");
	CHECK_STR(e.time_ns, "");
	CHECK(strstr(tmr_env_domain(&e, key, sizeof(key)), "/11111111-2222-3333-4444-555555555555/"), "%s", key);
	f = open_memstream(&text, &len);
	tmr_env_print(f, "> ", &e);
	fclose(f);
	CHECK(strstr(text, "> clock source: hpet (available: hpet acpi_pm)\n"), "%s", text);
	free(text);
	put(dir, "proc/cpuinfo",
		"processor\t: 0\nBogoMIPS\t: 125.00\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\n"
		"CPU architecture: 8\nCPU variant\t: 0x1\nCPU part\t: 0xd07\nCPU revision\t: 0\n\n");
	tmr_env_read(root, &e);
	CHECK_STR(e.cpu, "ARM, implementer 0x41, part 0xd07, variant 0x1, revision 0");
	CHECK_STR(e.tsc_flags, "");
	close(root);
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	CHECK_INT(system(cmd), 0);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(environment_of_another_machine_is_read);
	return check_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that makes VT_ calls for a second and says whether the library of NVML was loaded into it. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "include/VT.h"

int main(int argc, char **argv)
{
	char line[4096];
	int found = 0;
	FILE *f;

	VT_initialize(&argc, &argv);
	usleep(900000);
	f = fopen("/proc/self/maps", "r");
	while (f && fgets(line, sizeof(line), f)) {
		found |= strstr(line, "libnvidia-ml") != NULL;
	}
	puts(found ? "NVML is loaded" : "NVML is not loaded");
	fflush(stdout);
	VT_finalize();
	return 0;
}

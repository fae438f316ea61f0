/* SPDX-License-Identifier: BSD-3-Clause */
/* When a process was born, and the boot id of this node. */
#include "config.h"
#include "collector-plugin/raw/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rootfs.h"
#include "collector-plugin/host/memory.h"

VT_SELDOM uint64_t vt_raw_born(uint32_t pid)
{
	char name[40] = "/proc/self/stat", text[1024], *p;
	int root = tkm_root_open("/"), i;

	if (pid) {
		snprintf(name, sizeof(name), "/proc/%u/stat", pid);
	}
	if (root < 0 || tkm_root_read(root, name, text, sizeof(text)) <= 0) {
		text[0] = '\0';
	}
	if (root >= 0) {
		close(root);
	}
	p = strrchr(text, ')');
	if (p && (p[2] == 'Z' || p[2] == 'X')) {
		return 0;
	}
	for (i = 0; p && i < 20; i++) {
		p = strchr(p + 1, ' ');
	}
	return p ? strtoull(p, NULL, 10) : 0;
}

VT_SELDOM void vt_raw_boot(char *buf, size_t size)
{
	int root = tkm_root_open("/");

	buf[0] = '\0';
	if (root >= 0) {
		tkm_root_line(root, "/proc/sys/kernel/random/boot_id", buf, size);
		close(root);
	}
}

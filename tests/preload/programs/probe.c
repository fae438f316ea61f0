/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded into foreign programs, with and without vtrun: as the last thing that a process does, it appends to $PROBE_TO what it has
 * of the system: descriptors, how signals are handled, and the number of threads. The two logs must be the same. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char to[256];

static void add(char *text, size_t size, const char *word)
{
	size_t n = strlen(text);

	snprintf(text + n, size - n, "%s ", word);
}

/* What descriptors are open on; numbers of pipes and sockets differ from run to run. */
static void add_descriptors(char *text, size_t size)
{
	char name[64], target[200], word[300];
	ssize_t n;
	int fd;

	for (fd = 0; fd < 1024; fd++) {
		snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
		n = readlink(name, target, sizeof(target) - 1);
		if (n > 0) {
			target[n] = '\0';
			target[strcspn(target, ":")] = '\0';
			snprintf(word, sizeof(word), "%d=%s", fd, strncmp(target, "/tmp/", 5) ? target : "/tmp");
			add(text, size, word);
		}
	}
}

static void report(void)
{
	static char text[8192], line[256], name[64];
	FILE *f;
	int fd;

	f = fopen("/proc/self/comm", "re");
	if (f && fgets(name, sizeof(name), f)) {
		name[strcspn(name, "\n")] = '\0';
	}
	if (f) {
		fclose(f);
	}
	snprintf(text, sizeof(text), "%s: ", name);
	f = fopen("/proc/self/status", "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (!strncmp(line, "Threads:", 8) || (!strncmp(line, "Sig", 3) && strncmp(line, "SigQ", 4))) {
			line[strcspn(line, "\n")] = '\0';
			line[strcspn(line, "\t")] = '=';
			add(text, sizeof(text), line);
		}
	}
	if (f) {
		fclose(f);
	}
	add_descriptors(text, sizeof(text) - 2);
	text[strlen(text) - 1] = '\n';
	fd = open(to, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd >= 0) {
		if (write(fd, text, strlen(text)) < 0) {
			text[0] = '\0';
		}
		close(fd);
	}
}

__attribute__((constructor(101))) static void begin(void)
{
	const char *path = getenv("PROBE_TO");

	if (path) {
		snprintf(to, sizeof(to), "%s", path);
	}
}

__attribute__((destructor(101))) static void end(void)
{
	if (to[0]) {
		report();
	}
}

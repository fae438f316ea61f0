/* SPDX-License-Identifier: BSD-3-Clause */
/* opens FOLDER MS: prints how often files in the folder, and the folder, are opened within that time. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int main(int argc, char **argv)
{
	_Alignas(struct inotify_event) char event[65536];
	int fd = inotify_init1(IN_CLOEXEC), n = 0;
	long left, until = now_ms() + (argc > 2 ? atol(argv[2]) : 0);
	struct pollfd p = { fd, POLLIN, 0 };
	ssize_t size, at;

	if (argc < 3 || inotify_add_watch(fd, argv[1], IN_OPEN) < 0) {
		perror("opens");
		return 1;
	}
	while ((left = until - now_ms()) > 0) {
		size = poll(&p, 1, (int)left) > 0 ? read(fd, event, sizeof(event)) : 0;
		for (at = 0; at < size; n++) {
			at += (ssize_t)(sizeof(struct inotify_event) +
				((struct inotify_event *)(void *)(event + at))->len);
		}
	}
	return printf("%d\n", n) < 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded: a sampler is slow to listen. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/socket.h>
#include <unistd.h>

int listen(int fd, int queue)
{
	usleep(150000);
	return ((int (*)(int, int))dlsym(RTLD_NEXT, "listen"))(fd, queue);
}

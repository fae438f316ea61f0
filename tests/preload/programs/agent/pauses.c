/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded into vtsampler: it pauses after each answer. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/socket.h>
#include <unistd.h>

ssize_t sendmsg(int to, const struct msghdr *m, int flags)
{
	ssize_t rc = ((ssize_t(*)(int, const struct msghdr *, int))dlsym(RTLD_NEXT, "sendmsg"))(to, m, flags);

	usleep(200000);
	return rc;
}

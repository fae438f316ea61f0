/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded into vtsampler: holds it where it has decided to end. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

int ppoll(struct pollfd *f, nfds_t n, const struct timespec *t, const sigset_t *mask)
{
	int rc = ((int (*)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *))dlsym(
		    RTLD_NEXT, "ppoll"))(f, n, t, mask),
	    i;

	if (rc == 0 && n == 1 && t->tv_sec == 0 && t->tv_nsec == 0) {
		close(open(getenv("LATE_ENDS"), O_WRONLY | O_CREAT, 0600));
		for (i = 0; i < 600 && access(getenv("LATE_CAME"), F_OK) < 0; i++) {
			usleep(100000);
		}
	}
	return rc;
}

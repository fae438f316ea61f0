/* SPDX-License-Identifier: BSD-3-Clause */
/* The name of a job of MPICH's launcher. */
#include "config.h"
#include "collector-plugin/settings/run_value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/rootfs.h"

/* No variable names a job of MPICH's launcher. Its process on this host, which started the rank and holds the other end of the
 * socket PMI_FD, has --control-port HOST:PORT, the same on all hosts. A later job may get that port again: if the process
 * has all ranks, its pid is part of the name. */
int vt_proxy_job(char *job, size_t size)
{
	static const char option[] = "--control-port";
	const char *fd = secure_getenv("PMI_FD"), *here = secure_getenv("MPI_LOCALNRANKS"),
		   *all = secure_getenv("PMI_SIZE");
	char path[40], text[2048], *port = NULL, *colon;
	struct ucred proxy = { 0 };
	socklen_t size_of_proxy = sizeof(proxy);
	int root = fd ? tkm_root_open("/") : -1;
	ssize_t n;

	if (root < 0) {
		return -1;
	}
	if (getsockopt(atoi(fd), SOL_SOCKET, SO_PEERCRED, &proxy, &size_of_proxy) == 0) {
		snprintf(path, sizeof(path), "/proc/%d/cmdline", proxy.pid);
		n = tkm_root_read(root, path, text, sizeof(text));
		port = n > 0 ? memmem(text, (size_t)n, option, sizeof(option)) : NULL;
	}
	close(root);
	colon = port ? strrchr(port += sizeof(option), ':') : NULL;
	if (!colon) {
		return -1;
	}
	*colon = '\0';
	snprintf(job, size, "hydra-%s-%d-%s", colon + 1, here && all && !strcmp(here, all) ? proxy.pid : 0, port);
	return 0;
}

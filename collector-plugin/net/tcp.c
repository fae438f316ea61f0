/* SPDX-License-Identifier: BSD-3-Clause */
/* TCP connections with limits; see collector-plugin/net/tcp.h. */
#include "config.h"
#include "collector-plugin/net/tcp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "collector-plugin/host/time.h"

enum { QUEUE = 1024 };

static int bind_and_listen(int family, int port)
{
	struct sockaddr_in6 six = {
		.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port), .sin6_addr = in6addr_any
	};
	struct sockaddr_in four = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), off = 0, rc;

	if (fd < 0) {
		return -1;
	}
	if (family == AF_INET6) {
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
		rc = bind(fd, (struct sockaddr *)&six, sizeof(six));
	} else {
		rc = bind(fd, (struct sockaddr *)&four, sizeof(four));
	}
	if (rc == 0 && listen(fd, QUEUE) == 0) {
		return fd;
	}
	rc = errno;
	close(fd);
	errno = rc;
	return -1;
}

int vt_tcp_listen(int low, int high, int *port, struct tkm_err *err)
{
	static const int families[] = { AF_INET6, AF_INET }; /* a kernel may have no IPv6 */
	struct sockaddr_in6 name;
	socklen_t n = sizeof(name);
	int fd = -1, i, p;

	for (i = 0; i < 2 && fd < 0; i++) {
		for (p = low; p <= high && fd < 0; p++) {
			fd = bind_and_listen(families[i], p);
		}
	}
	if (fd < 0) {
		return tkm_fail_errno(
			err, TKM_ERR_UNAVAIL, errno, "no port from %d to %d for clock sessions", low, high);
	}
	/* the port is in the same place for both families */
	*port = getsockname(fd, (struct sockaddr *)&name, &n) == 0 ? ntohs(name.sin6_port) : 0;
	return fd;
}

static int wait_for(int fd, short what, int64_t until_ns)
{
	int64_t left = until_ns - vt_now_ns(CLOCK_MONOTONIC);
	struct pollfd p = { fd, what, 0 };

	return left > 0 && poll(&p, 1, (int)(left / 1000000) + 1) > 0 ? 0 : -1;
}

/* Connects to one address. Returns a descriptor, or -1 with errno. */
static int connect_address(const struct addrinfo *a, int64_t until_ns)
{
	int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), failed = 0;
	socklen_t n = sizeof(failed);

	if (fd < 0) {
		return -1;
	}
	if (connect(fd, a->ai_addr, a->ai_addrlen) < 0) {
		failed = errno;
		if (failed == EINPROGRESS && wait_for(fd, POLLOUT, until_ns) == 0) {
			getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &n);
		} else if (failed == EINPROGRESS) {
			failed = ETIMEDOUT;
		}
	}
	if (failed) {
		close(fd);
		errno = failed;
		return -1;
	}
	return fd;
}

static int connect_host(const char *host, int port, int64_t until_ns, const char **why)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *all = NULL, *a;
	char service[8];
	int fd = -1, rc;

	snprintf(service, sizeof(service), "%d", port);
	rc = getaddrinfo(host, service, &hints, &all);
	*why = rc ? gai_strerror(rc) : "";
	for (a = rc == 0 ? all : NULL; a && fd < 0; a = a->ai_next) {
		fd = connect_address(a, until_ns);
		*why = fd < 0 ? strerror(errno) : "";
	}
	if (rc == 0) {
		freeaddrinfo(all);
	}
	return fd;
}

int vt_tcp_connect(const struct vt_contact *c, int port, double limit_s, int *host, struct tkm_err *err)
{
	char tried[400] = "";
	const char *why;
	size_t n = 0;
	int i, fd = -1;

	for (i = *host; i < c->hosts && fd < 0; i++) {
		fd = connect_host(c->host[i], port, vt_now_ns(CLOCK_MONOTONIC) + (int64_t)(limit_s * 1e9), &why);
		if (fd >= 0) {
			*host = i;
		} else if (n < sizeof(tried)) {
			n += (size_t)snprintf(
				tried + n, sizeof(tried) - n, "%s%s port %d: %s", n ? ", " : "", c->host[i], port, why);
		}
	}
	return fd >= 0 ? fd : tkm_fail(err, TKM_ERR_UNAVAIL, "no connection (tried %s)", tried);
}

int vt_tcp_put(int fd, const void *data, size_t n, double limit_s)
{
	int64_t until = vt_now_ns(CLOCK_MONOTONIC) + (int64_t)(limit_s * 1e9);
	const char *p = data;
	ssize_t k;

	while (n > 0) {
		k = send(fd, p, n, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (k < 0 && ((errno != EAGAIN && errno != EINTR) || wait_for(fd, POLLOUT, until) < 0)) {
			return -1;
		}
		p += k > 0 ? k : 0;
		n -= k > 0 ? (size_t)k : 0;
	}
	return 0;
}

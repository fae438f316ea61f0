/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages between a measured process and the sampler. */
#include "config.h"
#include "collector-plugin/attach/attach.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "collector-plugin/host/time.h"

enum { NAMES = 8 };

unsigned vt_attach_user;

unsigned vt_attach_name(const char *job, int n, struct sockaddr_un *to)
{
	int length;

	memset(to, 0, sizeof(*to));
	to->sun_family = AF_UNIX;
	length = snprintf(to->sun_path + 1, sizeof(to->sun_path) - 1, "tickmark-%u-%d-%s",
		vt_attach_user ? vt_attach_user : (unsigned)geteuid(), n, job);
	length = length < (int)sizeof(to->sun_path) - 1 ? length : (int)sizeof(to->sun_path) - 2;
	return (unsigned)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

/* Is the other side a process of this user? Another user may listen under our name, and must get nothing. */
static int is_my_socket(int fd)
{
	struct ucred who;
	socklen_t size = sizeof(who);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && who.uid == geteuid();
}

int vt_attach_connect_to(const char *job, int n)
{
	struct sockaddr_un a;
	/* a full queue must not stop the program */
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), rc;

	if (fd < 0) {
		return -1;
	}
	rc = connect(fd, (struct sockaddr *)&a, vt_attach_name(job, n, &a)) < 0 ? errno : is_my_socket(fd) ? 0 : EPERM;
	if (rc == 0) {
		return fd;
	}
	close(fd);
	errno = rc;
	return -1;
}

int vt_attach_connect(const char *job)
{
	int fd, n;

	for (n = 0; n < NAMES; n++) {
		fd = vt_attach_connect_to(job, n);
		if (fd >= 0) {
			return fd;
		}
		if (errno != EPERM && errno != EACCES) {
			return -1;
		}
	}
	return -1;
}

static int wait_for_answer(int fd, short what, int64_t until_ns)
{
	struct pollfd p = { fd, what, 0 };
	int64_t left;
	struct timespec ts;
	int rc;

	do {
		left = until_ns - vt_now_ns(CLOCK_MONOTONIC);
		left = left > 0 ? left : 0;
		ts = (struct timespec){ (time_t)(left / 1000000000), (long)(left % 1000000000) };
		rc = ppoll(&p, 1, &ts, NULL);
	} while (rc < 0 && errno == EINTR);
	return rc > 0;
}

static int send_rest(int to, const char *p, size_t n)
{
	ssize_t k;

	while (n > 0) {
		k = send(to, p, n, MSG_NOSIGNAL);
		if (k < 0 && (errno == EAGAIN || errno == EINTR)) {
			if (!wait_for_answer(to, POLLOUT, vt_now_ns(CLOCK_MONOTONIC) + 1000000000)) {
				return -1;
			}
			continue;
		}
		if (k < 0) {
			return -1;
		}
		p += k;
		n -= (size_t)k;
	}
	return 0;
}

int vt_attach_send(int to, enum vt_attach_kind kind, const void *body, size_t size, int fd)
{
	struct vt_attach_head h = { VT_ATTACH_MAGIC, VT_ATTACH_VERSION, kind, (uint32_t)size };
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = { &h, sizeof(h) };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t k;

	if (fd >= 0) {
		memset(&control, 0, sizeof(control));
		m.msg_control = control.room;
		m.msg_controllen = sizeof(control.room);
		CMSG_FIRSTHDR(&m)->cmsg_level = SOL_SOCKET;
		CMSG_FIRSTHDR(&m)->cmsg_type = SCM_RIGHTS;
		CMSG_FIRSTHDR(&m)->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&m)), &fd, sizeof(fd));
	}
	/* an empty connection always has room for the first bytes */
	do {
		k = sendmsg(to, &m, MSG_NOSIGNAL);
	} while (k < 0 && errno == EINTR);
	return k == (ssize_t)sizeof(h) ? send_rest(to, body, size) : -1;
}

static int receive_all(int from, char *p, size_t n, int64_t until_ns)
{
	ssize_t k;

	while (n > 0) {
		if (!wait_for_answer(from, POLLIN, until_ns)) {
			return -1;
		}
		k = recv(from, p, n, MSG_DONTWAIT);
		if (k == 0 || (k < 0 && errno != EAGAIN && errno != EINTR)) {
			return -1;
		}
		p += k > 0 ? k : 0;
		n -= k > 0 ? (size_t)k : 0;
	}
	return 0;
}

ssize_t vt_attach_receive(int from, struct vt_attach_head *head, void *buf, size_t size, int64_t until_ns)
{
	char rest[512];
	size_t n, k;

	if (receive_all(from, (char *)head, sizeof(*head), until_ns) < 0 || head->magic != VT_ATTACH_MAGIC ||
		head->version != VT_ATTACH_VERSION || head->size > VT_ATTACH_MOST) {
		return -1;
	}
	n = head->size < size ? head->size : size;
	if (receive_all(from, buf, n, until_ns) < 0) {
		return -1;
	}
	for (k = head->size - n; k > 0; k -= k < sizeof(rest) ? k : sizeof(rest)) {
		if (receive_all(from, rest, k < sizeof(rest) ? k : sizeof(rest), until_ns) < 0) {
			return -1;
		}
	}
	return (ssize_t)n;
}

int vt_attach_closed(int fd)
{
	char c;
	ssize_t n = recv(fd, &c, 1, MSG_PEEK | MSG_DONTWAIT);

	return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

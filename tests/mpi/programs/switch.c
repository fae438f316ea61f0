/* SPDX-License-Identifier: BSD-3-Clause */
/* The network of netns.sh -d: a TAP device eth0 in the network namespace of each host, and in between a switch that holds
 * every frame back for a while, longer one way than the other where that is asked, as no kernel without netem does.
 *
 * usage: switch DELAY JITTER ASYMMETRY PID...
 * Times are microseconds. A frame from the Ith PID to the Jth is delivered DELAY + ASYMMETRY (where I < J) + what the seeded
 * generator draws out of 0..JITTER after it came, and never before one that came between the same two before; later where
 * no processor is free. Prints "ready" when all devices are there; then runs until it is killed, which removes them. */
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/queue.h>
#include <time.h>
#include <unistd.h>

#define MOST_HOSTS 16   /* as netns.sh */
#define MOST_BYTES 1600 /* an Ethernet frame of TAP's default */
#define ADDRESS 6       /* bytes; the last is the host's number */

struct frame {
	TAILQ_ENTRY(frame) next;
	int64_t due_ns;
	size_t bytes;
	unsigned char data[MOST_BYTES];
};
TAILQ_HEAD(queue, frame);

static struct queue queues[MOST_HOSTS][MOST_HOSTS]; /* from, to */
static struct pollfd ports[MOST_HOSTS];
static int hosts;
static int64_t delay_ns, jitter_ns, asymmetry_ns;

static _Noreturn void give_up(const char *what)
{
	fprintf(stderr, "switch: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The device belongs to the namespace in which /dev/net/tun is opened. */
static int open_port(int host, const char *pid)
{
	struct ifreq device = { .ifr_flags = IFF_TAP | IFF_NO_PI };
	struct ifreq address = { .ifr_hwaddr = {
					 .sa_family = ARPHRD_ETHER, .sa_data = { 2, 0, 0, 0, 0, (char)host } } };
	char path[64];
	int space, port;

	snprintf(path, sizeof(path), "/proc/%.20s/ns/net", pid);
	space = open(path, O_RDONLY | O_CLOEXEC);
	if (space < 0 || setns(space, CLONE_NEWNET)) {
		give_up(path);
	}
	close(space);
	port = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (port < 0) {
		give_up("/dev/net/tun");
	}
	strcpy(device.ifr_name, "eth0");
	if (ioctl(port, TUNSETIFF, &device) || ioctl(port, SIOCSIFHWADDR, &address)) {
		give_up("eth0");
	}
	return port;
}

static int64_t drawn_ns(void)
{
	static uint64_t state = 20261122;

	state = state * 6364136223846793005u + 1442695040888963407u;
	return jitter_ns > 0 ? (int64_t)((state >> 33) % (uint64_t)(jitter_ns + 1)) : 0;
}

static void hold(int from, int to, const unsigned char *data, size_t bytes, int64_t came_ns)
{
	struct queue *q = &queues[from][to];
	struct frame *last = TAILQ_LAST(q, queue), *f = malloc(sizeof(*f));

	if (!f) {
		give_up("a frame");
	}
	f->due_ns = came_ns + delay_ns + (from < to ? asymmetry_ns : 0) + drawn_ns();
	if (last && f->due_ns < last->due_ns) {
		f->due_ns = last->due_ns;
	}
	f->bytes = bytes;
	memcpy(f->data, data, bytes);
	TAILQ_INSERT_TAIL(q, f, next);
}

static void take(int from)
{
	unsigned char data[MOST_BYTES];
	ssize_t got;

	while ((got = read(ports[from].fd, data, sizeof(data))) >= 2 * ADDRESS) {
		int64_t came_ns = now_ns();

		for (int to = 0; to < hosts; to++) {
			/* the lowest bit of the first byte: to all */
			if (to != from && ((data[0] & 1) || data[ADDRESS - 1] == to)) {
				hold(from, to, data, (size_t)got, came_ns);
			}
		}
	}
	if (got < 0 && errno != EAGAIN && errno != EINTR && errno != EIO) { /* EIO: not up yet */
		give_up("read");
	}
}

/* Returns when the next one is due, -1 where none is held. */
static int64_t deliver(void)
{
	int64_t next_ns = -1;

	for (int from = 0; from < hosts; from++) {
		for (int to = 0; to < hosts; to++) {
			struct queue *q = &queues[from][to];
			struct frame *f;

			while ((f = TAILQ_FIRST(q)) && f->due_ns <= now_ns()) {
				if (write(ports[to].fd, f->data, f->bytes) < 0 && errno != EAGAIN && errno != EIO) {
					give_up("write");
				}
				TAILQ_REMOVE(q, f, next);
				free(f);
			}
			if (f && (next_ns < 0 || f->due_ns < next_ns)) {
				next_ns = f->due_ns;
			}
		}
	}
	return next_ns;
}

int main(int argc, char **argv)
{
	hosts = argc - 4;
	if (hosts < 2 || hosts > MOST_HOSTS) {
		fprintf(stderr, "usage: switch DELAY JITTER ASYMMETRY PID... (microseconds, 2 to %d hosts)\n",
			MOST_HOSTS);
		return 2;
	}
	delay_ns = 1000 * strtoll(argv[1], NULL, 10);
	jitter_ns = 1000 * strtoll(argv[2], NULL, 10);
	asymmetry_ns = 1000 * strtoll(argv[3], NULL, 10);
	for (int i = 0; i < hosts; i++) {
		ports[i] = (struct pollfd){ .fd = open_port(i, argv[4 + i]), .events = POLLIN };
		for (int j = 0; j < hosts; j++) {
			TAILQ_INIT(&queues[i][j]);
		}
	}
	prctl(PR_SET_TIMERSLACK, 1UL);
	puts("ready");
	fflush(stdout);
	for (;;) {
		int64_t next_ns = deliver(), wait_ns = next_ns - now_ns();
		struct timespec wait = { .tv_sec = wait_ns / 1000000000, .tv_nsec = wait_ns % 1000000000 };

		if (next_ns >= 0 && wait_ns <= 0) {
			continue;
		}
		if (ppoll(ports, (nfds_t)hosts, next_ns < 0 ? NULL : &wait, NULL) < 0 && errno != EINTR) {
			give_up("poll");
		}
		for (int i = 0; i < hosts; i++) {
			take(i);
		}
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Devices that come and go, for devices.sh: makes and removes loop devices, and sends frames of known size.
 *
 *     devices loop-add NUMBER FILE      /dev/loopNUMBER over FILE
 *     devices loop-remove NUMBER
 *     devices frames INTERFACE N BYTES
 *
 * Built as a shared object it is preloaded instead: CLOCK_BOOTTIME jumps ahead by SUSPENDED seconds half a second after
 * the start, as it does when a machine has been asleep. */
#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <net/if.h>
#include <netinet/in.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifdef PIC_SUSPENDED
int clock_gettime(clockid_t id, struct timespec *t)
{
	static struct timespec first;
	const char *text = getenv("SUSPENDED");
	int rc = (int)syscall(SYS_clock_gettime, id, t);
	struct timespec now;

	if (rc == 0 && id == CLOCK_BOOTTIME && text) {
		syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
		if (!first.tv_sec) {
			first = now;
		}
		if ((double)(now.tv_sec - first.tv_sec) + 1e-9 * (double)(now.tv_nsec - first.tv_nsec) > 0.5) {
			t->tv_sec += atoi(text);
		}
	}
	return rc;
}
#else
static int fail(const char *what)
{
	fprintf(stderr, "devices: %s: %s\n", what, strerror(errno));
	return 1;
}

static int loop_add(int number, const char *file)
{
	int control = open("/dev/loop-control", O_RDWR), backing = open(file, O_RDWR), loop;
	char path[40];

	snprintf(path, sizeof(path), "/dev/loop%d", number);
	if (control < 0 || backing < 0 || ioctl(control, LOOP_CTL_ADD, number) < 0) {
		return fail("no new loop device");
	}
	loop = open(path, O_RDWR);
	if (loop < 0 || ioctl(loop, LOOP_SET_FD, backing) < 0) {
		/* a container may have the right but not the name */
		fail(path);
		ioctl(control, LOOP_CTL_REMOVE, number);
		return 1;
	}
	return 0;
}

static int loop_remove(int number)
{
	int control = open("/dev/loop-control", O_RDWR), loop, tries;
	char path[40];

	snprintf(path, sizeof(path), "/dev/loop%d", number);
	loop = open(path, O_RDWR);
	if (loop < 0 || ioctl(loop, LOOP_CLR_FD, 0) < 0) {
		return fail(path);
	}
	close(loop);
	/* whoever looks at new devices may still have it open */
	for (tries = 0; ioctl(control, LOOP_CTL_REMOVE, number) < 0; tries++) {
		if (errno != EBUSY || tries == 100) {
			return fail("loop-control");
		}
		usleep(20000);
	}
	return 0;
}

static int frames(const char *name, int n, size_t bytes)
{
	struct sockaddr_ll to = {
		.sll_family = AF_PACKET, .sll_ifindex = (int)if_nametoindex(name), .sll_halen = ETH_ALEN
	};
	static unsigned char frame[1500];
	int fd = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL)), i;

	memset(frame, 0xff, 2 * ETH_ALEN);
	/* a type for experiments, which nobody answers */
	frame[12] = 0x88;
	frame[13] = 0xb5;
	for (i = 0; i < n && fd >= 0; i++) {
		if (sendto(fd, frame, bytes, 0, (struct sockaddr *)&to, sizeof(to)) != (ssize_t)bytes) {
			return fail(name);
		}
	}
	return fd < 0 ? fail("packet socket") : 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "loop-add")) {
		return loop_add(atoi(argv[2]), argv[3]);
	}
	if (argc == 3 && !strcmp(argv[1], "loop-remove")) {
		return loop_remove(atoi(argv[2]));
	}
	if (argc == 5 && !strcmp(argv[1], "frames") && atoi(argv[4]) >= 14 && atoi(argv[4]) <= 1500) {
		return frames(argv[2], atoi(argv[3]), (size_t)atoi(argv[4]));
	}
	fprintf(stderr, "usage: devices loop-add NUMBER FILE | loop-remove NUMBER | frames INTERFACE N BYTES\n");
	return 2;
}
#endif

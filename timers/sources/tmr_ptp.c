/* SPDX-License-Identifier: BSD-3-Clause */
/* A PTP hardware clock, "ptp:/dev/ptp0". */
#include "config.h"
#include "timers/timer_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

/* The kernel's dynamic clock ids: ~fd in the upper bits, 3 = CLOCKFD (clock_getres(2)). */
static clockid_t fd_to_clock(int fd)
{
	return (clockid_t)((~(unsigned)fd << 3) | 3);
}

static ltick_t read_ptp(struct tmr_timer *t)
{
	struct timespec ts = { 0, 0 };

	clock_gettime(fd_to_clock((int)(intptr_t)t->impl), &ts);
	return ltick((int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec);
}

static int open_ptp(struct tmr_timer *t, const char *arg, struct tkm_err *err)
{
	const char *dev = arg ? arg : "/dev/ptp0";
	struct timespec ts;
	int fd = open(dev, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		return tkm_fail_errno(err, TKM_ERR_UNAVAIL, errno, "cannot open %s", dev);
	}
	if (clock_gettime(fd_to_clock(fd), &ts) < 0) {
		tkm_fail_errno(err, TKM_ERR_UNAVAIL, errno, "%s is no PTP clock", dev);
		close(fd);
		return -1;
	}
	t->read = read_ptp;
	t->read_ordered = read_ptp;
	t->hz = 1e9;
	t->flags = TMR_STEPPED | TMR_SLEWED | TMR_DEVICE;
	t->shareable = 1;
	t->impl = (void *)(intptr_t)fd;
	if (!arg) {
		snprintf(t->name, sizeof(t->name), "ptp:%s", dev);
	}
	return 0;
}

static void close_ptp(struct tmr_timer *t)
{
	close((int)(intptr_t)t->impl);
}

const struct tmr_ops tmr_ptp = {
	.name = "ptp",
	.arg = "/dev/ptp0",
	.what = "PTP hardware clock of a network card",
	.scope = TMR_SCOPE_NODE,
	.open = open_ptp,
	.close = close_ptp,
	.own_quartz = 1,
};

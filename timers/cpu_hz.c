/* SPDX-License-Identifier: BSD-3-Clause */
/* The nominal frequency of the cycle counter, from CPUID, the hypervisor, a register or the kernel; see
 * timers/cpu_hz.h. */
#include "config.h"
#include "timers/cpu_hz.h"

#include <linux/perf_event.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/rootfs.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

double tmr_hz_of_page(const struct perf_event_mmap_page *p)
{
	/* ns = (cycles * mult) >> shift */
	return p->cap_user_time && p->time_mult ? 1e9 * (double)((uint64_t)1 << p->time_shift) / p->time_mult : 0;
}

/* A software event is enough: its page carries the kernel's counter-to-nanosecond factors. Guests
 * whose scheduler runs on the hypervisor's clock do not get them. */
static double perf_hz(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page *p;
	double hz = 0;
	int fd;

	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0) {
		return 0;
	}
	p = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, 0);
	if (p != MAP_FAILED) {
		hz = tmr_hz_of_page(p);
		munmap(p, page);
	}
	close(fd);
	return hz;
}

#if defined(__x86_64__) || defined(__i386__)

/* On x86 the kernel skips the delay loop and computes bogomips as tsc_khz / 500, cut to two decimals
 * (init/calibrate.c, lpj_fine), so the TSC's frequency follows to about a part per million. */
static double bogomips_hz(void)
{
	char *text = malloc(8192), *p;
	int root = tkm_root_open("/");
	double hz = 0;

	if (text && root >= 0 && tkm_root_read(root, "/proc/cpuinfo", text, 8192) > 0) {
		p = strstr(text, "\nbogomips");
		p = p ? strchr(p, ':') : NULL;
		hz = p ? (strtod(p + 1, NULL) + 0.005) * 0.5e6 : 0;
	}
	if (root >= 0) {
		close(root);
	}
	free(text);
	return hz > 1e8 ? hz : 0;
}

static double cpuid_hz(const char **from)
{
	unsigned a, b, c, d, vm;

	__cpuid(1, a, b, c, d);
	vm = c >> 31;
	if (vm) {
		__cpuid(0x40000000, a, b, c, d);
		if (a >= 0x40000010 && a < 0x40010000) {
			__cpuid(0x40000010, a, b, c, d);
			if (a > 0) {
				*from = "CPUID 0x40000010 (hypervisor)";
				return a * 1e3;
			}
		}
	}
	/* Guests see CPUID leaf 0x15 of the host. Where the counter is scaled, that is not the guest's rate. */
	if (!vm && __get_cpuid_count(0x15, 0, &a, &b, &c, &d) && a && b && c) {
		*from = "CPUID 0x15";
		return (double)c * b / a;
	}
	return 0;
}

int tmr_cpu_invariant(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d >> 8 & 1);
}

const char *tmr_hypervisor(char *buf)
{
	unsigned a, b, c, d;

	buf[0] = buf[12] = '\0';
	__cpuid(1, a, b, c, d);
	if (c >> 31) {
		__cpuid(0x40000000, a, b, c, d);
		memcpy(buf, &b, 4);
		memcpy(buf + 4, &c, 4);
		memcpy(buf + 8, &d, 4);
	}
	return buf;
}

#elif defined(__aarch64__)

static double bogomips_hz(void)
{
	return 0; /* says something else here */
}

static double cpuid_hz(const char **from)
{
	uint64_t v;

	__asm__("mrs %0, cntfrq_el0" : "=r"(v));
	*from = "CNTFRQ_EL0";
	/* firmware that never set the register leaves 0 or a wrong value there; the architecture allows 1 MHz to 1
	 * GHz */
	return v >= 1000000 && v <= 1000000000 ? (double)v : 0;
}

int tmr_cpu_invariant(void)
{
	return 1;
}

const char *tmr_hypervisor(char *buf)
{
	buf[0] = '\0';
	return buf;
}

#else

static double bogomips_hz(void)
{
	return 0;
}

static double cpuid_hz(const char **from)
{
	(void)from;
	return 0;
}

int tmr_cpu_invariant(void)
{
	return -1;
}

const char *tmr_hypervisor(char *buf)
{
	buf[0] = '\0';
	return buf;
}

#endif

double tmr_kernel_hz(const char **from)
{
	double hz = perf_hz();

	*from = "kernel (perf time_mult)";
	if (hz == 0) {
		hz = bogomips_hz();
		*from = hz > 0 ? "kernel (bogomips, +-1 ppm)" : NULL;
	}
	return hz;
}

/* Found once: a guest leaves to its hypervisor for each CPUID, and /proc/cpuinfo takes the kernel long. */
double tmr_cpu_hz(const char **from)
{
	static _Atomic double known = -1;
	static const char *_Atomic known_from;
	const char *found_from = NULL;
	double hz = known;

	if (hz < 0) {
		hz = cpuid_hz(&found_from);
		hz = hz > 0 ? hz : tmr_kernel_hz(&found_from);
		known_from = found_from;
		known = hz;
	}
	*from = known_from;
	return hz;
}

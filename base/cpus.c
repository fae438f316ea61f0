/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of processing units; see base/cpus.h. */
#include "config.h"
#include "base/cpus.h"

#include <errno.h>
#include <string.h>

/* The kernel's own limit is far below. */
static const size_t most_bytes = 1 << 20;

int tkm_cpus_make(struct tkm_cpus *c, size_t bytes)
{
	tkm_cpus_free(c);
	c->set = CPU_ALLOC(8 * bytes);
	if (!c->set) {
		return -1;
	}
	c->bytes = CPU_ALLOC_SIZE(8 * bytes);
	CPU_ZERO_S(c->bytes, c->set);
	return 0;
}

void tkm_cpus_free(struct tkm_cpus *c)
{
	if (c->set) {
		CPU_FREE(c->set);
	}
	*c = (struct tkm_cpus){ .set = NULL };
}

int tkm_cpus_own(struct tkm_cpus *c)
{
	size_t bytes;
	int error;

	for (bytes = sizeof(cpu_set_t); bytes <= most_bytes && tkm_cpus_make(c, bytes) == 0; bytes *= 2) {
		if (sched_getaffinity(0, c->bytes, c->set) == 0) {
			return 0;
		}
		if (errno != EINVAL) {
			break;
		}
	}
	error = errno;
	tkm_cpus_free(c);
	errno = error;
	return -1;
}

int tkm_cpus_only(struct tkm_cpus *c, unsigned unit)
{
	if (tkm_cpus_make(c, unit / 8 + 1) < 0) {
		return -1;
	}
	CPU_SET_S(unit, c->bytes, c->set);
	return 0;
}

size_t tkm_cpus_count(const struct tkm_cpus *c)
{
	return c->set ? (size_t)CPU_COUNT_S(c->bytes, c->set) : 0;
}

int tkm_cpus_next(const struct tkm_cpus *c, int after)
{
	size_t i;

	for (i = (size_t)(after + 1); i < 8 * c->bytes; i++) {
		if (CPU_ISSET_S(i, c->bytes, c->set)) {
			return (int)i;
		}
	}
	return -1;
}

int tkm_cpus_bind(const struct tkm_cpus *c)
{
	if (!c->set) {
		errno = EINVAL;
		return -1;
	}
	return sched_setaffinity(0, c->bytes, c->set);
}

int tkm_cpus_bind_to(unsigned unit)
{
	struct tkm_cpus one = { .set = NULL };
	int rc = tkm_cpus_only(&one, unit) < 0 ? -1 : tkm_cpus_bind(&one), error = errno;

	tkm_cpus_free(&one);
	errno = error;
	return rc;
}

int tkm_cpus_unbind(void)
{
	struct tkm_cpus all = { .set = NULL };
	int rc = tkm_cpus_own(&all), error;

	if (rc == 0) {
		memset(all.set, 0xff, all.bytes);
		rc = tkm_cpus_bind(&all);
	}
	error = errno;
	tkm_cpus_free(&all);
	errno = error;
	return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The program's counters (Intel Trace Collector guide, section 3.1.8). A handle is the counter's number in the raw
 * file. So a call whose counters all belong to the calling thread passes its two arrays to the raw file unchanged. */
#include "config.h"
#include "collector-plugin/core/thread.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "include/VT.h"
#include "collector-plugin/api/private.h"
#include "collector-plugin/core/collect.h"
#include "collector-plugin/core/names.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/writer.h"
#include "collector-plugin/sample/sample.h"

enum { MAX_COUNTERS = 0x10000, MOST = VT_RAW_MAX_COUNTERS };

enum flag {
	KNOWN = 1,
	PLAIN = 2, /* belongs to the calling thread, 64 bits, recorded as it is */
	PAIR = 4,  /* VT_COUNT_INTEGER */
	OFF = 8,   /* COUNTER name off */
};

static struct vt_names names;
static _Atomic uint8_t flags[MAX_COUNTERS];
static int where_of[MAX_COUNTERS]; /* written before the flags */

/* Copies the 16 bytes of the bounds. The program's pointer may be wrong: if the memory cannot be read, there are no
 * bounds. */
static VT_SELDOM int read_bounds(const void *bounds, void *out)
{
	struct iovec to = { out, 16 }, from = { (void *)(uintptr_t)bounds, 16 };
	ssize_t n;

	if (!bounds) {
		return -1;
	}
	n = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
	if (n == 16) {
		return 0;
	}
	if (n < 0) {
		/* process_vm_readv() is not allowed here, or part of the memory cannot be read. Write to a pipe: it
		 * copies what can be read and fails on the rest */
		int fd[2], good = 0;

		if (pipe(fd) == 0) {
			good = write(fd[1], bounds, 16) == 16 && read(fd[0], out, 16) == 16;
			close(fd[0]);
			close(fd[1]);
		}
		return good ? 0 : -1;
	}
	return -1;
}

static uint64_t join_counter_halves(const uint32_t *pair)
{
	return (uint64_t)pair[0] << 32 | pair[1];
}

/* Sets the bounds. Bounds of another type than the counter's give wrong values; bounds that are not ascending mean
 * that there are none. */
static VT_SELDOM void set_counter_bounds(struct vt_raw_counter_def *d, int data, const void *bounds)
{
	uint32_t raw[4];
	uint64_t low, high;
	double f[2];

	if (read_bounds(bounds, raw) != 0) {
		return;
	}
	memcpy(f, raw, 16);
	memcpy(&low, raw, 8);
	memcpy(&high, raw + 2, 8);
	if (data == VT_COUNT_INTEGER) {
		low = join_counter_halves(raw);
		high = join_counter_halves(raw + 2);
	}
	if (data == VT_COUNT_FLOAT ? f[0] < f[1] : (int64_t)low < (int64_t)high) {
		d->lower = low;
		d->upper = high;
	}
}

static VT_SELDOM VT_ErrorCode check_genre(int genre, int *data)
{
	int scope = genre & VT_COUNT_SCOPE, display = genre & VT_COUNT_DISPLAY;

	*data = genre & VT_COUNT_DATA;
	if (*data == 0) {
		*data = VT_COUNT_INTEGER64;
	}
	if (genre & ~(VT_COUNT_DATA | VT_COUNT_SCOPE | VT_COUNT_DISPLAY) || *data > VT_COUNT_INTEGER64 ||
		scope > VT_COUNT_VALID_SAMPLE || display > VT_COUNT_RATE) {
		return VT_ERR_BADKIND;
	}
	return VT_OK;
}

/* Records the definition of the counter with index i; its handle is i + VT_FIRST_ID. */
static VT_SELDOM VT_ErrorCode record_counter(
	struct vt_collect *c, uint32_t i, struct vt_raw_counter_def *d, int data, int target)
{
	int where = vt_target_where(c, target), on = vt_collect_counter_on(d->name);
	uint8_t f = KNOWN;

	d->id = VT_FIRST_ID + i;
	d->where = where > 0 ? (uint16_t)where : 0;
	f |= data == VT_COUNT_INTEGER ? PAIR : 0;
	f |= on ? 0 : OFF;
	f |= on && where == VT_WHERE_THREAD && data != VT_COUNT_INTEGER ? PLAIN : 0;
	if (vt_raw_counter(c->raw, d) != 0) {
		return VT_ERR_NOMEMORY;
	}
	where_of[i] = where;
	atomic_store_explicit(&flags[i], f, memory_order_release);
	return VT_OK;
}

VT_SELDOM VT_ErrorCode VT_countdef(const char *name, int classhandle, int genre, int target, const void *bounds,
	const char *unit, int *counterhandle)
{
	struct vt_raw_counter_def d = { .name = name, .unit = unit ? unit : "" };
	VT_ErrorCode rc = vt_self_to_define();
	uint32_t number;
	int fresh, data;

	if (rc != VT_OK) {
		return rc;
	}
	rc = check_genre(genre, &data);
	if (rc != VT_OK || vt_target_where(vt_tls.collect, target) == VT_WHERE_NOTHING) {
		return VT_ERR_BADKIND;
	}
	if (!name) {
		return VT_ERR_BADARG;
	}
	d.classid = classhandle > 0 ? (uint32_t)classhandle : vt_class(vt_tls.collect, "Application");
	d.type = (uint8_t)((data == VT_COUNT_FLOAT ? 2 : 1) | (genre & VT_COUNT_SCOPE));
	d.do_diff = (genre & VT_COUNT_DISPLAY) == VT_COUNT_RATE;
	set_counter_bounds(&d, data, bounds);
	vt_names_define();
	number = vt_names_number(&names, name, &fresh);
	if (number == 0 || number >= MAX_COUNTERS) {
		rc = VT_ERR_NOMEMORY;
	} else if (fresh) {
		rc = record_counter(vt_tls.collect, number, &d, data, target);
	}
	vt_names_defined();
	if (rc == VT_OK && counterhandle) {
		*counterhandle = VT_FIRST_ID + (int)number;
	}
	return rc;
}

VT_SELDOM uint32_t vt_counter_of_ours(struct vt_collect *c, struct vt_raw_counter_def *d)
{
	int fresh;

	vt_names_define();
	d->id = vt_names_number(&names, d->name, &fresh);
	d->id = d->id && d->id < MAX_COUNTERS ? VT_FIRST_ID + d->id : 0;
	if (d->id && vt_raw_counter(c->raw, d) != 0) {
		d->id = 0;
	}
	vt_names_defined();
	return d->id;
}

/* ---- values ---- */

static unsigned flags_of(int handle)
{
	unsigned i = (unsigned)handle - VT_FIRST_ID;

	return i < MAX_COUNTERS ? atomic_load_explicit(&flags[i], memory_order_acquire) : 0;
}

/* The thread or group under which counter `handle` of the calling thread is stored; -1: nowhere, without an error. */
static int place_of_counter(int handle, unsigned f)
{
	int where = where_of[handle - VT_FIRST_ID];

	if (f & OFF || where == VT_WHERE_ELSEWHERE) {
		return -1;
	}
	return where == VT_WHERE_THREAD ? vt_tls.thread->number : where;
}

static void record_values(ltick_t now, int where, int n, const uint32_t *ids, const uint64_t *values)
{
	vt_raw_values(
		vt_tls.thread->stream, now, (uint16_t)where, (unsigned)n, ids, values, where == vt_tls.thread->number);
}

/* Records the counters of one call, of any kind, with one time stamp: one record for each run of counters that belong
 * together. */
static VT_SELDOM VT_ErrorCode record_values_at(ltick_t now, int n, const int *handles, const void *values)
{
	uint32_t id[MOST];
	uint64_t value[MOST];
	int i, k = 0, last = -1;
	VT_ErrorCode rc = VT_OK;

	for (i = 0; i < n; i++) {
		unsigned f = flags_of(handles[i]);
		int where = f & KNOWN ? place_of_counter(handles[i], f) : -1;
		uint32_t pair[2];

		if (!(f & KNOWN)) {
			rc = VT_ERR_BADARG;
		}
		if (where < 0) {
			continue;
		}
		if (k == MOST || (k > 0 && where != last)) {
			record_values(now, last, k, id, value);
			k = 0;
		}
		last = where;
		id[k] = (uint32_t)handles[i];
		memcpy(&value[k], (const char *)values + 8 * (size_t)i, 8);
		if (f & PAIR) {
			memcpy(pair, &value[k], 8);
			value[k] = join_counter_halves(pair);
		}
		k++;
	}
	if (k > 0) {
		record_values(now, last, k, id, value);
	}
	return rc;
}

static VT_SELDOM VT_ErrorCode countval_slow(int ncounters, const int *handles, const void *values)
{
	VT_ErrorCode rc = vt_self();

	if (rc != VT_OK) {
		return rc;
	}
	if (ncounters < 0 || (ncounters > 0 && (!handles || !values))) {
		return VT_ERR_BADARG;
	}
	if (vt_tls.state != VT_TLS_ON || ncounters == 0) {
		return VT_OK;
	}
	return record_values_at(vt_ticks_now(vt_tls.collect), ncounters, handles, values);
}

VT_ErrorCode VT_countval(int ncounters, int *handles, void *values)
{
	struct vt_collect *c = vt_tls.collect;
	const uint32_t *ids = (const uint32_t *)handles;
	ltick_t now;
	int i;

	if (vt_tls.state != VT_TLS_ON || c != vt_collect_running() || !handles || !values || ncounters <= 0 ||
		ncounters > MOST) {
		return countval_slow(ncounters, handles, values);
	}
	for (i = 0; i < ncounters; i++) {
		if (!(flags_of(handles[i]) & PLAIN)) {
			return countval_slow(ncounters, handles, values);
		}
	}
	now = vt_ticks_now(c);
	if (!vt_raw_values_short(vt_tls.thread->stream, now, (unsigned)ncounters, ids, values)) {
		record_values(now, vt_tls.thread->number, ncounters, ids, values);
	}
	return VT_OK;
}

VT_ErrorCode VT_countsetcallback(VT_CountCallback_t callback, void *custom, int ncounters)
{
	VT_ErrorCode rc = vt_self();

	if (rc != VT_OK) {
		return rc;
	}
	if (callback && (ncounters <= 0 || ncounters > 1 << 20)) {
		return VT_ERR_BADARG;
	}
	return vt_sampling_callback(callback, custom, ncounters, record_values_at);
}

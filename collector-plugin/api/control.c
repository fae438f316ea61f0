/* SPDX-License-Identifier: BSD-3-Clause */
/* Start, end, threads, recording on and off, time stamps (Intel Trace Collector guide, sections 3.1.3 and 3.6.1).
 * What MPI adds comes through vt_mpi_hooks, so libVTcs does not depend on MPI. */
#include "config.h"
#include "collector-plugin/core/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "include/VT.h"
#include "collector-plugin/api/private.h"
#include "collector-plugin/core/collect.h"
#include "collector-plugin/core/hooks.h"
#include "collector-plugin/core/names.h"
#include "collector-plugin/raw/writer.h"
#include "collector-plugin/run/run.h"
#include "collector-plugin/trace/trace.h"
#include "collector-plugin/trace/world.h"

/* ---- start and end ---- */

VT_ErrorCode VT_initialize(int *argc, char ***argv)
{
	const char *argv0 = argc && argv && *argc > 0 && *argv ? (*argv)[0] : NULL;
	struct tkm_err err;
	int rc;

	vt_take_arguments(argc, argv);
	if (vt_hooks.initialize) {
		return vt_hooks.initialize(argc, argv);
	}
	rc = vt_join_job(argv0);
	if (rc != VT_OK) {
		return (VT_ErrorCode)rc;
	}
	rc = vt_collect_start(-1, 0, argv0, &err);
	if (rc != 0) {
		return rc > 0 ? VT_ERR_BADREQUEST : VT_ERR_BADFILE;
	}
	return vt_self();
}

VT_ErrorCode VT_finalize(void)
{
	if (vt_hooks.finalize) {
		return vt_hooks.finalize();
	}
	vt_collect_end(1);
	return VT_OK;
}

VT_ErrorCode VT_setfinalizecallback(VT_Callback_t callback)
{
	vt_set_finalize(callback);
	return VT_OK;
}

const char *VT_getdescription(int type)
{
	switch (type) {
	case VT_DESCRIPTION_LIB:
		return vt_hooks.library ? vt_hooks.library : "libVTcs, " PACKAGE_NAME " " PACKAGE_VERSION;
	case VT_DESCRIPTION_VERSION:
		return PACKAGE_VERSION;
	default:
		return NULL;
	}
}

int VT_version(void)
{
	return VT_VERSION;
}

/* ---- processes and threads ---- */

VT_ErrorCode VT_getrank(int *rank)
{
	const struct vt_collect *c = vt_collect_running();

	if (rank) {
		*rank = c ? vt_world_rank(c) : 0;
	}
	return c ? VT_OK : VT_ERR_NOTINITIALIZED;
}

VT_ErrorCode VT_getthrank(int *thrank)
{
	VT_ErrorCode rc = vt_self();

	if (thrank) {
		*thrank = rc == VT_OK ? vt_tls.thread->number : 0;
	}
	return rc;
}

static VT_ErrorCode register_thread(const char *name, int number)
{
	struct vt_collect *c = vt_collect_running();
	VT_ErrorCode rc;

	if (!c) {
		return VT_ERR_NOTINITIALIZED;
	}
	if (vt_tls.inside) {
		return VT_ERR_INVT;
	}
	vt_inside_begin();
	rc = vt_tls.collect == c ? VT_OK : vt_register_self(c, number);
	if (rc == VT_OK) {
		rc = vt_threads_register(c, vt_tls.thread, number, name);
	}
	vt_inside_end();
	return rc;
}

VT_ErrorCode VT_registerthread(int thindex)
{
	return register_thread(NULL, thindex);
}

VT_ErrorCode VT_registernamed(const char *threadname, int thindex)
{
	return register_thread(threadname, thindex);
}

VT_ErrorCode VT_registerprefixed(const char *threadname, int thindex)
{
	char name[300];
	int rank = 0;

	if (!threadname || !threadname[0]) {
		return register_thread(NULL, thindex);
	}
	VT_getrank(&rank);
	snprintf(name, sizeof(name), "P%d %.250s", rank, threadname);
	return register_thread(name, thindex);
}

void VT_traceon(void)
{
	if (vt_self() == VT_OK && vt_tls.thread->stream && vt_process_off() != 2) {
		vt_tls.state = VT_TLS_ON;
		vt_threads_switch(vt_tls.thread, 1);
	}
}

void VT_traceoff(void)
{
	if (vt_self() == VT_OK) {
		vt_tls.state = VT_TLS_OFF;
		vt_threads_switch(vt_tls.thread, 0);
	}
}

VT_ErrorCode VT_tracestate(int *state)
{
	VT_ErrorCode rc = vt_self();
	int s = 2;

	if (rc == VT_OK && vt_process_off() != 2) {
		s = vt_tls.state == VT_TLS_ON ? 0 : 1;
	}
	if (state) {
		*state = s;
	}
	return rc;
}

/* ---- flush ---- */

static VT_ErrorCode flush_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;

	if (fd < 0) {
		return VT_ERR_FLUSH;
	}
	rc = fdatasync(fd);
	close(fd);
	return rc == 0 ? VT_OK : VT_ERR_FLUSH;
}

/* The raw file is mapped, so the records are safe if the process is killed. This call makes them safe if the machine
 * crashes, too. */
VT_ErrorCode VT_flush(void)
{
	static _Atomic uint32_t function;
	VT_ErrorCode rc = vt_self(), entered;
	struct vt_collect *c = vt_tls.collect;
	uint32_t f;
	int saved = errno;

	if (rc != VT_OK || vt_tls.inside) {
		return rc != VT_OK ? rc : VT_ERR_INVT;
	}
	f = atomic_load(&function);
	if (f == 0) {
		f = vt_function(c, "VT_API", "TRACE_FLUSH");
		atomic_store(&function, f);
	}
	entered = vt_trace_enter(f, 0, VT_TRACE_FUNCTION);
	vt_raw_wake(c->raw);
	rc = flush_file(vt_raw_path(c->raw));
	if (entered == VT_OK) {
		vt_trace_leave(0, VT_TRACE_FUNCTION);
	}
	errno = saved;
	return rc;
}

/* ---- time ---- */

double VT_timeofday(void)
{
	struct timeval now;

	gettimeofday(&now, NULL);
	return (double)now.tv_sec + (double)now.tv_usec * 1e-6;
}

/* Seconds since the collector began. A double has room for the ticks of the finest clock for weeks. Programs compare
 * values from different threads. */
double VT_timestamp(void)
{
	const struct vt_collect *c = vt_collect_running();

	if (!c) {
		return VT_ERR_NOTINITIALIZED;
	}
	return (double)ltick_sub(tmr_read_ordered(c->timer), c->start) / c->timer->hz;
}

double VT_timestart(void)
{
	const struct vt_collect *c = vt_collect_running();

	return c ? (double)c->start_realtime_ns * 1e-9 : VT_ERR_NOTINITIALIZED;
}

VT_ErrorCode VT_timesync(void)
{
	VT_ErrorCode rc = vt_self();

	if (rc == VT_OK && vt_hooks.timesync) {
		rc = vt_hooks.timesync();
	}
	return rc;
}

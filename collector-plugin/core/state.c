/* SPDX-License-Identifier: BSD-3-Clause */
/* The collector of this process and the state of its threads, and the questions that other parts ask about it. */
#include "config.h"
#include "collector-plugin/core/collector.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/text/glob.h"
#include "include/VT.h"
#include "collector-plugin/core/collect.h"
#include "collector-plugin/core/hooks.h"
#include "collector-plugin/core/thread.h"
#include "collector-plugin/host/memory.h"
#include "collector-plugin/raw/writer.h"
#include "collector-plugin/settings/check.h"
#include "collector-plugin/settings/settings.h"

union vt_life vt_life;
struct vt_collector vt_collector;
struct vt_hooks vt_hooks;
_Thread_local struct vt_tls vt_tls;

void vt_life_begin(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	vt_life.here = 1;
	/* without it (before Linux 4.14), only children of fork() are detected, by pthread_atfork() */
	if (page <= VT_LIFE_BYTES && (uintptr_t)&vt_life % page == 0) {
		madvise(&vt_life, page, MADV_WIPEONFORK);
	}
}

static _Atomic(VT_Callback_t) finalize_callback;

void vt_set_finalize(VT_Callback_t callback)
{
	atomic_store(&finalize_callback, callback);
}

void vt_call_finalize(void)
{
	VT_Callback_t callback = atomic_exchange(&finalize_callback, NULL);

	if (callback && vt_collect_running()) {
		callback();
	}
}

/* TIME-WINDOWS count from the beginning of the trace. */
int vt_collect_in_window(ltick_t now)
{
	const struct vt_collector *c = &vt_collector;

	return vt_settings_in_window(
		c->settings.time_windows, (double)ltick_sub(now, c->pub.start) * tmr_period(c->pub.timer));
}

const struct vt_account *vt_collect_account(void)
{
	return &vt_collector.account;
}

const struct vt_settings *vt_collect_settings(void)
{
	return &vt_collector.settings;
}

int vt_has_vtsampler(void)
{
	return vt_collector.has_vtsampler;
}

int vt_is_watched(void)
{
	return vt_collector.watched;
}

const char *vt_collect_inside_why(void)
{
	return vt_collector.inside_why;
}

const char *vt_collect_timer_name(void)
{
	return vt_collector.timer_name;
}

int vt_collect_timer_by_default(void)
{
	return vt_collector.timer_by_default;
}

const char *vt_collect_config(size_t *size, const char **name)
{
	*size = vt_collector.config_size;
	*name = vt_collector.config_name;
	return vt_collector.config_text;
}

const char *vt_collect_run_text(void)
{
	return vt_collector.run;
}

const char *vt_collect_job(void)
{
	return vt_collector.job;
}

void vt_collect_helper(enum vt_helper helper, int tid)
{
	atomic_store(&vt_collector.helper[helper], tid);
}

const char *vt_collect_trace(void)
{
	return vt_collector.trace[0] ? vt_collector.trace : NULL;
}

const char *vt_collect_raw_path(void)
{
	return vt_collector.raw_path;
}

const char *vt_collect_option(const char *name)
{
	return vt_settings_other(&vt_collector.settings, name);
}

int vt_collect_counter_on(const char *name)
{
	const struct tkm_option_list *l = &vt_collector.settings.counter;
	struct tkm_glob_rule r;
	size_t i = l->n;

	if (vt_settings_idle_s(&vt_collector.settings) > 0) {
		return 0;
	}
	/* the last rule that matches counts; the program's own counters are on unless a rule excludes them */
	while (i-- > 0) {
		if (tkm_glob_rule_parse("COUNTER", l->text[i], &r, NULL) == 0 && tkm_glob_match(r.pattern, name)) {
			return r.on;
		}
	}
	return 1;
}

int vt_collect_is_of_job(void)
{
	return vt_collector.pub.together;
}

unsigned vt_collect_leave_out(int more)
{
	static _Atomic unsigned children;

	return atomic_fetch_add(&children, (unsigned)more);
}

/* ---- recording on and off ---- */

static _Atomic int process_off; /* 0 recording, 1 until VT_traceon(), 2 for good: PROCESS, CLUSTER */

static int paused;

void vt_process_paused(void)
{
	paused = 1;
	atomic_store(&process_off, 1);
}

void vt_process_state(int state)
{
	struct vt_collect *c = vt_collect_running();
	state = state == 0 && paused ? 1 : state;
	atomic_store(&process_off, state);
	if (c) {
		atomic_store(&vt_raw_head(c->raw)->process_off, state);
	}
	if (vt_tls.collect && vt_tls.collect == vt_collect_running()) {
		vt_tls.state = state == 0 && vt_tls.thread->stream ? VT_TLS_ON : VT_TLS_OFF;
	}
}

int vt_process_off(void)
{
	return atomic_load(&process_off);
}

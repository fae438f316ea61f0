/* SPDX-License-Identifier: BSD-3-Clause */
/* The collector of this process, and the questions that other parts ask about it. */
#include "config.h"
#include "collector-plugin/core/collector.h"

#include <string.h>
#include <strings.h>

#include "include/VT.h"
#include "collector-plugin/core/collect.h"
#include "collector-plugin/core/hooks.h"
#include "collector-plugin/host/memory.h"
#include "collector-plugin/settings/settings.h"

VT_WRITTEN_IN_CHILD _Atomic(struct vt_collect *) vt_collecting;
struct vt_collector vt_collector;
struct vt_hooks vt_hooks;

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

	return vt_settings_in_window(&c->settings, (double)ltick_sub(now, c->pub.start) * tmr_period(c->pub.timer));
}

const struct vt_account *vt_collect_account(void)
{
	return &vt_collector.account;
}

const struct vt_settings *vt_collect_settings(void)
{
	return &vt_collector.settings;
}

int vt_collect_is_outside(void)
{
	return vt_collector.outside;
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

const char *vt_collect_option(const char *name)
{
	return vt_settings_other(&vt_collector.settings, name);
}

int vt_collect_counter_on(const char *name)
{
	const struct tkm_option_list *l = &vt_collector.settings.counter;
	char pattern[256];
	size_t i, n;
	int on = 1;

	/* the last rule that matches counts; the program's own counters are on unless a rule excludes them */
	for (i = 0; i < l->n; i++) {
		n = strcspn(l->text[i], " \t");
		if (n < sizeof(pattern)) {
			memcpy(pattern, l->text[i], n);
			pattern[n] = '\0';
			if (smp_match(pattern, name)) {
				n += strspn(l->text[i] + n, " \t");
				on = strcasecmp(l->text[i] + n, "off") && strcasecmp(l->text[i] + n, "false");
			}
		}
	}
	return on;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens and closes a timer of a given kind; see timers/timer.h. */
#include "config.h"
#include "timers/timer_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tmr_timer *tmr_open_kind(const struct tmr_ops *ops, const char *name, struct tkm_err *err)
{
	struct tmr_timer *t = calloc(1, sizeof(*t));
	const char *arg = strchr(name, ':');

	if (!t) {
		tkm_fail(err, TKM_ERR_NOMEM, "timer %s: out of memory", name);
		return NULL;
	}
	if (arg && !ops->arg) {
		tkm_fail(err, TKM_ERR_ARG, "timer %s takes no argument, '%s' was given", ops->name, arg + 1);
		goto fail;
	}
	t->ops = ops;
	t->scope = ops->scope;
	snprintf(t->name, sizeof(t->name), "%s", ops->arg ? name : ops->name);
	if (ops->open(t, arg ? t->name + (arg + 1 - name) : NULL, err) < 0) {
		goto fail;
	}
	return t;
fail:
	free(t);
	return NULL;
}

void tmr_close(struct tmr_timer *t)
{
	if (t) {
		if (t->ops && t->ops->close) {
			t->ops->close(t);
		}
		free(t);
	}
}

double tmr_period(const struct tmr_timer *t)
{
	return t->hz > 0 ? 1 / t->hz : NAN;
}

const char *tmr_scope_name(enum tmr_scope scope)
{
	static const char *const names[] = { "process", "core", "node", "cluster" };

	return names[scope];
}

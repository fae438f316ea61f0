/* SPDX-License-Identifier: BSD-3-Clause */
/* A timer of a given kind is opened, with its argument, and closed. */
#include "config.h"
#include "timers/timer_private.h"
#include "tests/lib/check.h"

static char argument[20];
static int opened, closed;

static int open_made_up(struct tmr_timer *t, const char *arg, struct tkm_err *err)
{
	opened++;
	snprintf(argument, sizeof(argument), "%s", arg ? arg : "(none)");
	if (arg && !strcmp(arg, "bad")) {
		return tkm_fail(err, TKM_ERR_UNAVAIL, "no such clock");
	}
	t->hz = 4;
	return 0;
}

static void close_made_up(struct tmr_timer *t)
{
	(void)t;
	closed++;
}

static const struct tmr_ops plain = { .name = "plain",
	.scope = TMR_SCOPE_NODE,
	.open = open_made_up,
	.close = close_made_up };
static const struct tmr_ops with_argument = { .name = "made",
	.arg = "WORD",
	.scope = TMR_SCOPE_CORE,
	.open = open_made_up,
	.close = close_made_up };

static void an_argument_goes_to_those_that_take_one(void)
{
	struct tkm_err err = { 0 };
	struct tmr_timer *t = tmr_open_kind(&with_argument, "made:up", &err);

	CHECK(t != NULL, "%s", err.text);
	CHECK_STR(t->name, "made:up");
	CHECK_STR(argument, "up");
	CHECK_STR(tmr_scope_name(t->scope), "core");
	CHECK_NEAR(tmr_period(t), 0.25, 0);
	tmr_close(t);
	CHECK_INT(closed, 1);
	opened = 0;
	CHECK(!tmr_open_kind(&plain, "plain:up", &err) && opened == 0, "opened");
	CHECK_STR(err.text, "timer plain takes no argument, 'up' was given");
	t = tmr_open_kind(&plain, "PLAIN", &err);
	CHECK(t != NULL, "%s", err.text);
	CHECK_STR(t->name, "plain");
	CHECK_STR(argument, "(none)");
	CHECK_STR(tmr_scope_name(t->scope), "node");
	tmr_close(t);
}

static void what_was_not_opened_is_not_closed(void)
{
	struct tkm_err err = { 0 };

	closed = 0;
	CHECK(!tmr_open_kind(&with_argument, "made:bad", &err) && closed == 0, "%d", closed);
	CHECK_STR(err.text, "no such clock");
	tmr_close(NULL);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(an_argument_goes_to_those_that_take_one);
	RUN(what_was_not_opened_is_not_closed);
	return check_end();
}

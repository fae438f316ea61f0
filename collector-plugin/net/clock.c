/* SPDX-License-Identifier: BSD-3-Clause */
/* Clock sessions between two node processes; see collector-plugin/net/clock.h. */
#include "config.h"
#include "collector-plugin/net/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/text/text.h"

int vt_net_clock_open(struct vt_net_clock *c, const char *timer, int rank, struct tkm_err *err)
{
	snprintf(c->timer_name, sizeof(c->timer_name), "%s", timer);
	c->timer = tmr_open(timer, rank > 0 ? rank : 0, err);
	return c->timer ? 0 : -1;
}

int vt_net_clock_connect(struct vt_net_clock *c, int fd, int side, struct tkm_err *err)
{
	c->link = cal_link_tcp(fd, side, err);
	if (c->link) {
		c->link->timer = c->timer;
	}
	return c->link ? 0 : -1;
}

/* Both sides do this when the master has sent its word. */
static int make_session(struct vt_net_clock *c, enum cal_session_kind kind, struct tkm_err *err)
{
	struct cal_job_options o = cal_job_defaults();
	size_t lost = c->begun ? c->job.report.lost : 0;

	if (!c->begun) {
		c->link->timer = c->timer;
		if (cal_job_begin(&c->job, c->link, &o, err) < 0) {
			cal_job_end(&c->job);
			return -1;
		}
		c->begun = 1;
	}
	if (cal_job_session(&c->job, kind, err) < 0) {
		return -1;
	}
	c->over = kind == CAL_END;
	if (c->job.report.lost > lost) {
		*err = c->job.report.first;
		return -1;
	}
	c->sessions++;
	return 0;
}

int vt_net_clock_session(struct vt_net_clock *c, enum cal_session_kind kind, struct tkm_err *err)
{
	long long word = kind;

	return cal_link_turn(c->link, 0, 1, &word, err) < 0 ? -1 : make_session(c, kind, err);
}

int vt_net_clock_follow(struct vt_net_clock *c, struct tkm_err *err)
{
	long long word = CAL_START;

	if (cal_link_tcp_ended(c->link)) {
		return 1;
	}
	if (cal_link_turn(c->link, 0, 1, &word, err) < 0) {
		return -1;
	}
	if (word < CAL_START || word > CAL_END) {
		return tkm_fail(err, TKM_ERR_DATA, "a clock session of unknown kind %lld", word);
	}
	return make_session(c, (enum cal_session_kind)word, err);
}

char *vt_net_clock_lines(struct vt_net_clock *c, size_t *n)
{
	char *text = NULL;
	struct tkm_err e;
	FILE *f = open_memstream(&text, n);

	*n = 0;
	if (!f) {
		return NULL;
	}
	if (((c->begun ? cal_job_keep(&c->job, f, &e) : 0) | tkm_text_end(f, &text)) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

void vt_net_clock_cut(struct vt_net_clock *c)
{
	if (c->begun) {
		c->cut = 1;
		shutdown(cal_link_tcp_fd(c->link), SHUT_RDWR);
	} else if (c->link) {
		cal_link_close(c->link);
		c->link = NULL;
	}
}

void vt_net_clock_close(struct vt_net_clock *c)
{
	if (c->begun) {
		cal_job_end(&c->job);
	}
	if (c->link) {
		cal_link_close(c->link);
	}
	if (c->timer) {
		tmr_close(c->timer);
	}
	memset(c, 0, sizeof(*c));
}

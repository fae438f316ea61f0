/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks the sampler process of a job on this node for a rank; it asks VTserver. Started if there is none. And asks for the word of a job. */
#include "config.h"
#include "collector-plugin/attach/attach.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "collector-plugin/host/time.h"

enum { TEXTS = 2000, LOOK_MS = 100 };

/* Adds a key and its text, as at an attachment. */
static size_t add_join_text(char *to, size_t n, const char *key, const char *text)
{
	int k = n < TEXTS ? snprintf(to + n, TEXTS - n, "%s%c%s", key, '\0', text) : 0;

	return n + (size_t)k + 1;
}

static size_t pack_request(const struct vt_attach_request *r, char *to)
{
	size_t n = add_join_text(to, 0, "word", r->word);
	char text[16] = "", token[20];

	if (r->rank >= 0) {
		snprintf(text, sizeof(text), "%d", r->rank);
	}
	n = add_join_text(to, n, "rank", text);
	snprintf(text, sizeof(text), "%d", r->size);
	n = add_join_text(to, n, "size", text);
	snprintf(text, sizeof(text), "%d", r->children);
	n = add_join_text(to, n, "children", text);
	snprintf(token, sizeof(token), "%llx", (unsigned long long)r->token);
	n = add_join_text(to, n, "token", token);
	snprintf(token, sizeof(token), "%llx", (unsigned long long)r->parent);
	n = add_join_text(to, n, "parent", token);
	n = add_join_text(to, n, "mpi", r->mpi ? "1" : "");
	n = add_join_text(to, n, "shared", r->shared ? "1" : "");
	return add_join_text(to, n, "program", r->program);
}

static int connect_or_start_sampler(const struct vt_attach_request *r, struct tkm_err *err)
{
	int fd = vt_attach_connect(r->job);

	if (fd < 0 && vt_attach_start(r->job, r->near, err) == 0) {
		fd = vt_attach_connect(r->job);
		if (fd < 0) {
			tkm_fail_errno(err, TKM_ERR_UNAVAIL, errno, "cannot connect to the sampler process");
		}
	}
	return fd;
}

/* Waits for the answer in short turns, between which the wait can be given up. Returns its size or -1. */
static ssize_t receive_answer(
	int fd, const struct vt_attach_request *r, struct vt_attach_head *h, char answer[TEXTS], struct tkm_err *err)
{
	int64_t until = vt_now_ns(CLOCK_MONOTONIC) + (int64_t)(r->limit_s * 1e9);
	struct pollfd p = { fd, POLLIN, 0 };
	ssize_t n;

	while (poll(&p, 1, LOOK_MS) <= 0) {
		if (r->stop && atomic_load(r->stop)) {
			return tkm_fail(err, TKM_ERR_TIMEOUT, "the wait was given up");
		}
		if (r->limit_s > 0 && vt_now_ns(CLOCK_MONOTONIC) > until) {
			return tkm_fail(err, TKM_ERR_TIMEOUT, "no rank within %g s", r->limit_s);
		}
	}
	n = vt_attach_receive(fd, h, answer, TEXTS, vt_now_ns(CLOCK_MONOTONIC) + 1000000000);
	return n >= 0 ? n : tkm_fail(err, TKM_ERR_UNAVAIL, "the process that speaks for this node has ended");
}

int vt_attach_join(const struct vt_attach_request *r, struct vt_attach_place *place, struct tkm_err *err)
{
	struct vt_attach_head h = { .kind = 0 };
	char text[TEXTS];
	size_t n = pack_request(r, text);
	int fd = n <= sizeof(text) ? connect_or_start_sampler(r, err)
				   : tkm_fail(err, TKM_ERR_ARG, "the contact word is too long");
	ssize_t k = -1;

	if (fd < 0) {
		return -1;
	}
	if (vt_attach_send(fd, VT_ATTACH_JOIN, text, n, -1) < 0) {
		tkm_fail_errno(err, TKM_ERR_UNAVAIL, errno, "cannot speak to the sampler process");
	} else {
		k = receive_answer(fd, r, &h, text, err);
	}
	close(fd);
	if (k == (ssize_t)sizeof(*place) && h.kind == VT_ATTACH_JOINED) {
		memcpy(place, text, sizeof(*place));
		return 0;
	}
	return k < 0 ? -1 : tkm_fail(err, TKM_ERR_UNAVAIL, "%.*s", (int)k, text);
}

int vt_attach_ask_word(const struct vt_attach_request *r, char *word, size_t size, struct tkm_err *err)
{
	struct vt_attach_head h = { .kind = 0 };
	int fd = vt_attach_connect(r->job);
	char text[TEXTS];
	ssize_t n;

	if (fd < 0) {
		return tkm_fail_errno(
			err, TKM_ERR_UNAVAIL, errno, "the process that waits for the server is not there");
	}
	n = vt_attach_send(fd, VT_ATTACH_WORD, NULL, 0, -1) < 0
		? tkm_fail_errno(err, TKM_ERR_UNAVAIL, errno, "cannot speak to the process that waits for the server")
		: receive_answer(fd, r, &h, text, err);
	close(fd);
	if (n < 0) {
		return -1;
	}
	if (h.kind != VT_ATTACH_WORD || (size_t)n >= size) {
		return tkm_fail(err, TKM_ERR_UNAVAIL, "%.*s", (int)n, text);
	}
	memcpy(word, text, (size_t)n);
	word[n] = '\0';
	return 0;
}

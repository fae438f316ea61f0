/* SPDX-License-Identifier: BSD-3-Clause */
/* Begins to write a trace. */
#include "config.h"
#include "stf/format/hash.h"
#include "stf/pack/zst.h"
#include "stf/write/writer.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static int check_options(const char *path, const struct stf_writer_options *o, struct stf_err *err)
{
	const char *c;

	if (!path || !*path) {
		return stf_fail(err, STF_ERR_ARG, NULL, 0, 0, "a trace needs a file name");
	}
	if (!(o->resolution > 0) || !isfinite(o->resolution)) {
		return stf_fail(err, STF_ERR_ARG, NULL, 0, 0, "resolution is %g s, must be above 0", o->resolution);
	}
	if (o->eventbits > 63) {
		return stf_fail(err, STF_ERR_ARG, NULL, 0, 0, "%u event bits, at most 63", o->eventbits);
	}
	if (o->n_group_home && !o->group_home) {
		return stf_fail(
			err, STF_ERR_ARG, NULL, 0, 0, "%u homes of groups, but no list of them", o->n_group_home);
	}
	if (o->n_node > 0x10000 || (o->n_node && !o->node)) {
		return stf_fail(err, STF_ERR_ARG, NULL, 0, 0, "%u nodes of processes, at most 65536", o->n_node);
	}
	if (o->compress < 0 || o->compress > 19) {
		return stf_fail(
			err, STF_ERR_ARG, NULL, 0, 0, "compression level %d, must be 0 (none) to 19", o->compress);
	}
	for (c = o->comment; c && *c; c++) {
		if ((unsigned char)*c < ' ') {
			return stf_fail(err, STF_ERR_ARG, NULL, 0, 0, "the comment must be one line of text");
		}
	}
	if (o->comment && strlen(o->comment) > 900) {
		return stf_fail(err, STF_ERR_ARG, NULL, 0, 0, "the comment is longer than 900 bytes");
	}
	return 0;
}

static int choose_identity(struct stf_writer *w, const struct stf_writer_options *opt)
{
	w->identity = (struct stf_trace_identity){ opt->identity[0], opt->identity[1], opt->resolution, opt->eventbits,
		(uint8_t)stf_hash_there() };
	return opt->identity[0] || opt->identity[1] || stf_identity_new(&w->identity) == 0
		? 0
		: stf_fail_errno(&w->err, errno, w->path, "cannot make a random identity for the trace");
}

static int begin_compression(struct stf_writer *w)
{
	if (w->opt.compress) {
		w->zst = stf_zst_new(w->opt.compress, w->opt.big_endian, &w->err);
	}
	return w->opt.compress && !w->zst ? -1 : 0;
}

/* Opens the base file and the file of the declarations. */
static int begin_files(struct stf_writer *w, const struct stf_writer_options *opt)
{
	struct stf_where to = stf_writer_where(w);

	if (opt->single == STF_SINGLE_FD) {
		w->base.fd = opt->fd;
		w->base.name.path = strdup("the given descriptor");
	} else if (stf_out_open(&w->base, w->path, opt->force, &w->err) < 0) {
		return -1;
	}
	w->dcl = stf_stream_new(&to, ".dcl", 0);
	if (!w->dcl) {
		return -1;
	}
	w->dcl->file = FILE_DCL;
	stf_stream_blocks(w->dcl, STX_DECL_BLOCK);
	return opt->single ? 0 : stf_begin_base(w);
}

struct stf_writer *stf_writer_create(const char *path, const struct stf_writer_options *given, struct stf_err *err)
{
	struct stf_writer_options own, *opt = &own;
	struct stf_writer *w;
	struct stf_where memory;

	err->code = STF_OK;
	if (!path || !given) {
		stf_fail(err, STF_ERR_ARG, NULL, 0, 0, "stf_writer_create: no path or no options");
		return NULL;
	}
	if (stf_take_options(opt, sizeof(*opt), given, sizeof(*opt), "stf_writer_options", err) < 0) {
		return NULL;
	}
	if (check_options(path, opt, err) < 0) {
		return NULL;
	}
	w = calloc(1, sizeof(*w));
	if (!w) {
		stf_no_memory(err);
		return NULL;
	}
	w->base.fd = -1;
	w->opt = *opt;
	w->path = strdup(path);
	w->comment = strdup(opt->comment ? opt->comment : "");
	if (!w->path || !w->comment) {
		stf_no_memory(&w->err);
		goto fail;
	}
	w->opt.comment = w->comment;
	if (choose_identity(w, opt) < 0 || begin_compression(w) < 0 || stf_sets_begin(w, opt) < 0) {
		goto fail;
	}
	w->opt.node = w->opt.group_home = NULL; /* both arrays belong to the caller */
	memory = stf_writer_where(w);
	memory.path = NULL;
	w->infos = stf_stream_new(&memory, "", 0);
	w->procs = stf_stream_new(&memory, "", 0);
	if (!w->infos || !w->procs) {
		goto fail;
	}
	if (opt->part) {
		return w;
	}
	if (begin_files(w, opt) < 0) {
		goto fail;
	}
	return w;
fail:
	*err = w->err;
	stf_writer_free(w);
	return NULL;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* vtreport --serve: the page on the loopback address, and any detail of its timeline, which is read from the trace when the page asks. */
#ifndef REPORT_SERVE_H
#define REPORT_SERVE_H

#include "base/err.h"
#include "report/timeline/timeline.h"

/* Prints the address on standard output and answers until SIGINT or SIGTERM comes. Nobody can read the page without the address: it
 * has a random token. page: the page, n bytes. Returns 0; -1: it cannot, or was built without libmicrohttpd. */
int vtr_serve(const char *page, size_t n, struct vtr_timeline *l, struct tkm_err *err);

#endif

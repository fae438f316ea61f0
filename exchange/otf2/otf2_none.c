/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes the place of the OTF2 files in a build without the OTF2 library. */
#include "config.h"
#include "exchange/common/private.h"

const struct xch_format xch_otf2 = {
	.name = "OTF2",
	.suffix = ".otf2",
	.what = "Open Trace Format 2 (Vampir, Score-P, Scalasca)",
	.missing = "not built in: it needs otf2 (configure --with-otf2)",
};

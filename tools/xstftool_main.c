/* SPDX-License-Identifier: BSD-3-Clause */
/* The main function of xstftool. */
#include "config.h"
#include "tools/cli/stftool.h"

int main(int argc, char **argv)
{
	return stt_main(argc, argv, "xstftool");
}

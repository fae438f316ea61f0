#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# In E4S's test suite Spack brings the programs; anywhere else they are those of PATH.
if [ -r ../../setup.sh ]; then
	# shellcheck disable=SC1091
	. ../../setup.sh
	spackLoadUnique tickmark
fi

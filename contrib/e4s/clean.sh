#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
rm -rf ring regions checked.txt ring.html ring.stf* ring.clk ring.prot regions.stf* regions.clk regions.prot .ring.stf.raw .regions.stf.raw

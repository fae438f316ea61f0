# SPDX-License-Identifier: BSD-3-Clause
"""NOT TRIED with ReFrame: timertest on several nodes as an acceptance test."""
import reframe as rfm
import reframe.utility.sanity as sn


@rfm.simple_test
class TimertestCheck(rfm.RunOnlyRegressionTest):
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    executable = "timertest"
    executable_opts = ["30", "10", "--timer", "CPU", "--json", "timertest.json", "--force"]
    num_tasks = 4
    num_tasks_per_node = 1

    @sanity_function
    def fit(self):
        return sn.assert_found(r"^verdict: .* is fit for tracing", self.stdout)

    @performance_function("s")
    def largest_offset(self):
        return sn.extractsingle(r'"maximum": \{[^}]*"offset_s": ([-+.e0-9]+)', "timertest.json", 1, float)

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""timertest --check --format json | timertest-junit.py: the result as JUnit's XML, for CI servers.

An example for any format that timertest does not print: everything is in the JSON object, one member of "checks" per check. A
program like telegraf reads the JSON, or --format prometheus, as it is.
"""
import json
import sys
import xml.etree.ElementTree as xml



def clean(text):
    """XML has no control characters."""
    return "".join(c if c >= " " else "?" for c in text)


report = json.load(sys.stdin)
checks = report["checks"]
failed = [c for c in checks if c["status"] in ("WARNING", "CRITICAL")]
skipped = [c for c in checks if c["status"] in ("UNKNOWN", "ABSENT")]
suite = xml.Element("testsuite", name="timertest", hostname=clean(report["host"]), time="%.3f" % report["duration_s"], errors="0",
                    tests=str(len(checks)), failures=str(len(failed)), skipped=str(len(skipped)))
for c in checks:
    case = xml.SubElement(suite, "testcase", classname="timertest", name=c["name"])
    if c in failed:
        xml.SubElement(case, "failure", type=c["status"], message=clean(c["text"]))
    elif c in skipped:
        xml.SubElement(case, "skipped", message=clean(c["text"]))
xml.ElementTree(suite).write(sys.stdout, encoding="unicode", xml_declaration=True)
print()

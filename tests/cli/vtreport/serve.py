#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Asks vtreport --serve as a browser does, and as others might: serve.py ADDRESS. Writes the page to page.html, and the detail of the
first tenth to detail.html in a form that timeline.js reads. Prints what each question is answered with."""
import http.client
import json
import re
import socket
import sys
import time
import urllib.parse

address = urllib.parse.urlsplit(sys.argv[1])


def ask(path, host=address.netloc, method="GET"):
    c = http.client.HTTPConnection(address.hostname, address.port, timeout=60)
    c.putrequest(method, path, skip_host=True)
    c.putheader("Host", host)
    c.endheaders()
    r = c.getresponse()
    return r.status, dict((k.lower(), v) for k, v in r.getheaders()), r.read().decode()


def say(what, path, **more):
    print(what, ask(path, **more)[0])


status, headers, page = ask(address.path)
print("page", status, headers["cache-control"], headers["content-type"])
print("allowed by CORS", headers.get("access-control-allow-origin", "nobody"))
data = json.loads(re.search(r'id="timeline-data">(.*?)</script>', page, re.S).group(1))
with open("page.html", "w", encoding="utf-8") as f:
    f.write(page)
end = data["end"]
detail = address.path + data["served"]
say("localhost", address.path, host=f"localhost:{address.port}")
say("another name", address.path, host=f"evil.example:{address.port}")
say("no token", "/")
say("wrong token", "/" + "0" * (len(address.path) - 2) + "/")
say("another file", address.path + "../etc/passwd")
say("POST", address.path, method="POST")
for question in ("", "?from=0", "?from=x&to=5", "?from=9&to=5", "?from=-1&to=5", f"?from=0&to={end + 1}", "?from=0&to=" + "9" * 40):
    say("detail" + question.replace(str(end + 1), "END+1"), detail + question)
say("detail of all", f"{detail}?from=0&to={end}")
status, _, text = ask(f"{detail}?from=0&to={end // 10}")
print("detail of a tenth", status)
data["details"] = [text]
data.pop("overview", None)
with open("detail.html", "w", encoding="utf-8") as f:
    f.write('id="timeline-data">' + json.dumps(data) + "</script>")
# as many as the server takes at once: it closes them, but not at once
silent = [socket.create_connection((address.hostname, address.port)) for _ in range(32)]
begun = time.monotonic()
status = None
while status is None and time.monotonic() - begun < 30:
    try:
        status = ask(address.path)[0]
    except OSError:
        time.sleep(0.5)
print("page while others are silent", status)

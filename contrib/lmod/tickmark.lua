-- SPDX-License-Identifier: BSD-3-Clause
-- An Lmod modulefile; set prefix to where Tickmark was installed.
local prefix = os.getenv("TICKMARK_PREFIX") or "/usr/local"

whatis("Name: Tickmark")
whatis("Description: measures a cluster's clocks, corrects them, and records counters, functions and messages on corrected time")
help([[timertest: what this machine's clocks are worth. vtrun -- PROGRAM: a trace of a run. man 7 tickmark tells more.]])

prepend_path("PATH", pathJoin(prefix, "sbin"))
prepend_path("PATH", pathJoin(prefix, "bin"))
prepend_path("MANPATH", pathJoin(prefix, "share/man"))
prepend_path("PKG_CONFIG_PATH", pathJoin(prefix, "lib/pkgconfig"))
prepend_path("LD_LIBRARY_PATH", pathJoin(prefix, "lib"))
prepend_path("PYTHONPATH", pathJoin(prefix, "share/tickmark/python"))
-- completion in bash
if not os.getenv("XDG_DATA_DIRS") then
	append_path("XDG_DATA_DIRS", "/usr/local/share:/usr/share")
end
append_path("XDG_DATA_DIRS", pathJoin(prefix, "share"))
setenv("TICKMARK_PRELOAD", pathJoin(prefix, "lib/libVTcs.so"))

# SPDX-License-Identifier: BSD-3-Clause
# Parsed only, NOT BUILT with Spack. Set url and sha256 to those of your tarball.
from spack.package import *


class Tickmark(AutotoolsPackage):
    """Measures a cluster's clocks, corrects them, and records what a job did on the corrected time axis."""

    homepage = "file:///"
    url = "file:///path/to/tickmark-0.2.0.tar.xz"
    license("BSD-3-Clause")
    version("0.2.0", sha256="0" * 64)

    variant("mpi", default=True, description="timertest with MPI, libVT and the checker")
    depends_on("c", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("uthash", type="build")
    depends_on("mpi", when="+mpi")
    depends_on("hwloc@2:")
    depends_on("gsl")
    depends_on("jansson")
    depends_on("papi")
    depends_on("otf2")
    depends_on("zstd")
    depends_on("zlib-api")
    depends_on("sqlite")
    depends_on("libmicrohttpd")
    depends_on("libzmq")
    depends_on("elfutils")
    depends_on("ncurses")
    depends_on("xxhash")
    depends_on("gnuplot", type="run")

    def configure_args(self):
        return self.with_or_without("mpi")

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        make("installcheck")

    def test_check(self):
        """timertest judges the clocks of this node"""
        program = which(self.prefix.sbin.timertest, self.prefix.bin.timertest)
        program("--version")

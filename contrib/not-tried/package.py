# SPDX-License-Identifier: BSD-3-Clause
# NOT TRIED with Spack. Set url and sha256 to those of your tarball.
from spack.package import *


class Tickmark(AutotoolsPackage):
    """Measures a cluster's clocks, corrects them, and records what a job did on the corrected time axis."""

    homepage = "file:///"
    url = "file:///path/to/tickmark-1.0.tar.gz"
    version("1.0", sha256="0" * 64)

    variant("mpi", default=True, description="timertest with MPI, libVT")
    depends_on("mpi", when="+mpi")
    depends_on("hwloc")
    depends_on("gsl")
    depends_on("jansson")
    depends_on("papi")
    depends_on("otf2")
    depends_on("zstd")
    depends_on("xxhash")
    depends_on("gnuplot", type="run")

    def configure_args(self):
        return self.with_or_without("mpi")

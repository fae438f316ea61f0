;; SPDX-License-Identifier: BSD-3-Clause
;; Read by Guile only, NOT BUILT with Guix: guix build -f tickmark.scm, beside the tarball.
(use-modules (guix packages) (guix gexp) (guix build-system gnu) ((guix licenses) #:prefix license:)
             (gnu packages compression) (gnu packages databases) (gnu packages digest) (gnu packages elf) (gnu packages gnunet)
             (gnu packages maths) (gnu packages mpi) (gnu packages ncurses) (gnu packages networking)
             (gnu packages pkg-config) (gnu packages profiling) (gnu packages sqlite) (gnu packages web)
             (gnu packages datastructures))
(package
  (name "tickmark")
  (version "0.2.0")
  (source (local-file "tickmark-0.2.0.tar.xz"))
  (build-system gnu-build-system)
  (arguments
   ;; the tests start MPI jobs for half an hour
   '(#:tests? #f))
  (native-inputs (list pkg-config uthash))
  (inputs (list openmpi hwloc gsl jansson papi otf2 zstd zlib sqlite zeromq libmicrohttpd elfutils ncurses xxhash gnuplot))
  (synopsis "Measure a cluster's clocks and record what a job did")
  (description "timertest measures what the clocks of a cluster's nodes are worth; vtrun records counters, functions
and messages of a program or an MPI job on one corrected time axis.")
  (home-page "file:///")
  (license license:bsd-3))

! SPDX-License-Identifier: BSD-3-Clause
! Wants MPI_ERRORS_RETURN, and sends to a rank that does not exist. With mpif.h; stop.sh makes of it one with mpi_f08.
program errors
  implicit none
  include "mpif.h"
  integer :: ierr, x
  x = 0
  call MPI_Init(ierr)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
  call MPI_Send(x, 1, MPI_INTEGER, 77, 0, MPI_COMM_WORLD, ierr)
  print *, "went on"
  call MPI_Finalize(ierr)
end program errors

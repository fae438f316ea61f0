! SPDX-License-Identifier: BSD-3-Clause
! MPI and VT from Fortran: each rank sends its number around the ring and records what came.
program mpi_fortran
  use mpi
  implicit none
  include 'VT.inc'
  integer :: ierr, rank, ranks, left, right, k, got, cls, h(1)
  double precision :: value(1), bounds(2)

  call mpi_init(ierr)
  call mpi_comm_rank(mpi_comm_world, rank, ierr)
  call mpi_comm_size(mpi_comm_world, ranks, ierr)
  left = mod(rank + ranks - 1, ranks)
  right = mod(rank + 1, ranks)
  call vtclassdef('Ring', cls, ierr)
  if (ierr /= vt_ok) stop 1
  bounds = 0
  call vtcountdef('got', cls, vt_count_float, vt_me, bounds, '#', h(1), ierr)
  if (ierr /= vt_ok) stop 2
  do k = 1, 10
    call mpi_sendrecv(rank * 100 + k, 1, mpi_integer, right, 1, got, 1, mpi_integer, left, 1, mpi_comm_world, &
      mpi_status_ignore, ierr)
    value(1) = got
    call vtcountval(1, h, value, ierr)
    if (ierr /= vt_ok) stop 3
  end do
  print '(a,i0,a,i0)', 'rank ', rank, ' got ', got
  call mpi_finalize(ierr)
end program mpi_fortran

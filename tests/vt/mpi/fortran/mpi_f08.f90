! SPDX-License-Identifier: BSD-3-Clause
! The Fortran 2008 bindings of MPI, with and without the last argument: what each rank got is recorded, and printed.
program f08
  use mpi_f08
  implicit none
  include 'VT.inc'
  integer :: rank, n, i, cls, h, ierr, provided
  integer, asynchronous :: buf(2), mine(2)
  double precision :: v, b(2)
  type(MPI_Request) :: rq(2)
  type(MPI_Comm) :: c
  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
  call vtclassdef('F08', cls, ierr)
  b = 0
  call vtcountdef('got', cls, vt_count_float, vt_me, b, '#', h, ierr)
  do i = 1, 5
    mine = [rank, i]
    call MPI_Irecv(buf, 2, MPI_INTEGER, mod(rank + n - 1, n), 1, MPI_COMM_WORLD, rq(1))
    call MPI_Isend(mine, 2, MPI_INTEGER, mod(rank + 1, n), 1, MPI_COMM_WORLD, rq(2), ierr)
    call MPI_Waitall(2, rq, MPI_STATUSES_IGNORE)
    v = buf(1) * 10 + buf(2)
    call vtcountval(1, h, v, ierr)
  end do
  call MPI_Comm_dup(MPI_COMM_WORLD, c)
  call MPI_Comm_set_name(c, 'a name')
  call MPI_Comm_free(c)
  call MPI_Allreduce(MPI_IN_PLACE, i, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
  print '(4(a,i0))', 'rank ', rank, ' got ', buf(1), ' ', buf(2), ' ', i
  call MPI_Finalize()
end program f08

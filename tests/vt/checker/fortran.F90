! SPDX-License-Identifier: BSD-3-Clause
! fortran N: a correct program (0), or one with a mistake, whose last line is marked, in the DIALECT that it is compiled for:
! 1 mpif.h, 2 the module mpi, 3 the module mpi_f08.
#if DIALECT == 3
#define T(x) type(x)
#else
#define T(x) integer
#endif
program f
#if DIALECT == 2
  use mpi
#elif DIALECT == 3
  use mpi_f08
#endif
  implicit none
#if DIALECT == 1
  include 'mpif.h'
#endif
  integer :: r, n, ierr, a(8), b(8), i, which, index, indices(4), k
  logical :: flag
  character(len=20) :: arg
  T(MPI_Request) :: q(2), s
  T(MPI_Comm) :: c, d
  T(MPI_Datatype) :: t, u, parts(1)
  integer(kind=MPI_ADDRESS_KIND) :: places(1)
#if DIALECT == 3
  type(MPI_Status) :: st, sts(2)
#else
  integer :: st(MPI_STATUS_SIZE), sts(MPI_STATUS_SIZE, 2)
#endif
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, r, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
  call get_command_argument(1, arg)
  read (arg, *) which
  a = r
  select case (which)
  case (0)
    call MPI_Sendrecv(a, 2, MPI_INTEGER, 1 - r, 1, b, 2, MPI_INTEGER, 1 - r, 1, MPI_COMM_WORLD, st, ierr)
    if (b(1) /= 1 - r) stop 3
    call MPI_Irecv(b, 2, MPI_INTEGER, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, q(1), ierr)
    call MPI_Isend(a, 2, MPI_INTEGER, 1 - r, 2, MPI_COMM_WORLD, q(2), ierr)
    call MPI_Waitall(2, q, sts, ierr)
    call MPI_Get_count(sts(&
#if DIALECT == 3
      1 &
#else
      :, 1 &
#endif
      ), MPI_INTEGER, k, ierr)
    if (k /= 2) stop 4
    call MPI_Irecv(b, 2, MPI_INTEGER, 1 - r, 3, MPI_COMM_WORLD, q(1), ierr)
    call MPI_Isend(a, 2, MPI_INTEGER, 1 - r, 3, MPI_COMM_WORLD, q(2), ierr)
    call MPI_Waitany(2, q, index, MPI_STATUS_IGNORE, ierr)
    if (index < 1 .or. index > 2) stop 5
    call MPI_Waitsome(2, q, k, indices, MPI_STATUSES_IGNORE, ierr)
    if (k /= 1 .or. indices(1) + index /= 3) stop 6
    call MPI_Irecv(b, 2, MPI_INTEGER, 1 - r, 4, MPI_COMM_WORLD, q(1), ierr)
    call MPI_Isend(a, 2, MPI_INTEGER, 1 - r, 4, MPI_COMM_WORLD, q(2), ierr)
    call PMPI_Waitall(2, q, MPI_STATUSES_IGNORE, ierr)
    a = a + 1
    b = b + 1
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    a = a - 1
    call MPI_Comm_dup(MPI_COMM_WORLD, c, ierr)
    call MPI_Comm_set_name(c, "copy", ierr)
    a(1) = 1
    call MPI_Allreduce(MPI_IN_PLACE, a, 1, MPI_INTEGER, MPI_SUM, c, ierr)
    if (a(1) /= n) stop 7
    call MPI_Type_contiguous(2, MPI_INTEGER, t, ierr)
    call MPI_Type_commit(t, ierr)
    call MPI_Bcast(a, 1, t, 0, c, ierr)
    call MPI_Type_contiguous(3, t, u, ierr)
    call MPI_Type_get_contents(u, 1, 0, 1, indices, places, parts, ierr)
    if (indices(1) /= 3) stop 9
    call MPI_Type_free(parts(1), ierr)
    call MPI_Bcast(a, 1, t, 0, c, ierr)
    call MPI_Type_free(u, ierr)
    call MPI_Type_free(t, ierr)
    call MPI_Irecv(b, 2, MPI_INTEGER, MPI_PROC_NULL, 3, c, s, ierr)
    flag = .false.
    do while (.not. flag)
      call MPI_Test(s, flag, st, ierr)
    end do
    call MPI_Comm_free(c, ierr)
    call MPI_Comm_idup(MPI_COMM_WORLD, d, s, ierr)
    call MPI_Wait(s, MPI_STATUS_IGNORE, ierr)
    call MPI_Barrier(d, ierr)
    call MPI_Comm_free(d, ierr)
#if DIALECT == 3
    call MPI_Barrier(MPI_COMM_WORLD)
#endif
  case (1)
    call MPI_Recv(b, 2, MPI_INTEGER, 1 - r, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr) ! mistake
  case (2)
    if (r == 0) then
      call MPI_Barrier(MPI_COMM_WORLD, ierr)
    else
      call MPI_Bcast(a, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr) ! mistake
    end if
  case (3)
    if (r == 0) call MPI_Send(a, 1, MPI_INTEGER, 1, 1, MPI_COMM_WORLD, ierr)
    if (r == 1) call MPI_Recv(b, 1, MPI_REAL, 0, 1, MPI_COMM_WORLD, st, ierr) ! mistake
  case (4)
    call MPI_Comm_dup(MPI_COMM_WORLD, c, ierr) ! mistake
  case (5)
    call MPI_Send(a, -1, MPI_INTEGER, 1 - r, 1, MPI_COMM_WORLD, ierr) ! mistake
  case (6)
    q = MPI_REQUEST_NULL
    call MPI_Irecv(b, 2, MPI_INTEGER, 1 - r, 1, MPI_COMM_WORLD, q(1), ierr)
    call MPI_Irecv(b, 2, MPI_INTEGER, 1 - r, 2, MPI_COMM_WORLD, q(2), ierr) ! mistake
    call MPI_Send(a, 2, MPI_INTEGER, 1 - r, 1, MPI_COMM_WORLD, ierr)
    call MPI_Send(a, 2, MPI_INTEGER, 1 - r, 2, MPI_COMM_WORLD, ierr)
    call MPI_Waitall(2, q, MPI_STATUSES_IGNORE, ierr)
  case (7)
    call MPI_Type_contiguous(2, MPI_INTEGER, t, ierr)
    call MPI_Type_contiguous(3, t, u, ierr)
    call MPI_Type_get_contents(u, 1, 0, 1, indices, places, parts, ierr) ! mistake
    call MPI_Type_free(u, ierr)
    call MPI_Type_free(t, ierr)
  end select
  call MPI_Finalize(ierr)
end program

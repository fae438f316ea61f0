! SPDX-License-Identifier: BSD-3-Clause
! The same calls by mpif.h, the module mpi (-DMODULE) and mpi_f08 (-DF08), two ranks; mpi_messages.sh says what they become.
program calls
#ifdef F08
  use mpi_f08
#define COMM type(MPI_Comm)
#define REQUEST type(MPI_Request)
#define MESSAGE type(MPI_Message)
#define STATUS type(MPI_Status)
#define LAST
#else
#ifdef MODULE
  use mpi
#endif
#define COMM integer
#define REQUEST integer
#define MESSAGE integer
#define STATUS integer, dimension(MPI_STATUS_SIZE)
#define LAST ,ierr
#endif
  implicit none
#if !defined(F08) && !defined(MODULE)
  include 'mpif.h'
#endif
  integer :: rank, other, n, i, ierr, done, place(2)
  integer, asynchronous :: a(64), b(64)
  integer :: counts(2), at(2)
  logical :: flag
  REQUEST :: r(2), p, q
  MESSAGE :: m
  STATUS :: s
  COMM :: c, d
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank LAST)
  other = 1 - rank
  a = rank
  counts = [3, 5]
  at = [0, 8]
  call MPI_Comm_dup(MPI_COMM_WORLD, c LAST)
  call MPI_Comm_set_name(c, 'Fortran''s own' LAST)
  call MPI_Comm_split(c, rank, 0, d LAST)
  ! two of 4 and 8 bytes, waited for together
  call MPI_Irecv(b, 8, MPI_INTEGER, other, 1, c, r(1) LAST)
  call MPI_Isend(a, 1 + rank, MPI_INTEGER, other, 1, c, r(2) LAST)
  call MPI_Waitall(2, r, MPI_STATUSES_IGNORE LAST)
  ! 12, by wildcards, the one posted after the other
  call MPI_Irecv(b, 8, MPI_INTEGER, MPI_ANY_SOURCE, 2, c, r(1) LAST)
  call MPI_Irecv(b(9), 8, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, c, r(2) LAST)
  call MPI_Send(a, 3, MPI_INTEGER, other, 2, c LAST)
  call MPI_Ssend(a, 4, MPI_INTEGER, other, 3, c LAST)
  call MPI_Waitany(2, r, n, MPI_STATUS_IGNORE LAST)
  call MPI_Waitsome(2, r, done, place, MPI_STATUSES_IGNORE LAST)
  if (done == MPI_UNDEFINED .or. done < 1) stop 1
  ! 20, a matched probe
  call MPI_Isend(a, 5, MPI_INTEGER, other, 4, c, p LAST)
  call MPI_Mprobe(MPI_ANY_SOURCE, 4, c, m, s LAST)
  call MPI_Mrecv(b, 8, MPI_INTEGER, m, MPI_STATUS_IGNORE LAST)
  call MPI_Wait(p, MPI_STATUS_IGNORE LAST)
  ! 24, persistent, twice
  call MPI_Send_init(a, 6, MPI_INTEGER, other, 5, c, p LAST)
  call MPI_Recv_init(b, 8, MPI_INTEGER, other, 5, c, q LAST)
  do i = 1, 2
    call MPI_Start(p LAST)
    call MPI_Start(q LAST)
    flag = .false.
    do while (.not. flag)
      call MPI_Test(q, flag, MPI_STATUS_IGNORE LAST)
    end do
    call MPI_Wait(p, MPI_STATUS_IGNORE LAST)
  end do
  call MPI_Request_free(p LAST)
  call MPI_Request_free(q LAST)
  ! 28, both ways at once
  call MPI_Sendrecv_replace(a, 7, MPI_INTEGER, other, 6, other, 6, c, MPI_STATUS_IGNORE LAST)
  ! nobody
  call MPI_Send(a, 7, MPI_INTEGER, MPI_PROC_NULL, 6, c LAST)
  call MPI_Recv(a, 7, MPI_INTEGER, MPI_PROC_NULL, 6, c, MPI_STATUS_IGNORE LAST)
  ! collective ones
  call MPI_Bcast(a, 9, MPI_INTEGER, 1, c LAST)
  call MPI_Allreduce(MPI_IN_PLACE, a, 2, MPI_INTEGER, MPI_SUM, c LAST)
  call MPI_Gatherv(a, counts(rank + 1), MPI_INTEGER, b, counts, at, MPI_INTEGER, 0, c LAST)
  call MPI_Iallgather(a, 2, MPI_INTEGER, b, 2, MPI_INTEGER, c, p LAST)
  call MPI_Wait(p, MPI_STATUS_IGNORE LAST)
  call MPI_Barrier(d LAST)
  call MPI_Comm_free(c LAST)
  call MPI_Comm_free(d LAST)
  call MPI_Finalize(ierr)
end program calls

! SPDX-License-Identifier: BSD-3-Clause
! MPI and VT as Fortran 77 has them: mpif.h, pairs of integers, recording off ahead of MPI_INIT.
      PROGRAM F77
      IMPLICIT NONE
      INCLUDE 'mpif.h'
      INCLUDE 'VT.inc'
      INTEGER IERR, RANK, N, CLS, H, I, GOT, ST(MPI_STATUS_SIZE)
      INTEGER PAIR(2)
      DOUBLE PRECISION B(2)
      CALL VTTRACEOFF(IERR)
      CALL MPI_INIT(IERR)
      CALL VTTRACEON(IERR)
      CALL MPI_COMM_RANK(MPI_COMM_WORLD, RANK, IERR)
      CALL MPI_COMM_SIZE(MPI_COMM_WORLD, N, IERR)
      CALL VTCLASSDEF('F77', CLS, IERR)
      B(1) = 0
      B(2) = 0
      CALL VTCOUNTDEF('it', CLS, VT_COUNT_INTEGER, VT_ME, B, '#', H,
     &  IERR)
      DO 10 I = 1, 3
        CALL MPI_SENDRECV(RANK, 1, MPI_INTEGER, MOD(RANK+1, N), 0, GOT,
     &   1, MPI_INTEGER, MOD(RANK+N-1, N), 0, MPI_COMM_WORLD, ST, IERR)
        PAIR(1) = 0
        PAIR(2) = GOT*100 + I
        CALL VTCOUNTVAL(1, H, PAIR, IERR)
        IF (IERR .NE. VT_OK) PRINT *, 'VTCOUNTVAL', IERR
 10   CONTINUE
      PRINT '(A,I0,A,I0)', 'rank ', RANK, ' got ', GOT
      CALL MPI_FINALIZE(IERR)
      END

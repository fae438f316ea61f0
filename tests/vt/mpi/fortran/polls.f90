! SPDX-License-Identifier: BSD-3-Clause
! As polls.c, with MPI_TEST and MPI_IPROBE in turn, MPI_TESTANY and MPI_TESTSOME.
program polls
	use mpi
	implicit none
	character(len=*), parameter :: names(4) = [ 'MPI_Test    ', 'MPI_Testany ', 'MPI_Testsome', 'MPI_Iprobe  ' ]
	integer :: rank, ierr, i, request(1), which(1), n, calls(4)
	logical :: found
	character :: byte(1)
	double precision :: seconds(4), begin

	calls = 0
	seconds = 0
	byte = 'x'
	call MPI_INIT(ierr)
	call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
	do i = 1, 3
		call MPI_BARRIER(MPI_COMM_WORLD, ierr)
		if (rank == 0) then
			begin = MPI_WTIME()
			do while (MPI_WTIME() < begin + 0.03d0)
			end do
			call MPI_SEND(byte, 1, MPI_CHARACTER, 1, 7, MPI_COMM_WORLD, ierr)
		else
			call MPI_IRECV(byte, 1, MPI_CHARACTER, 0, 7, MPI_COMM_WORLD, request(1), ierr)
			found = .false.
			do while (.not. found)
				begin = MPI_WTIME()
				select case (i)
				case (1)
					call MPI_TEST(request(1), found, MPI_STATUS_IGNORE, ierr)
				case (2)
					call MPI_TESTANY(1, request, n, found, MPI_STATUS_IGNORE, ierr)
				case (3)
					call MPI_TESTSOME(1, request, n, which, MPI_STATUSES_IGNORE, ierr)
					found = n > 0
				end select
				calls(i) = calls(i) + 1
				seconds(i) = seconds(i) + MPI_WTIME() - begin
				if (i == 1 .and. .not. found) call look()
			end do
		end if
	end do
	do i = 1, 4
		if (rank == 1) print '(a, " calls ", i0, f10.6)', trim(names(i)), calls(i), seconds(i)
	end do
	call MPI_FINALIZE(ierr)
contains
	subroutine look()
		logical :: there

		begin = MPI_WTIME()
		call MPI_IPROBE(0, 8, MPI_COMM_WORLD, there, MPI_STATUS_IGNORE, ierr)
		calls(4) = calls(4) + 1
		seconds(4) = seconds(4) + MPI_WTIME() - begin
	end subroutine
end program

! SPDX-License-Identifier: BSD-3-Clause
! As truncated.c, with MPI_RECV, MPI_WAIT and MPI_WAITALL.
program truncated
	use mpi
	implicit none
	integer :: rank, ierr, i, request(1)
	character :: room(64)

	call MPI_INIT(ierr)
	call MPI_COMM_SET_ERRHANDLER(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
	call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
	room = 'x'
	do i = 1, 3
		if (rank == 0) then
			call MPI_SEND(room, 20, MPI_CHARACTER, 1, 7, MPI_COMM_WORLD, ierr)
			call MPI_SEND(room, 5, MPI_CHARACTER, 1, 7, MPI_COMM_WORLD, ierr)
		else
			if (i == 1) then
				call MPI_RECV(room, 10, MPI_CHARACTER, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
			else
				call MPI_IRECV(room, 10, MPI_CHARACTER, 0, 7, MPI_COMM_WORLD, request(1), ierr)
				if (i == 2) call MPI_WAIT(request(1), MPI_STATUS_IGNORE, ierr)
				if (i == 3) call MPI_WAITALL(1, request, MPI_STATUSES_IGNORE, ierr)
			end if
			call MPI_RECV(room, 5, MPI_CHARACTER, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
		end if
		call MPI_BARRIER(MPI_COMM_WORLD, ierr)
	end do
	call MPI_FINALIZE(ierr)
end program

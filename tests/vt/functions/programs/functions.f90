! SPDX-License-Identifier: BSD-3-Clause
! Compiled with -finstrument-functions by gfortran.
module work
contains
  recursive subroutine step(n)
    integer, intent(in) :: n
    if (n > 0) call step(n - 1)
  end subroutine
end module
program functions
  use work
  call step(2)
end program

"""Types into its own terminal through TIOCSTI, with the number given, and prints what happened and what arrived."""
import ctypes, errno, fcntl, os, pty, select, sys, termios

libc = ctypes.CDLL(None, use_errno=True)
os.setsid()
master, slave = pty.openpty()
fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
attributes = termios.tcgetattr(slave)
attributes[3] &= ~(termios.ICANON | termios.ECHO)
termios.tcsetattr(slave, termios.TCSANOW, attributes)
request = ctypes.c_long(int(sys.argv[1], 0))
number = ctypes.c_long(int(sys.argv[2]))
result = libc.syscall(number, ctypes.c_long(slave), request, ctypes.c_char_p(b"x"))
ready, _, _ = select.select([slave], [], [], 0.2)
print("ok" if result == 0 else errno.errorcode[ctypes.get_errno()], os.read(slave, 1).decode() if ready else "nothing")

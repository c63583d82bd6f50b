"""Runs a command on a pseudo-terminal: on-a-pty.py COLUMNS ROWS COMMAND…

Standard input is a line of JSON for each thing that happens to the terminal: {"type": TEXT} or {"resize": [COLUMNS, ROWS]}.
Standard output is what the command wrote; the byte 0x1e stands where the window was resized.
"""

import fcntl
import json
import os
import pty
import select
import struct
import sys
import termios


def set_size(fd, columns, rows):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def main():
    columns, rows, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    pid, terminal = pty.fork()
    if pid == 0:
        set_size(0, columns, rows)
        modes = termios.tcgetattr(0)
        modes[3] &= ~termios.ECHO
        termios.tcsetattr(0, termios.TCSANOW, modes)
        os.execvp(command[0], command)
    watched, typed = [0, terminal], b""
    while True:
        ready = select.select(watched, [], [])[0]
        if terminal in ready and not forward(terminal):
            break
        if 0 in ready:
            data = os.read(0, 65536)
            if not data:
                watched.remove(0)
            typed += data
            *lines, typed = typed.split(b"\n")
            for line in lines:
                happen(terminal, json.loads(line))
    status = os.waitpid(pid, 0)[1]
    sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))


def forward(terminal):
    try:
        data = os.read(terminal, 65536)
    except OSError:
        return False
    os.write(1, data)
    return len(data) > 0


def happen(terminal, what):
    if "resize" in what:
        while select.select([terminal], [], [], 0)[0] and forward(terminal):
            pass
        os.write(1, b"\x1e")
        set_size(terminal, *what["resize"])
    else:
        os.write(terminal, what["type"].encode())


main()

"""Ctrl-C interrupts tests as in a terminal, also where they run in the background and a shell ignores it."""

import signal

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

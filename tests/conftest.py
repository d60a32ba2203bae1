"""Test settings for everything below."""

import signal

from hypothesis import settings

# The machines that run this are shared: how long an example takes says nothing about the code.
settings.register_profile("mydyno", deadline=None)
settings.load_profile("mydyno")

# A shell starts what runs in the background with Ctrl-C ignored, nohup what it starts with SIGHUP: programs
# that tests start would inherit that, and those are tested to hear them.
for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, usual)

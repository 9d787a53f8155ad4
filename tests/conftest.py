# SPDX-License-Identifier: Apache-2.0
"""The same surroundings for the tests, whoever starts them: signals and masks are inherited."""

import os
import signal

for _signal in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGQUIT):
    if signal.getsignal(_signal) == signal.SIG_IGN:
        signal.signal(_signal, signal.SIG_DFL)
os.umask(0o022)

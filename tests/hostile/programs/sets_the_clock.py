import time
time.clock_settime(time.CLOCK_REALTIME, 0.0)

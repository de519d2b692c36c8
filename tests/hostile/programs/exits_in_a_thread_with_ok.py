import os
import threading
import time
threading.Thread(target=os._exit, args=(0,)).start()
time.sleep(5)

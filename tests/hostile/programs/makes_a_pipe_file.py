import os
os.mkfifo('pipe')

import os

open("mine", "w").close()
os.chmod("mine", 0o4777)

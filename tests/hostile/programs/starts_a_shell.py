import subprocess

subprocess.run(["/bin/echo", "hello"], check=True)

import subprocess
subprocess.run(['ls'], check=True)

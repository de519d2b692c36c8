import os
print(os.listdir('/root/.ssh'))

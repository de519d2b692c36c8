import os
os.symlink('/etc/passwd', 'here')
print(open('here').read())

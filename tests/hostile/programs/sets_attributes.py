import os
open('x', 'w').close()
os.setxattr('x', 'user.a', b'1')

import os
assert not [name for name in os.listdir('/proc') if name.isdecimal()], 'there are processes'

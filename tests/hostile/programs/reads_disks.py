open('/dev/sda', 'rb').read(1)

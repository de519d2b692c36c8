open('/dev/mem', 'rb').read(1)

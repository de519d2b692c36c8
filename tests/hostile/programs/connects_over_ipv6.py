import socket
socket.create_connection(('::1', 80), timeout=1)

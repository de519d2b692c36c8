import socket
socket.getaddrinfo('example.org', 80)

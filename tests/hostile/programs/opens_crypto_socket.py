import socket
socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET, 0)

import ssl
import urllib.request
urllib.request.urlopen('https://example.org', timeout=1)

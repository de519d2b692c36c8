print('\x1b[2J\x00\x07\r\u202e</script><script>alert(1)</script>')

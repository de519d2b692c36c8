open("/var/tmp/gradgraph-was-here", "w").write("x")

"""Many machines: web nodes and worker nodes that know each other through a NATS broker alone."""

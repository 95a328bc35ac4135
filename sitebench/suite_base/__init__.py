"""What every suite is made of: options, commands, points, workload."""

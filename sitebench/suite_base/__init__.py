"""What every suite is made of: options, commands, points, its part of a test."""

"""Models that are given by E, J, R, B and Q alone: energy coordinates, velocities and stresses, improper inputs."""

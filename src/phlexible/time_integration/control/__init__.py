"""What controllers and laws of users are given during a run, and what they return."""

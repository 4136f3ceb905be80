"""Controllers: what they measure, linear ones of python-control, and several forces of one."""

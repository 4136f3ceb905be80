"""Line elements, cross-sections and viscoelastic branches."""

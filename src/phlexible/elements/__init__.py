"""Line elements and cross-sections."""

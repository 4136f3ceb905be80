"""Line elements: shape functions, quadrature, cross-sections."""

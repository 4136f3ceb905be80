"""What a run gives back: the motion, its files, plots and animations."""

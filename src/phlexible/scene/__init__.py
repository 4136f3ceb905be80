"""What a mechanism looks like at some instants: one description that pictures, films and reports draw."""

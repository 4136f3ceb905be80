"""What pushes on one side only and what rubs: contact, stops, friction."""

"""Linear models without multipliers: null space of the joints, standard form, state space ([B] 5.3)."""

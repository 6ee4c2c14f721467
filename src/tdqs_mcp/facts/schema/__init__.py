"""Facts of the schemas of one definition: what they say and demand."""

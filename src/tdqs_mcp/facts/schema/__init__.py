"""What the schemas of one definition say and demand."""

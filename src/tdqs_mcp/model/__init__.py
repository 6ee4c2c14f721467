"""What is scored: a catalog with its raw JSON, and the material that an author gives beside it."""

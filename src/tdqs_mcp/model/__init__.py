"""What is scored (catalog, material) and what each use case answers: a module for each."""

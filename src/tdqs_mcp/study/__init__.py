"""Statistics of experiments with descriptions: what variants achieve, what scores predict, tasks to run."""

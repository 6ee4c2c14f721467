"""Who gives verdicts: the port and the judges behind it."""

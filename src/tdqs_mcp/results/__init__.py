"""Results of every use case: one class per result, whose fields are the contract."""

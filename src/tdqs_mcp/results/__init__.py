"""What every use case gives back: one class per result, whose fields are the contract."""

"""What operators of PyTorch mean, one file per chapter."""

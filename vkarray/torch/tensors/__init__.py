"""What tensors of the device are: their memory, copies of it, text and files."""

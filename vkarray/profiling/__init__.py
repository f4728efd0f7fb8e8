"""`vkarray.profile`: a timeline of a block of code, and a table of what its operations took."""

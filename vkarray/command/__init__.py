"""The commands of the command line, one module each; vkarray/__main__.py has the table."""

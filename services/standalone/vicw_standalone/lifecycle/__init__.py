"""How the server begins, what it loads, and the jobs that it runs until it ends."""

"""What code, stack traces and commit messages say plainly, read without a store and without a language of prose."""

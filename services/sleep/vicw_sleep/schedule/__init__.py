"""When the jobs of the sleep cycle run: in slices and one at a time, in a process or as tasks of a worker."""

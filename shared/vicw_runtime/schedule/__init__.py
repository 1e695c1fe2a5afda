"""When the jobs of the sleep cycle are due: one table for every process that starts them or tells of them."""

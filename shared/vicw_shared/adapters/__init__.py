"""The engines behind the ports, one a module, named after the vendor."""

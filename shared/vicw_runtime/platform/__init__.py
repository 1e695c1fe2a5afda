"""Common parts of the platform's services: the engines that they open, and their application."""

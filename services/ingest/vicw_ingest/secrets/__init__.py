"""Secret masking: find passwords, tokens and keys in requests, and mask or refuse them before anything is stored."""

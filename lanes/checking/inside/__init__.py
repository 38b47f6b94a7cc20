"""What runs in the process that checks are forked from: only the standard library, in any Python from 3.9 on."""

"""Run checks on a tree: checkouts, a sandbox without containers, warm Python processes."""

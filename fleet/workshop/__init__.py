"""Where a job's prompts and changes are made: in this process, and in a helper process beside it."""

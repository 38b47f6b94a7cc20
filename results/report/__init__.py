"""Reports: one page of HTML on one run or several, that needs nothing else."""

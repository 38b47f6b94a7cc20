"""Plots of runs: in a notebook, in files, and on the pages of reports."""

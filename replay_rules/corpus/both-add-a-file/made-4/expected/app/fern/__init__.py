# fern
# drift
# heron

# north
# raven
# ivory

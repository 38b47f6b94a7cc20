module shop

go 1.21

require example.org/lib v1.4.0

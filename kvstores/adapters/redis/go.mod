module redis

go 1.26

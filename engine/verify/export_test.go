package verify

// SetClosureLimit lets a test take the way of large histories on small ones.
func SetClosureLimit(n int) (restore func()) {
	old := closureLimit
	closureLimit = n
	return func() { closureLimit = old }
}

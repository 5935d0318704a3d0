package views

// SetPatience lets a test try proofs before searches.
func SetPatience(n int) (restore func()) {
	old := patience
	patience = n
	return func() { patience = old }
}

module pinyon/bench/rivals

go 1.26.0

require (
	github.com/anishathalye/porcupine v1.3.1
	pinyon v0.0.0
)

replace pinyon => ../..

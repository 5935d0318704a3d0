package importers

import (
	"fmt"
	"strings"
	"testing"
)

// hundredThousand writes a history of 100,000 operations, a line or two each.
func hundredThousand(line func(b *strings.Builder, i int)) string {
	var b strings.Builder
	for i := range 100_000 {
		line(&b, i)
	}
	return b.String()
}

// BenchmarkLoad reads 100,000 operations of the formats that grow that large.
func BenchmarkLoad(b *testing.B) {
	texts := map[string]string{
		"native": `{"pinyon":"history","version":1,"model":"cas-register"}` + "\n" + hundredThousand(func(b *strings.Builder, i int) {
			fmt.Fprintf(b, `{"process":%d,"f":"write","in":%d,"invoke":%d,"return":%d,"outcome":"ok"}`+"\n", i%10, i, 20_000_000+1000*i, 20_000_500+1000*i)
		}),
		"native-hints": `{"pinyon":"history","version":1,"model":"kv"}` + "\n" + hundredThousand(func(b *strings.Builder, i int) {
			fmt.Fprintf(b, `{"process":%d,"f":"get","key":"k%d","out":"v%d","invoke":%d,"return":%d,"outcome":"ok","hints":{"term":3,"index":%d},"id":%d,"node":"n%d"}`+"\n",
				i%10, i%5, i, 20_000_000+1000*i, 20_000_500+1000*i, i, i, i%3)
		}),
		"jepsen-edn": hundredThousand(func(b *strings.Builder, i int) {
			fmt.Fprintf(b, "{:index %d, :time %d, :type :invoke, :process %d, :f :write, :value [%d %d]}\n", 2*i, 1000*i, i%10, i%5, i)
			fmt.Fprintf(b, "{:index %d, :time %d, :type :ok, :process %d, :f :write, :value [%d %d]}\n", 2*i+1, 1000*i+500, i%10, i%5, i)
		}),
		"jepsen-txt": hundredThousand(func(b *strings.Builder, i int) {
			fmt.Fprintf(b, "%d\t:invoke\t:write\t%d\n%d\t:ok\t:write\t%d\n", i%10, i, i%10, i)
		}),
		"splitbrain": hundredThousand(func(b *strings.Builder, i int) {
			fmt.Fprintf(b, `{"process":%d,"key":"k0","kind":"cas","from":%d,"to":%d,"swapped":true,"outcome":"ok","invoke_ns":%d,"complete_ns":%d}`+"\n", i%10, i, i+1, 1000*i, 1000*i+500)
		}),
	}
	for name, text := range texts {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, _, err := Load("-", Options{Stdin: strings.NewReader(text)}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

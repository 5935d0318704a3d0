package oracles_test

import (
	"fmt"

	"pinyon/engine/history"
	"pinyon/engine/order"
	"pinyon/oracles"
)

// An oracle of one's own, in Go: operations follow the hint lsn.
func Example() {
	byLSN := order.Oracle{Name: "mystore", Order: func(v *history.View, r *order.Rules) error {
		c := &order.Clock{Name: "lsn", Out: make([]int64, v.N), In: make([]int64, v.N)}
		for i := range int32(v.N) {
			c.Out[i], c.In[i] = order.OutNever, order.InNever // without the hint: unordered
			if lsn, ok := v.Hints["lsn"].Int(i); ok {
				c.Out[i], c.In[i] = lsn, lsn
			}
		}
		r.AddHard("", c)
		return nil
	}}
	show(byLSN)
	// Output:
	// op 0 before op 1 (mystore: lsn 7 < 9)
}

// The same oracle as a file.
func ExampleLoad() {
	byLSN, err := oracles.Load("mystore.yaml", []byte(`
oracle: mystore
version: 1
fields: {lsn: int}
hard:
  - a.lsn < b.lsn
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	show(byLSN)
	// Output:
	// op 0 before op 1 (mystore: a.lsn < b.lsn: 7 < 9)
}

func show(o order.Oracle) {
	hint := func(n int64) []history.Hint { return []history.Hint{{Name: "lsn", Value: history.Int(n)}} }
	v := history.NewView(&history.Of[string, string]{Ops: []history.Op[string, string]{{Hints: hint(7)}, {Process: 1, Hints: hint(9)}}})
	r := order.NewRules(v)
	if err := o.Apply(r); err != nil {
		fmt.Println(err)
		return
	}
	for a := range int32(2) {
		for b := range int32(2) {
			if s := r.Hard[0]; a != b && s.Precedes(a, b) {
				fmt.Printf("op %d before op %d (%s: %s)\n", a, b, s.Name, s.Why(a, b))
			}
		}
	}
}

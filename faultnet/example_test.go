package faultnet_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"time"

	"pinyon/faultnet"
)

// A schedule comes from a profile and a seed, and is one step a line.
func ExamplePlan() {
	three := faultnet.Topology{
		Nodes:   []string{"n1", "n2", "n3"},
		Clients: []faultnet.Client{{Name: "c1", Node: "n1"}, {Name: "c2", Node: "n2"}},
	}
	s, err := faultnet.Plan("isolate-leader", 1, three, 8*time.Second)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := faultnet.Encode(os.Stdout, s); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("with n2 leading:", s.Steps[0].Resolve(three, "n2").Links)
	// Output:
	// {"pinyon":"schedule","version":1,"profile":"isolate-leader","seed":1,"duration":"8s","nodes":["n1","n2","n3"],"clients":[{"name":"c1","node":"n1"},{"name":"c2","node":"n2"}]}
	// {"at":"931ms","for":"1.526s","kind":"drop","links":["*>leader","leader>*"]}
	// {"at":"3.017s","for":"1.4s","kind":"drop","links":["*>leader","leader>*"]}
	// {"at":"4.982s","for":"1.446s","kind":"drop","links":["*>leader","leader>*"]}
	// with n2 leading: [n1>n2 n3>n2 n2>n1 n2>n3]
}

// A process that dials the address of a link meets the rule of the link.
func ExampleNetwork() {
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "here") }))
	defer node.Close()

	n := faultnet.New(1)
	defer n.Close()
	n.Aim("n2", node.Listener.Addr().String())
	l := faultnet.Link{From: "n1", To: "n2"}
	addr, err := n.Open(l)
	if err != nil {
		fmt.Println(err)
		return
	}
	ask := func() {
		c, err := net.DialTimeout("tcp", addr, time.Second)
		if err != nil {
			fmt.Println(l, "is refused")
			return
		}
		defer c.Close()
		io.WriteString(c, "GET / HTTP/1.0\r\n\r\n")
		text, _ := io.ReadAll(c)
		fmt.Printf("%v answers %q\n", l, text[len(text)-4:])
	}
	ask()
	if err := n.Set(l, faultnet.Both, faultnet.Rule{Kind: faultnet.Refuse}); err != nil {
		fmt.Println(err)
	}
	ask()
	if err := n.HealAll(); err != nil {
		fmt.Println(err)
	}
	ask()
	// Output:
	// n1>n2 answers "here"
	// n1>n2 is refused
	// n1>n2 answers "here"
}

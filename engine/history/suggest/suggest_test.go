package suggest

import "testing"

func TestClosest(t *testing.T) {
	models := []string{"cas-register", "counter", "kv", "log", "mutex", "queue", "register", "set", "stack"}
	for _, c := range []struct{ word, want string }{
		{"regsiter", "register"},
		{"Register", "register"},
		{"cas_register", "cas-register"},
		{"quue", "queue"},
		{"kvs", "kv"},
		{"st", "set"},
		{"k", ""},
		{"", ""},
		{"bank-account", ""},
		{"CAS", "cas-register"},
		{"zebra", ""},
	} {
		if got := Closest(c.word, models); got != c.want {
			t.Errorf("Closest(%q) = %q, want %q", c.word, got, c.want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "", 3}, {"", "abc", 3}, {"ab", "ba", 1}, {"kitten", "sitting", 3}, {"état", "etat", 1}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

package brute

import (
	"context"
	"fmt"
	"strings"

	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// closedRegister checks the first condition of Core for register-like objects,
// one or more: for each operation of ops that finds a value, all that leaves
// that value in its key is in ops. What stands between it and the one that it
// read from is then of no value to it, and can be left out.
func closedRegister(v *history.View, t spec.Tokens, ops []int32) error {
	in, found := make(map[int32]bool, len(ops)), map[held]bool{} // operations, and the values that they find
	for _, x := range ops {
		if in[x] {
			return fmt.Errorf("operation %d stands twice", x)
		}
		if in[x] = true; v.Read[x] && t.Observes(x) {
			return fmt.Errorf("operation %d says only which value was not there", x)
		}
		if want := t.Want(x); want >= 0 {
			found[held{v.Key[x], want}] = true
		}
	}
	texts, err := newTexts(v, t, ops)
	if err != nil {
		return err
	}
	texts.unroll(found)
	for x := range int32(v.N) {
		idle := v.Read[x] || v.Idle != nil && v.Idle[x]
		switch {
		case idle || in[x] || t.Write(x) >= 0 && t.Write(x) == t.Want(x): // the last finds what it leaves
		case t.Write(x) < 0 && texts.leaves(x, found):
			return fmt.Errorf("operation %d appends what may end a text that one of the core finds, and is left out", x)
		case t.Write(x) < 0:
		case found[held{v.Key[x], t.Write(x)}]:
			return fmt.Errorf("operation %d leaves a value that one of the core finds, and is left out", x)
		}
	}
	return nil
}

// held is a value of a key.
type held struct{ key, value int32 }

// texts are the appends of a history. One leaves a text that ends with its piece,
// whatever it finds, and it is possible everywhere, as all values are texts.
type texts struct {
	v       *history.View
	ap      spec.Appends
	appends []int32
}

// newTexts fails where an update of a key of ops may leave anything, or where an
// append may be impossible.
func newTexts(v *history.View, t spec.Tokens, ops []int32) (*texts, error) {
	s := &texts{v: v}
	s.ap, _ = t.(spec.Appends)
	keys, strange := map[int32]bool{}, map[int32]int32{}
	for _, x := range ops {
		keys[v.Key[x]] = true
	}
	for x := range int32(v.N) {
		if v.Read[x] && !t.Observes(x) && t.Want(x) < 0 || !keys[v.Key[x]] || v.Idle != nil && v.Idle[x] {
			continue
		}
		for _, value := range []int32{t.Want(x), t.Write(x)} {
			if value >= 0 && s.ap != nil {
				if _, ok := s.ap.Text(value); !ok {
					strange[v.Key[x]] = x
				}
			}
		}
		if v.Read[x] || t.Write(x) >= 0 {
			continue
		}
		if piece, ok := s.piece(x); !ok || piece == "" {
			return nil, fmt.Errorf("operation %d may leave anything", x)
		}
		s.appends = append(s.appends, x)
		if _, ok := s.ap.Text(t.Held(t.(spec.Machine).Init(v.Key[x]))); !ok {
			return nil, fmt.Errorf("operation %d appends, and what is there at first is no text", x)
		}
	}
	for _, x := range s.appends {
		if y, ok := strange[v.Key[x]]; ok {
			return nil, fmt.Errorf("operation %d appends, and operation %d has to do with what is no text", x, y)
		}
	}
	return s, nil
}

func (s *texts) piece(x int32) (string, bool) {
	if s.ap == nil {
		return "", false
	}
	return s.ap.Piece(x)
}

// unroll adds to what is found what appends that left it may have found.
func (s *texts) unroll(found map[held]bool) {
	var todo []held
	add := func(h held) {
		if !found[h] {
			found[h] = true
			todo = append(todo, h)
		}
	}
	for h := range found {
		todo = append(todo, h)
	}
	for ; len(todo) > 0 && len(s.appends) > 0; todo = todo[1:] {
		text, _ := s.ap.Text(todo[0].value)
		for _, x := range s.appends {
			piece, _ := s.piece(x)
			rest, ends := strings.CutSuffix(text, piece)
			if s.v.Key[x] != todo[0].key || !ends {
				continue
			}
			add(held{todo[0].key, s.ap.Token(rest)})
			if absent, ok := s.ap.Absent(); ok && rest == "" {
				add(held{todo[0].key, absent})
			}
		}
	}
}

// leaves reports whether the append x may leave a text that was found.
func (s *texts) leaves(x int32, found map[held]bool) bool {
	piece, _ := s.piece(x)
	for h := range found {
		if text, ok := s.ap.Text(h.value); ok && h.key == s.v.Key[x] && strings.HasSuffix(text, piece) {
			return true
		}
	}
	return false
}

// registerLike reports whether the keys of s hold register-like objects.
func registerLike(s *spec.Subject) bool {
	_, ok := s.Machine(context.Background(), s.View, false).(spec.Tokens)
	return ok && s.View.Read != nil
}

package spec

// Texts is a model's knowledge of operations that put a text behind the one that
// is held. An append of a piece to what Text says "t, true" of leaves what
// Held(t+piece) is, and it is impossible where Text says false.
type Texts[In any] struct {
	Piece func(in In) (piece string, ok bool)   // of an append
	Text  func(held any) (text string, ok bool) // of what Holds gives
	Held  func(text string) any
	// Absent, if not nil, is held where there is nothing: Text gives "" for it.
	Absent any

	_ struct{}
}

// tokened is typed for a register-like model.
type tokened[S, In, Out any] struct {
	*typed[S, In, Out]
	numbers numbering
	held    []int32 // by state, plus one; 0: not asked yet
	tokens  []any   // by number; only where the model has Texts
	wants   []int32 // by operation, plus two; 0: not asked yet
	writes  []int32 // the same
}

func (k *tokened[S, In, Out]) number(what any, ok bool) int32 {
	if !ok {
		return -1
	}
	n, fresh := k.numbers.of(what)
	if fresh && k.model.Texts != nil {
		k.tokens = append(k.tokens, what)
	}
	return n
}

// Demand implements Tokens: an operation whose output is not known demands
// nothing.
func (k *tokened[S, In, Out]) Demand(op int32) int32 {
	if k.out(op) == nil {
		return -1
	}
	return k.Want(op)
}

// Want implements Tokens.
func (k *tokened[S, In, Out]) Want(op int32) int32 {
	if k.wants == nil {
		k.wants = make([]int32, k.view.N)
	}
	if k.wants[op] == 0 {
		k.wants[op] = k.number(k.model.Demands(k.In[k.index[op]], k.out(op))) + 2
	}
	return k.wants[op] - 2
}

// Write implements Tokens.
func (k *tokened[S, In, Out]) Write(op int32) int32 {
	if k.writes == nil {
		k.writes = make([]int32, k.view.N)
	}
	if k.writes[op] == 0 {
		k.writes[op] = k.number(k.model.Writes(k.In[k.index[op]], k.out(op))) + 2
	}
	return k.writes[op] - 2
}

// Observes implements Tokens: it has a known output that names no demand.
func (k *tokened[S, In, Out]) Observes(op int32) bool { return k.out(op) != nil && k.Demand(op) < 0 }

// Avoid implements Avoider.
func (k *tokened[S, In, Out]) Avoid(op int32) int32 {
	out := k.out(op)
	if k.model.Avoids == nil || out == nil {
		return -1
	}
	return k.number(k.model.Avoids(k.In[k.index[op]], out))
}

// Held implements Tokens.
func (k *tokened[S, In, Out]) Held(state int32) int32 {
	for int(state) >= len(k.held) {
		k.held = append(k.held, 0)
	}
	if k.held[state] == 0 {
		k.held[state] = k.number(k.model.Holds(k.states.State(state)), true) + 1
	}
	return k.held[state] - 1
}

// appending is tokened for a model with Texts.
type appending[S, In, Out any] struct{ *tokened[S, In, Out] }

// Piece implements Appends.
func (a *appending[S, In, Out]) Piece(op int32) (string, bool) {
	return a.model.Texts.Piece(a.In[a.index[op]])
}

// Text implements Appends.
func (a *appending[S, In, Out]) Text(token int32) (string, bool) {
	return a.model.Texts.Text(a.tokens[token])
}

// Absent implements Appends.
func (a *appending[S, In, Out]) Absent() (int32, bool) {
	nothing := a.model.Texts.Absent
	return a.number(nothing, nothing != nil), nothing != nil
}

// Token implements Appends.
func (a *appending[S, In, Out]) Token(text string) int32 {
	return a.number(a.model.Texts.Held(text), true)
}

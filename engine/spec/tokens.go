package spec

// tokened is typed for a register-like model.
type tokened[S, In, Out any] struct {
	*typed[S, In, Out]
	numbers numbering
	held    []int32 // by state, plus one; 0: not asked yet
	tokens  []any   // by number; only of models that grow
	wants   []int32 // by operation, plus two; 0: not asked yet
	writes  []int32 // the same
}

func (k *tokened[S, In, Out]) number(what any, ok bool) int32 {
	if !ok {
		return -1
	}
	n, fresh := k.numbers.of(what)
	if fresh && k.model.Grows != nil {
		k.tokens = append(k.tokens, what)
	}
	return n
}

// Grows implements Grower.
func (k *tokened[S, In, Out]) Grows(op int32) bool {
	return k.model.Grows != nil && k.model.Grows(k.In[k.index[op]])
}

// Extends implements Grower.
func (k *tokened[S, In, Out]) Extends(held, token int32) bool {
	return k.model.Extends(k.tokens[held], k.tokens[token])
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

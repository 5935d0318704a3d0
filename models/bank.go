package models

import (
	"fmt"
	"math"

	"pinyon/engine/history"
	"pinyon/engine/spec"
)

// BankIn is an input of bank; Transfer and BankRead make one.
type BankIn struct {
	F                string
	From, To, Amount history.Value
}

// BankOut is an output of bank; Moved or Balances makes one.
type BankOut struct {
	Moved    history.Value // of transfer: true or false
	Balances Map           // of read: by account, without those of 0
}

// Transfer moves amount, an integer, from one account to another, and says
// whether it did.
func Transfer(from, to, amount history.Value) BankIn {
	return BankIn{"transfer", account(from), account(to), amount}
}

// BankRead asks for the balances of all accounts.
func BankRead() BankIn { return BankIn{F: "read"} }

// Moved is the output of transfer.
func Moved(yes bool) BankOut { return BankOut{Moved: history.Bool(yes)} }

// Balances is the output of read.
func Balances(ms ...history.Member) (out BankOut) {
	for _, m := range ms {
		out.Balances = setBalance(out.Balances, account(m.Key), m.Value)
	}
	return out
}

// account is the one name of an account. Objects of JSON can only name
// accounts by strings, so "7" means 7 and a keyword its name.
func account(v history.Value) history.Value {
	word, ok := v.Str()
	if !ok {
		return v
	}
	if n, err := history.Number(word); err == nil && isInt(n) && n.Text() == word {
		return n
	}
	return history.String(word)
}

// setBalance keeps states canonical: an account of balance 0 is not there.
func setBalance(m Map, account, balance history.Value) Map {
	if balance == history.Int(0) {
		return m.remove(account)
	}
	return m.put(account, balance)
}

// Bank is a set of accounts with integer balances of any size; initial is an
// object or map of balances, and every other account holds 0. A transfer that
// answered true moved the amount, even where that leaves less than 0; one that
// answered false moved nothing, for whatever reason. One whose answer is not
// known moved it: refused ones must be recorded as such, and one that got no
// answer at all may be left out anyway.
func Bank(initial history.Value) spec.Model[Map, BankIn, BankOut] {
	members, _ := initial.Members()
	first := Balances(members...).Balances
	return spec.Model[Map, BankIn, BankOut]{
		Name: "bank",
		Init: func() Map { return first },
		Step: bankStep,
		ReadOnly: func(in BankIn, out *BankOut) bool {
			return in.F == "read" || in.From == in.To || in.Amount == history.Int(0) || out != nil && out.Moved == history.False
		},
		Text: bankText,
		Describe: func(s Map) string {
			return listed("{", s.Len(), s.pairs, ", ", "}")
		},
	}
}

// pairs yields keys with their values as people write them.
func (m Tree[V]) pairs(yield func(string) bool) {
	for k, v := range m.All() {
		if !yield(k.Label() + ": " + label(v)) {
			return
		}
	}
}

func bankStep(s Map, in BankIn, out *BankOut) (next Map, ok bool) {
	switch {
	case in.F == "read":
		return s, out == nil || out.Balances == s
	case in.F != "transfer":
		panic(noSuch("bank", in.F))
	case out != nil && out.Moved == history.False:
		return s, true
	}
	less, ok := negated(in.Amount)
	if !ok {
		return s, false
	}
	return deposit(deposit(s, in.From, less), in.To, in.Amount), true
}

// deposit adds an amount, which may be negative, to an account.
func deposit(s Map, account, amount history.Value) Map {
	balance := s.Get(account)
	if balance == history.Absent {
		balance = history.Int(0)
	}
	balance, _ = sum(balance, amount)
	return setBalance(s, account, balance)
}

func bankText(in BankIn, out *BankOut) string {
	switch {
	case in.F == "transfer":
		text := "transfer " + in.Amount.Label() + " from " + in.From.Label() + " to " + in.To.Label()
		if out == nil || out.Moved == history.True {
			return text
		}
		return text + " = refused"
	case out == nil:
		return "read (no answer)"
	}
	return "read = " + listed("{", out.Balances.Len(), out.Balances.pairs, ", ", "}")
}

const transferWant = "{from, to, amount} with an integer amount"

func transferInput(v history.Value) (in BankIn, want string) {
	ms, _ := v.Members()
	parts := map[string]history.Value{}
	for _, m := range ms {
		name, _ := m.Key.Str()
		parts[name] = m.Value
	}
	if len(ms) != 3 || parts["from"] == history.Absent || parts["to"] == history.Absent || !isInt(parts["amount"]) {
		return in, transferWant
	}
	return Transfer(parts["from"], parts["to"], parts["amount"]), ""
}

func transferOutput(r recorded) (out BankOut, known bool, want string) {
	if moved, ok := r.out.Bool(); ok {
		return Moved(moved), true, ""
	}
	if _, _, want := noOutput[BankOut](r); want != "" {
		return out, false, "true or false"
	}
	return Moved(true), true, ""
}

// balancesOutput takes balances of any kind: one that is no integer is a wrong
// answer, not a malformed one.
func balancesOutput(r recorded) (out BankOut, known bool, want string) {
	ms, ok := r.out.Members()
	if !ok {
		return out, false, "an object of balances by account"
	}
	return Balances(ms...), true, ""
}

// bankInitial finds out what the accounts held at first where nobody says it:
// what the first read to return saw, if no transfer that may have moved
// anything was invoked before.
func bankInitial(h *history.Raw) (history.Value, error) {
	w := newWhen(h)
	first, earliest, change := -1, int64(math.MaxInt64), int64(math.MaxInt64)
	for i := range h.Ops {
		op := &h.Ops[i]
		call, ret := w.call(i), w.ret(i)
		_, isObject := op.Out.Members()
		switch {
		case fold(op.F) != "read":
			if op.Outcome != history.Fail && op.Out != history.False {
				change = min(change, call)
			}
		case op.Outcome == history.OK && !op.NoOut && isObject && ret < earliest:
			first, earliest = i, ret
		}
	}
	switch {
	case first < 0:
		return history.Absent, nil // nothing was seen: any balances fit
	case change <= earliest+w.slack:
		return history.Absent, h.Errorf(first, "initial value for model bank: the history does not show it, as a transfer was invoked before this read, the first, returned; give the balances at the start")
	}
	return h.Ops[first].Out, nil
}

func bankEntry() Entry {
	ops := []operation[BankIn, BankOut]{{
		OpDoc: OpDoc{F: "transfer", In: "{from, to, amount}", Out: "true, or false when it was refused; an ok without an output, or that repeats the input, moved the amount"},
		in:    transferInput, out: transferOutput,
	}, {
		OpDoc: OpDoc{F: "read", Out: "an object of balances by account; one that is left out counts as 0"},
		in:    noInput(BankRead()), out: balancesOutput,
	}}
	e := entry(Entry{
		Name:       "bank",
		Doc:        "Accounts between which amounts are transferred atomically. A balance may fall below 0.",
		Initial:    "an object of balances by account; what the first read saw, where no transfer was invoked before it returned",
		NeverSplit: true,
	}, ops, func(initial history.Value) (m spec.Model[Map, BankIn, BankOut], err error) {
		ms, ok := initial.Members()
		if !ok && initial != history.Absent && initial != history.Null {
			return m, fmt.Errorf("want an object of balances by account, got %s", got(initial))
		}
		for _, b := range ms {
			if !isInt(b.Value) {
				return m, fmt.Errorf("want integer balances, got %s", got(initial))
			}
		}
		return Bank(initial), nil
	})
	bind := e.Bind
	e.Bind = func(h *history.Raw, o Options) (*spec.Subject, error) {
		if o.Initial == history.Absent && h.Header.Initial == history.Absent {
			initial, err := bankInitial(h)
			if err != nil {
				return nil, err
			}
			o.Initial = initial
		}
		return bind(h, o)
	}
	return e
}

package histgen

import (
	"math/rand/v2"
	"slices"
	"strings"

	"pinyon/engine/history"
)

// object is a sequential object of any of the models, simulated to give
// operations their answers. It is written for this package alone, so that the
// generator does not inherit the mistakes of the models that it tests.
type object struct {
	val  history.Value   // register, cas-register, kv (Absent: no value)
	num  int64           // counter; mutex: 1 while held
	list []history.Value // queue, stack, log, set (sorted)
}

func (o *object) clone() *object {
	c := *o
	c.list = slices.Clone(o.list)
	return &c
}

// text writes the state so that equal states have equal texts.
func (o *object) text() string {
	var b strings.Builder
	b.WriteString(o.val.Text())
	b.WriteByte(byte('0' + o.num%64))
	b.WriteString(history.Int(o.num).Text())
	for _, v := range o.list {
		b.WriteByte(' ')
		b.WriteString(v.Text())
	}
	return b.String()
}

// newObject returns the object of a model before any operation.
func newObject(model string, initial history.Value) *object {
	o := &object{}
	switch model {
	case "register", "cas-register":
		if o.val = initial; initial == history.Absent {
			o.val = history.Null
		}
	case "counter":
		o.num, _ = initial.Int64()
	}
	return o
}

// apply performs f on the object and returns its answer, Absent where it
// returns none; ok is false where the operation is impossible.
func (o *object) apply(model, f string, in history.Value) (out history.Value, ok bool) {
	switch model {
	case "register", "cas-register":
		return o.register(f, in), true
	case "kv":
		return o.kv(f, in)
	case "counter":
		return o.counter(f, in), true
	case "set":
		return o.set(f, in), true
	case "queue":
		return o.ends(f, in, 0), true
	case "stack":
		return o.ends(f, in, len(o.list)-1), true
	case "log":
		return o.log(f, in), true
	}
	return o.mutex(f)
}

func (o *object) register(f string, in history.Value) history.Value {
	switch f {
	case "write":
		o.val = in
		return history.Absent
	case "cas":
		pair, _ := in.Elems()
		if o.val != pair[0] {
			return history.False
		}
		o.val = pair[1]
		return history.True
	}
	return o.val
}

func (o *object) kv(f string, in history.Value) (history.Value, bool) {
	switch f {
	case "put":
		o.val = in
	case "delete":
		o.val = history.Absent
	case "append":
		was, _ := o.val.Str()
		more, _ := in.Str()
		o.val = history.String(was + more)
	case "add":
		was, isInt := o.val.Int64()
		if !isInt && o.val != history.Absent {
			return history.Absent, false
		}
		n, _ := in.Int64()
		o.val = history.Int(was + n)
		return o.val, true
	case "cas":
		pair, _ := in.Elems()
		if orNull(o.val) != pair[0] {
			return history.False, true
		}
		o.val = pair[1]
		return history.True, true
	default:
		return orNull(o.val), true
	}
	return history.Absent, true
}

func orNull(v history.Value) history.Value {
	if v == history.Absent {
		return history.Null
	}
	return v
}

func (o *object) counter(f string, in history.Value) history.Value {
	n, _ := in.Int64()
	o.num += n // 0 for a read, which has no input
	if f == "add" {
		return history.Absent
	}
	return history.Int(o.num)
}

func (o *object) set(f string, in history.Value) history.Value {
	at, has := slices.BinarySearchFunc(o.list, in, history.Compare)
	switch f {
	case "add":
		if !has {
			o.list = slices.Insert(o.list, at, in)
		}
		return history.Bool(!has)
	case "remove":
		if has {
			o.list = slices.Delete(o.list, at, at+1)
		}
		return history.Bool(has)
	case "contains":
		return history.Bool(has)
	}
	return history.Array(o.list...)
}

// ends is a queue or a stack, by the place where values leave.
func (o *object) ends(f string, in history.Value, exit int) history.Value {
	switch {
	case f == "enqueue" || f == "push":
		o.list = append(o.list, in)
		return history.Absent
	case len(o.list) == 0:
		return history.Null
	}
	out := o.list[exit]
	if f != "peek" {
		o.list = slices.Delete(o.list, exit, exit+1)
	}
	return out
}

func (o *object) log(f string, in history.Value) history.Value {
	at, _ := in.Int64()
	switch {
	case f == "append":
		o.list = append(o.list, in)
		return history.Int(int64(len(o.list) - 1))
	case f == "get" && at < int64(len(o.list)):
		return o.list[at]
	case f == "get":
		return history.Null
	}
	return history.Array(o.list[min(at, int64(len(o.list))):]...)
}

func (o *object) mutex(f string) (history.Value, bool) {
	switch f {
	case "try-acquire":
		if o.num == 1 {
			return history.False, true
		}
		o.num = 1
		return history.True, true
	case "acquire":
		free := o.num == 0
		o.num = 1
		return history.Absent, free
	}
	held := o.num == 1
	o.num = 0
	return history.Absent, held
}

// call chooses an operation of the model and its input. values is how many
// different values there are; text makes a kv history one of strings.
func call(r *rand.Rand, model string, values int, text bool) (f string, in history.Value) {
	v := func() history.Value { return history.Int(int64(1 + r.IntN(values))) }
	pick := func(names ...string) string { return names[r.IntN(len(names))] }
	switch model {
	case "register":
		f = pick("write", "read")
	case "cas-register":
		f = pick("write", "read", "cas")
	case "kv":
		return kvCall(r, values, text)
	case "counter":
		f = pick("add", "read", "read", "add-and-get")
	case "set":
		f = pick("add", "add", "remove", "contains", "read")
	case "queue":
		f = pick("enqueue", "enqueue", "dequeue", "dequeue", "peek")
	case "stack":
		f = pick("push", "push", "pop", "pop", "peek")
	case "log":
		f = pick("append", "append", "get", "read")
	case "mutex":
		return pick("acquire", "try-acquire", "release"), history.Absent
	}
	switch f {
	case "cas":
		return f, history.Array(v(), v())
	case "read":
		if model == "log" {
			return f, history.Int(int64(r.IntN(2)))
		}
		return f, history.Absent
	case "get":
		return f, history.Int(int64(r.IntN(3)))
	case "peek", "dequeue", "pop":
		return f, history.Absent
	}
	return f, v()
}

func kvCall(r *rand.Rand, values int, text bool) (f string, in history.Value) {
	n := r.IntN(values)
	v := history.Int(int64(1 + n))
	if text {
		v = history.String(string(rune('a' + n)))
	}
	switch k := r.IntN(10); {
	case k < 4:
		return "get", history.Absent
	case k < 6:
		return "put", v
	case k == 6:
		return "delete", history.Absent
	case k == 7:
		from := v
		if r.IntN(2) == 0 {
			from = history.Null
		}
		return "cas", history.Array(from, v)
	case text:
		return "append", v
	}
	return "add", v
}

package spec

import (
	"fmt"
	"reflect"

	"pinyon/engine/history"
)

// failed is deferred around calls of a user's functions: it turns a panic into
// an error about operation *cur.
func (e *erased[S, In, Out]) failed(cur *int32, err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%w %s: op %d: %v", ErrModel, e.model.Name, e.whole.Ops[*cur], r)
	}
}

// reads decides once what is a read.
func (e *erased[S, In, Out]) reads(v *history.View) (err error) {
	if e.model.ReadOnly == nil {
		return nil
	}
	cur := int32(0)
	defer e.failed(&cur, &err)
	v.Read, v.Idle = make([]bool, v.N), make([]bool, v.N)
	for i := range v.Read {
		cur = int32(i)
		readOnly := e.model.ReadOnly(e.In[i], e.output(cur))
		v.Read[i], v.Idle[i] = readOnly && !v.Info[i], readOnly && v.Info[i]
	}
	return nil
}

// mayPanic reports whether values of a type that is comparable may still turn
// out not to be, since an interface is in it.
func mayPanic(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Array:
		return mayPanic(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if mayPanic(t.Field(i).Type) {
				return true
			}
		}
	}
	return false
}

// classify decides which operations step alike.
func (e *erased[S, In, Out]) classify() (err error) {
	e.once.Do(func() {
		cur := int32(0)
		defer e.failed(&cur, &err)
		e.classes(&cur)
	})
	return err
}

func (e *erased[S, In, Out]) classes(cur *int32) {
	e.class = make([]int32, len(e.In))
	type key struct {
		in, out   any
		has, read bool
	}
	byValue := map[key]int32{}
	comparable := reflect.TypeFor[In]().Comparable() && reflect.TypeFor[Out]().Comparable()
	for i := range e.class {
		*cur = int32(i)
		e.class[i] = int32(i)
		if !comparable {
			continue
		}
		k := key{in: e.In[i], has: e.Known[i], read: e.whole.Read != nil && e.whole.Read[i]}
		if k.has {
			k.out = e.Out[i]
		}
		c, ok := byValue[k]
		if !ok {
			c = int32(i)
			byValue[k] = c
		}
		e.class[i] = c
	}
}

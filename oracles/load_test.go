package oracles

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pinyon/engine/history"
	"pinyon/engine/history/strictyaml"
)

const head = "oracle: x\nversion: 1\nfields: {rev: int, idx: int, seq: [int], who: string}\n"

// Every error of the loader, with its place.
var loadErrors = []struct{ name, text, want string }{
	{"empty", "", "o.yaml:1: the file is empty; an oracle has at least the keys oracle, version and an order"},
	{"only a comment", "# x\n", "o.yaml:1: the file is empty; an oracle has at least the keys oracle, version and an order"},
	{"an empty document", "---\n...\n", "o.yaml:1: the file is empty; an oracle has at least the keys oracle, version and an order"},
	{"two documents", head + "order_by: rev\n---\noracle: y\n", "o.yaml:5: a second document begins here; a file holds one oracle"},
	{"a text", "hello\n", "o.yaml:1:1: an oracle is a table of keys (" + strings.Join(documentKeys, ", ") + "), and this is a single value"},
	{"no name", "version: 1\n", "o.yaml:1:1: the key oracle, its name, is missing"},
	{"no version", "oracle: x\n", "o.yaml:1:1: the key version is missing; this is version 1"},
	{"version 2", "oracle: x\nversion: 2\n", "o.yaml:2:10: the version must be 1"},
	{"version as a text", "oracle: x\nversion: \"1\"\n", "o.yaml:2:10: the version must be 1"},
	{"a number as name", "oracle: 7\nversion: 1\n", "o.yaml:1:9: the oracle's name must be a text; YAML reads this as an integer, so put it in quotes if it is meant"},
	{"an odd name", "oracle: my store\nversion: 1\n", `o.yaml:1:9: the oracle's name "my store" may hold letters, digits, - _ and . only`},
	{"nothing", head, "o.yaml:1:1: the oracle says nothing: it has none of hard, soft, order_by, deps, unique, reads_from and staleness"},
	{"unknown key", head + "hrad: [a.rev < b.rev]\n", "o.yaml:4:1: an oracle has no key hrad (did you mean hard?); its keys are " + strings.Join(documentKeys, ", ")},
	{"unique undeclared", head + "unique: rve\n", "o.yaml:4:9: the field rve is not declared (did you mean rev?); declare it under fields, such as {rve: int}"},
	{"unique table", head + "unique: {a: rev}\n", "o.yaml:4:10: unique has no key a; its keys are of, except"},
	{"unique except", head + "unique: {of: rev, except: put}\n", "o.yaml:4:27: except is a list of operation names, such as [append, put]"},
	{"unique of a table", head + "unique: {of: {a: rev}, except: [put]}\n", "o.yaml:4:14: unique takes a field, a list of fields, or {of: field, except: [name]}"},
	{"unique of nothing", head + "unique: []\n", "o.yaml:4:9: unique takes a field, a list of fields, or {of: field, except: [name]}"},
	{"reads_from half", head + "reads_from: {read: rev}\n", "o.yaml:4:13: reads_from has the keys of {read: mod_revision, write: revision}, and write is missing"},
	{"reads_from typo", head + "reads_from: {raed: rev, write: rev}\n", "o.yaml:4:14: reads_from has no key raed (did you mean read?); its keys are read, write"},
	{"reads_from a text", head + "reads_from: rev\n", "o.yaml:4:13: reads_from is a table, such as {read: mod_revision, write: revision}, and this is a single value"},
	{"reads_from an array", head + "reads_from: {read: seq, write: rev}\n", "o.yaml:4:20: reads_from takes an integer here, and seq is an array of integers"},
	{"deps half", head + "deps: {inst: rev}\n", "o.yaml:4:7: deps has the keys of {replica: replica, inst: inst, deps: deps, seq: seq}, and replica is missing"},
	{"deps type", head + "deps: {replica: rev, inst: idx, deps: idx, seq: rev}\n", "o.yaml:4:39: deps takes an array of integers here, and idx is an integer"},
	{"deps undeclared", head + "deps: {replica: rev, inst: idx, deps: seqs, seq: rev}\n", "o.yaml:4:39: the field seqs is not declared (did you mean seq?); declare it under fields, such as {seqs: int}"},
	{"staleness half", head + "staleness: {write: rev, read: idx, entries: 3}\n", "o.yaml:4:12: staleness has the keys of {write: index, read: applied, entries: 3, time: 100ms}, and time is missing"},
	{"staleness entries", head + "staleness: {write: rev, read: idx, entries: -3, time: 0s}\n", "o.yaml:4:45: entries is how many entries of the log a read may lag, a whole number from 0"},
	{"staleness time", head + "staleness: {write: rev, read: idx, entries: 3, time: 100}\n", "o.yaml:4:54: time is how long a read may miss a write that was acknowledged, such as 100ms or 0s"},
	{"quantifier of no list", head + "lists: {xs: [0, 1]}\nhard:\n  - \"at least 2 of s in ys: a.seq[s] < b.seq[s]\"\n", "o.yaml:6:25: there is no list ys (did you mean xs?); declare it under lists, such as {ys: [0, 1, 2]}\n  at least 2 of s in ys: a.seq[s] < b.seq[s]\n                     ^"},
	{"quantifier of too many", head + "lists: {xs: [0, 1]}\nhard:\n  - \"at least 3 of s in xs: a.seq[s] < b.seq[s]\"\n", "o.yaml:6:15: the list has 2 elements, so 3 is never reached\n  at least 3 of s in xs: a.seq[s] < b.seq[s]\n           ^"},
	{"quantifier inside", head + "lists: {xs: [0, 1]}\nhard:\n  - \"a.rev < b.rev && all s in xs: a.seq[s] < b.seq[s]\"\n", "o.yaml:6:27: expected the end of the condition, found s; a quantifier stands in front of the whole condition\n  a.rev < b.rev && all s in xs: a.seq[s] < b.seq[s]\n                       ^"},
	{"repeated key", head + "scope: key\nscope: all\n", "o.yaml:5:1: the key scope stands twice; it was given on line 4"},
	{"key that is no text", head + "1: a\n", "o.yaml:4:1: a key must be a name; YAML reads 1 as an integer"},
	{"key that is a list", head + "? [a]\n: b\n", "o.yaml:4:3: a key must be a name, and this is a list" + strictyaml.QuoteHint},
	{"merge key", head + "<<: {a: b}\n", "o.yaml:4:1: merge keys (<<) are refused"},
	{"anchor", head + "hard: [&a x]\n", "o.yaml:4:8: &a is an anchor, and anchors are refused" + strictyaml.QuoteHint},
	{"alias", "oracle: x\nfields: &f {rev: int}\nlists: *f\n", "o.yaml:2:9: &f is an anchor, and anchors are refused" + strictyaml.QuoteHint},
	{"leading star", head + "hard:\n  - *a.rev < b.rev\n", "o.yaml:5: not valid YAML: did not find expected alphabetic or numeric character" + strictyaml.QuoteHint},
	{"unknown alias", head + "hard:\n  - *rev\n", "o.yaml:5: unknown anchor 'rev' referenced" + strictyaml.QuoteHint},
	{"tag", head + "hard:\n  - !(a.rev < b.rev)\n", "o.yaml:5:5: !(a.rev is read as a YAML tag, and tags are refused" + strictyaml.QuoteHint},
	{"explicit tag", head + "order_by: !!str rev\n", "o.yaml:4:11: !!str is read as a YAML tag, and tags are refused" + strictyaml.QuoteHint},
	{"leading quote", head + "hard:\n  - \"a\" == a.who\n", "o.yaml:5: not valid YAML: did not find expected '-' indicator" + strictyaml.QuoteHint},
	{"leading bracket", head + "hard:\n  - [a.rev < b.rev]\n", "o.yaml:5:5: a rule is a text or {name, when}, and this is a list" + strictyaml.QuoteHint},
	{"leading brace", head + "hard:\n  - {a.rev < b.rev}\n", `o.yaml:5:6: a rule is a text or has the keys name and when, and this has a.rev < b.rev; if it is a condition, put the whole of it in quotes (": " in an unquoted text starts a value)`},
	{"comment", head + "hard:\n  - a.rev < b.rev # && a.idx < b.idx\n", `o.yaml:5:5: " #" starts a comment, so the rule ends there: a.rev < b.rev; put the rule in quotes, or the comment on a line of its own`},
	{"comment in when", head + "soft:\n  - when: a.rev < b.rev # x\n", `o.yaml:5:11: " #" starts a comment, so the rule ends there: a.rev < b.rev; put the rule in quotes, or the comment on a line of its own`},
	{"quantifier in when", head + "hard:\n  - when: all s in xs: a.seq[s] < b.seq[s]\n", `o.yaml:5:11: ": " in an unquoted text starts a value, so a rule like this is no valid YAML; put it in quotes: when: "all s in xs: ..."`},
	{"quantifier in a list", head + "hard:\n  - all s in xs: a.seq[s] < b.seq[s]\n", `o.yaml:5:5: a rule is a text or has the keys name and when, and this has all s in xs; if it is a condition, put the whole of it in quotes (": " in an unquoted text starts a value)`},
	{"colon", "oracle: x: y\n", `o.yaml:1: ": " in an unquoted text starts a value; put the text in quotes`},
	{"no utf-8", "oracle: \xff\n", "o.yaml:1: not valid YAML: invalid leading UTF-8 octet" + strictyaml.QuoteHint},
	{"rule that is a number", head + "hard: [7]\n", "o.yaml:4:8: a rule must be a text; YAML reads this as an integer, so put it in quotes if it is meant"},
	{"rule that is nothing", head + "hard:\n  -\n", "o.yaml:5:4: a rule must be a text; YAML reads this as nothing (null), so put it in quotes if it is meant"},
	{"rule without list", head + "hard: a.rev < b.rev\n", "o.yaml:4:7: hard is a list of rules; each stands on a line of its own behind a -"},
	{"no rules", head + "hard: []\n", "o.yaml:4:7: hard is a list of rules; each stands on a line of its own behind a -"},
	{"rule key", head + "hard: [{nmae: x, when: a.rev < b.rev}]\n", "o.yaml:4:9: a rule is a text or has the keys name and when, and this has nmae (did you mean name?)"},
	{"no when", head + "hard: [{name: x}]\n", "o.yaml:4:8: the rule has no condition: the key when is missing"},
	{"same name", head + "hard: [{name: r, when: a.rev < b.rev}]\nsoft: [{name: r, when: a.rev < b.rev}]\n", "o.yaml:5:8: two rules are named r; the other is on line 4"},
	{"builtin field", "oracle: x\nversion: 1\nfields: {key: int}\n", "o.yaml:3:10: key is built in: every operation has it, and no hint can be declared under its name"},
	{"field type", "oracle: x\nversion: 1\nfields: {rev: itn}\n", "o.yaml:3:15: a type is int, string or [int], not itn (did you mean int?)"},
	{"field list type", "oracle: x\nversion: 1\nfields: {rev: [string]}\n", "o.yaml:3:16: a type is int, string or [int], not string"},
	{"field null", "oracle: x\nversion: 1\nfields: {rev: }\n", "o.yaml:3:15: a type is int, string or [int]"},
	{"fields list", "oracle: x\nversion: 1\nfields: [rev]\n", "o.yaml:3:9: fields is a table from names to types, such as {revision: int}, and this is a list"},
	{"lists", head + "lists: {xs: [0, a]}\n", "o.yaml:4:17: the list xs holds integers only"},
	{"lists not a list", head + "lists: {xs: 0}\n", "o.yaml:4:13: the list xs must hold integers, such as [0, 1, 2]"},
	{"scope", head + "scope: al\n", "o.yaml:4:8: scope is one of key, all, not al (did you mean all?)"},
	{"ties", head + "order_by: rev\nties: write_first\n", "o.yaml:5:7: ties is one of concurrent, write_before_read, read_before_write, not write_first"},
	{"strength", head + "order_by: rev\nstrength: sotf\n", "o.yaml:5:11: strength is one of hard, soft, not sotf (did you mean soft?)"},
	{"ties alone", head + "ties: concurrent\n", "o.yaml:4:7: ties belongs to order_by, which is missing"},
	{"only", head + "order_by: rev\nonly: put\n", "o.yaml:5:7: only is a list of operation names, such as [append, put]"},
	{"undeclared", head + "order_by: rve\n", "o.yaml:4:11: the field rve is not declared (did you mean rev?); declare it under fields, such as {rve: int}"},
	{"order by text", head + "order_by: [rev, who]\n", "o.yaml:4:17: order_by takes integers and arrays of integers, and who is a string"},
	{"order by nothing", head + "order_by: []\n", "o.yaml:4:11: order_by takes a field, a list of fields, or {write: field, read: field}"},
	{"half by kind", head + "order_by: {write: rev}\n", "o.yaml:4:11: order_by by kind has both keys, write and read"},
	{"kind typo", head + "order_by: {wirte: rev, read: idx}\n", "o.yaml:4:12: order_by has no key wirte (did you mean write?); its keys are write, read"},
	{"kinds differ", head + "order_by: {write: rev, read: seq}\n", "o.yaml:4:30: writes and reads stand on one line only if their fields have the same types"},
	{"plain rule", head + "hard:\n  - a.rev < b.rve\n", "o.yaml:5:15: the field rve is not declared (did you mean rev?)\n  a.rev < b.rve\n            ^"},
	{"folded rule", head + "hard:\n  - a.rev <\n     b.rve\n", "o.yaml:6:8: the field rve is not declared (did you mean rev?)\n  a.rev < b.rve\n            ^"},
	{"double-quoted rule", head + "hard:\n  - \"a.who == \\\"\\u00e9\\\" && a.rve < 1\"\n", "o.yaml:5:31: the field rve is not declared (did you mean rev?)\n  a.who == \"é\" && a.rve < 1\n                    ^"},
	{"single-quoted rule", head + "hard: ['a.who == \"''\" && a.rve < 1']\n", "o.yaml:4:28: the field rve is not declared (did you mean rev?)\n  a.who == \"'\" && a.rve < 1\n                    ^"},
	{"block rule", head + "hard:\n  - |\n    a.rev < 1 &&\n    a.rve < 1\n", "o.yaml:7:7: the field rve is not declared (did you mean rev?)\n  a.rve < 1\n    ^"},
	{"end of rule", head + "hard:\n  - a.rev <\n", "o.yaml:5:12: expected operand, found the end of the condition\n  a.rev <\n         ^"},
	{"quoted quantifier", head + "hard:\n  - \"all s in xs: a.seq[s] < b.seq[s]\"\n", "o.yaml:5:15: there is no list xs; declare it under lists, such as {xs: [0, 1, 2]}\n  all s in xs: a.seq[s] < b.seq[s]\n           ^"},
}

func TestLoadErrors(t *testing.T) {
	for _, c := range loadErrors {
		_, err := Load("o.yaml", []byte(c.text))
		var e *history.Error
		if !errors.As(err, &e) {
			t.Errorf("%s: got %v, want a *history.Error", c.name, err)
		} else if err.Error() != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, err, c.want)
		}
	}
}

func TestLoad(t *testing.T) {
	text := head + `lists: {xs: [0, -1, 2]} # unused
scope: all
order_by: [rev, seq]   # a comment here is fine
strength: soft
hard:   # and here
  # and here
  - a.kind == "write" && a.rev < b.rev
  - name: quoted
    when: "a.rev < b.rev && a.who == \"#\"" # and here
`
	o, err := Load("o.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if o.Name != "x" || !o.AllKeys || o.Text != text {
		t.Errorf("got %+v", o)
	}
}

func FuzzLoad(f *testing.F) {
	for _, c := range loadErrors {
		f.Add([]byte(c.text))
	}
	files, _ := filepath.Glob("../testdata/oracles/*.yaml")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	v := randomView(twinRand(1), 4)
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := Load("o.yaml", data)
		if err != nil {
			if _, ok := err.(*history.Error); !ok || err.Error() == "" {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		if _, err := apply(o, v.View); err != nil && !errors.Is(err, ErrOwn) {
			t.Fatal(err)
		}
	})
}

package main

const (
	fileDeriveGo = "models/yaml_derive.go"
	fileModelGo  = "models/yaml_model.go"
	fileEvalGo   = "models/yaml_eval.go"
	fileExprGo   = "models/yaml_expr.go"
	fileLoadGo   = "models/yaml.go"
)

// modelFileRules are those of models that are files: what an expression means,
// and what follows from it.
var modelFileRules = []mutation{
	by("models", "TestDerivedFromText", "A case does not apply where one before it does.", fileDeriveGo,
		`facts = append(facts, fact{when, false})`, `_ = facts`),
	by("models", "TestDerivedFromText", "A case that gives another answer is left out.", fileDeriveGo,
		`		ok := value.lit == out.v
		return nil, ok, ok`, `		return nil, true, true`),
	by("models", "TestDerivedKnowledgeHolds", "An answer may leave a state without a case.", fileDeriveGo,
		`total = total && free`, `_ = free`),
	by("models", "TestDerivedKnowledgeHolds", "An inequality names no state.", fileDeriveGo,
		`case x.op == opEqual && f.holds, x.op == opUnequal && !f.holds:`, `case x.op == opEqual, x.op == opUnequal:`),
	by("models", "TestDerivedKnowledgeHolds", "One half of an alternative names no state.", fileDeriveGo,
		`case x.op == opAnd && f.holds, x.op == opOr && !f.holds:`, `case x.op == opAnd, x.op == opOr:`),
	by("models", "TestDerivedKnowledgeHolds", "A negation turns what a condition says.", fileDeriveGo,
		`fact{x.l, !f.holds}.pins(add)`, `fact{x.l, f.holds}.pins(add)`),
	by("models", "TestDerivedFromText", "A state that a condition excludes is not the one needed.", fileDeriveGo,
		`err != nil || b != f.holds {`, `err != nil || b != f.holds && false {`),
	by("models", "TestDerivedKnowledgeHolds", "What changes the one state that it needs is no read.", fileDeriveGo,
		`e.next.op == opLiteral && e.next.lit == e.pin)`, `e.next.op == opLiteral)`),
	by("models", "TestDerivedFromText", "A cas from a value to itself is a read, in a file too.", fileDeriveGo,
		`return e.next != nil && !(e.pinned && e.next.op == opLiteral && e.next.lit == e.pin)`, `return e.next != nil`),
	by("models", "TestDerivedKnowledgeHolds", "Cases that need different states demand none.", fileDeriveGo,
		`if !e.pinned || i > 0 && e.pin != v {`, `if !e.pinned || i < 0 {`),
	by("models", "TestDerivedKnowledgeHolds", "A case that needs no state spoils the demand.", fileDeriveGo,
		`if !e.pinned || i > 0 && e.pin != v {`, `if e.pinned && i > 0 && e.pin != v {`),
	by("models", "TestDerivedFromText", "Without an answer, what an effect needs is wanted.", fileDeriveGo,
		`out == nil && len(some) > 0 {`, `false {`),
	by("models", "TestDerivedKnowledgeHolds", "Cases that leave different states write none.", fileDeriveGo,
		`if e.next.op != opLiteral || e.next.lit != some[0].next.lit {`, `if e.next.op != opLiteral {`),
	by("models", "TestDerivedKnowledgeHolds", "An update that some states refuse writes nothing by name.", fileDeriveGo,
		`!named && (!total || len(some) < len(list))`, `!named && (!total && false || len(some) < len(list))`),
	by("models", "TestDerivedKnowledgeHolds", "An update that may change nothing writes nothing by name.", fileDeriveGo,
		`!named && (!total || len(some) < len(list))`, `!named && !total`),
	by("models", "TestDerivedFromText", "Adding 0 is a read, in a file too.", fileDeriveGo,
		`e.lit == history.Int(0) }`, `false }`),
	by("models", "TestModelFileStories", "Without else an operation is impossible where its condition fails.", fileModelGo,
		`	return s, false
}

// fits`, `	return s, true
}

// fits`),
	by("models", "TestModelFileStories", "An answer must be the model's, in a file too.", fileModelGo,
		`return v == out.v, err`, `return v == out.v || true, err`),
	by("models", "TestModelFileStories", "An ok without an answer is true where answers are true and false.", fileModelGo,
		`	case o.boolean():
		v, known, want := casOutput(r)`, `	case o.boolean() && false:
		v, known, want := casOutput(r)`),
	by("models", "TestModelFileRefusesOperations", "An operation without an output has no answer.", fileModelGo,
		`		return out, false, want
	case o.every`, `		return out, false, ""
	case o.every`),
	by("models", "TestModelFileRefusesOperations", "What is added must be a number.", fileModelGo,
		`(kind != numberKind || isNumber(in.part(i)))`, `true`),
	by("models", "TestModelFileRefusesOperations", "A list has as many parts as it has names.", fileModelGo,
		`&& len(elems) == len(o.parts)-1; ok`, `; ok`),
	by("models", "TestModelFileKinds", "A sum of what is no number stops the check.", fileEvalGo,
		`if side.e != nil && !isNumber(side.v) {`, `if false {`),
	by("models", "TestModelFileKinds", "A condition that is not true or false stops the check.", fileEvalGo,
		`	if !ok {
		return false, fmt.Errorf`, `	if !ok && false {
		return false, fmt.Errorf`),
	by("models", "TestSumsOfNumbers", "Decimals are added digit under digit.", fileEvalGo,
		`total.Add(total, shift(y, ey-low))`, `total.Add(total, y)`),
	by("models", "TestModelFileErrors", "A part of an input has one kind.", fileExprGo,
		`was != anyKind && was != kind {`, `false {`),
	by("models", "TestModelFileErrors", "No operation has two meanings.", fileLoadGo,
		`if line := l.names[name]; line > 0 {`, `if line := l.names[name]; line < 0 {`),
	by("cmd/pinyon", "TestModelFiles", "A history names no model file in another folder.", "cmd/pinyon/modelfile.go",
		`	if name != filepath.Base(name) {
		return malformedf`, `	if false {
		return malformedf`),
	by("cmd/pinyon", "TestModelFiles", "A proof holds the text of its model.", "cmd/pinyon/proof.go",
		`p.LevelText, p.ModelText = level.Text(), l.modelText`, `p.LevelText = level.Text()`),
	by("cmd/pinyon", "TestModelFiles", "A value of the wrong kind is the input's fault.", "cmd/pinyon/exit.go",
		`, modelStopped(err):`, `:`),
}

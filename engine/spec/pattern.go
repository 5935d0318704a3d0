package spec

// Pattern names what a level without a single order forbids. The names with
// CO, CF and HB are those of Bouajjani, Enea, Guerraoui, Hamza, "On verifying
// causal consistency", POPL 2017; docs/ARCHITECTURE.md, section 15, has all.
type Pattern string

// The patterns, with the operations of each in the order of Proof.Ops. w, w1
// and w2 are writes to one key and x is a read of it, or a compare-and-set.
// "Before" is causality for those with CO, and for those with HB what must come
// before in the order of one process.
const (
	ThinAirRead     Pattern = "ThinAirRead"     // x: nothing can have written what it saw
	CyclicCO        Pattern = "CyclicCO"        // a circle of sessions and of what was seen
	WriteCOInitRead Pattern = "WriteCOInitRead" // w, x: w is before x, which saw the initial value
	WriteCORead     Pattern = "WriteCORead"     // w1, w2, x: x saw w1, which is before w2, which is before x
	CyclicCF        Pattern = "CyclicCF"        // a circle of causality and of conflicts of writes
	WriteHBInitRead Pattern = "WriteHBInitRead" // w, x, as WriteCOInitRead in the order of one process
	CyclicHB        Pattern = "CyclicHB"        // a circle of what must come before in the order of one process
	ForgottenWrite  Pattern = "ForgottenWrite"  // w, x or w, y, x: x saw the initial value and must have seen w (as y did)
	StaleRead       Pattern = "StaleRead"       // w, x: no write that x may have seen is left by real time; w overwrote the last
	CyclicWrites    Pattern = "CyclicWrites"    // a circle in what the order of all writes must keep
)

// StepKind says why one operation must come before another.
type StepKind string

// The kinds of steps. Read and After are of those that name them.
const (
	StepSession    StepKind = "session"    // one process issued From before To
	StepSaw        StepKind = "saw"        // To saw what From wrote
	StepConflict   StepKind = "conflict"   // Read saw To, and must have seen From: it comes before Read, or After had seen it
	StepOverwrites StepKind = "overwrites" // To overwrites what From saw, and comes after that
	StepFollows    StepKind = "follows"    // Read saw From, and its process wrote To later
)

// Step is one thing that must come before another, with its reason.
type Step struct {
	From, To    int32
	Why         StepKind
	Read, After int32 // -1: none
}

package paths

// Replayed is for the tests outside.
var Replayed = replayed

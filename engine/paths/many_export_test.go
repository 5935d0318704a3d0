package paths

// ManyKeys is for the tests outside.
var ManyKeys Path = manyPath{}

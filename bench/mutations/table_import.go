package main

const (
	s2Go     = "models/s2.go"
	detectGo = "engine/history/importers/detect.go"
	sourceGo = "engine/history/importers/source.go"
)

// stream is a rule of the model s2.
func stream(name, from, to string) mutation {
	return by("models", "TestS2EqualsTwin", name, s2Go, from, to)
}

// reading is a rule of how files are opened and told.
func reading(test, name, file, from, to string) mutation {
	return by("engine/history/importers", test, name, file, from, to)
}

// importRules are those of telling formats and reading files, and of the model
// of the one format that has its own.
var importRules = []mutation{
	stream("An append needs the tail that it names.", `case in.Match >= 0 && in.Match != s.Tail,`, `case false,`),
	stream("An append needs the token that it names.", `in.Fence != history.Absent && in.Fence != s.Token,`, `false,`),
	stream("An append returns the tail behind its records.", `out != nil && out.Tail != next.Tail`, `false`),
	stream("An append may set the token.", `next.Token = in.Set`, `_ = in.Set`),
	stream("A read returns the hash of the stream.", `(!out.HasHash || out.Hash == s.Hash)`, `true`),
	stream("A read and a check return the tail.", `out.Tail == s.Tail &&`, `true &&`),
	stream("The hash of a stream goes on from what was there.", `next.Hash = S2Chain(next.Hash, `, `next.Hash = S2Chain(0, `),
	by("models", "TestStories", "An append adds as many records as it has hashes.", s2Go, `Tail: s.Tail + n,`, `Tail: s.Tail + min(n, 1),`),
	reading("TestTwoFormatsThatFitAreAQuestion", "Two formats that fit are a question.", detectGo, `	case 1:
		return fit[0]`, `	case 1, 2:
		return fit[0]`),
	reading("TestTwoFormatsThatFitAreAQuestion", "An etcd log with a mistake is no log of another store.", detectGo, `case t.fit > 0 && t.alike == t.ops:`, `case false:`),
	reading("TestTwoFormatsThatFitAreAQuestion", "An operation that etcd lacks makes a log of another store.", detectGo,
		`if !client || l.f == ":read" || l.f == ":write" || l.f == ":cas" {`, `if client || !client {`),
	reading("TestTwoFormatsThatFitAreAQuestion", "A key-value log has no other fields.", detectGo, `		default:
			strict = false`, `		default:`),
	reading("TestUnpackingHasACeiling", "What a gzip file unpacks to has a ceiling.", sourceGo, `case size > most:`, `case false:`),
	reading("TestReadingEndsWithItsContext", "Reading ends with its context.", sourceGo, `if s.ctx == nil || i%512 != 0 {`, `if true {`),
	reading("TestLoadRefuses", "An empty line is no empty file.", "engine/history/importers/importers.go", `case src.parts == nil && blank(src.text):`, `case false:`),
	reading("TestMalformedFilesAreRefusedWithLineAndReason", "An index stands once.", buildGo, `grows && ev.index > last, ev.index`, `grows && ev.index >= last, ev.index`),
	reading("TestLoad", "A new name of a process is nobody else's.", buildGo, `for b.names[name] {`, `for false {`),
}

package history

import "strings"

// Reading back canonical texts. They are well-formed, so an element is found
// by its brackets and made a Value by its text alone, without looking inside:
// reading all of a nested value stays linear in its length times its depth.

// canonicalElems returns the elements of the array at s[at].
func canonicalElems(s string, at int) []Value {
	elems := []Value{}
	for at++; s[at] != ']'; {
		end := canonicalEnd(s, at)
		elems = append(elems, fromCanonical(s[at:end]))
		if at = end; s[at] == ',' {
			at++
		}
	}
	return elems
}

// canonicalMembers returns the members of the object s.
func canonicalMembers(s string) []Member {
	var ms []Member
	for at := 1; s[at] != '}'; {
		nameEnd := canonicalEnd(s, at)
		end := canonicalEnd(s, nameEnd+1)
		ms = append(ms, Member{fromCanonical(s[at:nameEnd]), fromCanonical(s[nameEnd+1 : end])})
		if at = end; s[at] == ',' {
			at++
		}
	}
	return ms
}

// canonicalEnd returns where the value that starts at s[at] ends.
func canonicalEnd(s string, at int) int {
	depth := 0
	for i := at; i < len(s); i++ {
		switch s[i] {
		case '"':
			for i++; s[i] != '"'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
		case '[', '{':
			depth++
			continue
		case ']', '}':
			if depth == 0 {
				return i
			}
			depth--
		case ',', ':':
			if depth == 0 {
				return i
			}
			continue
		default:
			if depth > 0 {
				continue
			}
			for i+1 < len(s) && !strings.ContainsRune(",:]}", rune(s[i+1])) {
				i++
			}
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(s)
}

// special are the kinds whose canonical text is an object of one member.
var special = map[string]Kind{"$kw": KindKeyword, "$sym": KindSymbol, "$char": KindChar,
	"$set": KindSet, "$ratio": KindRatio, "$tag": KindTag, "$map": KindMap}

// fromCanonical returns the value with a canonical text.
func fromCanonical(text string) Value {
	switch text[0] {
	case 'n':
		return Null
	case 't':
		return True
	case 'f':
		return False
	case '"':
		return intern(KindString, text)
	case '[':
		return intern(KindArray, text)
	case '{':
		return intern(canonicalObject(text), text)
	}
	v, _ := Number(text)
	return v
}

// canonicalObject tells a special value from an object, which may start with
// the same name but then has a second member.
func canonicalObject(text string) Kind {
	if strings.HasPrefix(text, `{"$`) {
		nameEnd := canonicalEnd(text, 1)
		if k, ok := special[text[2:nameEnd-1]]; ok && canonicalEnd(text, nameEnd+1) == len(text)-1 {
			return k
		}
	}
	return KindObject
}

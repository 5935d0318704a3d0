package main

import (
	"fmt"
	"strings"

	"pinyon/consistency"
)

const levelsIntro = `# Levels

Written by ` + "`pinyon levels --markdown`" + `; a test says when this file differs.

An operation is a read when, with its input and its output, it changes no state in which it is possible: a read, a failed
compare-and-set, a successful one from a value to the same value, a dequeue that found nothing. Everything else, and every
operation without an answer, is a write, whether or not it changes the value: writing 1 over 1 is a write. An operation without an answer may be placed late or never, and
precedes nothing. A failed one is dropped. Where an oracle is named, what its hints say about order is added to the level's
own. A level is local when a history is allowed exactly when the part of each key is: only then is a history split by key.

## Which level implies which

![The hierarchy of levels, stronger ones higher](levels.svg)

A line leads down from a level to one that allows whatever it allows; what follows from two lines is not drawn. A broken line
holds where no operation reads and writes at once. The picture is written by ` + "`pinyon levels --svg`" + `. A test holds every line to
random histories (` + "`go test ./consistency -timeout 2h -run TestHierarchy$ -hierarchy.n 1000000`" + ` for a million), and two kept
histories show that no line leads the other way: in [testdata/litmus/pairs](../testdata/litmus/pairs), where the level that is
named first allows the history and the one that is named second does not. In the names of these files k=2 and k=3 stand for any
bound K and the next, t=1ns and t=3ns for any bound T and a greater one. A test decides each by the engine and by its twin.
`

// levelsMarkdown is docs/LEVELS.md.
func levelsMarkdown() (string, error) {
	c, err := consistency.DrawChart()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(levelsIntro)
	sameText(&b)
	localityText(&b, c)
	for _, l := range consistency.Levels() {
		fmt.Fprintf(&b, "\n## %s\n\n", l.Name)
		if l.Params != "" {
			fmt.Fprintf(&b, "`%s%s`\n\n", l.Name, l.Params)
		}
		fmt.Fprintf(&b, "%s\n\nSource: %s.\n\nLocal: %s. Because %s.\n", l.Doc, l.Source, locality(l.Local), l.WhyLocal)
		for at, n := range c.Nodes {
			for _, pattern := range n.Levels {
				if pattern == l.Name || strings.HasPrefix(pattern, l.Name+":") {
					neighboursText(&b, c, at, pattern)
				}
			}
		}
	}
	return b.String(), nil
}

// sameText lists the levels that differ in compare-and-sets alone.
func sameText(b *strings.Builder) {
	b.WriteString("\nThese pairs allow the same where no operation reads and writes at once:\n\n")
	for _, r := range consistency.Hierarchy() {
		if r.Relation == consistency.BlindSame {
			fmt.Fprintf(b, "- `%s` and `%s`\n", r.Stronger, r.Weaker)
		}
	}
}

// neighboursText lists the histories that tell a level from its neighbours.
func neighboursText(b *strings.Builder, c *consistency.Chart, at int, pattern string) {
	if main := c.Nodes[at].Levels[0]; main != pattern {
		fmt.Fprintf(b, "\nThe same as `%s`: `%s`.\n", main, pattern)
		return
	}
	fmt.Fprintf(b, "\nNeighbours of `%s`:\n\n", pattern)
	stronger, weaker := false, false
	for _, e := range c.Edges {
		blind := ""
		if e.Blind {
			blind = ", where no operation reads and writes at once"
		}
		switch at {
		case e.To:
			stronger = true
			other := c.Nodes[e.From].Levels[0]
			fmt.Fprintf(b, "- `%s` is stronger%s. Allowed here and not there: %s.\n", other, blind, pairLinks(pattern, other))
		case e.From:
			weaker = true
			other := c.Nodes[e.To].Levels[0]
			fmt.Fprintf(b, "- `%s` is weaker%s. Allowed there and not here: %s.\n", other, blind, pairLinks(other, pattern))
		}
	}
	for _, p := range consistency.Confused() {
		if other := p[1]; p[0] == pattern || other == pattern {
			if other == pattern {
				other = p[0]
			}
			fmt.Fprintf(b, "- `%s` is neither stronger nor weaker. Allowed here and not there: %s. Allowed there and not here: %s.\n",
				other, pairLinks(pattern, other), pairLinks(other, pattern))
		}
	}
	if !stronger {
		fmt.Fprintf(b, "- Nothing is stronger. Like every level it allows %s.\n", litmusLink("", "in-order.jsonl"))
	}
	if !weaker {
		fmt.Fprintf(b, "- Nothing is weaker. Like every level it does not allow %s.\n", litmusLink("", "thin-air.jsonl"))
	}
}

func pairLinks(accepts, rejects string) string {
	files := consistency.PairFiles(consistency.Member(accepts), consistency.Member(rejects))
	return litmusLink("pairs/", files[0]) + ", " + litmusLink("pairs/", files[1])
}

func litmusLink(folder, file string) string {
	return fmt.Sprintf("[%s](../testdata/litmus/%s%s)", strings.TrimSuffix(file, ".jsonl"), folder, file)
}

// localityText is the table of what may be split by key.
func localityText(b *strings.Builder, c *consistency.Chart) {
	b.WriteString(`
## Which level is local

Random histories of two and three keys are decided whole and each key alone (` + "`go test ./consistency -timeout 2h -run TestLocality$ -locality.n 300000`" + `).
At a local level no history of 300,000 makes a difference. At another level a kept history shows one: each key alone is
allowed, all together are not. The histories of this table have plain times: every event has its own instant, and no clock
has an error. With ties or clock error session order can go beyond real time, and then a history is not split even at a local
level (docs/ARCHITECTURE.md, section 8).

| level | local | history that shows it |
|---|---|---|
`)
	for _, n := range c.Nodes {
		name := n.Levels[0]
		base, _, _ := strings.Cut(name, ":")
		l, err := levelInfo(base)
		if err != nil {
			continue
		}
		local, file := "yes", ""
		switch {
		case l.Local:
		case consistency.NeverCrosses(name):
			local, file = "not split", "none exists: nothing leads from one key to another"
		default:
			local, file = "no", litmusLink("locality/", consistency.LocalityFile(consistency.Member(name)))
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", name, local, file)
	}
	for _, row := range relatedRows {
		file := ""
		if row[1] == "no" {
			file = litmusLink("locality/", row[2]+".jsonl")
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", row[0], row[1], file)
	}
}

// relatedRows are orders that are no levels, and what the same test finds of
// them: what they are, whether they are local, and the name of the history.
var relatedRows = [][3]string{
	{"linearizable, with hard edges within one key", "yes", ""},
	{"linearizable, with hard order of hints across keys", "no", "hints-across-keys"},
	{"`bounded-staleness:t=T` with sessions of reads too", "no", "staleness-with-sessions"},
	{"regular, taken as one order over all keys", "no", "regular-as-one-order"},
	{"as that, without reads before later writes (Viotti and Vukolic's regular)", "yes", ""},
}

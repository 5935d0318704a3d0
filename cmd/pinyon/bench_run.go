package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"pinyon/engine/history"
)

// benchRow is what a case cost, by seed.
type benchRow struct {
	benchCase
	ours   []measure
	theirs []measure // of the first seeds; empty: not run
	missed bool      // the rival exceeded its limit on a smaller case and was not run
}

// runner runs cases, each in a process of its own.
type runner struct {
	app     *app
	flags   *benchFlags
	self    string // this program
	folder  string // of the histories that the rival reads too
	stopped map[string]bool
	wrong   int
}

func newRunner(a *app, f *benchFlags) (*runner, error) {
	self, err := ownProgram()
	if err != nil {
		return nil, err
	}
	if f.rival != "" {
		if f.rival, err = exec.LookPath(f.rival); err != nil {
			return nil, usagef("--rival: %v", err)
		}
	}
	if err := os.MkdirAll(f.out, 0o777); err != nil {
		return nil, unwritten(err)
	}
	folder, err := os.MkdirTemp("", "pinyon-bench")
	return &runner{app: a, flags: f, self: self, folder: folder, stopped: map[string]bool{}}, err
}

// ownProgram is the path of this program, under the name that it was called by.
func ownProgram() (string, error) {
	if path, err := exec.LookPath(os.Args[0]); err == nil {
		return path, nil
	}
	return os.Executable()
}

func (r *runner) close() { os.RemoveAll(r.folder) }

// suite runs cases one after the other, and says as each is done. After an
// interrupt the rows are those of the cases that were measured whole.
func (r *runner) suite(ctx context.Context, cases []benchCase) (rows []benchRow, err error) {
	for i, c := range cases {
		row := benchRow{benchCase: c}
		row.missed = r.stopped[c.ladder] && c.ladder != ""
		for seed := range r.seeds(c) {
			err := r.measure(ctx, &row, uint64(seed+1))
			if ctx.Err() != nil { // also where the check ended, undecided: the interrupt reaches it too
				return rows, nil
			}
			if err != nil {
				return nil, fmt.Errorf("%s, seed %d: %w", c.name, seed+1, err)
			}
		}
		rows = append(rows, row)
		r.app.say("%d/%d %s: %s, %s ms", i+1, len(cases), c.name, verdictOf(row.ours), milliseconds(median(row.ours, cpuOf)))
	}
	return rows, nil
}

// seeds is how many histories of a case are measured.
func (r *runner) seeds(c benchCase) int {
	switch {
	case c.files != nil:
		return len(c.files)
	case c.job.Shape != nil && c.job.Shape.Burst > 0 || c.job.File != "":
		return min(r.flags.seeds, 5) // the same history each time
	}
	return r.flags.seeds
}

// measure measures one seed of a row.
func (r *runner) measure(ctx context.Context, row *benchRow, seed uint64) error {
	job := row.job
	job.Budget = r.flags.budget
	if row.files != nil {
		job.File = row.files[seed-1]
	}
	if job.Shape != nil {
		s := *job.Shape
		s.Seed = seed
		job.Shape = &s
	}
	withRival := row.rival && r.flags.rival != "" && !row.missed && (r.flags.rivalSeeds == 0 || int(seed) <= r.flags.rivalSeeds)
	if withRival && job.File == "" {
		if err := r.write(&job); err != nil {
			return err
		}
		defer os.Remove(job.File)
	}
	m, err := runOne(ctx, r.self, &job)
	if err != nil {
		return err
	}
	row.ours = append(row.ours, *m)
	if withRival {
		them, err := r.runRival(ctx, &job)
		if err != nil {
			return err
		}
		row.theirs = append(row.theirs, *them)
		if them.Verdict == "unknown" {
			r.stopped[row.ladder] = true
		}
	}
	return r.compare(row, &job)
}

// write makes the history of a job a file, from which everybody reads it.
func (r *runner) write(job *benchJob) error {
	h, err := job.Shape.History()
	if err != nil {
		return err
	}
	job.File = filepath.Join(r.folder, "history.jsonl")
	file, err := os.Create(job.File)
	if err != nil {
		return err
	}
	return errors.Join(history.WriteNative(file, h), file.Close())
}

// runOne measures a job in a process of its own.
func runOne(ctx context.Context, self string, job *benchJob) (*measure, error) {
	text, err := json.Marshal(job)
	if err != nil {
		return nil, err
	}
	return runChecker(ctx, job.Budget+5*time.Minute, self, "bench", "--one", string(text))
}

func (r *runner) runRival(ctx context.Context, job *benchJob) (*measure, error) {
	args := []string{job.File, "--timeout", r.flags.rivalTimeout.String()}
	if job.Shape != nil {
		args = append(args, "--model", job.Shape.Model)
	}
	return runChecker(ctx, r.flags.rivalTimeout+5*time.Minute, r.flags.rival, args...)
}

// runChecker runs a program that prints a measure.
func runChecker(ctx context.Context, limit time.Duration, program string, args ...string) (*measure, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	failed := cmd.Run()
	m := &measure{}
	if err := json.Unmarshal(out.Bytes(), m); err != nil || m.Verdict == "" {
		return nil, fmt.Errorf("%s: %v: %s", filepath.Base(program), failed, bytes.TrimSpace(errs.Bytes()))
	}
	return m, nil
}

// compare compares the last verdicts of a row with each other and with what the
// making of the history implies. A history that shows a difference is kept.
func (r *runner) compare(row *benchRow, job *benchJob) error {
	got := row.ours[len(row.ours)-1].Verdict
	want := impliedVerdict(job)
	who := "its making implies"
	if len(row.theirs) == len(row.ours) && len(row.theirs) > 0 {
		if them := row.theirs[len(row.theirs)-1].Verdict; them != "unknown" && (want == "" || want == got) {
			want, who = them, "the rival says"
		}
	}
	if got == "unknown" || want == "" || got == want || got == "vacuous" && want == "consistent" {
		return nil // a rival has no word for a history in which nothing had to fit
	}
	r.wrong++
	if job.File == "" {
		if err := r.write(job); err != nil {
			return err
		}
	}
	kept := filepath.Join(r.flags.out, fmt.Sprintf("wrong-%d.jsonl", r.wrong))
	r.app.say("%s: %s, but %s %s; kept as %s", row.name, got, who, want, kept)
	return copyFile(kept, job.File)
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return unwritten(err)
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// impliedVerdict is the verdict that the making of a history implies; "" where
// it implies none: a level that is weaker may allow what is not linearizable.
func impliedVerdict(job *benchJob) string {
	switch {
	case job.Shape == nil:
		return ""
	case !job.Shape.Impossible():
		return "consistent"
	case job.Level == "" || job.Level == "linearizable":
		return "violation"
	}
	return ""
}

// median is the median of a field over measures; 0 of none.
func median(ms []measure, field func(m *measure) float64) float64 {
	var all []float64
	for i := range ms {
		all = append(all, field(&ms[i]))
	}
	slices.SortFunc(all, cmp.Compare)
	switch n := len(all); {
	case n == 0:
		return 0
	case n%2 == 1:
		return all[n/2]
	default:
		return (all[n/2-1] + all[n/2]) / 2
	}
}

func cpuOf(m *measure) float64 { return m.CPU }

// verdictOf is the verdict of all seeds; "unknown" if any is.
func verdictOf(ms []measure) string {
	var all []string
	for i := range ms {
		if ms[i].Verdict == "unknown" {
			return "unknown"
		}
		all = append(all, ms[i].Verdict)
	}
	return distinct(all, " or ")
}

func engineOf(ms []measure) string {
	var all []string
	for i := range ms {
		all = append(all, ms[i].Engine)
	}
	return distinct(all, ", ")
}

package harness

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Print prints the summary for people: operations by outcome, faults by kind,
// bytes by link, keys without a last read, the clock's granularity.
func (s *Summary) Print(w io.Writer) {
	fmt.Fprintf(w, "operations  %d ok, %d failed, %d without an answer, in %s\n", s.OK, s.Failed, s.Unknown, s.Elapsed.Round(time.Millisecond))
	if s.Interrupted > 0 {
		fmt.Fprintf(w, "interrupted after %.1f s of %g s; what was recorded until then is checked\n", s.Interrupted.Seconds(), s.Asked.Seconds())
	}
	for _, f := range s.Faults {
		fmt.Fprintf(w, "faults      %s: %d planned, %d applied, %d seen to work\n", f.Kind, f.Planned, f.Applied, f.Verified)
	}
	if len(s.Faults) == 0 {
		fmt.Fprintf(w, "faults      none were asked for\n")
	}
	for _, l := range s.Links {
		if l.DroppedForward+l.DroppedBackward > 0 {
			fmt.Fprintf(w, "link        %s: %d bytes forwarded, %d dropped\n", l.Link, l.Forward+l.Backward, l.DroppedForward+l.DroppedBackward)
		}
	}
	forward, dropped := int64(0), int64(0)
	for _, l := range s.Links {
		forward += l.Forward + l.Backward
		dropped += l.DroppedForward + l.DroppedBackward
	}
	fmt.Fprintf(w, "network     %d links, %d bytes forwarded, %d dropped\n", len(s.Links), forward, dropped)
	for _, u := range s.Unread {
		fmt.Fprintf(w, "last reads  none of %s at %s: %s\n", some(u.Keys), u.Node, u.Why)
	}
	fmt.Fprintf(w, "clock       steps of %s\n", time.Duration(s.Granularity))
}

// some lists at most ten names, and says how many there are beside.
func some(names []string) string {
	if n := len(names) - 10; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:10], ", "), n)
	}
	return strings.Join(names, ", ")
}

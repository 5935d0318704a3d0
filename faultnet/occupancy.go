package faultnet

import (
	"fmt"
	"time"
)

// occupancy finds steps that get into each other's way: while one holds a node,
// or a way of a link, another may not, or the end of the first would end the
// second. Leader may be any node.
type occupancy struct {
	t    Topology
	ends map[place]taking
}

// place is a node (To is empty), or one way of a link.
type place struct {
	link Link
	side int
}

// taking says until when a place is taken, and by whom.
type taking struct {
	end  time.Duration
	step string
}

// add takes what step touches; steps come in the order of At.
func (o *occupancy) add(step Step, name string) error {
	for _, p := range o.places(step) {
		if t, ok := o.ends[p]; ok && step.At < t.end {
			return fmt.Errorf("it begins at %v on %s, which %s holds until %v; expected one after the other (%s may be any node)", step.At, p, t.step, t.end, Leader)
		}
	}
	for _, p := range o.places(step) {
		o.ends[p] = taking{step.End(), name}
	}
	return nil
}

// places lists what step may touch, whoever leads.
func (o *occupancy) places(step Step) []place {
	any := func(name string) []string {
		if name == Leader || name == Every {
			return o.t.Nodes
		}
		return []string{name}
	}
	var all []place
	for _, name := range step.Nodes {
		for _, node := range any(name) {
			all = append(all, place{link: Link{From: node}})
		}
	}
	for _, l := range step.Links {
		for _, from := range any(l.From) {
			for _, to := range any(l.To) {
				for _, side := range step.Way.sides() {
					if from != to {
						all = append(all, place{Link{from, to}, side})
					}
				}
			}
		}
	}
	return all
}

func (p place) String() string {
	if p.link.To == "" {
		return p.link.From
	}
	return p.link.String() + " " + wayNames[p.side+1]
}

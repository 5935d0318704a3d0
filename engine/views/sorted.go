package views

import "slices"

// sorted returns a topological order of 0..n-1 under pairs (Kahn, 1962), or a
// circle of them: each before the next, the last before the first.
func sorted(n int, pairs [][2]int32) (line, circle []int32) {
	next, left := make([][]int32, n), make([]int32, n)
	for _, p := range pairs {
		next[p[0]] = append(next[p[0]], p[1])
		left[p[1]]++
	}
	for x := range int32(n) {
		if left[x] == 0 {
			line = append(line, x)
		}
	}
	for i := 0; i < len(line); i++ {
		for _, y := range next[line[i]] {
			if left[y]--; left[y] == 0 {
				line = append(line, y)
			}
		}
	}
	if len(line) == n {
		return line, nil
	}
	return nil, walkCircle(n, pairs, left)
}

// walkCircle steps back from an operation that is left to one before it that
// is left too, until one repeats.
func walkCircle(n int, pairs [][2]int32, left []int32) []int32 {
	before := make([]int32, n)
	start := int32(-1)
	for _, p := range pairs {
		if left[p[0]] > 0 && left[p[1]] > 0 {
			before[p[1]], start = p[0], p[1]
		}
	}
	seen := map[int32]int{}
	var path []int32
	for x := start; ; x = before[x] {
		if at, ok := seen[x]; ok {
			c := slices.Clone(path[at:])
			slices.Reverse(c)
			return c
		}
		seen[x] = len(path)
		path = append(path, x)
	}
}

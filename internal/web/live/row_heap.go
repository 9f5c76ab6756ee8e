package live

// rowHeap is a heap of rows. Its root is the row with the earliest due time.
type rowHeap []*row

func (h rowHeap) Len() int           { return len(h) }
func (h rowHeap) Less(i, j int) bool { return h[i].due().Before(h[j].due()) }
func (h rowHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

func (h *rowHeap) Push(x any) {
	r := x.(*row)
	r.place = len(*h)
	*h = append(*h, r)
}

func (h *rowHeap) Pop() any {
	last := len(*h) - 1
	r := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	r.place = -1
	return r
}

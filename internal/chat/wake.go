package chat

// WakeUp puts a value into a channel with a capacity of one. It never blocks: if the channel
// already holds a value, the goroutine that receives from it is about to look anyway.
func WakeUp(wake chan<- struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}

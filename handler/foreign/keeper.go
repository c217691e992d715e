package foreign

import "context"

// Keeper is the port to the kernel's links, addresses and routes.
type Keeper interface {
	// Note reads all of them.
	Note(ctx context.Context) (Snapshot, error)
	// PutBack puts one thing back as it was. That somebody else has done so
	// meanwhile is no error.
	PutBack(ctx context.Context, loss Loss) error
}

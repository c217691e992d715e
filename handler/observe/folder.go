package observe

import (
	"context"
	"errors"
	"fmt"

	"github.com/fsnotify/fsnotify"
)

// watchFolder triggers whenever a file in the folder changes, until the folder itself goes.
func (w *Watcher) watchFolder(ctx context.Context, up func()) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watching a folder: %w", err)
	}
	defer func() { _ = watcher.Close() }() // It watches nothing else.
	if err := watcher.Add(w.Folder); err != nil {
		return fmt.Errorf("watching %s: %w", w.Folder, err)
	}
	up()
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-watcher.Errors:
			return fmt.Errorf("watching %s: %w", w.Folder, err)
		case event := <-watcher.Events:
			w.trigger(ctx)
			if event.Name == w.Folder && event.Has(fsnotify.Remove|fsnotify.Rename) {
				return errors.New(w.Folder + " is gone")
			}
		}
	}
}

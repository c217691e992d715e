package secret

import (
	"crypto/hpke"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// keyFile is in the journal's folder.
const keyFile = "secrets.key"

// Key is a node's own.
type Key struct{ private hpke.PrivateKey }

// OpenKey reads the node's key, and makes one where there is none, or none that can
// be read: what was sealed with that nobody can open, and it is sealed anew.
func OpenKey(dir string) (*Key, error) {
	file := filepath.Join(dir, keyFile)
	raw, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the node's key for secrets: %w", err)
	}
	if private, err := kem().NewPrivateKey(raw); err == nil {
		return &Key{private: private}, nil
	}
	private, err := kem().GenerateKey()
	if err != nil {
		return nil, fmt.Errorf("making the node's key for secrets: %w", err)
	}
	if raw, err = private.Bytes(); err != nil {
		return nil, fmt.Errorf("making the node's key for secrets: %w", err)
	}
	if err := write(file, raw); err != nil {
		return nil, fmt.Errorf("writing the node's key for secrets: %w", err)
	}
	return &Key{private: private}, nil
}

// write leaves the file whole or not there, for root alone.
func write(file string, raw []byte) error {
	part, err := os.CreateTemp(filepath.Dir(file), keyFile+".") // With the mode 0600.
	if err != nil {
		return err
	}
	_, err = part.Write(raw)
	if err = errors.Join(err, part.Sync(), part.Close()); err == nil {
		err = os.Rename(part.Name(), file)
	}
	if err != nil {
		_ = os.Remove(part.Name()) // Without it the next try is as good.
	}
	return err
}

// Public is the half that everybody may know.
func (k *Key) Public() string {
	return base64.StdEncoding.EncodeToString(k.private.PublicKey().Bytes())
}

package secret

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/hpke"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// keyFile is in the journal's folder.
const keyFile = "secrets.key"

// Key is a node's own.
type Key struct {
	private hpke.PrivateKey
	// prints is derived from it, for Fingerprint.
	prints []byte
}

func newKey(private hpke.PrivateKey, raw []byte) (*Key, error) {
	prints, err := hkdf.Key(sha256.New, raw, nil, "kubernetes-nmstate fingerprint", sha256.Size)
	if err != nil {
		return nil, fmt.Errorf("deriving from the node's key for secrets: %w", err)
	}
	return &Key{private: private, prints: prints}, nil
}

// OpenKey reads the node's key, and makes one where there is none, or none that can
// be read: what was sealed with that nobody can open, and it is sealed anew.
func OpenKey(dir string) (*Key, error) {
	file := filepath.Join(dir, keyFile)
	raw, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the node's key for secrets: %w", err)
	}
	if private, err := kem().NewPrivateKey(raw); err == nil {
		return newKey(private, raw)
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
	return newKey(private, raw)
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

// Fingerprint is the same text for the same value, and another one for another value.
// Without the node's private key nobody can find a value by it.
func (k *Key) Fingerprint(value string) string {
	mac := hmac.New(sha256.New, k.prints)
	mac.Write([]byte(value))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

package secret

import (
	"crypto/ecdh"
	"crypto/hpke"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// MaxValue is the most that a value may have, in bytes: sealed and as text it is some
// 4/3 of that.
const MaxValue = 4 << 10

func kem() hpke.KEM   { return hpke.DHKEM(ecdh.X25519()) }
func kdf() hpke.KDF   { return hpke.HKDFSHA256() }
func aead() hpke.AEAD { return hpke.AES256GCM() }

// Seal encrypts a value for who has the other half of a public key. It opens as that
// version of that key of that Secret only.
func Seal(public string, about state.SecretReference, value []byte) (string, error) {
	raw, err := base64.StdEncoding.DecodeString(public)
	if err != nil {
		return "", fmt.Errorf("reading the node's key: %w", err)
	}
	key, err := kem().NewPublicKey(raw)
	if err != nil {
		return "", fmt.Errorf("reading the node's key: %w", err)
	}
	sealed, err := hpke.Seal(key, kdf(), aead(), context(about), value)
	if err != nil {
		return "", fmt.Errorf("sealing: %w", err)
	}
	return base64.StdEncoding.EncodeToString(sealed), nil
}

// Open is the value again.
func (k *Key) Open(about state.SecretReference, sealed string) (string, error) {
	raw, err := base64.StdEncoding.DecodeString(sealed)
	if err != nil {
		return "", fmt.Errorf("reading the sealed value: %w", err)
	}
	value, err := hpke.Open(k.private, kdf(), aead(), context(about), raw)
	if err != nil {
		return "", fmt.Errorf("opening the sealed value with the key of this node: %w", err)
	}
	return string(value), nil
}

// context is what a sealed value is bound to.
func context(about state.SecretReference) []byte {
	return []byte(strings.Join([]string{"kubernetes-nmstate secret", about.Name, about.Key, about.Version}, "\x00"))
}

// Version of a value on a node, from that of its Secret and the node's public key.
func Version(ofSecret, public string) string {
	sum := sha256.Sum256([]byte(public))
	return ofSecret + "-" + hex.EncodeToString(sum[:4])
}

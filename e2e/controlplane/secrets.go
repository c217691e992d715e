package controlplane

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	certutil "k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// ServerName is a name on the serving certificate. Who reaches the API server
// by another address, such as a node behind a proxy, verifies this name.
const ServerName = "kubernetes"

// ensureSecrets makes the keys, certificates and tokens that are missing, so
// that what was handed out at an earlier start stays valid.
func (f Files) ensureSecrets() error {
	if err := f.ensureServingCertificate(); err != nil {
		return fmt.Errorf("making the serving certificate: %w", err)
	}
	if err := ensure(f.serviceAccountKey(), keyutil.MakeEllipticPrivateKeyPEM); err != nil {
		return fmt.Errorf("making the service account key: %w", err)
	}
	for _, path := range []string{f.adminToken(), f.controllerManagerToken()} {
		if err := ensure(path, randomToken); err != nil {
			return fmt.Errorf("making a token: %w", err)
		}
	}
	return f.writeTokens()
}

func (f Files) ensureServingCertificate() error {
	// The key is written last: with it, the pair is whole.
	return ensure(f.servingKey(), func() ([]byte, error) {
		names := []string{"kubernetes.default", "kubernetes.default.svc", "localhost"}
		addresses := []net.IP{net.IPv4(127, 0, 0, 1), net.IPv4(10, 96, 0, 1), net.IPv6loopback}
		certificate, key, err := certutil.GenerateSelfSignedCertKey(ServerName, addresses, names)
		if err != nil {
			return nil, err
		}
		return key, os.WriteFile(f.servingCertificate(), certificate, 0o644)
	})
}

// writeTokens writes the users that the API server knows from the start.
func (f Files) writeTokens() error {
	admin, err := os.ReadFile(f.adminToken())
	if err != nil {
		return err
	}
	controllerManager, err := os.ReadFile(f.controllerManagerToken())
	if err != nil {
		return err
	}
	lines := []string{
		string(admin) + ",admin,admin,system:masters",
		string(controllerManager) + ",system:kube-controller-manager,kube-controller-manager,",
	}
	return os.WriteFile(f.tokens(), []byte(strings.Join(lines, "\n")+"\n"), 0o600)
}

// ensure writes what content returns to path, unless path is there.
func ensure(path string, content func() ([]byte, error)) error {
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	data, err := content()
	if err != nil {
		return err
	}
	// A process killed in mid-write must not leave half a key behind.
	partial := path + ".partial"
	if err := os.WriteFile(partial, data, 0o600); err != nil {
		return err
	}
	return os.Rename(partial, path)
}

func randomToken() ([]byte, error) {
	return []byte(rand.Text()), nil
}

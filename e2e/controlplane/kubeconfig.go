package controlplane

import (
	"os"
	"strconv"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// contextName is what `kubectl config current-context` prints.
const contextName = "kubernetes-nmstate"

// NodeKubeconfig returns a kubeconfig for who reaches the API server at another
// address than its own, such as a lab node behind a proxy. The server is a URL
// like https://192.0.2.1:6443, the token that of a service account
// (ServiceAccountToken).
func (f Files) NodeKubeconfig(server, token string) ([]byte, error) {
	config, err := f.kubeconfig(server, token)
	if err != nil {
		return nil, err
	}
	config.Clusters[contextName].TLSServerName = ServerName
	return clientcmd.Write(*config)
}

// RESTConfig is the administrator's access.
func (f Files) RESTConfig() (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", f.Kubeconfig())
	if err != nil {
		return nil, err
	}
	// Tests are the only clients; the server's own fairness is limit enough.
	config.QPS = -1
	return config, nil
}

func (f Files) writeKubeconfigs(port int) error {
	for path, tokenFile := range map[string]string{
		f.Kubeconfig():                  f.adminToken(),
		f.controllerManagerKubeconfig(): f.controllerManagerToken(),
	} {
		token, err := os.ReadFile(tokenFile)
		if err != nil {
			return err
		}
		config, err := f.kubeconfig("https://"+address(port), string(token))
		if err != nil {
			return err
		}
		if err := clientcmd.WriteToFile(*config, path); err != nil {
			return err
		}
	}
	return nil
}

func (f Files) kubeconfig(server, token string) (*clientcmdapi.Config, error) {
	authority, err := os.ReadFile(f.servingCertificate())
	if err != nil {
		return nil, err
	}
	config := clientcmdapi.NewConfig()
	config.Clusters[contextName] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: authority}
	config.AuthInfos[contextName] = &clientcmdapi.AuthInfo{Token: token}
	config.Contexts[contextName] = &clientcmdapi.Context{Cluster: contextName, AuthInfo: contextName}
	config.CurrentContext = contextName
	return config, nil
}

// address is where the API server listens.
func address(port int) string { return "127.0.0.1:" + strconv.Itoa(port) }

package controlplane

import (
	"context"
	"fmt"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ServiceAccountToken returns a token of a service account that exists, as a pod
// gets one. Where node is not empty the token is bound to that Node, as the
// token of a DaemonSet's pod is: requests carry the node's name (Filter.Node),
// and the token ends with the Node object.
func (f Files) ServiceAccountToken(ctx context.Context, namespace, name, node string, lifetime time.Duration) (string, error) {
	config, err := f.RESTConfig()
	if err != nil {
		return "", err
	}
	api, err := client.New(config, client.Options{})
	if err != nil {
		return "", err
	}
	request := &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(lifetime.Seconds()))},
	}
	if node != "" {
		var object corev1.Node
		if err := api.Get(ctx, client.ObjectKey{Name: node}, &object); err != nil {
			return "", fmt.Errorf("binding a token to node %s: %w", node, err)
		}
		request.Spec.BoundObjectRef = &authenticationv1.BoundObjectReference{
			APIVersion: "v1", Kind: "Node", Name: node, UID: object.UID,
		}
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	if err := api.SubResource("token").Create(ctx, account, request); err != nil {
		return "", fmt.Errorf("getting a token for service account %s/%s: %w", namespace, name, err)
	}
	return request.Status.Token, nil
}

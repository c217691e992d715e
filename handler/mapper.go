package main

import (
	"net/http"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// knownKinds says where the kinds live that the handler uses. The usual mapper
// asks the API server, and a handler that starts on a node which an earlier one
// had cut off would wait for it before it takes anything back.
func knownKinds(*rest.Config, *http.Client) (meta.RESTMapper, error) {
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{v1.GroupVersion, corev1.SchemeGroupVersion})
	for _, kind := range []schema.GroupVersionKind{
		v1.GroupVersion.WithKind("NodeNetworkConfigurationPolicy"),
		v1.GroupVersion.WithKind("NodeNetworkConfigurationEnactment"),
		v1.GroupVersion.WithKind("NodeNetworkState"),
		corev1.SchemeGroupVersion.WithKind("Node"),
	} {
		mapper.Add(kind, meta.RESTScopeRoot)
	}
	return mapper, nil
}

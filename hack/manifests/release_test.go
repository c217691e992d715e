package manifests

import (
	"regexp"
	"slices"
	"testing"
)

func TestTheManifestsOfAReleaseNameItsImages(t *testing.T) {
	files, err := Release(root, "registry.example/net", "v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	handler, controllers := "registry.example/net/handler:v1.2.3", "registry.example/net/controllers:v1.2.3"
	for name, want := range map[string][]string{
		"kubernetes-nmstate.yaml":             {controllers, handler},
		"kubernetes-nmstate-centralized.yaml": {controllers, handler},
		"kubernetes-nmstate-operator.yaml":    {controllers},
		"kubernetes-nmstate-monitoring.yaml":  nil,
		"kubernetes-nmstate-openshift.yaml":   nil,
		"kubernetes-nmstate-page.yaml":        {controllers},
	} {
		var images []string
		for _, found := range regexp.MustCompile(`(?m)^ +image: (\S+)$`).FindAllStringSubmatch(string(files[name]), -1) {
			images = append(images, found[1])
		}
		if !slices.Equal(images, want) || len(files[name]) == 0 {
			t.Errorf("%s: images %v, want %v", name, images, want)
		}
	}
	if len(files) != 6 {
		t.Errorf("%d files", len(files))
	}
}

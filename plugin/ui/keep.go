package ui

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/plugin/view"
)

// largestForm is how large a form may be that a browser sends.
const largestForm = 4 << 10

// keep is the form that keeps a change which waits for a person.
type keep struct {
	Nodes      []string
	Generation int64
	// Word shows that the form is of this page: another page cannot know it.
	Word string
}

func (h *Handler) keep(ctx context.Context, p view.Policy) *keep {
	viewer := viewerOf(ctx)
	if viewer.Writer == nil {
		return nil
	}
	k := keep{Generation: p.Generation, Word: h.word(viewer, p.Name, p.Generation)}
	for _, node := range p.Nodes {
		if node.Phase == view.Confirm {
			k.Nodes = append(k.Nodes, node.Name)
		}
	}
	if len(k.Nodes) == 0 {
		return nil
	}
	return &k
}

// word is of one policy's generation, of whoever asks, and of this process.
func (h *Handler) word(viewer Viewer, policy string, generation int64) string {
	made := hmac.New(sha256.New, h.Key)
	for _, part := range []string{policy, strconv.FormatInt(generation, 10), viewer.Credential} {
		sum := sha256.Sum256([]byte(part))
		made.Write(sum[:])
	}
	return hex.EncodeToString(made.Sum(nil))
}

// confirm keeps the change of the generation that the form was about.
func (h *Handler) confirm(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, largestForm)
	name, viewer := r.PathValue("name"), viewerOf(r.Context())
	generation, err := strconv.ParseInt(r.PostFormValue("generation"), 10, 64)
	if err != nil || !hmac.Equal([]byte(h.word(viewer, name, generation)), []byte(r.PostFormValue("word"))) {
		http.Error(w, "this form is not of this page, or it is old: open the policy again", http.StatusForbidden)
		return
	}
	objects, err := h.objects(r.Context())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	at := slices.IndexFunc(objects.Policies, func(p v1.NodeNetworkConfigurationPolicy) bool { return p.Name == name })
	if at < 0 {
		http.Error(w, "policy "+name+" is not there", http.StatusNotFound)
		return
	}
	word, err := view.ConfirmWord(view.Of(&objects.Policies[at], objects, h.Clock.Now()))
	if err != nil || objects.Policies[at].Generation != generation {
		http.Error(w, "nobody waits for this any more: open the policy again", http.StatusConflict)
		return
	}
	switch err := viewer.Writer.Patch(r.Context(), objects.Policies[at].DeepCopy(), client.RawPatch(types.MergePatchType, []byte(word.Patch))); {
	case apierrors.IsForbidden(err):
		http.Error(w, err.Error(), http.StatusForbidden)
	case err != nil:
		http.Error(w, "keeping the change of policy "+name+": "+err.Error(), http.StatusBadGateway)
	default:
		http.Redirect(w, r, "/policies/"+name, http.StatusSeeOther)
	}
}

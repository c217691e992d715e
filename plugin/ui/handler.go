package ui

import (
	"bytes"
	"context"
	"crypto/subtle"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

//go:embed page
var files embed.FS

// cookie stands for the token.
const cookie = "kubectl-nmstate"

// beat is how often a browser hears something, so that it finds out when nobody is there.
const beat = 20 * time.Second

// ErrNoToken is about a request that does not say who asks.
var ErrNoToken = errors.New("this page is shown with the rights of whoever asks: send a token of the cluster, Authorization: Bearer TOKEN")

// Viewer is what a request sees and does, with the rights of whoever asks.
type Viewer struct {
	// Held has the policies, enactments and states; states may be without what is
	// large. Live has all of a node's state.
	Held, Live client.Reader
	// Writer does what a person decides; nil where the page is read-only.
	Writer client.Writer
	// Follow calls tell once it follows the cluster, and then for each change, until the
	// context ends or it cannot go on.
	Follow func(ctx context.Context, tell func()) error
	// Credential is what the request has shown, which a form's word depends on.
	Credential string
}

// Handler answers a browser.
type Handler struct {
	// Viewer finds out who asks, or returns ErrNoToken.
	Viewer func(*http.Request) (Viewer, error)
	Clock  clock.WithTicker
	// Token that the first request has to bring; empty asks for none.
	Token string
	// Anywhere: it is asked under any host name, and not under the loopback's only.
	Anywhere bool
	// Key makes the words of forms; random, and of this process.
	Key []byte
	// Pace is how often a browser hears of changes.
	Pace time.Duration
	// Cluster is how the cluster is called in the user's configuration.
	Cluster string

	pages *template.Template
	mux   *http.ServeMux
	cross *http.CrossOriginProtection
}

// viewing is the key of a request's viewer in its context.
type viewing struct{}

func viewerOf(ctx context.Context) Viewer {
	viewer, _ := ctx.Value(viewing{}).(Viewer)
	return viewer
}

// shown is a page's data.
type shown struct {
	// Title of the page; At is which of the menu's places it is.
	Title, At string
	Cluster   string
	Now       time.Time
	Body      any
}

// New makes a handler ready to serve.
func New(h Handler) (*Handler, error) {
	pages, err := template.New("").Funcs(functions()).ParseFS(files, "page/*.html")
	if err != nil {
		return nil, fmt.Errorf("reading the page's templates: %w", err)
	}
	h.pages, h.mux, h.cross = pages, http.NewServeMux(), http.NewCrossOriginProtection()
	h.page("GET /{$}", "fleet", h.fleet)
	h.page("GET /nodes/{name}", "node", h.node)
	h.page("GET /policies", "policies", h.policies)
	h.page("GET /policies/{name}", "policy", h.policy)
	h.page("GET /plans", "plans", h.plans)
	h.page("GET /drift", "drift", h.drift)
	h.page("GET /write", "write", h.write)
	h.mux.HandleFunc("GET /events", h.events)
	h.mux.HandleFunc("POST /policies/{name}/confirm", h.confirm)
	static, err := fs.Sub(files, "page")
	if err != nil {
		return nil, fmt.Errorf("reading the page's files: %w", err)
	}
	h.mux.Handle("GET /style.css", http.FileServerFS(static))
	h.mux.Handle("GET /script.js", http.FileServerFS(static))
	return &h, nil
}

// ServeHTTP lets in who may ask.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Security-Policy", "default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cache-Control", "no-store")
	switch {
	case !h.Anywhere && !isLoopback(r.Host):
		http.Error(w, "this page is served to the loopback only", http.StatusForbidden)
	case h.Token != "" && isRead(r) && h.same(r.URL.Query().Get("token")):
		http.SetCookie(w, &http.Cookie{Name: cookie, Value: h.Token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
		http.Redirect(w, r, r.URL.Path, http.StatusSeeOther) //nolint:gosec // A path of this server.
	case h.Token != "" && !h.hasCookie(r):
		http.Error(w, "open the address that kubectl nmstate ui has printed: it has a token in it", http.StatusForbidden)
	default:
		h.show(w, r)
	}
}

// show answers with the rights of whoever asks.
func (h *Handler) show(w http.ResponseWriter, r *http.Request) {
	viewer, err := h.Viewer(r)
	switch {
	case errors.Is(err, ErrNoToken):
		w.Header().Set("WWW-Authenticate", `Bearer realm="nmstate"`)
		http.Error(w, err.Error(), http.StatusUnauthorized)
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadGateway)
	case !isRead(r) && viewer.Writer == nil:
		http.Error(w, "this page changes nothing", http.StatusMethodNotAllowed)
	case h.cross.Check(r) != nil:
		http.Error(w, "this request comes from another page", http.StatusForbidden)
	default:
		h.mux.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), viewing{}, viewer)))
	}
}

func isRead(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

func (h *Handler) same(token string) bool {
	return subtle.ConstantTimeCompare([]byte(token), []byte(h.Token)) == 1
}

func (h *Handler) hasCookie(r *http.Request) bool {
	found, err := r.Cookie(cookie)
	return err == nil && h.same(found.Value)
}

// isLoopback tells whether the browser was told to go to this machine.
func isLoopback(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	name = strings.Trim(name, "[]")
	address := net.ParseIP(name)
	return name == "localhost" || address != nil && address.IsLoopback()
}

// errNotFound is about a page of what is not there.
var errNotFound = errors.New("is not there")

// page serves a template with what a function finds.
func (h *Handler) page(pattern, name string, find func(context.Context, *http.Request) (title string, body any, err error)) {
	h.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		title, body, err := find(r.Context(), r)
		code, with := http.StatusOK, name
		switch {
		case errors.Is(err, errNotFound), apierrors.IsNotFound(err):
			code, with, title, body = http.StatusNotFound, "trouble", "Not found", err.Error()
		case apierrors.IsUnauthorized(err):
			w.Header().Set("WWW-Authenticate", `Bearer realm="nmstate", error="invalid_token"`)
			http.Error(w, "the cluster does not know this token", http.StatusUnauthorized)
			return
		case apierrors.IsForbidden(err):
			code, with, title, body = http.StatusForbidden, "trouble", "You may not see this", err.Error()
		case err != nil:
			code, with, title, body = http.StatusInternalServerError, "trouble", "That did not work", err.Error()
		}
		var page bytes.Buffer
		err = h.pages.ExecuteTemplate(&page, with+".html", shown{Title: title, At: name, Cluster: h.Cluster, Now: h.Clock.Now(), Body: body})
		if err != nil {
			http.Error(w, "making the page: "+err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(code)
		_, _ = page.WriteTo(w) // The browser has gone.
	})
}

// events tells a browser of each change, no more often than the pace is. The stream ends
// where nobody follows the cluster any more; a browser asks for another one.
func (h *Handler) events(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	changed := make(chan struct{}, 1)
	go func() {
		cancel(viewerOf(ctx).Follow(ctx, func() {
			select {
			case changed <- struct{}{}:
			default: // It is told already.
			}
		}))
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w)
	said := ": begun\n\n"
	for {
		if _, err := w.Write([]byte(said)); err != nil || flush.Flush() != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-h.Clock.After(h.Pace):
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
			said = "data: changed\n\n"
		case <-h.Clock.After(beat):
			said = ": nothing new\n\n"
		}
	}
}

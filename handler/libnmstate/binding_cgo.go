//go:build cgo && nmstate

package nmstate

/*
#cgo LDFLAGS: -lnmstate
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

// Of nmstate.h, which Debian has no package for and the crate only a template.
int nmstate_net_state_retrieve(uint32_t flags, char **state, char **log, char **kind, char **message);
int nmstate_net_state_apply(uint32_t flags, const char *state, uint32_t timeout, char **log, char **kind, char **message);
int nmstate_checkpoint_commit(const char *checkpoint, char **log, char **kind, char **message);
int nmstate_checkpoint_rollback(const char *checkpoint, char **log, char **kind, char **message);
int nmstate_generate_configurations(const char *state, char **configs, char **log, char **kind, char **message);
int nmstate_generate_differences(const char *new_state, const char *old_state, char **diff, char **kind, char **message);
int nmstate_net_state_from_policy(const char *policy, const char *current, char **state, char **log, char **kind, char **message);
int nmstate_net_state_format(const char *state, char **formatted, char **kind, char **message);
int nmstate_validate(const char *state_or_policy, const char *current, char **kind, char **message);
void nmstate_cstring_free(char *text);

// The library installs its logger in the first call that logs; of two first
// calls at once one would fail. So the first one is made here, alone.
static void first_call(void) {
	char *configs = NULL, *log = NULL, *kind = NULL, *message = NULL;
	nmstate_generate_configurations("{}", &configs, &log, &kind, &message);
	nmstate_cstring_free(configs);
	nmstate_cstring_free(log);
	nmstate_cstring_free(kind);
	nmstate_cstring_free(message);
}

static void ready(void) {
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, first_call);
}
*/
import "C"

import (
	"errors"
	"unsafe"
)

// reply holds what a C call writes; the library owns the memory until taken.
type reply struct {
	result, log, kind, message *C.char
}

// taken copies the reply and frees it.
func (r *reply) taken(rc C.int) answer {
	a := answer{result: C.GoString(r.result), log: C.GoString(r.log)}
	if rc != 0 {
		a.err = failure(C.GoString(r.kind), C.GoString(r.message))
	}
	for _, text := range []*C.char{r.result, r.log, r.kind, r.message} {
		C.nmstate_cstring_free(text)
	}
	return a
}

func failure(kind, message string) error {
	if kind == "" && message == "" {
		return errors.New("libnmstate failed without a word")
	}
	return &Error{Kind: kind, Message: message}
}

func free(text *C.char) { C.free(unsafe.Pointer(text)) }

func retrieve(flags uint32) answer {
	C.ready()
	var r reply
	return r.taken(C.nmstate_net_state_retrieve(C.uint32_t(flags), &r.result, &r.log, &r.kind, &r.message))
}

func apply(flags uint32, state string, timeout uint32) answer {
	C.ready()
	var r reply
	s := C.CString(state)
	defer free(s)
	return r.taken(C.nmstate_net_state_apply(C.uint32_t(flags), s, C.uint32_t(timeout), &r.log, &r.kind, &r.message))
}

func commit(checkpoint string) answer {
	C.ready()
	var r reply
	c := C.CString(checkpoint)
	defer free(c)
	return r.taken(C.nmstate_checkpoint_commit(c, &r.log, &r.kind, &r.message))
}

func rollback(checkpoint string) answer {
	C.ready()
	var r reply
	c := C.CString(checkpoint)
	defer free(c)
	return r.taken(C.nmstate_checkpoint_rollback(c, &r.log, &r.kind, &r.message))
}

func generateConfigurations(state string) answer {
	C.ready()
	var r reply
	s := C.CString(state)
	defer free(s)
	return r.taken(C.nmstate_generate_configurations(s, &r.result, &r.log, &r.kind, &r.message))
}

func generateDifferences(newState, oldState string) answer {
	var r reply
	n, o := C.CString(newState), C.CString(oldState)
	defer free(n)
	defer free(o)
	return r.taken(C.nmstate_generate_differences(n, o, &r.result, &r.kind, &r.message))
}

func netStateFromPolicy(policy, current string) answer {
	C.ready()
	var r reply
	p, c := C.CString(policy), C.CString(current)
	defer free(p)
	defer free(c)
	return r.taken(C.nmstate_net_state_from_policy(p, c, &r.result, &r.log, &r.kind, &r.message))
}

func format(state string) answer {
	var r reply
	s := C.CString(state)
	defer free(s)
	return r.taken(C.nmstate_net_state_format(s, &r.result, &r.kind, &r.message))
}

func validate(stateOrPolicy, current string) answer {
	var r reply
	s := C.CString(stateOrPolicy)
	defer free(s)
	var c *C.char // NULL: validate without a current state
	if current != "" {
		c = C.CString(current)
		defer free(c)
	}
	return r.taken(C.nmstate_validate(s, c, &r.kind, &r.message))
}

// Package secrets hands each node the values of Secrets that its own policies name,
// sealed so that nobody else can read them (handler/secret).
//
//	enactment.status.secretsKey ─┐
//	policy, selects the node ────┼─► hand ─► enactment.spec.secrets
//	Secrets of one namespace ────┘
//
// A handler has no right to Secrets. Whom a value is for follows from the policy, which
// no handler writes, and from the enactment's owner, which admission ties to the
// handler's token: what a handler says of itself is its key and no more.
//
// It owns spec.secrets of enactments. It never writes or shows a value in clear text.
package secrets

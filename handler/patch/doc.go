// Package patch writes what changed in an object, unless somebody else has
// written that object meanwhile.
//
// It owns the one kind of patch with which handlers and controllers write
// objects that they have read before. The API server refuses it with a conflict
// where the object is another one by now; whoever wrote reads again and decides
// anew. It never sends anything itself.
package patch

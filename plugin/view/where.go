package view

import (
	"errors"
	"fmt"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/ext"
)

// Where makes a filter of a CEL expression about an interface.
func Where(expression string) (func(Interface) (bool, error), error) {
	list := cel.ListType(cel.StringType)
	env, err := cel.NewEnv(
		ext.Network(),
		cel.Variable("node", cel.StringType), cel.Variable("name", cel.StringType), cel.Variable("type", cel.StringType),
		cel.Variable("state", cel.StringType), cel.Variable("mtu", cel.IntType), cel.Variable("mac", cel.StringType),
		cel.Variable("controller", cel.StringType), cel.Variable("addresses", list), cel.Variable("policies", list),
	)
	if err != nil {
		return nil, fmt.Errorf("preparing CEL: %w", err)
	}
	ast, issues := env.Compile(expression)
	if issues.Err() != nil {
		// The first mistake leads to the others, and its own text has several lines.
		first := issues.Errors()[0]
		message := strings.TrimSuffix(strings.TrimPrefix(first.Message, "Syntax error: "), " (in container '')")
		message, _, _ = strings.Cut(message, " expecting ") // Dozens of tokens.
		return nil, fmt.Errorf("%s: column %d: %s; there are node, name, type, state, mtu, mac, controller, addresses, policies", expression, first.Location.Column()+1, message)
	}
	if ast.OutputType() != cel.BoolType {
		return nil, fmt.Errorf("%s: is a %s, want true or false", expression, ast.OutputType())
	}
	program, err := env.Program(ast)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", expression, err)
	}
	return func(one Interface) (bool, error) {
		out, _, err := program.Eval(map[string]any{
			"node": one.Node, "name": one.Name, "type": one.Type, "state": one.State, "mtu": one.MTU, "mac": one.MAC,
			"controller": one.Controller, "addresses": one.Addresses, "policies": one.Policies,
		})
		if err != nil {
			return false, fmt.Errorf("%s: on interface %s of node %s: %w", expression, one.Name, one.Node, err)
		}
		holds, is := out.Value().(bool)
		if !is {
			return false, errors.New(expression + ": is neither true nor false")
		}
		return holds, nil
	}, nil
}

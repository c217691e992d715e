package logs

import (
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"go.uber.org/zap/zapcore"
	"golang.org/x/term"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

// Values of the flags.
const (
	Text  = "text"
	JSON  = "json"
	Info  = "info"
	Debug = "debug"
)

// Options are the flags about the log.
type Options struct {
	level  string
	format string
}

// AddFlags adds --log-level and --log-format, with their completion.
func (o *Options) AddFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.level, "log-level", Info, "info or debug")
	flags.StringVar(&o.format, "log-format", "", "text or json (default: text where standard error is a terminal, otherwise json)")
	for flag, values := range map[string][]string{"log-level": {Info, Debug}, "log-format": {Text, JSON}} {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
}

// Check refuses other values.
func (o *Options) Check() error {
	switch {
	case !slices.Contains([]string{Info, Debug}, o.level):
		return fmt.Errorf("--log-level %q: want info or debug", o.level)
	case !slices.Contains([]string{"", Text, JSON}, o.format):
		return fmt.Errorf("--log-format %q: want text or json", o.format)
	}
	return nil
}

// Logger writes to the file, in the format that suits it where none was asked for.
func (o *Options) Logger(file *os.File) logr.Logger {
	return o.logger(file, term.IsTerminal(int(file.Fd())))
}

func (o *Options) logger(out io.Writer, isTerminal bool) logr.Logger {
	level := zapcore.InfoLevel
	if o.level == Debug {
		level = zapcore.DebugLevel
	}
	// Phases of a transaction take milliseconds, and so do their times.
	encoder := zap.JSONEncoder(func(c *zapcore.EncoderConfig) { c.EncodeTime = zapcore.RFC3339NanoTimeEncoder })
	if o.format == Text || o.format == "" && isTerminal {
		encoder = zap.ConsoleEncoder(func(c *zapcore.EncoderConfig) { c.EncodeTime = zapcore.TimeEncoderOfLayout("15:04:05.000") })
	}
	return zap.New(zap.Level(level), encoder, zap.WriteTo(out))
}
